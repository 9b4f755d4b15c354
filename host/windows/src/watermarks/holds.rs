//! What the engine itself holds back: a partition that it does not read says nothing by its silence.
//!
//! Invariants: a held partition is never idle; its timeout does not run while anything holds it and starts again, whole,
//! when the last hold is released. Holds move no watermark. At least one active partition is not held by drift control,
//! so that drift control alone never stops a source.

use tidegate_types::batch::index;
use tidegate_types::{EventTime, PartitionId, Watermark};

use super::{PartitionState, SourceWatermarks};

/// Why the engine does not read a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldBy {
    /// What is behind it takes no more of it now.
    Backpressure,
    /// The partition is too far ahead of the slowest one ([`SourceWatermarks::control_drift`]).
    Drift,
    /// Somebody paused the job.
    Pause,
}

/// The partitions that drift control began or ceased to hold back, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriftChange {
    /// Not to be read from now on.
    pub held: Vec<PartitionId>,
    /// In range again.
    pub released: Vec<PartitionId>,
}

/// A set of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Holds(u8);

impl Holds {
    fn bit(by: HeldBy) -> u8 {
        match by {
            HeldBy::Backpressure => 1,
            HeldBy::Drift => 2,
            HeldBy::Pause => 4,
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, by: HeldBy) -> bool {
        self.0 & Self::bit(by) != 0
    }

    pub(super) fn add(&mut self, by: HeldBy) {
        self.0 |= Self::bit(by);
    }

    pub(super) fn reasons(self) -> impl Iterator<Item = HeldBy> {
        [HeldBy::Backpressure, HeldBy::Drift, HeldBy::Pause].into_iter().filter(move |by| self.has(*by))
    }
}

impl SourceWatermarks {
    /// The engine does not read this partition from now on, for this reason. It counts as active until it is released.
    ///
    /// Holding it twice for one reason is holding it once. This MUST be said before the clock is moved past the moment
    /// from which it is not read.
    pub fn hold(&mut self, id: PartitionId, by: HeldBy) {
        let partition = self.partition_mut(id.0);
        partition.holds.add(by);
        if partition.state == PartitionState::Idle {
            self.reactivate(id.0);
        }
    }

    /// This reason to hold the partition back is gone. If it was the last one, the partition's timeout starts again.
    ///
    /// The clock MUST stand at the release already ([`SourceWatermarks::advance_clock`]).
    pub fn release(&mut self, id: PartitionId, by: HeldBy) {
        let clock = self.clock;
        let partition = self.partition_mut(id.0);
        let held = !partition.holds.is_empty();
        partition.holds.0 &= !Holds::bit(by);
        if held && partition.holds.is_empty() {
            partition.silent_since = clock;
            self.queue(id.0);
        }
    }

    /// The engine read no partition at all from `since` to `until`, because what is behind the source took no more: that
    /// time counts for no partition's timeout. `since` MUST NOT be before the clock; the clock is moved afterwards.
    ///
    /// Unlike a hold, a standstill wakes no idle partition and starts no timeout anew: a source that stands still for a
    /// moment again and again would otherwise never find a silent partition idle.
    pub fn stood_still(&mut self, since: EventTime, until: EventTime) {
        let lost = until.saturating_sub(since).max(0);
        for partition in &mut self.partitions {
            partition.silent_since = partition.silent_since.saturating_add(lost);
        }
    }

    /// Whether the partition may be read: it has not ended and nothing holds it back.
    #[must_use]
    pub fn may_read(&self, id: PartitionId) -> bool {
        let partition = &self.partitions[index(id.0)];
        partition.state != PartitionState::Ended && partition.holds.is_empty()
    }

    /// Holds back each partition whose watermark is more than `max_drift` ahead of the slowest active one's, and releases
    /// those that are in range again. To be called when a batch was read, a partition fell idle, was assigned or ended.
    ///
    /// A partition that was never heard counts as minus infinity: until it is heard, idle or ended, each partition that
    /// has a watermark is out of range. Without `max_drift`, nothing happens.
    pub fn control_drift(&mut self) -> DriftChange {
        let mut change = DriftChange::default();
        let Some(max_drift) = self.max_drift else { return change };
        let limit = self.slowest().map(|(_, slowest)| slowest.as_millis().saturating_add(max_drift.0));
        for id in self.ids() {
            let partition = &self.partitions[index(id.0)];
            let ended = partition.state == PartitionState::Ended;
            let ahead = !ended && limit.is_some_and(|limit| partition.watermark > Watermark::at(limit));
            match (partition.holds.has(HeldBy::Drift), ahead) {
                (false, true) => {
                    self.hold(id, HeldBy::Drift);
                    change.held.push(id);
                }
                (true, false) => {
                    self.release(id, HeldBy::Drift);
                    change.released.push(id);
                }
                (false, false) | (true, true) => {}
            }
        }
        change
    }

    fn ids(&self) -> impl Iterator<Item = PartitionId> + use<> {
        (0_u32..).take(self.partitions.len()).map(PartitionId)
    }
}
