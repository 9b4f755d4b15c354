//! The simplest thing that a log could be: all records of a partition in a list that never shrinks.
//!
//! Written apart from every implementation, so that it agrees with them only where they agree with the contract.

use std::collections::BTreeMap;

use bytes::Bytes;
use tidegate_types::EventTime;

use crate::{AppendBatch, ErrorKind, Retention, StreamSpec};

/// A stream of the model.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) spec: StreamSpec,
    pub(super) partitions: Vec<Part>,
    /// By producer: the last sequence, the records' bytes and the answer (partition, first, count).
    pub(super) producers: BTreeMap<String, (u64, Vec<Bytes>, Ranges)>,
}

/// Partition, first offset, count.
pub(super) type Ranges = Vec<(u32, u64, u64)>;

#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    /// All records that ever were, at their offsets: bytes, ingest time, producer.
    pub(super) all: Vec<(Bytes, EventTime, String)>,
    /// So many were dropped.
    pub(super) start: usize,
    pub(super) sealed: bool,
}

impl Model {
    pub(super) fn new(spec: StreamSpec) -> Self {
        let partitions = (0..spec.partitions).map(|_| Part::default()).collect();
        Self { spec, partitions, producers: BTreeMap::new() }
    }

    /// The answer (repeated, ranges), or the kind of error. All streams keep `kept` bytes.
    pub(super) fn append(&mut self, batch: &AppendBatch, kept: u64) -> Result<(bool, Ranges), ErrorKind> {
        let limit = usize::try_from(self.spec.max_record_bytes).expect("a small number");
        let bytes: Vec<Bytes> = batch.records.iter().map(|(_, bytes)| bytes.clone()).collect();
        if bytes.is_empty() {
            return Err(ErrorKind::Invalid);
        }
        for (partition, bytes) in &batch.records {
            if *partition >= self.spec.partitions {
                return Err(ErrorKind::NotFound);
            }
            if bytes.len() > limit {
                return Err(ErrorKind::Invalid);
            }
        }
        if let (Some(sequence), Some((last, of_last, answer))) =
            (batch.producer.sequence, self.producers.get(&batch.producer.name))
        {
            if sequence == *last && bytes == *of_last {
                return Ok((true, answer.clone()));
            }
            if sequence <= *last {
                return Err(ErrorKind::Conflict);
            }
        }
        if batch.records.iter().any(|(partition, _)| self.part(*partition).sealed) {
            return Err(ErrorKind::Conflict);
        }
        let more: u64 = bytes.iter().map(|bytes| bytes.len() as u64).sum();
        if batch.room.is_some_and(|room| kept + more > room) {
            return Err(ErrorKind::Quota);
        }
        let before: Vec<usize> = self.partitions.iter().map(|part| part.all.len()).collect();
        for (partition, bytes) in &batch.records {
            let record = (bytes.clone(), batch.ingest_time, batch.producer.name.clone());
            self.partitions[place(*partition)].all.push(record);
        }
        let ranges = (0..).zip(self.partitions.iter().zip(before));
        let ranges =
            ranges.map(|(partition, (part, before))| (partition, before as u64, (part.all.len() - before) as u64));
        let ranges: Ranges = ranges.filter(|(_, _, count)| *count > 0).collect();
        if let Some(sequence) = batch.producer.sequence {
            self.producers.insert(batch.producer.name.clone(), (sequence, bytes, ranges.clone()));
        }
        Ok((false, ranges))
    }

    pub(super) fn part(&self, partition: u32) -> &Part {
        &self.partitions[place(partition)]
    }

    pub(super) fn seal(&mut self, partition: Option<u32>) {
        for (place, part) in (0..).zip(&mut self.partitions) {
            part.sealed |= partition.is_none_or(|partition| partition == place);
        }
    }

    /// How many records go.
    pub(super) fn retain(&mut self, now: EventTime) -> u64 {
        let Retention { bytes, age_ms } = self.spec.retention;
        let mut dropped = 0;
        for part in &mut self.partitions {
            let goes = |part: &Part| {
                let too_large = bytes.is_some_and(|limit| part.bytes() > limit);
                let age = age_ms.map(|age| EventTime::try_from(age).expect("a small number"));
                let too_old = |time: EventTime| age.is_some_and(|age| time + age < now);
                part.all.get(part.start).is_some_and(|(_, time, _)| too_large || too_old(*time))
            };
            while goes(part) {
                part.start += 1;
                dropped += 1;
            }
        }
        dropped
    }
}

impl Part {
    pub(super) fn bytes(&self) -> u64 {
        self.all[self.start..].iter().map(|(bytes, _, _)| bytes.len() as u64).sum()
    }
}

pub(super) fn place(partition: u32) -> usize {
    usize::try_from(partition).expect("a small number")
}
