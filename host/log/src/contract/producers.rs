//! Sequences: a batch that is sent again is there once.

use super::{Case, Subject, batch, send, spec, stream, texts};
use crate::sequence::FORGET_AFTER_MS;
use crate::{LogError, Producer};

pub(super) const CASES: &[Case] = &[
    ("a repeated sequence gives the first answer", a_repeated_sequence_gives_the_first_answer),
    ("a lower sequence is refused", a_lower_sequence_is_refused),
    ("a sequence with other records is refused", a_sequence_with_other_records_is_refused),
    ("producers and streams count by themselves", producers_and_streams_count_by_themselves),
    ("a repeat is answered after a seal", a_repeat_is_answered_after_a_seal),
    ("a refused batch uses no sequence up", a_refused_batch_uses_no_sequence_up),
    ("idle producers are forgotten", idle_producers_are_forgotten),
];

fn a_repeated_sequence_gives_the_first_answer(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(2)).expect("it is new");
    let mut first = batch(&[(0, "a"), (1, "b")], 5);
    first.producer = Producer { name: "p".into(), sequence: Some(0) };
    let answer = log.append(&stream("s"), first.clone()).expect("appended");
    log.append(&stream("s"), batch(&[(0, "between")], 6)).expect("appended");
    let mut again = first;
    again.ingest_time = 99;
    again.records[0].0 = 1;
    let repeated = log.append(&stream("s"), again).expect("a repeat is no error");
    assert!(repeated.repeated && !answer.repeated);
    assert_eq!((repeated.ranges, repeated.ingest_time), (answer.ranges, 5));
    assert_eq!(texts(&*log, &stream("s"), 0), [(0, "a".to_owned()), (1, "between".to_owned())]);
    assert_eq!(texts(&*log, &stream("s"), 1).len(), 1);
}

fn a_lower_sequence_is_refused(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    send(&*log, &stream("s"), "p", 3, "a").expect("appended");
    send(&*log, &stream("s"), "p", 7, "b").expect("numbers may be left out");
    let error = send(&*log, &stream("s"), "p", 3, "a").expect_err("stale");
    assert!(matches!(error, LogError::StaleSequence { sequence: 3, last: 7, .. }), "{error}");
    send(&*log, &stream("s"), "p", u64::MAX, "c").expect("any number");
    assert_eq!(texts(&*log, &stream("s"), 0).len(), 3);
}

fn a_sequence_with_other_records_is_refused(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    send(&*log, &stream("s"), "p", 0, "a").expect("appended");
    let error = send(&*log, &stream("s"), "p", 0, "b").expect_err("other records");
    assert!(matches!(error, LogError::SequenceReused { sequence: 0, .. }), "{error}");
    assert_eq!(texts(&*log, &stream("s"), 0), [(0, "a".to_owned())]);
}

fn producers_and_streams_count_by_themselves(subject: &mut dyn Subject) {
    let log = subject.log();
    for name in ["s", "t"] {
        log.create(&stream(name), &spec(1)).expect("it is new");
        for producer in ["p", "p2", "q"] {
            assert!(!send(&*log, &stream(name), producer, 1, producer).expect("appended").repeated);
        }
        let all = texts(&*log, &stream(name), 0);
        assert_eq!(all, [(0, "p".to_owned()), (1, "p2".to_owned()), (2, "q".to_owned())]);
    }
}

fn a_repeat_is_answered_after_a_seal(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    send(&*log, &stream("s"), "p", 1, "a").expect("appended");
    log.seal(&stream("s"), None).expect("sealed");
    assert!(send(&*log, &stream("s"), "p", 1, "a").expect("it is there").repeated);
    assert!(matches!(send(&*log, &stream("s"), "p", 2, "b"), Err(LogError::Sealed { .. })));
}

fn a_refused_batch_uses_no_sequence_up(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(2)).expect("it is new");
    log.seal(&stream("s"), Some(1)).expect("sealed");
    let mut refused = batch(&[(0, "a"), (1, "b")], 5);
    refused.producer = Producer { name: "p".into(), sequence: Some(5) };
    assert!(matches!(log.append(&stream("s"), refused), Err(LogError::Sealed { .. })));
    assert!(!send(&*log, &stream("s"), "p", 5, "c").expect("appended").repeated);
}

fn idle_producers_are_forgotten(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    send(&*log, &stream("s"), "p", 5, "a").expect("appended, at 5 ms");
    log.retain(5 + FORGET_AFTER_MS).expect("retained");
    assert!(send(&*log, &stream("s"), "p", 5, "a").expect("known yet").repeated);
    log.retain(6 + FORGET_AFTER_MS).expect("retained");
    assert!(!send(&*log, &stream("s"), "p", 1, "b").expect("starts anew").repeated);
}
