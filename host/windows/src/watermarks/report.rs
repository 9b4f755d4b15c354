//! What a source shows of itself: its watermark, how far that lags, which partition holds it back, and how late records
//! are in each partition.
//!
//! A report is a copy, made when somebody asks; nothing in the way of a record depends on it.

use tidegate_types::{EventTime, NO_CLOCK, PartitionId, Watermark};

use super::{HeldBy, Partition, PartitionState, SourceWatermarks};
use crate::lateness::LatenessHistogram;

/// Where a watermark stands, and why there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The combined watermark.
    pub watermark: Watermark,
    /// The clock, or [`NO_CLOCK`].
    pub clock: EventTime,
    /// The active partition with the least watermark, and that; none if none is active.
    pub slowest: Option<(PartitionId, Watermark)>,
}

/// A source's watermarks.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceReport {
    /// Where the source stands.
    pub now: Standing,
    /// Where it stood when its last partition ended; none before.
    pub before_end: Option<Standing>,
    /// Its partitions, in order.
    pub partitions: Vec<PartitionReport>,
}

/// One partition of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionReport {
    /// Which.
    pub id: PartitionId,
    /// Its own watermark; the end of a partition does not move it.
    pub watermark: Watermark,
    /// Whether it counts.
    pub state: PartitionState,
    /// Why the engine does not read it; empty if it does.
    pub held_by: Vec<HeldBy>,
    /// The largest event time seen.
    pub newest: Option<EventTime>,
    /// How far its records, as many as the histogram counts, lay behind the newest before each.
    pub lateness: LatenessHistogram,
}

impl Standing {
    /// How far the watermark trails the clock, ms; negative if it is ahead. None while either is no time.
    #[must_use]
    pub fn lag(&self) -> Option<i64> {
        let watermark = self.watermark.finite()?;
        (self.clock != NO_CLOCK).then(|| self.clock.saturating_sub(watermark))
    }
}

impl SourceReport {
    /// The lateness of all partitions together, each record against its own partition.
    #[must_use]
    pub fn lateness(&self) -> LatenessHistogram {
        let mut all = LatenessHistogram::default();
        self.partitions.iter().for_each(|partition| all.merge(&partition.lateness));
        all
    }
}

impl SourceWatermarks {
    /// Where the source stands.
    #[must_use]
    pub fn standing(&self) -> Standing {
        Standing { watermark: self.combined, clock: self.clock, slowest: self.slowest() }
    }

    /// Everything that a source shows.
    #[must_use]
    pub fn report(&self) -> SourceReport {
        let partitions = self.partitions.iter().zip(0_u32..);
        SourceReport {
            now: self.standing(),
            before_end: self.before_end,
            partitions: partitions.map(|(partition, id)| partition.report(PartitionId(id))).collect(),
        }
    }
}

impl Partition {
    fn report(&self, id: PartitionId) -> PartitionReport {
        PartitionReport {
            id,
            watermark: self.watermark,
            state: self.state,
            held_by: self.holds.reasons().collect(),
            newest: self.lateness.newest(),
            lateness: self.lateness.histogram().clone(),
        }
    }
}

#[cfg(test)]
mod tests;
