//! The watermark of a source: one per partition, the minimum over the active ones (docs/semantics.md, 2).
//!
//! Invariants: the combined watermark never moves backwards; a partition that was assigned and has produced nothing
//! counts as minus infinity; a partition that is idle or has ended does not count; when no partition counts, the
//! watermark stays where it is, until every partition has ended, which makes it plus infinity.
//!
//! Idleness falls due at exact instants of the clock that callers hand in. What happens on the way to a later reading is
//! told instant by instant, earliest first, so that a virtual clock gives the same run for every cut of the input.

use std::collections::BTreeSet;

use tidegate_pipeline::{Strategy, WatermarkSpec};
use tidegate_types::{EventTime, NO_CLOCK, PartitionId, Watermark};

/// From when the timeout of a partition without any record runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockStart {
    /// A virtual clock stands nowhere until the first arrival is read; the timeout runs from there.
    FirstArrival,
    /// A wall clock: the timeout runs from the assignment, at this reading.
    Assignment(EventTime),
}

#[derive(Debug, Clone)]
struct Partition {
    watermark: Watermark,
    state: Liveness,
    /// When it was last heard (or assigned); [`NO_CLOCK`] until the clock stands somewhere.
    heard: EventTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Liveness {
    Active,
    Idle,
    Ended,
}

/// The watermarks of a source's partitions and what they combine to.
#[derive(Debug, Clone)]
pub struct SourceWatermarks {
    strategy: Strategy,
    idle_timeout: Option<i64>,
    partitions: Vec<Partition>,
    /// `(due, partition)` of each active partition, if there is a timeout and the clock stands somewhere.
    idle_due: BTreeSet<(EventTime, u32)>,
    clock: EventTime,
    combined: Watermark,
    /// Whether a partition came back from idleness since the minimum was last taken.
    returned: bool,
}

impl SourceWatermarks {
    /// Watermarks of `partitions` partitions, all assigned now and none heard.
    #[must_use]
    pub fn new(spec: &WatermarkSpec, partitions: usize, start: ClockStart) -> Self {
        let fresh = Partition { watermark: Watermark::MIN, state: Liveness::Active, heard: NO_CLOCK };
        let mut watermarks = Self {
            strategy: spec.strategy.clone(),
            idle_timeout: spec.idle_partition_timeout.map(|timeout| timeout.0),
            partitions: vec![fresh; partitions],
            idle_due: BTreeSet::new(),
            clock: NO_CLOCK,
            combined: Watermark::MIN,
            returned: false,
        };
        if let ClockStart::Assignment(now) = start {
            watermarks.start_clock(now);
        }
        if watermarks.partitions.is_empty() {
            watermarks.combined = Watermark::MAX;
        }
        watermarks
    }

    /// The combined watermark.
    #[must_use]
    pub fn combined(&self) -> Watermark {
        self.combined
    }

    /// The clock's last reading, or [`NO_CLOCK`].
    #[must_use]
    pub fn clock(&self) -> EventTime {
        self.clock
    }

    /// The active partition that holds the combined watermark back, and its own watermark.
    #[must_use]
    pub fn slowest(&self) -> Option<(PartitionId, Watermark)> {
        let active = self.partitions.iter().zip(0_u32..).filter(|(partition, _)| partition.state == Liveness::Active);
        active
            .min_by_key(|(partition, _)| partition.watermark)
            .map(|(partition, id)| (PartitionId(id), partition.watermark))
    }

    /// When the next partition falls idle if it stays silent.
    #[must_use]
    pub fn next_idle(&self) -> Option<EventTime> {
        self.idle_due.first().map(|(due, _)| *due)
    }

    /// Moves the clock to `to`, unless it stands later already, and calls `moved(instant, watermark)` for every instant
    /// on the way at which idleness moves the watermark, in order.
    pub fn advance_clock(&mut self, to: EventTime, mut moved: impl FnMut(EventTime, Watermark)) {
        if self.clock == NO_CLOCK {
            self.start_clock(to);
        }
        if to <= self.clock {
            return;
        }
        while let Some((due, _)) = self.idle_due.first().copied().filter(|(due, _)| *due <= to) {
            while let Some((_, id)) = self.idle_due.first().copied().filter(|(at, _)| *at == due) {
                self.idle_due.pop_first();
                self.partition_mut(id).state = Liveness::Idle;
            }
            if self.recombine() {
                moved(due, self.combined);
            }
        }
        self.clock = to;
    }

    /// The partition gave a record with a valid time: it is active, and its timeout starts again.
    ///
    /// This alone does not move the combined watermark.
    pub fn hear(&mut self, id: PartitionId) {
        let clock = self.clock;
        let partition = self.partition_mut(id.0);
        if partition.state == Liveness::Ended {
            return;
        }
        let returned = partition.state == Liveness::Idle;
        partition.state = Liveness::Active;
        let before = std::mem::replace(&mut partition.heard, clock);
        self.returned |= returned;
        if let Some(timeout) = self.idle_timeout
            && before != clock
        {
            self.idle_due.remove(&(before.saturating_add(timeout), id.0));
            self.idle_due.insert((clock.saturating_add(timeout), id.0));
        }
    }

    /// A record of the partition, at `time`, was seen; `claim` is what a punctuated source's field says.
    ///
    /// Returns the combined watermark if it moved.
    pub fn record(&mut self, id: PartitionId, time: EventTime, claim: Option<EventTime>) -> Option<Watermark> {
        let claimed = match &self.strategy {
            Strategy::BoundedOutOfOrderness { max_delay } => Some(time.saturating_sub(max_delay.0)),
            Strategy::Ascending => Some(time),
            Strategy::Punctuated { .. } => claim,
            Strategy::None => None,
        };
        let combined = self.combined;
        let partition = self.partition_mut(id.0);
        let before = partition.watermark;
        if let Some(claimed) = claimed {
            partition.watermark = before.max(Watermark::at(claimed));
        }
        // Only a partition that held the combined watermark back, or came back from idleness, can move it.
        let may_move = partition.watermark > combined && (before <= combined || self.returned);
        self.returned = false;
        (may_move && self.recombine()).then_some(self.combined)
    }

    /// These partitions have ended, together. Returns the combined watermark if it moved.
    pub fn end(&mut self, ids: impl IntoIterator<Item = PartitionId>) -> Option<Watermark> {
        for id in ids {
            let partition = self.partition_mut(id.0);
            let heard = partition.heard;
            partition.state = Liveness::Ended;
            if let Some(timeout) = self.idle_timeout {
                self.idle_due.remove(&(heard.saturating_add(timeout), id.0));
            }
        }
        self.recombine().then_some(self.combined)
    }

    /// Every partition has ended: plus infinity. Returns it if the watermark was not there yet.
    pub fn end_all(&mut self) -> Option<Watermark> {
        let moved = self.combined < Watermark::MAX;
        self.combined = Watermark::MAX;
        moved.then_some(Watermark::MAX)
    }

    fn partition_mut(&mut self, id: u32) -> &mut Partition {
        &mut self.partitions[tidegate_types::batch::index(id)]
    }

    fn start_clock(&mut self, now: EventTime) {
        self.clock = now;
        for (partition, id) in self.partitions.iter_mut().zip(0_u32..) {
            if partition.state == Liveness::Active {
                partition.heard = now;
                if let Some(timeout) = self.idle_timeout {
                    self.idle_due.insert((now.saturating_add(timeout), id));
                }
            }
        }
    }

    /// Takes the minimum over the active partitions again. Returns whether the combined watermark moved.
    fn recombine(&mut self) -> bool {
        let active = self.partitions.iter().filter(|partition| partition.state == Liveness::Active);
        match active.map(|partition| partition.watermark).min() {
            Some(minimum) if minimum > self.combined => {
                self.combined = minimum;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
