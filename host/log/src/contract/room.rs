//! Bounds over all streams of a tenant: the bytes that they keep, and the producers that count in them.

use std::thread;

use bytes::Bytes;

use super::{Case, Subject, batch, send, spec, stream};
use crate::sequence::{MAX_PRODUCERS, MAX_TENANT_BYTES, producer_bytes};
use crate::{AppendBatch, ErrorKind, Log, LogError, MAX_PARTITIONS, Producer, StreamId, StreamSpec};

pub(super) const CASES: &[Case] = &[
    ("all streams of a tenant share their room", all_streams_of_a_tenant_share_their_room),
    ("a repeat needs no room", a_repeat_needs_no_room),
    ("batches at once do not overshoot", batches_at_once_do_not_overshoot),
    ("what is dropped makes room", what_is_dropped_makes_room),
    ("a tenant's producers are bounded together", a_tenants_producers_are_bounded_together),
];

/// A record of so many bytes, if it fits 1,000 together with all that is kept.
fn sized(bytes: usize) -> AppendBatch {
    AppendBatch { records: vec![(0, Bytes::from(vec![b'x'; bytes]))], room: Some(1_000), ..batch(&[], 5) }
}

fn kept(log: &dyn Log) -> u64 {
    let streams = log.list(&stream("s").tenant).expect("a list");
    streams.iter().flat_map(|info| &info.partitions).map(|part| part.bytes).sum()
}

fn all_streams_of_a_tenant_share_their_room(subject: &mut dyn Subject) {
    let log = subject.log();
    let other = StreamId { tenant: "other".parse().expect("a tenant's name"), ..stream("s") };
    for id in [&stream("s"), &stream("t"), &other] {
        log.create(id, &spec(1)).expect("it is new");
        log.append(id, sized(400)).expect("it has room");
    }
    let error = log.append(&stream("t"), sized(201)).expect_err("too much");
    assert!(matches!(error, LogError::NoRoom { kept: 800, more: 201, room: 1_000, .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Quota);
    log.append(&stream("t"), sized(200)).expect("it fits exactly");
    assert!(log.append(&stream("s"), sized(1)).is_err());
    log.append(&other, sized(600)).expect("another tenant's room");
    log.append(&stream("s"), batch(&[(0, "a")], 5)).expect("a batch without a bound");
    drop(log);
    subject.reopen();
    assert!(subject.log().append(&stream("s"), sized(1)).is_err(), "what is kept counts after a restart");
    assert_eq!(kept(&*subject.log()), 1_001);
}

fn a_repeat_needs_no_room(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    let counted = |sequence, bytes| AppendBatch {
        producer: Producer { name: "p".into(), sequence: Some(sequence) },
        ..sized(bytes)
    };
    let first = log.append(&stream("s"), counted(1, 1_000)).expect("it fits exactly");
    let again = log.append(&stream("s"), counted(1, 1_000)).expect("it is there");
    assert!(again.repeated && again.ranges == first.ranges);
    assert!(matches!(log.append(&stream("s"), counted(2, 1)), Err(LogError::NoRoom { .. })));
    assert!(
        log.append(&stream("s"), counted(1, 1_000)).expect("it is there").repeated,
        "a refusal uses no sequence up"
    );
    assert_eq!(kept(&*log), 1_000);
}

fn batches_at_once_do_not_overshoot(subject: &mut dyn Subject) {
    let log = subject.log();
    let names = ["s", "t"];
    for name in names {
        log.create(&stream(name), &spec(1)).expect("it is new");
    }
    let accepted: usize = thread::scope(|scope| {
        let send = |name| {
            let log = &log;
            move || (0..20).filter(|_| log.append(&stream(name), sized(30)).is_ok()).count()
        };
        let threads: Vec<_> = (0..6).map(|number| scope.spawn(send(names[number % 2]))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!((accepted, kept(&*log)), (33, 990));
}

fn what_is_dropped_makes_room(subject: &mut dyn Subject) {
    let log = subject.log();
    let mut bounded = spec(1);
    bounded.retention.bytes = Some(500);
    log.create(&stream("s"), &bounded).expect("it is new");
    log.create(&stream("t"), &spec(1)).expect("it is new");
    log.append(&stream("s"), sized(500)).expect("room");
    log.append(&stream("s"), sized(500)).expect("room");
    assert!(log.append(&stream("t"), sized(1)).is_err());
    log.retain(5).expect("retained");
    log.append(&stream("t"), sized(500)).expect("the older record was dropped");
    assert!(log.append(&stream("s"), sized(1)).is_err());
    log.delete(&stream("t")).expect("deleted");
    log.append(&stream("s"), sized(500)).expect("the other stream was deleted");
}

fn a_tenants_producers_are_bounded_together(subject: &mut dyn Subject) {
    let log = subject.log();
    let wide = StreamSpec { partitions: MAX_PARTITIONS, ..spec(1) };
    for name in ["s", "t"] {
        log.create(&stream(name), &wide).expect("it is new");
    }
    let name = |number: u64| format!("p{number:03}");
    let most = MAX_TENANT_BYTES / producer_bytes(&name(0), MAX_PARTITIONS);
    assert!(most < MAX_PRODUCERS as u64, "the bound of one stream is not met");
    thread::scope(|scope| {
        for thread in 0..16 {
            let log = &log;
            scope.spawn(move || {
                for number in (thread..most).step_by(16) {
                    let to = stream(if number % 2 == 0 { "s" } else { "t" });
                    send(&**log, &to, &name(number), 1, "a").expect("there is room for it");
                }
            });
        }
    });
    drop(log);
    subject.reopen();
    let log = subject.log();
    for id in ["s", "t"] {
        let error = send(&*log, &stream(id), "one more", 1, "a").expect_err("no room");
        assert!(matches!(error, LogError::ProducersFull { .. }), "{error}");
    }
    send(&*log, &stream("s"), &name(0), 2, "b").expect("one that is known goes on");
    log.append(&stream("s"), batch(&[(0, "a")], 5)).expect("nobody has to count");
    log.delete(&stream("t")).expect("deleted");
    send(&*log, &stream("s"), "one more", 1, "a").expect("deleted streams' producers count no more");
}
