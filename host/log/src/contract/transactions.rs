//! Transactions and holds: one promise of the contract a case.

use bytes::Bytes;

use super::{Case, Subject, batch, spec, stream, texts};
use crate::{AppendBatch, Begin, ErrorKind, Log, LogError, Retention, StreamSpec, TransactionId};

pub(super) const CASES: &[Case] = &[
    ("what is staged is seen once it is committed, and then at once", staged_is_seen_once_it_is_committed),
    ("a transaction is committed once", a_transaction_is_committed_once),
    ("a start fences those before it", a_start_fences_those_before_it),
    ("what is aborted is never seen", what_is_aborted_is_never_seen),
    ("a transaction that is nowhere is lost", a_transaction_that_is_nowhere_is_lost),
    ("an overdue transaction is dropped", an_overdue_transaction_is_dropped),
    ("staged bytes take room and give it back", staged_bytes_take_room_and_give_it_back),
    ("a sealed, a deleted and a staged partition say so", a_sealed_a_deleted_and_a_staged_partition_say_so),
    ("a large transaction is read from any offset", a_large_transaction_is_read_from_any_offset),
    ("retention cuts inside a committed transaction", retention_cuts_inside_a_committed_transaction),
    ("what is held is kept", what_is_held_is_kept),
    ("what cannot be is refused", what_cannot_be_is_refused),
];

pub(super) fn id(epoch: u64, number: u64) -> TransactionId {
    TransactionId { writer: "job/sink".into(), epoch, number }
}

fn begin(log: &dyn Log, epoch: u64) -> u64 {
    let begin = Begin { writer: "job/sink".into(), epoch, timeout_ms: Some(100) };
    log.begin(&stream("s"), &begin).expect("it begins")
}

fn stage(log: &dyn Log, id: &TransactionId, records: &[(u32, &str)]) {
    log.stage(&stream("s"), id, batch(records, 5)).expect("it is staged");
}

fn commit(log: &dyn Log, id: &TransactionId) -> Result<(), LogError> {
    log.commit_transaction(&stream("s"), id)
}

fn staged(log: &dyn Log) -> Vec<(u64, u64, u64)> {
    let all = log.transactions(&stream("s")).expect("it exists");
    all.iter().map(|of| (of.id.epoch, of.id.number, of.records)).collect()
}

fn kept(log: &dyn Log, partition: u32) -> Vec<String> {
    texts(log, &stream("s"), partition).into_iter().map(|(_, text)| text).collect()
}

fn made(subject: &dyn Subject) -> std::sync::Arc<dyn Log> {
    let log = subject.log();
    log.create(&stream("s"), &spec(2)).expect("it is new");
    log
}

fn staged_is_seen_once_it_is_committed(subject: &mut dyn Subject) {
    let log = made(subject);
    assert_eq!(begin(&*log, 1), 0);
    stage(&*log, &id(1, 1), &[(0, "a"), (1, "b"), (0, "c")]);
    stage(&*log, &id(1, 2), &[(0, "of the next")]);
    stage(&*log, &id(1, 1), &[(0, "d")]);
    log.append(&stream("s"), batch(&[(0, "x")], 5)).expect("nobody waits behind a transaction");
    assert_eq!(kept(&*log, 0), ["x"]);
    drop(log);
    subject.reopen();
    let log = subject.log();
    assert_eq!((staged(&*log), kept(&*log, 0)), (vec![(1, 1, 4), (1, 2, 1)], vec!["x".into()]));
    let watch = log.watch(&stream("s")).expect("it exists");
    let seen = watch.version();
    commit(&*log, &id(1, 1)).expect("committed");
    assert!(watch.version() > seen, "readers are woken");
    assert_eq!((kept(&*log, 0), kept(&*log, 1)), (["x", "a", "c", "d"].map(String::from).to_vec(), vec!["b".into()]));
    let infos = log.describe(&stream("s")).expect("it exists").partitions;
    assert_eq!((infos[0].end, infos[0].bytes, infos[1].bytes, infos[1].last_ingest), (4, 4, 1, Some(5)));
    assert_eq!(staged(&*log), [(1, 2, 1)]);
    log.append(&stream("s"), batch(&[(0, "y")], 6)).expect("appended");
    drop((log, watch));
    subject.reopen();
    assert_eq!(kept(&*subject.log(), 0), ["x", "a", "c", "d", "y"]);
}

fn a_transaction_is_committed_once(subject: &mut dyn Subject) {
    let log = made(subject);
    begin(&*log, 1);
    stage(&*log, &id(1, 1), &[(0, "a")]);
    commit(&*log, &id(1, 1)).expect("committed");
    commit(&*log, &id(1, 1)).expect("again is no error");
    drop(log);
    subject.reopen();
    let log = subject.log();
    commit(&*log, &id(1, 1)).expect("nor after a restart");
    assert_eq!(begin(&*log, 2), 1, "the writer is told how far it is");
    commit(&*log, &id(1, 1)).expect("nor after another start");
    let again = log.stage(&stream("s"), &id(2, 1), batch(&[(0, "b")], 5)).expect_err("the number is used up");
    assert!(matches!(again, LogError::TransactionDone { number: 1, committed: 1, .. }), "{again}");
    assert_eq!(kept(&*log, 0), ["a"]);
}

fn a_start_fences_those_before_it(subject: &mut dyn Subject) {
    let log = made(subject);
    begin(&*log, 1);
    stage(&*log, &id(1, 1), &[(0, "a")]);
    let other = TransactionId { writer: "other".into(), ..id(1, 1) };
    log.begin(&stream("s"), &Begin { writer: "other".into(), epoch: 1, timeout_ms: None }).expect("begins");
    stage(&*log, &other, &[(0, "b")]);
    assert_eq!(begin(&*log, 1), 0);
    assert_eq!(staged(&*log).len(), 2, "the same start aborts nothing");
    begin(&*log, 3);
    let writers: Vec<_> = log.transactions(&stream("s")).expect("it exists").into_iter().map(|of| of.id).collect();
    assert_eq!(writers, [other], "only what the writer's older starts staged is gone");
    drop(log);
    subject.reopen();
    let log = subject.log();
    let staging = log.stage(&stream("s"), &id(1, 2), batch(&[(0, "c")], 5)).expect_err("fenced");
    let begun = log.begin(&stream("s"), &Begin { writer: "job/sink".into(), epoch: 2, timeout_ms: None });
    for error in [staging, begun.expect_err("fenced"), commit(&*log, &id(1, 1)).expect_err("fenced")] {
        assert!(matches!(error, LogError::Fenced { newer: 3, .. }) && error.kind() == ErrorKind::Conflict, "{error}");
    }
    assert!(kept(&*log, 0).is_empty());
}

fn what_is_aborted_is_never_seen(subject: &mut dyn Subject) {
    let log = made(subject);
    begin(&*log, 1);
    stage(&*log, &id(1, 1), &[(0, "a")]);
    stage(&*log, &id(1, 2), &[(0, "b")]);
    log.abort_transaction(&stream("s"), &id(1, 1)).expect("aborted");
    log.abort_transaction(&stream("s"), &id(1, 1)).expect("again is no error");
    stage(&*log, &id(1, 1), &[(0, "c")]);
    commit(&*log, &id(1, 1)).expect("committed");
    commit(&*log, &id(1, 2)).expect("committed");
    log.abort_transaction(&stream("s"), &id(1, 2)).expect("what is committed is not there to be aborted");
    assert_eq!(kept(&*log, 0), ["c", "b"]);
}

fn a_transaction_that_is_nowhere_is_lost(subject: &mut dyn Subject) {
    let log = made(subject);
    let lost = |of: &TransactionId| {
        let error = commit(&*log, of).expect_err("lost");
        assert!(matches!(&error, LogError::TransactionLost { transaction, .. } if transaction == of), "{error}");
        assert_eq!(error.kind(), ErrorKind::Gone);
    };
    lost(&id(1, 1));
    begin(&*log, 1);
    lost(&id(1, 1));
    stage(&*log, &id(1, 1), &[(0, "a")]);
    stage(&*log, &id(1, 3), &[(0, "c")]);
    commit(&*log, &id(1, 1)).expect("committed");
    lost(&id(1, 2));
    log.abort_transaction(&stream("s"), &id(1, 3)).expect("aborted");
    lost(&id(1, 3));
    assert_eq!(kept(&*log, 0), ["a"]);
}

fn an_overdue_transaction_is_dropped(subject: &mut dyn Subject) {
    let log = made(subject);
    begin(&*log, 1);
    stage(&*log, &id(1, 1), &[(0, "a")]);
    log.stage(&stream("s"), &id(1, 1), batch(&[(0, "b")], 90)).expect("staged");
    log.stage(&stream("s"), &id(1, 2), batch(&[(0, "c")], 90)).expect("staged");
    drop(log);
    subject.reopen();
    let log = subject.log();
    log.retain(104).expect("retained");
    assert_eq!(staged(&*log).len(), 2);
    log.retain(105).expect("retained");
    assert_eq!(staged(&*log), [(1, 2, 1)], "its first batch says how old it is");
    assert!(matches!(commit(&*log, &id(1, 1)), Err(LogError::TransactionLost { .. })));
    log.begin(&stream("s"), &Begin { writer: "job/sink".into(), epoch: 1, timeout_ms: None }).expect("begins");
    log.retain(i64::MAX).expect("retained");
    commit(&*log, &id(1, 2)).expect("without a timeout it stays");
}

fn staged_bytes_take_room_and_give_it_back(subject: &mut dyn Subject) {
    let sized = |bytes: usize| AppendBatch {
        records: vec![(0, Bytes::from(vec![b'x'; bytes]))],
        room: Some(100),
        ..batch(&[], 5)
    };
    let log = made(subject);
    log.create(&stream("t"), &spec(1)).expect("it is new");
    begin(&*log, 1);
    let stage = |log: &dyn Log, number, bytes| log.stage(&stream("s"), &id(1, number), sized(bytes));
    stage(&*log, 1, 60).expect("room");
    let full = stage(&*log, 2, 41).expect_err("no room");
    assert!(matches!(full, LogError::NoRoom { kept: 60, more: 41, room: 100, .. }), "{full}");
    assert!(log.append(&stream("t"), sized(41)).is_err(), "all streams share it");
    stage(&*log, 2, 40).expect("room");
    drop(log);
    subject.reopen();
    let log = subject.log();
    assert!(log.append(&stream("t"), sized(1)).is_err(), "also after a restart");
    commit(&*log, &id(1, 1)).expect("a commit needs no room");
    assert!(log.append(&stream("t"), sized(1)).is_err(), "and makes none");
    log.abort_transaction(&stream("s"), &id(1, 2)).expect("aborted");
    log.append(&stream("t"), sized(40)).expect("what was aborted makes room");
    assert!(stage(&*log, 3, 1).is_err());
    log.delete(&stream("t")).expect("deleted");
    stage(&*log, 3, 40).expect("room");
    log.retain(1000).expect("retained");
    stage(&*log, 4, 40).expect("what is overdue makes room");
    begin(&*log, 2);
    log.append(&stream("s"), sized(40)).expect("what a start aborts makes room");
}

fn a_sealed_a_deleted_and_a_staged_partition_say_so(subject: &mut dyn Subject) {
    let log = made(subject);
    begin(&*log, 1);
    stage(&*log, &id(1, 1), &[(0, "a")]);
    for partition in [Some(0), None] {
        let error = log.seal(&stream("s"), partition).expect_err("records are staged");
        assert!(matches!(error, LogError::StillStaged { partition: 0, .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::Conflict);
    }
    log.seal(&stream("s"), Some(1)).expect("nothing is staged in it");
    let sealed = log.stage(&stream("s"), &id(1, 1), batch(&[(0, "b"), (1, "c")], 5)).expect_err("sealed");
    assert!(matches!(sealed, LogError::Sealed { partition: 1, .. }), "{sealed}");
    commit(&*log, &id(1, 1)).expect("committed");
    assert_eq!(kept(&*log, 0), ["a"], "a batch is staged whole or not at all");
    log.seal(&stream("s"), None).expect("sealed");
    stage_refused(&*log);
    log.delete(&stream("s")).expect("deleted");
    assert!(matches!(commit(&*log, &id(1, 1)), Err(LogError::NotFound { .. })));
    log.create(&stream("s"), &spec(2)).expect("another one");
    assert!(matches!(commit(&*log, &id(1, 1)), Err(LogError::TransactionLost { .. })), "which knows no writer");
    assert_eq!(begin(&*log, 1), 0);
}

fn stage_refused(log: &dyn Log) {
    let sealed = log.stage(&stream("s"), &id(1, 2), batch(&[(0, "b")], 5)).expect_err("sealed");
    assert!(matches!(sealed, LogError::Sealed { partition: 0, .. }), "{sealed}");
    assert!(staged(log).is_empty());
}

/// So many numbered records of 1,000 bytes, in batches of 100.
fn stage_many(log: &dyn Log, of: &TransactionId, count: u32) {
    for first in (0..count).step_by(100) {
        let record = |place: u32| (0, Bytes::from(format!("{place:01000}")));
        let records = (first..count.min(first + 100)).map(record).collect();
        log.stage(&stream("s"), of, AppendBatch { records, ..batch(&[], 5) }).expect("staged");
    }
}

fn a_large_transaction_is_read_from_any_offset(subject: &mut dyn Subject) {
    let log = made(subject);
    begin(&*log, 1);
    log.append(&stream("s"), batch(&[(0, "before")], 5)).expect("appended");
    stage_many(&*log, &id(1, 1), 1000);
    commit(&*log, &id(1, 1)).expect("committed");
    log.append(&stream("s"), batch(&[(0, "after")], 5)).expect("appended");
    for from in (0..1002_u64).step_by(7) {
        let records = log.read(&stream("s"), 0, from, 40, 1 << 20).expect("there").records;
        assert_eq!(records.len() as u64, (1002 - from).min(40));
        for (offset, record) in (from..).zip(records) {
            let text = std::str::from_utf8(&record.bytes).expect("text");
            match offset {
                0 => assert_eq!(text, "before"),
                1001 => assert_eq!(text, "after"),
                _ => assert_eq!(text.parse(), Ok(offset - 1)),
            }
            assert_eq!((record.offset, &*record.producer), (offset, "producer"));
        }
    }
}

fn retention_cuts_inside_a_committed_transaction(subject: &mut dyn Subject) {
    let log = subject.log();
    let retention = Retention { bytes: Some(100_500), age_ms: None };
    log.create(&stream("s"), &StreamSpec { retention, ..spec(2) }).expect("it is new");
    begin(&*log, 1);
    stage_many(&*log, &id(1, 1), 500);
    assert_eq!(log.retain(5).expect("retained").records, 0, "what is staged is not retention's");
    commit(&*log, &id(1, 1)).expect("committed");
    assert_eq!(log.retain(5).expect("retained").records, 400);
    drop(log);
    subject.reopen();
    let log = subject.log();
    let kept = texts(&*log, &stream("s"), 0);
    assert_eq!((kept.len(), kept[0].0), (100, 400));
    assert!(kept.iter().all(|(offset, text)| text.parse::<u64>() == Ok(*offset)));
    stage_many(&*log, &id(1, 2), 100);
    commit(&*log, &id(1, 2)).expect("committed");
    assert_eq!(log.retain(5).expect("retained").records, 100);
    let kept = texts(&*log, &stream("s"), 0);
    assert!(kept.len() == 100 && kept.iter().all(|(offset, text)| text.parse::<u64>() == Ok(offset - 500)));
}

fn what_is_held_is_kept(subject: &mut dyn Subject) {
    let log = subject.log();
    let retention = Retention { bytes: Some(2), age_ms: Some(10) };
    log.create(&stream("s"), &StreamSpec { retention, ..spec(2) }).expect("it is new");
    for text in ["a", "b", "c", "d"] {
        log.append(&stream("s"), batch(&[(0, text), (1, text)], 1)).expect("appended");
    }
    log.hold(&stream("s"), "job", Some(&[1, 9])).expect("held");
    log.hold(&stream("s"), "other", Some(&[3, 3])).expect("held");
    drop(log);
    subject.reopen();
    let log = subject.log();
    assert_eq!(log.holds(&stream("s")).expect("it exists"), [("job".into(), vec![1, 9]), ("other".into(), vec![3, 3])]);
    let starts = |log: &dyn Log, now| {
        log.retain(now).expect("retained");
        log.describe(&stream("s")).expect("it exists").partitions.iter().map(|info| info.start).collect::<Vec<_>>()
    };
    assert_eq!(starts(&*log, 100), [1, 3], "the least offset that somebody holds");
    log.hold(&stream("s"), "job", Some(&[2, 2])).expect("a hold moves");
    assert_eq!(starts(&*log, 100), [2, 3]);
    log.hold(&stream("s"), "job", None).expect("let go");
    log.hold(&stream("s"), "job", None).expect("again is no error");
    assert_eq!(starts(&*log, 100), [3, 3]);
    log.hold(&stream("s"), "other", None).expect("let go");
    assert_eq!(starts(&*log, 100), [4, 4]);
    log.hold(&stream("s"), "job", Some(&[0, 0])).expect("held");
    log.delete(&stream("s")).expect("deleted");
    log.create(&stream("s"), &spec(2)).expect("another one");
    assert!(log.holds(&stream("s")).expect("it exists").is_empty(), "a deleted stream's holds are gone");
}

fn what_cannot_be_is_refused(subject: &mut dyn Subject) {
    let log = made(subject);
    let begin_as = |name: &str| {
        let begin = Begin { writer: name.into(), epoch: 1, timeout_ms: None };
        log.begin(&stream("s"), &begin).map(drop)
    };
    let long = "n".repeat(201);
    for name in ["", &long] {
        let hold = log.hold(&stream("s"), name, Some(&[0, 0]));
        for error in [begin_as(name).expect_err("no name"), hold.expect_err("no name")] {
            assert!(matches!(error, LogError::InvalidName { .. }) && error.kind() == ErrorKind::Invalid, "{error}");
        }
    }
    let narrow = log.hold(&stream("s"), "job", Some(&[0])).expect_err("an offset is missing");
    assert!(matches!(narrow, LogError::InvalidHold { partitions: 2, offsets: 1, .. }), "{narrow}");
    let early = log.stage(&stream("s"), &id(1, 1), batch(&[(0, "a")], 5)).expect_err("not begun");
    assert!(matches!(early, LogError::NotBegun { epoch: 1, .. }), "{early}");
    begin(&*log, 1);
    let early = log.stage(&stream("s"), &id(2, 1), batch(&[(0, "a")], 5)).expect_err("not begun");
    assert!(matches!(early, LogError::NotBegun { epoch: 2, .. }), "{early}");
    let wrong = log.stage(&stream("s"), &id(1, 1), batch(&[(2, "a")], 5)).expect_err("no such partition");
    assert!(matches!(wrong, LogError::NoPartition { .. }), "{wrong}");
    assert!(log.transactions(&stream("t")).is_err() && log.holds(&stream("t")).is_err(), "no such stream");
    log.hold(&stream("t"), "job", None).expect_err("no such stream");
}
