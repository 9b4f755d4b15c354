//! Several streams as one source: whose records come when, what wakes it, and how far behind each it is.

use super::*;

pub(super) fn named(name: &str) -> StreamId {
    StreamId { tenant: "acme".parse().unwrap(), name: name.parse().unwrap() }
}

/// A log with these streams of so many partitions.
pub(super) fn with_streams(streams: &[(&str, u32)]) -> Arc<MemoryLog> {
    let log = Arc::new(MemoryLog::new());
    for (name, partitions) in streams {
        let spec = StreamSpec { partitions: *partitions, retention: Retention::default(), max_record_bytes: 1000 };
        log.create(&named(name), &spec).unwrap();
    }
    log
}

pub(super) fn put(log: &MemoryLog, name: &str, partition: u32, text: &str, ingest_time: EventTime) {
    let records = vec![(partition, Bytes::copy_from_slice(text.as_bytes()))];
    let producer = Producer { name: "p".into(), sequence: None };
    log.append(&named(name), AppendBatch { records, ingest_time, producer, room: None }).unwrap();
}

pub(super) fn open_several(log: &Arc<MemoryLog>, names: &[&str]) -> (LogSource, Arc<StopFlag>) {
    let stop = Arc::new(StopFlag::new());
    let streams = names.iter().map(|name| (named(name), Start::Earliest)).collect();
    let log = Arc::clone(log) as Arc<dyn Log>;
    (LogSource::of_several(log, streams, Arc::clone(&stop)).unwrap(), stop)
}

#[test]
fn partitions_stand_in_the_order_of_the_streams_and_are_called_as_in_theirs() {
    let log = with_streams(&[("a", 2), ("b", 1), ("c", 3)]);
    let (source, _stop) = open_several(&log, &["b", "c", "a"]);
    assert_eq!(source.partitions(), [0, 0, 1, 2, 0, 1].map(Value::Int));
}

#[test]
fn each_partition_of_each_stream_has_its_turn_wherever_batches_are_cut() {
    let log = with_streams(&[("a", 1), ("b", 2)]);
    for number in 0..600 {
        put(&log, "a", 0, &format!("a{number}"), 1);
        put(&log, "b", 1, &format!("b{number}"), 1);
    }
    log.seal(&named("a"), None).unwrap();
    log.seal(&named("b"), None).unwrap();
    let read = |rows, bytes| read_all(&mut open_several(&log, &["a", "b"]).0, rows, bytes);
    let whole = read(10_000, 1 << 20);
    assert_eq!((whole.0.len(), whole.1.len()), (1200, 3));
    let turns: Vec<(u32, usize)> = whole.0.chunk_by(|a, b| a.1 == b.1).map(|turn| (turn[0].1, turn.len())).collect();
    assert_eq!(turns, [(0, 256), (2, 256), (0, 256), (2, 256), (0, 88), (2, 88)]);
    for (rows, bytes) in [(1, 1 << 20), (100, 1 << 20), (10_000, 50)] {
        assert_eq!(read(rows, bytes), whole, "at most {rows} records and {bytes} bytes");
    }
}

#[test]
fn a_stream_that_two_sources_read_is_read_twice() {
    let log = with_streams(&[("a", 1)]);
    put(&log, "a", 0, "x", 1);
    put(&log, "a", 0, "y", 1);
    log.seal(&named("a"), None).unwrap();
    let (records, ends) = read_all(&mut open_several(&log, &["a", "a"]).0, 100, 1 << 20);
    let expected = [("x", 0, 0), ("y", 0, 1), ("x", 1, 0), ("y", 1, 1)];
    assert_eq!(records, expected.map(|(text, partition, offset)| (text.to_owned(), partition, offset)));
    assert_eq!(ends.len(), 2);
}

#[test]
fn whichever_stream_gets_a_record_wakes_the_reader_and_each_ends_by_itself() {
    let log = with_streams(&[("a", 1), ("b", 1)]);
    let (mut source, _stop) = open_several(&log, &["a", "b"]);
    std::thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel();
        scope.spawn(move || {
            loop {
                let batch = source.read(100, 1 << 20).unwrap();
                let done = batch.done;
                let records: Vec<String> = texts(&batch).into_iter().map(|(text, ..)| text).collect();
                let _ = tell.send((records, batch.ended, done));
                if done {
                    return;
                }
            }
        });
        // The reader is asked again only once it has told, so that it waits, or is about to, at each act.
        let next = || told.recv_timeout(std::time::Duration::from_secs(60)).expect("the reader is woken");
        for (name, text) in [("b", "1"), ("a", "2"), ("b", "3")] {
            put(&log, name, 0, text, 1);
            assert_eq!(next(), (vec![text.to_owned()], vec![], false));
        }
        log.seal(&named("b"), None).unwrap();
        assert_eq!(next(), (vec![], vec![(0, PartitionId(1))], false));
        put(&log, "a", 0, "4", 1);
        assert_eq!(next(), (vec!["4".to_owned()], vec![], false));
        log.seal(&named("a"), None).unwrap();
        assert_eq!(next(), (vec![], vec![(0, PartitionId(0))], true));
    });
}

#[test]
fn a_stop_and_a_deletion_wake_a_reader_of_several_streams() {
    let log = with_streams(&[("a", 1), ("b", 1)]);
    let (mut stopped, stop) = open_several(&log, &["a", "b"]);
    let (mut bereft, _other) = open_several(&log, &["a", "b"]);
    std::thread::scope(|scope| {
        let stopped = scope.spawn(move || stopped.read(100, 100).unwrap_err());
        let bereft = scope.spawn(move || bereft.read(100, 100).unwrap_err());
        stop.stop();
        assert!(stopped.join().unwrap().is_stopped());
        log.delete(&named("b")).unwrap();
        let error = bereft.join().unwrap();
        assert!(error.to_string().starts_with("stream acme/b: cannot be read"), "{error}");
    });
}

#[test]
fn the_lag_of_each_stream_is_its_own() {
    let log = with_streams(&[("a", 1), ("b", 2)]);
    put(&log, "a", 0, "x", 100);
    put(&log, "b", 1, "y", 300);
    put(&log, "b", 1, "z", 400);
    let (mut source, _stop) = open_several(&log, &["a", "b"]);
    let positions = source.positions();
    let lag = |records, age_ms| Lag { records, age_ms };
    let lags = positions.lags(&*log, 1000).unwrap();
    assert_eq!((lags.as_slice(), Lag::total(&lags)), ([lag(1, 900), lag(2, 700)].as_slice(), lag(3, 900)));
    source.read(2, 1 << 20).unwrap();
    assert_eq!(positions.lags(&*log, 1000).unwrap(), [lag(0, 0), lag(1, 600)]);
    assert_eq!((positions.next(), positions.last_ingest()), (vec![1, 0, 1], vec![Some(100), None, Some(300)]));
}

#[test]
fn side_records_go_to_the_stream_of_their_operator() {
    let log = with_streams(&[("first", 1), ("second", 1)]);
    let mut outputs = SideByOperator::default();
    for (operator, name) in [("joined", "first"), ("counted", "second")] {
        let log = Arc::clone(&log) as Arc<dyn Log>;
        let sink = LogSideSink::open(log, named(name), "job".into(), Arc::new(Fixed(1))).unwrap();
        outputs.add(operator.into(), Box::new(sink));
    }
    for (operator, offset) in [("counted", 1), ("other", 2), ("joined", 3), ("counted", 4)] {
        let record =
            SideRecord { reason: "too-late", operator: Some(operator), offset: Some(offset), ..SideRecord::default() };
        outputs.write(&record).unwrap();
    }
    outputs.flush().unwrap();
    let offsets = |name: &str| -> Vec<u64> {
        let chunk = log.read(&named(name), 0, 0, 100, 1 << 20).unwrap();
        let texts = chunk.records.iter().map(|record| String::from_utf8(record.bytes.to_vec()).unwrap());
        let number = |text: String| {
            let (_, rest) = text.split_once("\"offset\":").unwrap();
            rest.split_once(',').unwrap().0.parse().unwrap()
        };
        texts.map(number).collect()
    };
    assert_eq!((offsets("first"), offsets("second")), (vec![3], vec![1, 4]), "what has no output is only counted");
}

#[test]
fn a_stream_that_is_not_there_is_named() {
    let log = with_streams(&[("a", 1)]);
    let streams = ["a", "b"].map(|name| (named(name), Start::Earliest)).to_vec();
    let error = LogSource::of_several(log, streams, Arc::default()).err().unwrap();
    assert!(error.to_string().starts_with("stream acme/b: cannot be read"), "{error}");
}
