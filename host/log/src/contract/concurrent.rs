//! Several threads at once: every batch once, in order, and no reader left asleep.

use std::thread;
use std::time::Duration;

use super::{Case, Subject, batch, spec, stream, texts};
use crate::{Log, LogError, Producer, Retention, StreamSpec};

pub(super) const CASES: &[Case] = &[
    ("concurrent producers keep their order", concurrent_producers_keep_their_order),
    ("a reader follows a writer", a_reader_follows_a_writer),
    ("a reader under retention sees no gap", a_reader_under_retention_sees_no_gap),
    ("racing repeats are there once", racing_repeats_are_there_once),
];

const LONG: Duration = Duration::from_secs(60);

fn concurrent_producers_keep_their_order(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(2)).expect("it is new");
    thread::scope(|scope| {
        for producer in 0..4 {
            let log = &log;
            scope.spawn(move || {
                for number in 0..25 {
                    let text = format!("{producer} {number:02}");
                    let appended = log.append(&stream("s"), batch(&[(0, &text), (1, &text)], 1)).expect("appended");
                    let first = appended.ranges[1].first;
                    let read = log.read(&stream("s"), 1, first, 1, 100).expect("acknowledged means readable");
                    assert_eq!(read.records[0].bytes, text);
                }
            });
        }
    });
    let (zero, one) = (texts(&*log, &stream("s"), 0), texts(&*log, &stream("s"), 1));
    assert_eq!((zero.len(), &zero), (100, &one), "batches of one group are not mixed");
    for producer in 0..4 {
        let own: Vec<&str> =
            zero.iter().map(|(_, text)| text.as_str()).filter(|text| text.starts_with(&producer.to_string())).collect();
        assert!(own.len() == 25 && own.is_sorted());
    }
}

fn a_reader_follows_a_writer(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    thread::scope(|scope| {
        let reader = scope.spawn(|| follow(&*log));
        for number in 0..50 {
            log.append(&stream("s"), batch(&[(0, &number.to_string())], 1)).expect("appended");
        }
        log.seal(&stream("s"), None).expect("sealed");
        assert_eq!(reader.join().expect("the reader ends"), (0..50).map(|n| n.to_string()).collect::<Vec<_>>());
    });
}

/// Reads partition 0 to its seal.
fn follow(log: &dyn Log) -> Vec<String> {
    let watch = log.watch(&stream("s")).expect("it exists");
    let mut read = Vec::new();
    loop {
        let seen = watch.version();
        let chunk = log.read(&stream("s"), 0, read.len() as u64, 7, 1000).expect("read");
        let (end, sealed) = (chunk.end, chunk.sealed);
        let empty = chunk.records.is_empty();
        read.extend(chunk.records.into_iter().map(|record| String::from_utf8_lossy(&record.bytes).into_owned()));
        if sealed && read.len() as u64 == end {
            return read;
        }
        if empty {
            assert!(watch.wait_past(seen, LONG) > seen, "nobody woke the reader");
        }
    }
}

fn a_reader_under_retention_sees_no_gap(subject: &mut dyn Subject) {
    let log = subject.log();
    let spec = StreamSpec { retention: Retention { bytes: Some(40), age_ms: None }, ..spec(1) };
    log.create(&stream("s"), &spec).expect("it is new");
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..100 {
                let text = format!("{number:04}");
                log.append(&stream("s"), batch(&[(0, &text), (0, &text)], 1)).expect("appended");
                log.retain(1).expect("retained");
            }
            log.seal(&stream("s"), None).expect("sealed");
        });
        let mut next = 0;
        loop {
            match log.read(&stream("s"), 0, next, 5, 1000) {
                Ok(chunk) => {
                    for record in &chunk.records {
                        assert_eq!(record.offset, next);
                        assert_eq!(record.bytes, format!("{:04}", next / 2));
                        next += 1;
                    }
                    if chunk.sealed && next == chunk.end {
                        break;
                    }
                }
                Err(LogError::Gone { start, from, .. }) => {
                    assert!(from == next && start > from);
                    next = start;
                }
                Err(error) => panic!("{error}"),
            }
        }
    });
}

fn racing_repeats_are_there_once(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    for sequence in 0..20 {
        let answers: Vec<_> = thread::scope(|scope| {
            let send = || {
                let mut batch = batch(&[(0, &sequence.to_string())], 1);
                batch.producer = Producer { name: "p".into(), sequence: Some(sequence) };
                log.append(&stream("s"), batch).expect("one appends, the others are answered")
            };
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(send)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(answers.iter().filter(|answer| !answer.repeated).count(), 1);
        assert!(answers.iter().all(|answer| answer.ranges == answers[0].ranges));
    }
    assert_eq!(texts(&*log, &stream("s"), 0).len(), 20);
}
