//! Whether a folder holds what was acknowledged, and nothing by halves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bytes::Bytes;
use tidegate_log::{Log, StreamId};
use tidegate_log_rocksdb::{RocksLog, RocksOptions};

use super::work::{Ack, PARTITIONS, batch, stream};

/// All records of a partition by offset.
type Records = BTreeMap<u64, Bytes>;

pub(crate) fn check(folder: &Path, acks: &[Ack]) {
    let log = RocksLog::open(folder, &RocksOptions::default()).unwrap();
    if log.describe(&stream("kept")).is_err() {
        assert!(acks.is_empty(), "the stream was acknowledged");
        return;
    }
    let partitions: Vec<Records> = (0..PARTITIONS).map(|partition| all(&log, &stream("kept"), partition)).collect();
    for ack in acks {
        check_ack(&partitions, ack);
    }
    check_batches(&partitions);
    if log.describe(&stream("trimmed")).is_ok() {
        let kept = all(&log, &stream("trimmed"), 0);
        assert!(kept.values().all(|bytes| bytes.len() == 5_000));
    }
}

/// Reads a partition from its start to its end; offsets have no gap and bytes are counted right.
fn all(log: &RocksLog, of: &StreamId, partition: u32) -> Records {
    let info = log.describe(of).unwrap().partitions[usize::try_from(partition).unwrap()];
    let mut records = Records::new();
    let mut next = info.start;
    while next < info.end {
        for record in log.read(of, partition, next, 1000, 1 << 20).unwrap().records {
            assert_eq!(record.offset, next);
            records.insert(next, record.bytes);
            next += 1;
        }
    }
    assert_eq!(info.bytes, records.values().map(|bytes| bytes.len() as u64).sum::<u64>());
    records
}

/// An acknowledged batch is at the offsets that were named.
fn check_ack(partitions: &[Records], ack: &Ack) {
    let mut there: Vec<(u32, Bytes)> = Vec::new();
    for (partition, first, count) in &ack.ranges {
        let records = &partitions[usize::try_from(*partition).unwrap()];
        let range = records.range(*first..first + count);
        there.extend(range.map(|(_, bytes)| (*partition, bytes.clone())));
    }
    let mut sent = batch(&ack.producer, ack.sequence).records;
    sent.sort_by_key(|(partition, _)| *partition);
    assert_eq!(there, sent, "{ack:?}");
}

/// Every batch of which a record is there is there once, whole, and in its producer's order.
fn check_batches(partitions: &[Records]) {
    let mut found: BTreeMap<(String, u64), Vec<(u32, Bytes)>> = BTreeMap::new();
    for (partition, records) in (0..).zip(partitions) {
        let mut last: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for bytes in records.values() {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let mut words = text.split(' ');
            let producer = words.next().unwrap().to_owned();
            let mut number = || words.next().unwrap().parse::<u64>().unwrap();
            let (sequence, place) = (number(), number());
            let before = last.insert(producer.clone(), (sequence, place));
            assert!(before < Some((sequence, place)), "{producer} {sequence} {place} comes after {before:?}");
            found.entry((producer, sequence)).or_default().push((partition, bytes.clone()));
        }
    }
    for ((producer, sequence), records) in &found {
        let mut sent = batch(producer, *sequence).records;
        sent.sort_by_key(|(partition, _)| *partition);
        assert_eq!(records, &sent, "batch {sequence} of {producer} is whole");
    }
    let producers: BTreeSet<&str> = found.keys().map(|(producer, _)| producer.as_str()).collect();
    for producer in producers {
        let last = found.keys().filter(|(of, _)| of == producer).map(|(_, sequence)| *sequence).max().unwrap();
        let missing = (0..=last).find(|sequence| !found.contains_key(&(producer.to_owned(), *sequence)));
        assert_eq!(missing, None, "{producer} sends a batch only after the one before it was acknowledged");
    }
}
