//! Streams, appends, reads, seals: one promise of the contract a case.

use std::time::Duration;

use bytes::Bytes;
use tidegate_types::TenantId;

use super::{Case, Subject, batch, spec, stream, texts};
use crate::{Created, ErrorKind, LogError, OffsetRange, Retention, StreamSpec};

pub(super) const CASES: &[Case] = &[
    ("a stream is made once", a_stream_is_made_once),
    ("a spec out of bounds is refused", a_spec_out_of_bounds_is_refused),
    ("streams are listed by name and tenant", streams_are_listed_by_name_and_tenant),
    ("an append names partitions and offsets", an_append_names_partitions_and_offsets),
    ("a batch is whole or not there", a_batch_is_whole_or_not_there),
    ("a record keeps its bytes, time and producer", a_record_keeps_its_bytes_time_and_producer),
    ("reading is bounded by records and bytes", reading_is_bounded_by_records_and_bytes),
    ("reading begins at any offset of a large batch", reading_begins_at_any_offset_of_a_large_batch),
    ("reading outside says so", reading_outside_says_so),
    ("a sealed partition takes nothing", a_sealed_partition_takes_nothing),
    ("a deleted stream is gone, and its name is free", a_deleted_stream_is_gone_and_its_name_is_free),
    ("a watch moves when something happens", a_watch_moves_when_something_happens),
    ("everything outlives a restart", everything_outlives_a_restart),
    ("what is missing is named", what_is_missing_is_named),
];

fn a_stream_is_made_once(subject: &mut dyn Subject) {
    let log = subject.log();
    assert_eq!(log.create(&stream("s"), &spec(3)).expect("it is new"), Created::New);
    assert_eq!(log.create(&stream("s"), &spec(3)).expect("it is there"), Created::Existing);
    let error = log.create(&stream("s"), &spec(4)).expect_err("another number of partitions");
    assert!(matches!(error, LogError::Exists { .. }), "{error}");
    let other = StreamSpec { retention: Retention { bytes: Some(1), age_ms: None }, ..spec(3) };
    assert!(matches!(log.create(&stream("s"), &other), Err(LogError::Exists { .. })));
    let info = log.describe(&stream("s")).expect("it exists");
    assert_eq!((info.id, info.spec, info.partitions.len()), (stream("s"), spec(3), 3));
}

fn a_spec_out_of_bounds_is_refused(subject: &mut dyn Subject) {
    let log = subject.log();
    for bad in [spec(0), spec(1025), StreamSpec { max_record_bytes: 0, ..spec(1) }] {
        let error = log.create(&stream("s"), &bad).expect_err("out of bounds");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert!(log.describe(&stream("s")).is_err());
}

fn streams_are_listed_by_name_and_tenant(subject: &mut dyn Subject) {
    let log = subject.log();
    let mut other = stream("a");
    other.tenant = "acme-2".parse().expect("a tenant's name");
    for id in [stream("b"), stream("a.1"), stream("a"), stream("A"), other.clone()] {
        log.create(&id, &spec(1)).expect("it is new");
    }
    let names = |tenant: &TenantId| {
        let infos = log.list(tenant).expect("a list");
        infos.into_iter().map(|info| info.id.name.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&stream("a").tenant), ["A", "a", "a.1", "b"]);
    assert_eq!(names(&other.tenant), ["a"]);
    assert!(names(&"nobody".parse().expect("a tenant's name")).is_empty());
}

fn an_append_names_partitions_and_offsets(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(3)).expect("it is new");
    let first = log.append(&stream("s"), batch(&[(2, "a"), (0, "b"), (2, "c")], 7)).expect("appended");
    let range = |partition, first, count| OffsetRange { partition, first, count };
    assert_eq!(first.ranges, [range(0, 0, 1), range(2, 0, 2)]);
    assert_eq!((first.ingest_time, first.repeated), (7, false));
    let second = log.append(&stream("s"), batch(&[(1, "d"), (2, "e")], 8)).expect("appended");
    assert_eq!(second.ranges, [range(1, 0, 1), range(2, 2, 1)]);
    let pairs = |partition| texts(&*log, &stream("s"), partition);
    assert_eq!(pairs(2), [(0, "a".into()), (1, "c".into()), (2, "e".into())]);
    assert_eq!((pairs(0), pairs(1)), (vec![(0, "b".into())], vec![(0, "d".into())]));
    let info = log.describe(&stream("s")).expect("it exists").partitions[2];
    assert_eq!((info.start, info.end, info.bytes, info.last_ingest), (0, 3, 3, Some(8)));
}

fn a_batch_is_whole_or_not_there(subject: &mut dyn Subject) {
    let log = subject.log();
    let spec = StreamSpec { max_record_bytes: 4, ..spec(2) };
    log.create(&stream("s"), &spec).expect("it is new");
    log.seal(&stream("s"), Some(1)).expect("sealed");
    let refused = [
        (batch(&[(0, "a"), (0, "abcde")], 1), "record 1"),
        (batch(&[(0, "a"), (2, "b")], 1), "no partition 2"),
        (batch(&[(0, "a"), (1, "b")], 1), "sealed"),
        (batch(&[], 1), "empty"),
    ];
    for (batch, said) in refused {
        let error = log.append(&stream("s"), batch).expect_err(said).to_string();
        assert!(error.contains(said), "{error}");
    }
    let mut nameless = batch(&[(0, "a")], 1);
    nameless.producer.name.clear();
    assert!(matches!(log.append(&stream("s"), nameless), Err(LogError::InvalidProducer { .. })));
    let mut large = batch(&[], 1);
    large.records = vec![(0, Bytes::from_static(b"abcd")); (16 << 20) / 4 + 1];
    assert!(matches!(log.append(&stream("s"), large), Err(LogError::BatchTooLarge { .. })));
    assert!(texts(&*log, &stream("s"), 0).is_empty());
}

fn a_record_keeps_its_bytes_time_and_producer(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    let all: Vec<u8> = (0..=255).collect();
    let mut batch = batch(&[], -3);
    batch.records = vec![(0, Bytes::new()), (0, Bytes::from(all.clone())), (0, Bytes::new())];
    batch.producer.name = "père".into();
    log.append(&stream("s"), batch).expect("appended");
    let chunk = log.read(&stream("s"), 0, 0, 10, 10_000).expect("read");
    let lens: Vec<usize> = chunk.records.iter().map(|record| record.bytes.len()).collect();
    assert_eq!((lens, &chunk.records[1].bytes[..]), (vec![0, 256, 0], &all[..]));
    assert!(chunk.records.iter().all(|record| record.ingest_time == -3 && &*record.producer == "père"));
    assert_eq!((chunk.start, chunk.end, chunk.sealed), (0, 3, false));
}

fn reading_is_bounded_by_records_and_bytes(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    for texts in [vec![(0, "aaaa"), (0, "bb")], vec![(0, "cc"), (0, "dddddddd"), (0, "e")]] {
        log.append(&stream("s"), batch(&texts, 1)).expect("appended");
    }
    let count = |from, records, bytes| log.read(&stream("s"), 0, from, records, bytes).expect("read").records.len();
    assert_eq!(count(0, 2, 100), 2);
    assert_eq!(count(0, 100, 6), 2, "exactly as many bytes as are allowed");
    assert_eq!(count(0, 100, 7), 2);
    assert_eq!(count(0, 100, 8), 3, "over the border of two batches");
    assert_eq!(count(3, 100, 1), 1, "a first record that is longer than allowed");
    assert_eq!(count(0, 0, 0), 1, "every read makes progress");
    assert_eq!(count(0, 100, 100), 5);
}

fn reading_begins_at_any_offset_of_a_large_batch(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    let mut large = batch(&[], 1);
    let text = |place: u32| format!("{place:04}{}", "x".repeat(996));
    large.records = (0..500).map(|place| (0, Bytes::from(text(place)))).collect();
    log.append(&stream("s"), large).expect("appended");
    for from in [0, 1, 63, 64, 65, 66, 130, 499] {
        let chunk = log.read(&stream("s"), 0, from, 100, 70_000).expect("read");
        assert_eq!(chunk.records.len() as u64, 70.min(500 - from));
        for (record, place) in chunk.records.iter().zip(from..) {
            assert_eq!(record.offset, place);
            assert_eq!(record.bytes, text(u32::try_from(place).expect("a small number")));
        }
    }
}

fn reading_outside_says_so(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    let at_end = log.read(&stream("s"), 0, 0, 10, 10).expect("the end is no error");
    assert_eq!((at_end.records.len(), at_end.end), (0, 0));
    let error = log.read(&stream("s"), 0, 1, 10, 10).expect_err("beyond the end");
    assert!(matches!(error, LogError::BeyondEnd { from: 1, end: 0, .. }), "{error}");
    let error = log.read(&stream("s"), 1, 0, 10, 10).expect_err("no such partition");
    assert!(matches!(error, LogError::NoPartition { partition: 1, partitions: 1, .. }), "{error}");
}

fn a_sealed_partition_takes_nothing(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(2)).expect("it is new");
    log.append(&stream("s"), batch(&[(0, "a")], 1)).expect("appended");
    log.seal(&stream("s"), Some(0)).expect("sealed");
    log.seal(&stream("s"), Some(0)).expect("sealed again");
    let error = log.append(&stream("s"), batch(&[(0, "b")], 1)).expect_err("sealed");
    assert!(matches!(error, LogError::Sealed { partition: 0, .. }), "{error}");
    log.append(&stream("s"), batch(&[(1, "c")], 1)).expect("the other partition is open");
    assert!(log.seal(&stream("s"), Some(2)).is_err());
    log.seal(&stream("s"), None).expect("sealed");
    assert!(log.append(&stream("s"), batch(&[(1, "d")], 1)).is_err());
    let chunk = log.read(&stream("s"), 1, 0, 10, 10).expect("read");
    assert_eq!((chunk.records.len(), chunk.end, chunk.sealed), (1, 1, true));
}

fn a_deleted_stream_is_gone_and_its_name_is_free(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    super::send(&*log, &stream("s"), "p", 9, "old").expect("appended");
    log.delete(&stream("s")).expect("deleted");
    assert!(matches!(log.delete(&stream("s")), Err(LogError::NotFound { .. })));
    assert!(log.read(&stream("s"), 0, 0, 1, 1).is_err());
    assert!(log.list(&stream("s").tenant).expect("a list").is_empty());
    assert_eq!(log.create(&stream("s"), &spec(2)).expect("the name is free"), Created::New);
    assert_eq!(log.read(&stream("s"), 0, 0, 1, 1).expect("read").end, 0);
    super::send(&*log, &stream("s"), "p", 1, "new").expect("sequences start anew");
    assert_eq!(texts(&*log, &stream("s"), 0), [(0, "new".to_owned())]);
}

fn a_watch_moves_when_something_happens(subject: &mut dyn Subject) {
    let log = subject.log();
    log.create(&stream("s"), &spec(1)).expect("it is new");
    log.create(&stream("other"), &spec(1)).expect("it is new");
    let watch = log.watch(&stream("s")).expect("it exists");
    let moved = |what: &str, act: &dyn Fn()| {
        let seen = watch.version();
        act();
        assert!(watch.wait_past(seen, Duration::ZERO) > seen, "{what} moves the watch");
    };
    moved("an append", &|| drop(log.append(&stream("s"), batch(&[(0, "a")], 1)).expect("appended")));
    moved("a seal", &|| log.seal(&stream("s"), None).expect("sealed"));
    let seen = watch.version();
    log.append(&stream("other"), batch(&[(0, "a")], 1)).expect("appended");
    assert_eq!(watch.version(), seen, "another stream does not move it");
    moved("a deletion", &|| log.delete(&stream("s")).expect("deleted"));
    assert!(log.watch(&stream("s")).is_err());
}

fn everything_outlives_a_restart(subject: &mut dyn Subject) {
    let kept = Retention { bytes: Some(2), age_ms: Some(1000) };
    let spec = StreamSpec { retention: kept, ..spec(2) };
    {
        let log = subject.log();
        log.create(&stream("s"), &spec).expect("it is new");
        log.create(&stream("deleted"), &spec).expect("it is new");
        log.append(&stream("s"), batch(&[(0, "a"), (0, "b"), (0, "c"), (1, "d")], 10)).expect("appended");
        super::send(&*log, &stream("s"), "p", 4, "e").expect("appended");
        log.retain(20).expect("retained");
        log.seal(&stream("s"), Some(1)).expect("sealed");
        log.delete(&stream("deleted")).expect("deleted");
    }
    let before = subject.log().describe(&stream("s")).expect("it exists");
    subject.reopen();
    let log = subject.log();
    assert_eq!(log.describe(&stream("s")).expect("it exists"), before);
    assert_eq!(texts(&*log, &stream("s"), 0), [(2, "c".to_owned()), (3, "e".to_owned())]);
    assert!(log.append(&stream("s"), batch(&[(1, "x")], 30)).is_err(), "the seal stands");
    assert!(log.describe(&stream("deleted")).is_err());
    assert!(super::send(&*log, &stream("s"), "p", 4, "e").expect("repeated").repeated);
    let next = log.append(&stream("s"), batch(&[(0, "f")], 30)).expect("appended");
    assert_eq!(next.ranges, [OffsetRange { partition: 0, first: 4, count: 1 }]);
}

fn what_is_missing_is_named(subject: &mut dyn Subject) {
    let log = subject.log();
    let id = stream("missing");
    let errors = [
        log.describe(&id).expect_err("missing"),
        log.append(&id, batch(&[(0, "a")], 1)).expect_err("missing"),
        log.read(&id, 0, 0, 1, 1).expect_err("missing"),
        log.seal(&id, None).expect_err("missing"),
        log.delete(&id).expect_err("missing"),
        log.watch(&id).expect_err("missing"),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.to_string(), "stream acme/missing: does not exist; create it first");
    }
}
