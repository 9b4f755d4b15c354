//! The watermark of a source: one per partition, the minimum over the active ones (docs/semantics.md, 2).
//!
//! Invariants: the combined watermark never moves backwards; a partition that was assigned and has produced nothing
//! counts as minus infinity; a partition that is idle or has ended does not count; when no partition counts, the
//! watermark stays where it is, until every partition has ended, which makes it plus infinity. A partition that the
//! engine holds back is never idle.
//!
//! Idleness falls due at exact instants of the clock that callers hand in. What happens on the way to a later reading is
//! told instant by instant, earliest first, so that a virtual clock gives the same run for every cut of the input.

mod holds;
mod report;
mod stored;

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeSet, BinaryHeap};

use tidegate_pipeline::{Strategy, WatermarkSpec};
use tidegate_types::batch::{index, index32};
use tidegate_types::{EventTime, Millis, NO_CLOCK, PartitionId, Watermark};

use crate::lateness::LatenessRecorder;
use holds::Holds;

pub use holds::{DriftChange, HeldBy};
pub use report::{PartitionReport, SourceReport, Standing};

/// From when the timeout of a partition without any record runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockStart {
    /// A virtual clock stands nowhere until the first arrival is read; the timeout runs from there.
    FirstArrival,
    /// A wall clock: the timeout runs from the assignment, at this reading.
    Assignment(EventTime),
}

/// Whether a partition counts for the combined watermark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionState {
    /// It counts.
    Active,
    /// It was silent for the timeout: it does not count until its next record.
    Idle,
    /// Nothing follows: it does not count any more.
    Ended,
}

#[derive(Debug, Clone)]
struct Partition {
    watermark: Watermark,
    state: PartitionState,
    /// From when its timeout runs: when it was last heard, assigned or released. [`NO_CLOCK`] until the clock stands
    /// somewhere.
    silent_since: EventTime,
    /// Whether `idle_due` has an entry of it.
    queued: bool,
    /// Whether it has an entry in `by_watermark`.
    listed: bool,
    holds: Holds,
    lateness: LatenessRecorder,
}

/// The watermarks of a source's partitions and what they combine to.
#[derive(Debug, Clone)]
pub struct SourceWatermarks {
    strategy: Strategy,
    idle_timeout: Option<Millis>,
    max_drift: Option<Millis>,
    partitions: Vec<Partition>,
    /// `(instant, partition)`: not before the instant can the partition fall idle. Each active partition that is not
    /// held has exactly one entry, if there is a timeout and the clock stands somewhere; a record does not touch it, so
    /// that hearing a partition costs nothing. What is found at an instant is checked then.
    idle_due: BTreeSet<(EventTime, u32)>,
    /// `(watermark, partition)`, least first: each active partition has exactly one entry, of a watermark that it has or
    /// had. An entry is corrected when it comes to the front, so that a record does not touch it.
    by_watermark: BinaryHeap<Reverse<(Watermark, u32)>>,
    clock: EventTime,
    combined: Watermark,
    /// Whether a partition came back from idleness since the minimum was last taken.
    returned: bool,
    /// How it stood before the last partition ended.
    before_end: Option<Standing>,
}

impl Partition {
    fn assigned(at: EventTime) -> Self {
        Self {
            watermark: Watermark::MIN,
            state: PartitionState::Active,
            silent_since: at,
            queued: false,
            listed: false,
            holds: Holds::default(),
            lateness: LatenessRecorder::new(),
        }
    }

    fn is_active(&self) -> bool {
        self.state == PartitionState::Active
    }

    /// Whether its silence is its own.
    fn may_fall_idle(&self) -> bool {
        self.is_active() && self.holds.is_empty()
    }
}

impl SourceWatermarks {
    /// Watermarks of `partitions` partitions, all assigned now and none heard.
    #[must_use]
    pub fn new(spec: &WatermarkSpec, partitions: usize, start: ClockStart) -> Self {
        let mut watermarks = Self {
            strategy: spec.strategy.clone(),
            idle_timeout: spec.idle_partition_timeout,
            max_drift: spec.max_drift,
            partitions: vec![Partition::assigned(NO_CLOCK); partitions],
            idle_due: BTreeSet::new(),
            by_watermark: BinaryHeap::with_capacity(partitions),
            clock: NO_CLOCK,
            combined: Watermark::MIN,
            returned: false,
            before_end: None,
        };
        (0..index32(partitions)).for_each(|id| watermarks.list(id));
        if let ClockStart::Assignment(now) = start {
            watermarks.start_clock(now);
        }
        watermarks
    }

    /// Adds a partition, assigned now and not heard. It holds the combined watermark where it is until it is heard, idle
    /// or ended; it never moves it back.
    pub fn assign(&mut self) -> PartitionId {
        let id = index32(self.partitions.len());
        self.partitions.push(Partition::assigned(self.clock));
        self.before_end = None;
        self.list(id);
        self.queue(id);
        PartitionId(id)
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
        let active = self.partitions.iter().zip(0_u32..).filter(|(partition, _)| partition.is_active());
        active
            .min_by_key(|(partition, _)| partition.watermark)
            .map(|(partition, id)| (PartitionId(id), partition.watermark))
    }

    /// No partition falls idle before this instant. It is to be asked again at that instant.
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
        while let Some(instant) = self.next_idle().filter(|instant| *instant <= to) {
            if self.fall_idle(instant) && self.recombine() {
                moved(instant, self.combined);
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
        if partition.state == PartitionState::Ended {
            return;
        }
        partition.silent_since = clock;
        if partition.state == PartitionState::Idle {
            self.reactivate(id.0);
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
        partition.lateness.observe(time);
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
        let standing = self.standing();
        for id in ids {
            self.partition_mut(id.0).state = PartitionState::Ended;
        }
        if self.has_ended() {
            self.before_end.get_or_insert(standing);
        }
        self.recombine().then_some(self.combined)
    }

    /// Whether every partition has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.partitions.iter().all(|partition| partition.state == PartitionState::Ended)
    }

    /// Every partition has ended: plus infinity. Returns it if the watermark was not there yet.
    pub fn end_all(&mut self) -> Option<Watermark> {
        let standing = self.standing();
        self.before_end.get_or_insert(standing);
        let moved = self.combined < Watermark::MAX;
        self.combined = Watermark::MAX;
        moved.then_some(Watermark::MAX)
    }

    fn partition_mut(&mut self, id: u32) -> &mut Partition {
        &mut self.partitions[index(id)]
    }

    fn start_clock(&mut self, now: EventTime) {
        self.clock = now;
        for id in 0..index32(self.partitions.len()) {
            self.partition_mut(id).silent_since = now;
            self.queue(id);
        }
    }

    /// A partition that was idle counts again; that alone does not move the combined watermark.
    fn reactivate(&mut self, id: u32) {
        self.partition_mut(id).state = PartitionState::Active;
        self.returned = true;
        self.list(id);
        self.queue(id);
    }

    /// Sees to it that the partition counts when the minimum is taken.
    fn list(&mut self, id: u32) {
        let partition = self.partition_mut(id);
        let watermark = partition.watermark;
        if !std::mem::replace(&mut partition.listed, true) {
            self.by_watermark.push(Reverse((watermark, id)));
        }
    }

    /// Sees to it that the partition's timeout is noticed, if it runs.
    fn queue(&mut self, id: u32) {
        let clock = self.clock;
        let Some(timeout) = self.idle_timeout.filter(|_| clock != NO_CLOCK) else { return };
        let partition = self.partition_mut(id);
        if partition.may_fall_idle() && !partition.queued {
            partition.queued = true;
            let due = partition.silent_since.saturating_add(timeout.0);
            self.idle_due.insert((due, id));
        }
    }

    /// Makes the partitions idle whose timeout ends at `instant`, the first of `idle_due`. Returns whether there are any.
    fn fall_idle(&mut self, instant: EventTime) -> bool {
        let timeout = self.idle_timeout.unwrap_or_default();
        let mut any = false;
        while let Some((_, id)) = self.idle_due.first().copied().filter(|(due, _)| *due == instant) {
            self.idle_due.pop_first();
            let partition = self.partition_mut(id);
            partition.queued = false;
            if partition.silent_since.saturating_add(timeout.0) > instant {
                self.queue(id);
            } else if partition.may_fall_idle() {
                partition.state = PartitionState::Idle;
                any = true;
            }
        }
        any
    }

    /// Takes the minimum over the active partitions again. Returns whether the combined watermark moved.
    fn recombine(&mut self) -> bool {
        let minimum = self.minimum().filter(|minimum| *minimum > self.combined);
        self.combined = minimum.unwrap_or(self.combined);
        minimum.is_some()
    }

    /// The least watermark of an active partition. Corrects the entries on the way to it.
    fn minimum(&mut self) -> Option<Watermark> {
        while let Some(mut first) = self.by_watermark.peek_mut() {
            let Reverse((listed, id)) = *first;
            let partition = &mut self.partitions[index(id)];
            if !partition.is_active() {
                partition.listed = false;
                PeekMut::pop(first);
            } else if partition.watermark > listed {
                first.0.0 = partition.watermark;
            } else {
                return Some(listed);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
