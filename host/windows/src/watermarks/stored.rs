//! A source's watermarks as they are stored, so that a restored source goes on where the written one stood.
//!
//! A stored format. Everything that results depend on is in it, and everything that a report counts. The two queues are not:
//! they follow from the partitions. Invariant: a restore never moves the combined watermark back.
//!
//! What held a partition back because of the process that ended (backpressure, a pause) is released by the restore; what
//! follows from the data (drift) stays.

use std::collections::{BTreeSet, BinaryHeap};

use tidegate_types::batch::{index, index32};
use tidegate_types::stored::{Malformed, Read, Stored, put_bool, put_i64, put_len, put_u64};
use tidegate_types::{EventTime, NO_CLOCK, PartitionId, Watermark};

use super::{HeldBy, Partition, PartitionState, SourceWatermarks, Standing};
use crate::lateness::LatenessRecorder;

const VERSION: u8 = 1;

impl SourceWatermarks {
    /// Appends everything that a restored source goes on with.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        put_i64(out, self.combined.as_millis());
        put_i64(out, self.clock);
        put_bool(out, self.returned);
        put_bool(out, self.before_end.is_some());
        if let Some(standing) = &self.before_end {
            put_standing(out, standing);
        }
        put_len(out, self.partitions.len());
        self.partitions.iter().for_each(|partition| partition.write(out));
    }

    /// Goes on where the written source stood. This one MUST be fresh, of `partitions.len()` partitions; each names the
    /// partition that it was, by its number there, or none if it was added since.
    ///
    /// An added partition is assigned now and not heard: it holds the combined watermark where it is. On a wall clock an active
    /// partition counts as heard now: neither the time for which the job was down nor what it has not read yet is the
    /// partition's silence. A virtual clock stands where it stood.
    ///
    /// # Errors
    /// If it is not what [`SourceWatermarks::write`] writes, or has no such partitions. It MUST NOT be used then.
    pub fn restore(&mut self, stored: &mut Stored<'_>, partitions: &[Option<usize>]) -> Read<()> {
        debug_assert_eq!(partitions.len(), self.partitions.len(), "a source is restored with its partitions");
        if stored.byte()? != VERSION {
            return Err(Malformed::new("a source's watermarks of version 1"));
        }
        let wall = self.clock;
        self.combined = Watermark::at(stored.i64()?);
        self.clock = stored.i64()?.max(wall);
        self.returned = stored.bool()?;
        let before_end = if stored.bool()? { Some(standing(stored)?) } else { None };
        let count = stored.len()?;
        let mut old = Vec::with_capacity(count);
        for _ in 0..count {
            old.push(Some(Partition::read(stored, self.clock)?));
        }
        let added = partitions.contains(&None);
        self.partitions.clear();
        for was in partitions {
            let partition = match was {
                Some(was) => old.get_mut(*was).and_then(Option::take).ok_or(Malformed::new("a source's partition"))?,
                None => Partition::assigned(self.clock),
            };
            self.partitions.push(partition);
        }
        // Without a partition the least is another: it is to be taken at the next record.
        self.returned |= old.iter().any(Option::is_some);
        self.before_end = before_end.filter(|_| !added).map(|standing| renumbered(standing, partitions));
        self.line_up(wall);
        Ok(())
    }

    /// Makes the queues of the partitions. `wall`: what a wall clock reads.
    fn line_up(&mut self, wall: EventTime) {
        (self.idle_due, self.by_watermark) = (BTreeSet::new(), BinaryHeap::new());
        for id in 0..index32(self.partitions.len()) {
            let partition = self.partition_mut(id);
            if partition.is_active() {
                if wall != NO_CLOCK {
                    partition.silent_since = partition.silent_since.max(wall);
                }
                self.list(id);
                self.queue(id);
            }
        }
    }
}

impl Partition {
    fn write(&self, out: &mut Vec<u8>) {
        put_i64(out, self.watermark.as_millis());
        out.push(match self.state {
            PartitionState::Active => 0,
            PartitionState::Idle => 1,
            PartitionState::Ended => 2,
        });
        put_i64(out, self.silent_since);
        put_bool(out, self.holds.has(HeldBy::Drift));
        put_bool(out, self.holds.reasons().any(|by| by != HeldBy::Drift));
        self.lateness.write(out);
    }

    /// `clock`: where the restored clock stands.
    fn read(stored: &mut Stored<'_>, clock: EventTime) -> Read<Self> {
        let watermark = Watermark::at(stored.i64()?);
        let state = match stored.byte()? {
            0 => PartitionState::Active,
            1 => PartitionState::Idle,
            2 => PartitionState::Ended,
            _ => return Err(Malformed::new("a partition's state")),
        };
        let mut partition = Self { watermark, state, ..Self::assigned(stored.i64()?) };
        let (by_drift, by_process) = (stored.bool()?, stored.bool()?);
        if by_drift {
            partition.holds.add(HeldBy::Drift);
        } else if by_process {
            partition.silent_since = clock;
        }
        partition.lateness = LatenessRecorder::read(stored)?;
        Ok(partition)
    }
}

fn put_standing(out: &mut Vec<u8>, standing: &Standing) {
    put_i64(out, standing.watermark.as_millis());
    put_i64(out, standing.clock);
    put_bool(out, standing.slowest.is_some());
    if let Some((id, watermark)) = standing.slowest {
        put_u64(out, id.0.into());
        put_i64(out, watermark.as_millis());
    }
}

fn standing(stored: &mut Stored<'_>) -> Read<Standing> {
    let watermark = Watermark::at(stored.i64()?);
    let clock = stored.i64()?;
    let slowest = if stored.bool()? { Some((PartitionId(stored.u32()?), Watermark::at(stored.i64()?))) } else { None };
    Ok(Standing { watermark, clock, slowest })
}

/// A standing with the numbers that its partitions have now.
fn renumbered(standing: Standing, partitions: &[Option<usize>]) -> Standing {
    let slowest = standing.slowest.and_then(|(id, watermark)| {
        let now = partitions.iter().position(|was| *was == Some(index(id.0)))?;
        Some((PartitionId(index32(now)), watermark))
    });
    Standing { slowest, ..standing }
}

#[cfg(test)]
mod tests;
