//! A writer of transactions that is killed: what its checkpoints name is seen once and in order, and nothing else ever.
//!
//! It writes the items 0, 1, 2 …, as a job writes its results: it stages some, says that a checkpoint is saved (the line is the
//! checkpoint: what arrived in the pipe was saved), and commits. Started again, it goes on from the last line. Now and then it
//! stages what it aborts.

use std::path::Path;

use bytes::Bytes;
use tidegate_log::contract::Chance;
use tidegate_log::{AppendBatch, Begin, Log, LogError, Producer, Retention, StreamSpec, TransactionId};
use tidegate_log_rocksdb::{RocksLog, RocksOptions};

use super::child::{say, told};
use super::work::stream;

const PARTITIONS: u32 = 2;
/// What aborted transactions hold.
const ABORTED: &str = "aborted";

/// What the parent remembers: the checkpoints, and how many items were said to be committed.
#[derive(Default)]
pub(crate) struct Checkpoints {
    saved: Vec<Saved>,
    pub(crate) committed: u64,
}

/// A checkpoint: the transaction that it names, and the items up to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Saved {
    epoch: u64,
    number: u64,
    items: u64,
}

impl Checkpoints {
    /// Takes a line of the child; whether it was for us.
    pub(crate) fn hear(&mut self, line: &str) -> bool {
        let numbers = |rest: &str| rest.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<u64>>();
        if let Some(rest) = line.strip_prefix("saved ") {
            let [epoch, number, items] = numbers(rest)[..] else { panic!("{line}") };
            self.saved.push(Saved { epoch, number, items });
        } else if let Some(rest) = line.strip_prefix("committed ") {
            self.committed = self.committed.max(numbers(rest)[0]);
        } else {
            return false;
        }
        true
    }

    /// What the next child has to be told.
    pub(crate) fn last(&self) -> String {
        let Saved { epoch, number, items } = self.saved.last().copied().unwrap_or_default();
        format!("{epoch} {number} {items}")
    }

    /// Whether the folder holds the items of all checkpoints but possibly the last one's, and nothing else.
    pub(crate) fn check(&self, folder: &Path) {
        let log = RocksLog::open(folder, &RocksOptions::default()).unwrap();
        if log.describe(&stream("results")).is_err() {
            assert!(self.saved.is_empty(), "the stream was there");
            return;
        }
        let mut seen = Vec::new();
        for partition in 0..PARTITIONS {
            let chunk = log.read(&stream("results"), partition, 0, usize::MAX, usize::MAX).unwrap();
            let items: Vec<u64> = chunk.records.iter().map(|record| item(&record.bytes)).collect();
            assert!(items.is_sorted(), "partition {partition} is in order");
            seen.extend(items);
        }
        seen.sort_unstable();
        let count = seen.len() as u64;
        assert!(seen.into_iter().eq(0..count), "every item up to {count} once");
        let ends = [self.saved.len().checked_sub(2), self.saved.len().checked_sub(1)];
        let may: Vec<u64> = ends.map(|place| place.map_or(0, |place| self.saved[place].items)).into();
        assert!(
            may.contains(&count) && count >= self.committed,
            "{count} items, {may:?}, {} committed",
            self.committed
        );
    }
}

fn item(bytes: &[u8]) -> u64 {
    let text = std::str::from_utf8(bytes).unwrap();
    assert_ne!(text, ABORTED, "what was aborted is seen");
    text.split(' ').next().unwrap().parse().unwrap()
}

/// The child's part: until it is killed or the log fails.
pub(crate) fn write_on(log: &RocksLog, round: u64) {
    let retention = Retention::default();
    let spec = StreamSpec { partitions: PARTITIONS, retention, max_record_bytes: 1 << 20 };
    let written = log.create(&stream("results"), &spec).and_then(|_| write(log, round));
    let error = written.expect_err("it ends by an error only");
    let lost = matches!(error, LogError::TransactionLost { .. } | LogError::Fenced { .. });
    assert!(!lost, "{error}");
}

fn write(log: &RocksLog, round: u64) -> Result<(), LogError> {
    let told = told("SAVED");
    let [epoch, number, mut items] = told.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<u64>>()[..] else {
        panic!("{told}");
    };
    let id = |epoch, number| TransactionId { writer: "job/sink".into(), epoch, number };
    if number > 0 {
        log.commit_transaction(&stream("results"), &id(epoch, number))?;
        say(&format!("committed {items}\n"));
    }
    let epoch = round + 1;
    let begin = Begin { writer: "job/sink".into(), epoch, timeout_ms: None };
    let committed = log.begin(&stream("results"), &begin)?;
    assert_eq!(committed, number, "what the checkpoint names is committed, and nothing behind it");
    let mut chance = Chance::of_seed(round);
    for number in committed + 1.. {
        if chance.percent(30) {
            stage(log, &id(epoch, number), &[(0, ABORTED.into()), (1, ABORTED.into())])?;
            log.abort_transaction(&stream("results"), &id(epoch, number))?;
        }
        for _ in 0..=chance.below(3) {
            let filler = "x".repeat(usize::try_from(chance.below(3000)).unwrap());
            let record = |item: u64| (u32::try_from(item % u64::from(PARTITIONS)).unwrap(), format!("{item} {filler}"));
            let more = 1 + chance.below(8);
            let records: Vec<_> = (items..items + more).map(record).collect();
            stage(log, &id(epoch, number), &records)?;
            items += more;
        }
        say(&format!("saved {epoch} {number} {items}\n"));
        log.commit_transaction(&stream("results"), &id(epoch, number))?;
        say(&format!("committed {items}\n"));
    }
    Ok(())
}

fn stage(log: &RocksLog, id: &TransactionId, records: &[(u32, String)]) -> Result<(), LogError> {
    let records = records.iter().map(|(partition, text)| (*partition, Bytes::from(text.clone()))).collect();
    let producer = Producer { name: "job".into(), sequence: None };
    log.stage(&stream("results"), id, AppendBatch { records, ingest_time: 1, producer, room: None })
}
