//! Retention: only the oldest go, one by one, and readers are told.

use bytes::Bytes;

use super::{Case, Subject, batch, spec, stream, texts};
use crate::{Log, LogError, Retained, Retention, StreamSpec};

pub(super) const CASES: &[Case] = &[
    ("without bounds everything is kept", without_bounds_everything_is_kept),
    ("size drops the oldest records", size_drops_the_oldest_records),
    ("age drops the oldest records", age_drops_the_oldest_records),
    ("a young record protects those after it", a_young_record_protects_those_after_it),
    ("a reader of what was dropped is told", a_reader_of_what_was_dropped_is_told),
    ("retention cuts inside a large batch", retention_cuts_inside_a_large_batch),
];

fn make(log: &dyn Log, bytes: Option<u64>, age_ms: Option<u64>) {
    let spec = StreamSpec { retention: Retention { bytes, age_ms }, ..spec(2) };
    log.create(&stream("s"), &spec).expect("it is new");
}

fn without_bounds_everything_is_kept(subject: &mut dyn Subject) {
    let log = subject.log();
    make(&*log, None, None);
    log.append(&stream("s"), batch(&[(0, "a")], i64::MIN)).expect("appended");
    assert_eq!(log.retain(i64::MAX).expect("retained"), Retained::default());
    assert_eq!(texts(&*log, &stream("s"), 0).len(), 1);
}

fn size_drops_the_oldest_records(subject: &mut dyn Subject) {
    let log = subject.log();
    make(&*log, Some(5), None);
    log.append(&stream("s"), batch(&[(0, "aa"), (0, "bbb"), (1, "c")], 1)).expect("appended");
    assert_eq!(log.retain(1).expect("retained"), Retained::default(), "exactly the bound");
    log.append(&stream("s"), batch(&[(0, "d"), (0, "")], 1)).expect("appended");
    assert_eq!(log.retain(1).expect("retained"), Retained { records: 1, bytes: 2 });
    let info = log.describe(&stream("s")).expect("it exists").partitions[0];
    assert_eq!((info.start, info.end, info.bytes), (1, 4, 4));
    assert_eq!(texts(&*log, &stream("s"), 0), [(1, "bbb".into()), (2, "d".into()), (3, String::new())]);
    assert_eq!(texts(&*log, &stream("s"), 1).len(), 1, "each partition for itself");
    log.append(&stream("s"), batch(&[(0, "a record longer than the bound")], 1)).expect("appended");
    log.retain(1).expect("retained");
    let info = log.describe(&stream("s")).expect("it exists").partitions[0];
    assert_eq!((info.start, info.end, info.bytes, info.records()), (5, 5, 0, 0));
}

fn age_drops_the_oldest_records(subject: &mut dyn Subject) {
    let log = subject.log();
    make(&*log, None, Some(100));
    for time in [10, 20, 30] {
        log.append(&stream("s"), batch(&[(0, "x"), (0, "y")], time)).expect("appended");
    }
    assert_eq!(log.retain(110).expect("retained").records, 0, "exactly the bound");
    assert_eq!(log.retain(121).expect("retained"), Retained { records: 4, bytes: 4 });
    assert_eq!(texts(&*log, &stream("s"), 0).first().expect("two are kept").0, 4);
    assert_eq!(log.retain(1000).expect("retained").records, 2);
    let next = log.append(&stream("s"), batch(&[(0, "z")], 1000)).expect("appended");
    assert_eq!(next.ranges[0].first, 6, "offsets are never used again");
}

fn a_young_record_protects_those_after_it(subject: &mut dyn Subject) {
    let log = subject.log();
    make(&*log, None, Some(100));
    for time in [1, 500, 2] {
        log.append(&stream("s"), batch(&[(0, "x")], time)).expect("appended");
    }
    log.retain(400).expect("retained");
    assert_eq!(log.describe(&stream("s")).expect("it exists").partitions[0].start, 1);
}

fn a_reader_of_what_was_dropped_is_told(subject: &mut dyn Subject) {
    let log = subject.log();
    make(&*log, Some(1), None);
    log.append(&stream("s"), batch(&[(0, "a"), (0, "b"), (0, "c")], 1)).expect("appended");
    log.retain(1).expect("retained");
    let error = log.read(&stream("s"), 0, 1, 10, 10).expect_err("gone");
    assert!(matches!(error, LogError::Gone { partition: 0, from: 1, start: 2, .. }), "{error}");
    let chunk = log.read(&stream("s"), 0, 2, 10, 10).expect("kept");
    assert_eq!((chunk.records.len(), chunk.start), (1, 2));
}

fn retention_cuts_inside_a_large_batch(subject: &mut dyn Subject) {
    {
        let log = subject.log();
        make(&*log, Some(100_500), None);
        let mut large = batch(&[], 1);
        large.records = (0..500_u32).map(|place| (0, Bytes::from(format!("{place:01000}")))).collect();
        log.append(&stream("s"), large).expect("appended");
        assert_eq!(log.retain(1).expect("retained"), Retained { records: 400, bytes: 400_000 });
    }
    subject.reopen();
    let log = subject.log();
    let kept = texts(&*log, &stream("s"), 0);
    assert_eq!((kept.len(), kept[0].0), (100, 400));
    assert!(kept.iter().all(|(offset, text)| text.parse::<u64>().expect("a number") == *offset));
    assert_eq!(log.retain(1).expect("retained"), Retained::default());
}
