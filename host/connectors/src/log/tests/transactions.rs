//! Transactional sinks: readers see every record of committed intervals once, in order, and no other.

use tidegate_log::contract::{Chance, seeds};

use super::super::writer::Writer;
use super::*;
use crate::{Prepared, Transactional};

const PARTITIONS: u32 = 2;

fn writer_of(epoch: u64) -> Transactional {
    Transactional { writer: "job/sink".into(), epoch, timeout_ms: None }
}

fn start(log: &Arc<MemoryLog>, epoch: u64, prepared: Option<&Prepared>) -> Writer {
    let into = Arc::clone(log) as Arc<dyn Log>;
    let mut writer = Writer::open(into, stream(), "job:a".into(), Arc::new(Fixed(1))).unwrap();
    writer.stage_as(writer_of(epoch));
    writer.recover(prepared).unwrap();
    writer
}

/// A checkpoint of the job: how many records it had written, and what the sink said.
#[derive(Clone)]
struct Saved {
    written: u64,
    prepared: Option<Prepared>,
}

/// A job that writes the numbers 0, 1, 2 …, each into its partition, and is killed at any moment.
struct Job {
    log: Arc<MemoryLog>,
    writer: Writer,
    epoch: u64,
    written: u64,
    checkpoint: u64,
    /// The last first.
    saved: Vec<Saved>,
    committed: u64,
}

impl Job {
    fn put(&mut self, count: u64) {
        for number in self.written..self.written + count {
            let partition = u32::try_from(number.wrapping_mul(7) / 3 % u64::from(PARTITIONS)).unwrap();
            self.writer.put(partition, Bytes::from(number.to_string())).unwrap();
        }
        self.written += count;
    }

    /// A checkpoint, of which so many steps are done: prepare, save, commit.
    fn checkpoint(&mut self, steps: u64) {
        self.checkpoint += 1;
        let prepared = self.writer.prepare(self.checkpoint).unwrap();
        if steps >= 2 {
            self.saved.insert(0, Saved { written: self.written, prepared });
            self.saved.truncate(3);
        }
        if steps >= 3 {
            self.writer.commit(self.checkpoint).unwrap();
            self.committed = self.committed.max(self.written);
        }
    }

    /// Killed and started again, from the newest checkpoint or, if that is damaged, an older one.
    fn crash(&mut self, damaged: usize) {
        self.saved.drain(..damaged.min(self.saved.len().saturating_sub(1)));
        self.epoch += 1;
        let from = self.saved.first().cloned();
        self.writer = start(&self.log, self.epoch, from.as_ref().and_then(|saved| saved.prepared.as_ref()));
        self.written = from.map_or(0, |saved| saved.written);
        self.committed = self.committed.max(self.written);
    }

    /// What readers see is every number below `committed`, each once, each partition's in order.
    fn check(&self) {
        let mut seen = Vec::new();
        for partition in 0..PARTITIONS {
            let numbers: Vec<u64> = all(&self.log, partition);
            assert!(numbers.is_sorted(), "partition {partition} is in order");
            seen.extend(numbers);
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..self.committed), "every number below {} once", self.committed);
    }
}

fn all(log: &MemoryLog, partition: u32) -> Vec<u64> {
    let chunk = log.read(&stream(), partition, 0, usize::MAX, usize::MAX).unwrap();
    let number = |bytes: &[u8]| std::str::from_utf8(bytes).unwrap().parse().unwrap();
    chunk.records.iter().map(|record| number(&record.bytes)).collect()
}

#[test]
fn readers_see_what_was_committed_once_and_in_order_whatever_crashes() {
    let (mut crashes, mut damages) = (0, 0);
    for seed in seeds(120) {
        println!("seed {seed} (replay: SEED={seed})");
        let chance = &mut Chance::of_seed(seed);
        let log = log(PARTITIONS, Retention::default());
        let (writer, saved) = (start(&log, 1, None), Vec::new());
        let mut job = Job { log, writer, epoch: 1, written: 0, checkpoint: 0, saved, committed: 0 };
        for _ in 0..60 {
            match chance.below(100) {
                0..40 => job.put(chance.clone().below(30)),
                40..45 => job.put(9000),
                45..55 => job.writer.flush().unwrap(),
                55..85 => job.checkpoint(1 + chance.below(3)),
                85..95 => {
                    job.crash(0);
                    crashes += 1;
                }
                _ => {
                    job.crash(1 + usize::from(chance.percent(30)));
                    damages += 1;
                }
            }
            let _ = chance.number();
            job.check();
        }
        // Whatever a run that was cut off had shown, the last one ends where an undisturbed one ends.
        while job.written < job.committed {
            job.put(1);
        }
        job.checkpoint(3);
        job.check();
        assert!(job.log.transactions(&stream()).unwrap().is_empty(), "nothing is left staged");
    }
    assert!(crashes > 100 && damages > 50, "{crashes} crashes, {damages} with a damaged checkpoint");
}

#[test]
fn a_transaction_that_is_lost_is_said_with_what_is_at_stake() {
    let log = log(PARTITIONS, Retention::default());
    let mut writer = start(&log, 4, None);
    for number in 0..5 {
        writer.put(0, Bytes::from(number.to_string())).unwrap();
    }
    let prepared = writer.prepare(1).unwrap();
    log.abort_transaction(&stream(), &log.transactions(&stream()).unwrap()[0].id).unwrap();
    let into = Arc::clone(&log) as Arc<dyn Log>;
    let mut again = Writer::open(into, stream(), "job:a".into(), Arc::new(Fixed(1))).unwrap();
    again.stage_as(writer_of(5));
    for error in [again.recover(prepared.as_ref()).unwrap_err(), writer.commit(1).unwrap_err()] {
        assert!(matches!(error, SinkError::TransactionLost { epoch: 4, transaction: 1, records: 5, .. }), "{error}");
        let said = error.to_string();
        assert!(said.starts_with("stream acme/events: 5 records that writer `job/sink` staged"), "{said}");
        assert!(said.contains("Submit the pipeline again with a higher `version`"), "{said}");
    }
    let early = again.put(0, Bytes::new()).and_then(|()| again.flush()).unwrap_err();
    assert!(matches!(early, SinkError::Log { source: LogError::NotBegun { .. }, .. }), "{early}");
}

#[test]
fn an_older_start_is_fenced() {
    let log = log(PARTITIONS, Retention::default());
    let mut old = start(&log, 1, None);
    old.put(0, Bytes::from_static(b"0")).unwrap();
    old.prepare(1).unwrap();
    let mut new = start(&log, 2, None);
    new.put(0, Bytes::from_static(b"0")).unwrap();
    new.prepare(1).unwrap();
    let error = old.commit(1).unwrap_err();
    assert!(matches!(error, SinkError::Log { source: LogError::Fenced { newer: 2, .. }, .. }), "{error}");
    old.put(0, Bytes::from_static(b"1")).unwrap();
    old.flush().unwrap_err();
    new.commit(1).unwrap();
    new.commit(1).unwrap();
    assert_eq!(all(&log, 0), [0]);
}

#[test]
fn results_and_side_records_are_seen_once_their_checkpoint_is_committed() {
    let log = log(1, Retention::default());
    let open = |epoch| {
        let of = |writer: &str| Transactional { writer: writer.into(), epoch, timeout_ms: None };
        let into = Arc::clone(&log) as Arc<dyn Log>;
        let side = LogSideSink::open(into, stream(), "job".into(), Arc::new(Fixed(1))).unwrap();
        let mut sides = SideByOperator::default();
        sides.add("counted".into(), Box::new(side.transactional(of("job/late"))));
        (sink(&log, &fields(), Stamping::default()).transactional(of("job/sink")), sides)
    };
    let (mut results, mut sides) = open(1);
    results.recover(None).unwrap();
    sides.recover(None).unwrap();
    results.write_panes(&panes(&["a"])).unwrap();
    sides.write(&SideRecord { reason: "too-late", operator: Some("counted"), ..SideRecord::default() }).unwrap();
    let prepared = (results.prepare(1).unwrap(), sides.prepare(1).unwrap());
    assert!(kept(&log, 0).is_empty());
    results.commit(1).unwrap();
    assert_eq!(kept(&log, 0).len(), 1);
    let (mut results, mut sides) = open(2);
    results.recover(prepared.0.as_ref()).unwrap();
    sides.recover(prepared.1.as_ref()).unwrap();
    assert_eq!(kept(&log, 0).len(), 2);
    let error = SideByOperator::default().recover(prepared.1.as_ref()).unwrap_err();
    assert!(error.to_string().contains("names operator `counted`, which has no side output any more"), "{error}");
    assert!(matches!(results.recover(Some(&Prepared(vec![9]))), Err(SinkError::Recover { .. })));
}

#[test]
fn other_sinks_are_flushed_by_a_checkpoint_and_have_nothing_to_recover() {
    let log = log(1, Retention::default());
    let mut results = sink(&log, &fields(), Stamping::default());
    results.recover(None).unwrap();
    results.write_panes(&panes(&["a"])).unwrap();
    assert_eq!(results.prepare(1).unwrap(), None);
    assert_eq!(kept(&log, 0).len(), 1);
    results.commit(1).unwrap();
}
