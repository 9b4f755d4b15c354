//! Streams of the log as a job's source and sinks.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_formats::SideRecord;
use tidegate_log::{AppendBatch, Log, LogError, MemoryLog, Producer, Retention, StreamId, StreamSpec};
use tidegate_types::{
    Clock, Column, Emitted, EventTime, PaneBatch, PaneFields, PaneInfo, PaneOp, PartitionId, ResultFields, RowBatch,
    Stamp, Stamping, Timing, Value, ValueRef, Watermark,
};

use super::*;
use crate::{ResultSink, SideSink, SinkError, Source, SourceBatch, SourceError, StopFlag};

mod resuming;
mod several;
mod transactions;

struct Fixed(EventTime);

impl Clock for Fixed {
    fn now(&self) -> EventTime {
        self.0
    }
}

fn stream() -> StreamId {
    StreamId { tenant: "acme".parse().unwrap(), name: "events".parse().unwrap() }
}

fn log(partitions: u32, retention: Retention) -> Arc<MemoryLog> {
    let log = Arc::new(MemoryLog::new());
    log.create(&stream(), &StreamSpec { partitions, retention, max_record_bytes: 1000 }).unwrap();
    log
}

fn append(log: &MemoryLog, records: &[(u32, &str)], ingest_time: EventTime) {
    let records = records.iter().map(|(partition, text)| (*partition, Bytes::copy_from_slice(text.as_bytes())));
    let producer = Producer { name: "p".into(), sequence: None };
    log.append(&stream(), AppendBatch { records: records.collect(), ingest_time, producer, room: None }).unwrap();
}

fn open(log: &Arc<MemoryLog>, start: &Start) -> (LogSource, Arc<StopFlag>) {
    let stop = Arc::new(StopFlag::new());
    let log = Arc::clone(log) as Arc<dyn Log>;
    (LogSource::open(log, stream(), start, Arc::clone(&stop)).unwrap(), stop)
}

/// Records (text, partition, offset) and ends (partition, records before it) of a source that ends.
type Everything = (Vec<(String, u32, u64)>, Vec<(u32, usize)>);

fn read_all(source: &mut LogSource, max_rows: usize, max_bytes: usize) -> Everything {
    let (mut records, mut ends) = (Vec::new(), Vec::new());
    loop {
        let batch = source.read(max_rows, max_bytes).unwrap();
        assert!(batch.spans.len() <= max_rows && (!batch.spans.is_empty() || !batch.ended.is_empty()));
        ends.extend(batch.ended.iter().map(|(at, id)| (id.0, records.len() + usize::try_from(*at).unwrap())));
        records.extend(texts(&batch));
        if batch.done {
            return (records, ends);
        }
    }
}

fn texts(batch: &SourceBatch) -> Vec<(String, u32, u64)> {
    let text = |(start, end): (u32, u32)| {
        let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
        String::from_utf8(batch.data[range].to_vec()).unwrap()
    };
    let records = batch.spans.iter().zip(&batch.partition).zip(&batch.offsets);
    records.map(|((span, partition), offset)| (text(*span), partition.unwrap().0, *offset)).collect()
}

#[test]
fn order_and_ends_do_not_depend_on_where_batches_are_cut() {
    let log = log(4, Retention::default());
    for number in 0..700 {
        append(&log, &[(0, &format!("a{number}")), (2, &format!("b{number}"))], 1);
    }
    append(&log, &[(3, "c")], 1);
    log.seal(&stream(), None).unwrap();
    let read = |rows, bytes| read_all(&mut open(&log, &Start::Earliest).0, rows, bytes);
    let whole = read(10_000, 1 << 20);
    assert_eq!((whole.0.len(), whole.1.len()), (1401, 4));
    assert_eq!(whole.1[0], (1, 256), "an empty sealed partition ends at its first turn");
    for (rows, bytes) in [(1, 1 << 20), (7, 1 << 20), (256, 1 << 20), (10_000, 1), (10_000, 33)] {
        assert_eq!(read(rows, bytes), whole, "at most {rows} records and {bytes} bytes");
    }
    for partition in [0, 2] {
        let offsets = whole.0.iter().filter(|(_, of, _)| *of == partition).map(|(_, _, offset)| *offset);
        assert!(offsets.eq(0..700));
    }
    let longest = whole.0.chunk_by(|a, b| a.1 == b.1).map(<[_]>::len).max();
    assert_eq!(longest, Some(256), "no partition runs far ahead");
}

#[test]
fn waits_for_records_and_for_the_seal() {
    let log = log(2, Retention::default());
    let (mut source, _stop) = open(&log, &Start::Earliest);
    assert_eq!(source.partitions(), [Value::Int(0), Value::Int(1)]);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_all(&mut source, 100, 1 << 20));
        for number in 0..50 {
            append(&log, &[(number % 2, &number.to_string())], 1);
        }
        log.seal(&stream(), Some(1)).unwrap();
        append(&log, &[(0, "last")], 1);
        log.seal(&stream(), Some(0)).unwrap();
        let (records, ends) = reader.join().unwrap();
        assert_eq!((records.len(), ends.len()), (51, 2));
    });
    let after = source.read(100, 100).unwrap();
    assert!(after.done && after.ended.is_empty() && after.spans.is_empty());
}

#[test]
fn a_partition_that_is_sealed_later_ends_by_itself() {
    let log = log(1, Retention::default());
    append(&log, &[(0, "a")], 1);
    let (mut source, _stop) = open(&log, &Start::Earliest);
    let first = source.read(100, 100).unwrap();
    assert!(!first.done && first.ended.is_empty());
    log.seal(&stream(), None).unwrap();
    let last = source.read(100, 100).unwrap();
    assert_eq!((last.spans.len(), last.ended, last.done), (0, vec![(0, PartitionId(0))], true));
}

#[test]
fn a_stop_wakes_a_reader_that_waits() {
    let log = log(3, Retention::default());
    let (mut source, stop) = open(&log, &Start::Earliest);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| source.read(100, 100).unwrap_err());
        stop.stop();
        let error = reader.join().unwrap();
        assert!(error.is_stopped(), "{error}");
    });
    let stopped = LogSource::open(Arc::clone(&log) as Arc<dyn Log>, stream(), &Start::Earliest, stop);
    assert!(stopped.unwrap().read(1, 1).unwrap_err().is_stopped());
}

#[test]
fn what_retention_drops_before_the_first_read_is_not_missed() {
    let log = log(2, Retention { bytes: Some(2), age_ms: None });
    append(&log, &[(0, "a"), (0, "b"), (0, "c"), (1, "x")], 1);
    let (mut source, _stop) = open(&log, &Start::Earliest);
    let (mut told, _other) = open(&log, &Start::At(vec![0, 0]));
    log.retain(1).unwrap();
    let read = source.read(100, 1 << 20).unwrap();
    assert_eq!(texts(&read), [("b".into(), 0, 1), ("c".into(), 0, 2), ("x".into(), 1, 0)]);
    assert!(matches!(told.read(100, 1 << 20), Err(SourceError::Overtaken { partition: 0, from: 0, start: 1, .. })));
    // What is dropped later is.
    append(&log, &[(0, "d"), (0, "e"), (0, "f")], 1);
    log.retain(1).unwrap();
    let error = source.read(100, 1 << 20).unwrap_err();
    assert!(matches!(error, SourceError::Overtaken { partition: 0, from: 3, start: 4, .. }), "{error}");
}

#[test]
fn begins_where_it_is_told() {
    let log = log(2, Retention::default());
    append(&log, &[(0, "a"), (0, "b"), (1, "c")], 1);
    log.seal(&stream(), None).unwrap();
    let (records, _) = read_all(&mut open(&log, &Start::At(vec![1, 1])).0, 100, 100);
    assert_eq!(records, [("b".to_owned(), 0, 1)]);
    let refused = LogSource::open(log, stream(), &Start::At(vec![1]), Arc::default()).err().unwrap();
    assert!(matches!(refused, SourceError::StartOffsets { partitions: 2, offsets: 1, .. }), "{refused}");
}

#[test]
fn a_reader_that_retention_overtook_is_told_where_and_what_to_do() {
    let log = log(1, Retention { bytes: Some(1), age_ms: None });
    append(&log, &[(0, "a")], 1);
    let (mut source, _stop) = open(&log, &Start::Earliest);
    source.read(1, 100).unwrap();
    append(&log, &[(0, "b"), (0, "c"), (0, "d")], 1);
    log.retain(1).unwrap();
    let error = source.read(1, 100).unwrap_err();
    assert!(matches!(error, SourceError::Overtaken { partition: 0, from: 1, start: 3, .. }));
    let said = error.to_string();
    assert!(said.starts_with("stream acme/events, partition 0: retention dropped records"), "{said}");
    assert!(said.contains("at offset 1, and the first that is kept is 3; submit the pipeline again"), "{said}");
    assert_eq!(read_first(&log), "d", "and from the earliest on it works");
}

fn read_first(log: &Arc<MemoryLog>) -> String {
    texts(&open(log, &Start::Earliest).0.read(1, 1).unwrap()).remove(0).0
}

#[test]
fn a_deleted_stream_ends_the_reader_with_an_error() {
    let log = log(1, Retention::default());
    let (mut source, _stop) = open(&log, &Start::Earliest);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| source.read(100, 100).unwrap_err());
        log.delete(&stream()).unwrap();
        let error = reader.join().unwrap();
        assert!(matches!(error, SourceError::Log { source: LogError::NotFound { .. }, .. }), "{error}");
    });
}

#[test]
fn positions_and_lag_follow_what_was_given_out() {
    let log = log(2, Retention::default());
    append(&log, &[(0, "a"), (0, "b")], 100);
    append(&log, &[(0, "c"), (1, "d")], 300);
    let (mut source, _stop) = open(&log, &Start::Earliest);
    let positions = source.positions();
    assert_eq!((positions.next(), positions.last_ingest()), (vec![0, 0], vec![None, None]));
    assert_eq!(Lag::total(&positions.lags(&*log, 1000).unwrap()), Lag { records: 4, age_ms: 900 });
    source.read(2, 100).unwrap();
    assert_eq!((positions.next(), positions.last_ingest()), (vec![2, 0], vec![Some(100), None]));
    assert_eq!(Lag::total(&positions.lags(&*log, 1000).unwrap()), Lag { records: 2, age_ms: 700 });
    source.read(100, 100).unwrap();
    assert_eq!(Lag::total(&positions.lags(&*log, 1000).unwrap()), Lag::default());
    append(&log, &[(1, "e")], 1100);
    assert_eq!(
        Lag::total(&positions.lags(&*log, 1000).unwrap()),
        Lag { records: 1, age_ms: 0 },
        "a clock that went back"
    );
}

fn panes(keys: &[&str]) -> PaneBatch {
    let info = |index| PaneInfo {
        window: Some((0, 60_000)),
        timing: Timing::OnTime,
        index,
        is_last: true,
        watermark: Watermark::at(60_000),
        op: PaneOp::Insert,
        fired_at: 60_500,
    };
    PaneBatch {
        keys: vec![Column::of_values(keys.iter().map(|key| ValueRef::Text(key)))],
        values: vec![Column::of_values((1..).take(keys.len()).map(ValueRef::Int))],
        infos: (0..).take(keys.len()).map(info).collect(),
        order: None,
    }
}

fn fields() -> ResultFields {
    PaneFields { keys: vec!["k".into()], values: vec!["n".into()] }.into()
}

fn sink(log: &Arc<MemoryLog>, fields: &ResultFields, stamping: Stamping) -> LogResultSink {
    let log = Arc::clone(log) as Arc<dyn Log>;
    LogResultSink::open(log, stream(), "job".into(), Arc::new(Fixed(77)), fields, stamping).unwrap()
}

fn kept(log: &MemoryLog, partition: u32) -> Vec<String> {
    let chunk = log.read(&stream(), partition, 0, 1000, 1 << 20).unwrap();
    chunk.records.iter().map(|record| String::from_utf8(record.bytes.to_vec()).unwrap()).collect()
}

#[test]
fn panes_of_a_key_stay_in_order_in_one_partition() {
    let log = log(3, Retention::default());
    let mut sink = sink(&log, &fields(), Stamping::default());
    let keys: Vec<String> = (0..300).map(|number| format!("key {}", number % 40)).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    sink.write_panes(&panes(&keys)).unwrap();
    assert!((0..3).all(|partition| kept(&log, partition).is_empty()), "small batches wait for the flush");
    sink.flush().unwrap();
    let all: Vec<Vec<String>> = (0..3).map(|partition| kept(&log, partition)).collect();
    assert_eq!(all.iter().map(Vec::len).sum::<usize>(), 300);
    assert!(all.iter().all(|partition| partition.len() > 40), "keys are spread");
    let of_key = |key: &str| {
        let mark = format!("{{\"k\":\"{key}\",");
        let with = all.iter().filter(|partition| partition.iter().any(|line| line.starts_with(&mark)));
        assert_eq!(with.clone().count(), 1, "{key} has one partition");
        with.flatten().filter(|line| line.starts_with(&mark)).cloned().collect::<Vec<_>>()
    };
    let lines = of_key("key 7");
    let expected = "{\"k\":\"key 7\",\"window_start\":\"1970-01-01T00:00:00Z\",\"window_end\":\"1970-01-01T00:01:00Z\",\
        \"n\":8,\"pane\":{\"timing\":\"ON_TIME\",\"index\":7,\"is_last\":true},\"watermark\":\"1970-01-01T00:01:00Z\"}";
    assert_eq!(lines[0], expected);
    assert!(lines.len() >= 7 && lines[1].contains("\"n\":48,"));
    let stored = log.read(&stream(), 0, 0, 1, 1).unwrap().records.remove(0);
    assert_eq!((stored.ingest_time, &*stored.producer), (77, "job"));
}

#[test]
fn stamped_panes_say_how_new_they_are() {
    let log = log(1, Retention::default());
    let stamp = Stamp { version: true, completeness: true, generated_at: true };
    let mut sink = sink(&log, &fields(), Stamping { stamp, precedence: -1, restore_epoch: 3 });
    sink.write_panes(&panes(&["a"])).unwrap();
    sink.flush().unwrap();
    let expected = concat!(
        r#"{"k":"a","window_start":"1970-01-01T00:00:00Z","window_end":"1970-01-01T00:01:00Z","n":1,"#,
        r#""pane":{"timing":"ON_TIME","index":0,"is_last":true},"watermark":"1970-01-01T00:01:00Z","#,
        r#""version":{"precedence":-1,"restore_epoch":3,"pane_index":0},"completeness":"on_time","#,
        r#""generated_at":"1970-01-01T00:01:00.500Z"}"#
    );
    assert_eq!(kept(&log, 0), [expected]);
}

#[test]
fn rows_go_to_the_partition_of_their_emitting_key_else_of_their_fields() {
    let rows = |keys: Option<[&str; 3]>| RowBatch {
        columns: vec![Column::of_values([1, 2, 1].map(ValueRef::Int))],
        times: vec![0, 1, 2],
        watermarks: vec![Watermark::MIN; 3],
        emitted_at: vec![5; 3],
        order: keys
            .map(|keys| Emitted { positions: vec![0, 1, 2], keys: keys.map(|key| key.as_bytes().into()).to_vec() }),
    };
    let partitions = |batch: &RowBatch| {
        let log = log(16, Retention::default());
        let mut sink = sink(&log, &ResultFields::Rows(vec!["n".into()]), Stamping::default());
        sink.write_rows(batch).unwrap();
        sink.flush().unwrap();
        (0..16).map(|partition| kept(&log, partition)).filter(|lines| !lines.is_empty()).collect::<Vec<_>>()
    };
    let row = |n, at| format!("{{\"n\":{n},\"time\":\"1970-01-01T00:00:00{at}Z\",\"watermark\":null}}");
    let (first, second, third) = (row(1, ""), row(2, ".001"), row(1, ".002"));
    assert_eq!(partitions(&rows(Some(["k"; 3]))), [vec![first.clone(), second.clone(), third.clone()]]);
    let mut by_fields = partitions(&rows(None));
    by_fields.sort_by_key(Vec::len);
    assert_eq!(by_fields, [vec![second], vec![first, third]], "equal rows stay together");
}

#[test]
fn many_panes_are_appended_before_the_flush() {
    let log = log(1, Retention::default());
    let mut sink = sink(&log, &fields(), Stamping::default());
    for _ in 0..20 {
        sink.write_panes(&panes(&["a"; 100])).unwrap();
    }
    let held = 2000 - log.describe(&stream()).unwrap().partitions[0].end;
    assert!(held < 2000, "memory does not grow until the flush");
}

#[test]
fn side_records_are_json_objects_and_a_long_one_is_left_out_not_fatal() {
    let log = log(1, Retention::default());
    let clock = Arc::new(Fixed(1));
    let mut sink = LogSideSink::open(Arc::clone(&log) as Arc<dyn Log>, stream(), "job".into(), clock).unwrap();
    let record = SideRecord {
        reason: "too-late",
        partition: ValueRef::Int(2),
        offset: Some(9),
        record: Some(b"{\"a\":1}"),
        ..SideRecord::default()
    };
    sink.write(&record).unwrap();
    let long = vec![b'x'; 2000];
    sink.write(&SideRecord { reason: "record-too-long", record: Some(&long), ..record }).unwrap();
    sink.flush().unwrap();
    let lines = kept(&log, 0);
    assert_eq!(lines[0], "{\"reason\":\"too-late\",\"partition\":2,\"offset\":9,\"record\":{\"a\":1}}");
    let left_out = "\"record\":null,\"detail\":\"record-too-long (the record of 2000 bytes is left out";
    assert!(lines[1].contains(left_out), "{}", lines[1]);
}

#[test]
fn a_sink_says_which_stream_refused() {
    let log = log(1, Retention::default());
    let mut sink = sink(&log, &fields(), Stamping::default());
    let error = sink.write_panes(&panes(&[&"k".repeat(1000)])).unwrap_err();
    assert!(error.to_string().starts_with("stream acme/events: does not take"), "{error}");
    log.seal(&stream(), None).unwrap();
    sink.write_panes(&panes(&["a"])).unwrap();
    assert!(!sink.flush().unwrap_err().is_closed());
}

#[test]
fn a_sink_appends_nothing_for_which_its_tenant_has_no_room() {
    let log = log(1, Retention::default());
    let kept = {
        let log = Arc::clone(&log);
        move || log.describe(&stream()).unwrap().partitions[0].bytes
    };
    let open = || (Arc::clone(&log) as Arc<dyn Log>, Arc::new(Fixed(1)));
    let mut sink = sink(&log, &fields(), Stamping::default()).within(1_000);
    let error = loop {
        sink.write_panes(&panes(&["a"])).unwrap();
        if let Err(error) = sink.flush() {
            break error;
        }
        assert!(kept() <= 1_000, "no limit is met");
    };
    assert!(kept() > 500 && kept() <= 1_000, "{}", kept());
    assert!(matches!(error, SinkError::Log { source: LogError::NoRoom { room: 1_000, .. }, .. }), "{error}");
    let (into, clock) = open();
    let mut side = LogSideSink::open(into, stream(), "job".into(), clock).unwrap().within(1_000);
    let long = [b'x'; 900];
    side.write(&SideRecord { reason: "too-late", record: Some(&long), ..SideRecord::default() }).unwrap();
    assert!(matches!(side.flush(), Err(SinkError::Log { source: LogError::NoRoom { .. }, .. })));
}
