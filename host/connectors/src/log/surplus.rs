//! What was committed behind the checkpoint from which a run starts: a later checkpoint was saved, its results were shown, and
//! then it turned out to be damaged. The run reads that part of its input again and writes those results again.
//!
//! Invariant: a record is left out only if the same one stands in the same partition and was not counted yet. So where the
//! replay gives what was given before, nothing is there twice; where it gives something else, nothing is missing.

use std::collections::BTreeMap;

use tidegate_log::{ErrorKind, Log, LogError, StreamId};
use tidegate_types::batch::{index, index32};
use tidegate_types::key_hash;

/// Records of one look.
const LOOK_RECORDS: usize = 1024;
/// Bytes of one look.
const LOOK_BYTES: usize = 1 << 20;
/// So many records more than there are to leave out are compared: a replay may give them in another order.
const SLACK: u64 = 1000;

/// Where a writer's records begin that a checkpoint does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// An offset of each partition before which it knows all.
    pub(super) from: Vec<u64>,
    /// So many of the writer's from there on it knows too.
    pub(super) own: Vec<u64>,
}

/// Records that are there already, by partition, hash and length.
#[derive(Debug, Default)]
pub(super) struct Surplus {
    records: BTreeMap<(u32, u64, usize), u64>,
    /// What a checkpoint that is taken now knows of them.
    written: Written,
    /// So many were not written again yet.
    missing: u64,
    /// So many records are still compared.
    left: u64,
}

impl Surplus {
    /// Reads what is there.
    pub(super) fn find(log: &dyn Log, stream: &StreamId, producer: &str, written: Written) -> Result<Self, LogError> {
        let mut surplus = Self::default();
        for (place, (from, own)) in written.from.iter().zip(&written.own).enumerate() {
            let partition = index32(place);
            let (mut next, mut own) = (*from, *own);
            // At each partition's end, or where it was dropped.
            loop {
                let chunk = match log.read(stream, partition, next, LOOK_RECORDS, LOOK_BYTES) {
                    Ok(chunk) => chunk,
                    // What was dropped cannot be told apart any more: written twice is better than not at all.
                    Err(error) if error.kind() == ErrorKind::Gone => break,
                    Err(error) => return Err(error),
                };
                let Some(last) = chunk.records.last() else { break };
                next = last.offset + 1;
                for record in chunk.records.iter().filter(|record| &*record.producer == producer) {
                    if own > 0 {
                        own -= 1;
                    } else {
                        surplus.add(partition, &record.bytes);
                    }
                }
            }
        }
        surplus.left = if surplus.missing == 0 { 0 } else { 2 * surplus.missing + SLACK };
        surplus.written = written;
        Ok(surplus)
    }

    fn add(&mut self, partition: u32, record: &[u8]) {
        *self.records.entry((partition, key_hash(record), record.len())).or_default() += 1;
        self.missing += 1;
    }

    /// Whether a record is there: it counts once.
    pub(super) fn take(&mut self, partition: u32, record: &[u8]) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let key = (partition, key_hash(record), record.len());
        let is_there = self.records.get_mut(&key).is_some_and(|count| {
            let is_there = *count > 0;
            *count -= u64::from(is_there);
            is_there
        });
        if is_there {
            self.missing -= 1;
            self.written.own[index(partition)] += 1;
        }
        if self.left == 0 || self.missing == 0 {
            *self = Self::default();
        }
        is_there
    }

    /// What a checkpoint that is taken now knows of what is there, if some of it was not written again yet.
    pub(super) fn written(&self) -> Option<&Written> {
        (self.left > 0).then_some(&self.written)
    }
}
