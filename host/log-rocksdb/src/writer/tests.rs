//! The writer thread: offsets, group commit, failed writes.

use std::sync::mpsc::{Receiver, sync_channel};

use bytes::Bytes;
use tidegate_log::sequence::MAX_PRODUCERS;
use tidegate_log::{AppendBatch, OffsetRange, Producer, Retention};

use super::*;
use crate::store::tests::counting;

fn stream() -> StreamId {
    StreamId { tenant: "acme".parse().unwrap(), name: "events".parse().unwrap() }
}

struct Bench {
    writer: Writer,
    queue: Queue<Command>,
    stream: Arc<Stream>,
}

impl Bench {
    fn new(store: Store) -> Self {
        let catalog = Catalog::load(&store).unwrap();
        let mut writer = Writer::new(Arc::new(store), Arc::new(catalog));
        let spec = StreamSpec { partitions: 2, retention: Retention::default(), max_record_bytes: 100 };
        let (reply, created) = sync_channel(1);
        writer.structure(StructureCommand::Create { id: stream(), spec, reply });
        assert_eq!(created.recv().unwrap().unwrap(), Created::New);
        let stream = writer.catalog.find(&stream()).unwrap();
        Self { writer, queue: Queue::new(1 << 20), stream }
    }

    fn send(&self, records: &[(u32, &'static str)], sequence: Option<u64>) -> Receiver<Result<Appended, LogError>> {
        self.send_as("p", records, sequence)
    }

    fn send_as(
        &self,
        producer: &str,
        records: &[(u32, &'static str)],
        sequence: Option<u64>,
    ) -> Receiver<Result<Appended, LogError>> {
        let records = records.iter().map(|(partition, text)| (*partition, Bytes::from_static(text.as_bytes())));
        let producer = Producer { name: producer.into(), sequence };
        let batch = AppendBatch { records: records.collect(), ingest_time: 1, producer, room: None };
        let (reply, answer) = sync_channel(1);
        let batch = Prepared::of(&self.stream, batch).unwrap();
        let stream = Arc::clone(&self.stream);
        self.queue.put(Command::Partition(PartitionCommand::Append { stream, batch, reply }), 100);
        answer
    }
}

fn range(partition: u32, first: u64, count: u64) -> OffsetRange {
    OffsetRange { partition, first, count }
}

#[test]
fn what_waits_is_written_with_one_sync_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (store, syncs) = counting(folder.path());
    let bench = Bench::new(store);
    let answers: Vec<_> = (0..20).map(|_| bench.send(&[(0, "a"), (1, "b"), (0, "c")], None)).collect();
    let before = syncs.count();
    bench.queue.close();
    bench.writer.run(&bench.queue);
    assert_eq!(syncs.count() - before, 1);
    for (answer, place) in answers.into_iter().zip(0..) {
        assert_eq!(answer.recv().unwrap().unwrap().ranges, [range(0, 2 * place, 2), range(1, place, 1)]);
    }
    assert_eq!(bench.stream.partition(0).unwrap().end, 40);
}

#[test]
fn commands_see_those_before_them_in_their_group() {
    let folder = tempfile::tempdir().unwrap();
    let (store, syncs) = counting(folder.path());
    let bench = Bench::new(store);
    let first = bench.send(&[(0, "a")], Some(7));
    let again = bench.send(&[(0, "a")], Some(7));
    let stale = bench.send(&[(0, "b")], Some(6));
    let (reply, sealed) = sync_channel(1);
    let seal = PartitionCommand::Seal { stream: Arc::clone(&bench.stream), partition: Some(0), reply };
    bench.queue.put(Command::Partition(seal), 1);
    let late = bench.send(&[(1, "c"), (0, "d")], Some(8));
    let before = syncs.count();
    bench.queue.close();
    bench.writer.run(&bench.queue);
    assert_eq!(syncs.count() - before, 1);
    sealed.recv().unwrap().unwrap();
    let first = first.recv().unwrap().unwrap();
    let again = again.recv().unwrap().unwrap();
    assert_eq!((first.ranges.clone(), again.ranges), (vec![range(0, 0, 1)], first.ranges));
    assert!(!first.repeated && again.repeated);
    assert!(matches!(stale.recv().unwrap(), Err(LogError::StaleSequence { sequence: 6, last: 7, .. })));
    assert!(matches!(late.recv().unwrap(), Err(LogError::Sealed { partition: 0, .. })));
    assert_eq!(bench.stream.partition(1).unwrap().end, 0, "nothing of a refused batch is there");
}

#[test]
fn a_deleted_stream_takes_nothing_that_was_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new(counting(folder.path()).0);
    let (reply, deleted) = sync_channel(1);
    let delete = StructureCommand::Delete { stream: Arc::clone(&bench.stream), reply };
    bench.queue.put(Command::Structure(delete), 1);
    let late = bench.send(&[(0, "a")], None);
    bench.queue.close();
    bench.writer.run(&bench.queue);
    deleted.recv().unwrap().unwrap();
    assert!(matches!(late.recv().unwrap(), Err(LogError::NotFound { .. })));
}

#[test]
fn a_stream_knows_so_many_producers_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new(counting(folder.path()).0);
    let known = MAX_PRODUCERS.to_string();
    let names = (0..=MAX_PRODUCERS).map(|number| number.to_string());
    let answers: Vec<_> = names.map(|name| (bench.send_as(&name, &[(0, "a")], Some(0)), name)).collect();
    let again = bench.send_as("0", &[(0, "b")], Some(1));
    bench.queue.close();
    bench.writer.run(&bench.queue);
    for (answer, name) in answers {
        let refused = matches!(answer.recv().unwrap(), Err(LogError::TooManyProducers { .. }));
        assert_eq!(refused, name == known, "producer {name}");
    }
    again.recv().unwrap().expect("one that is known goes on");
}

fn transact(bench: &mut Bench, act: Act) -> u64 {
    let (reply, answer) = sync_channel(1);
    let command = PartitionCommand::Transact { stream: Arc::clone(&bench.stream), act, reply };
    bench.writer.gather(command, &mut VecDeque::new());
    answer.recv().unwrap().unwrap()
}

fn staged(bench: &Bench, records: usize) -> Act {
    let records = (0..records).map(|place| (u32::from(place % 2 == 1), Bytes::from(vec![b'x'; 100]))).collect();
    let producer = Producer { name: "p".into(), sequence: None };
    let batch = AppendBatch { records, ingest_time: 1, producer, room: None };
    Act::Stage(transaction(), Prepared::of(&bench.stream, batch).unwrap())
}

fn transaction() -> TransactionId {
    TransactionId { writer: "w".into(), epoch: 1, number: 1 }
}

#[test]
fn a_commit_writes_one_small_value_for_each_partition_with_one_sync() {
    let folder = tempfile::tempdir().unwrap();
    let (store, syncs) = counting(folder.path());
    let mut bench = Bench::new(store);
    transact(&mut bench, Act::Begin(Begin { writer: "w".into(), epoch: 1, timeout_ms: None }));
    for _ in 0..3 {
        let act = staged(&bench, 10_000);
        assert_eq!(transact(&mut bench, act), 1);
    }
    let before = syncs.count();
    assert_eq!(transact(&mut bench, Act::Commit(transaction())), 1);
    assert_eq!(syncs.count() - before, 1);
    let store = &bench.writer.store;
    let mut records = store.range(store.records(), b"", vec![0xff], true);
    let mut lengths = Vec::new();
    while let Some((_, value)) = records.item() {
        lengths.push(value.len());
        records.next();
    }
    assert_eq!(lengths, [18, 18], "3 MB of records are not written again");
    assert_eq!(bench.stream.partition(1).unwrap().end, 15_000);
}

#[test]
fn a_hold_that_comes_after_a_cut_was_decided_is_respected() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = counting(folder.path());
    let mut bench = Bench::new(store);
    transact(&mut bench, Act::Begin(Begin { writer: "w".into(), epoch: 1, timeout_ms: None }));
    let act = staged(&bench, 10);
    transact(&mut bench, act);
    transact(&mut bench, Act::Commit(transaction()));
    transact(&mut bench, Act::Hold("job".into(), Some(vec![2, 5])));
    let cut = |partition| Cut { partition, start: 3, records: 3, bytes: 300, staged: vec![(0, 3)] };
    let (reply, answer) = sync_channel(1);
    let (stream, cuts) = (Arc::clone(&bench.stream), vec![cut(0), cut(1)]);
    bench.writer.gather(PartitionCommand::Trim { stream, cuts, reply }, &mut VecDeque::new());
    assert_eq!(answer.recv().unwrap().unwrap(), [cut(1)]);
    let starts = bench.stream.partitions().iter().map(|info| info.start).collect::<Vec<_>>();
    assert_eq!(starts, [0, 3]);
}
