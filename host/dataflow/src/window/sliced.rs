//! Sliding windows that share panes: a record is added once, to the slice of time that it falls into, and a window's value
//! is merged from its slices when it fires.
//!
//! The starts and ends of all windows cut time into slices, one or two per slide. This holds where windows fire on time
//! and, if at all, for every late element; then the panes are those of windows kept one by one (docs/semantics.md, 4), at
//! a cost per record that does not depend on how many windows hold it. A slot number is a slice here, or a merged value.
//!
//! Invariants: a key has a timer at or before the first time at which a window of it ends or anything of it is gone; a
//! slice is kept until the last window that holds it is gone; a window that has fired is remembered until it is gone.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use tidegate_pipeline::Late;
use tidegate_types::batch::index;
use tidegate_types::{EventTime, Millis, Watermark};
use tidegate_windows::{WindowSpan, is_gone};

use super::keys::{KeyId, KeyTable};
use super::table::StandingPane;
use super::tracked::{Mark, Tracker};
use crate::aggregate::Builtins;

mod due;
mod ending;
mod grid;
mod merge;
mod overlap;
mod stored;

use due::Firings;
use grid::Grid;
use merge::Running;
pub(super) use overlap::Overlap;
use stored::Tracked;
pub(super) use stored::With;

/// The slices of all keys.
#[derive(Debug)]
pub(super) struct Sliced {
    grid: Grid,
    lateness: Millis,
    late: Late,
    keys: HashMap<KeyId, KeySlices>,
    timers: BTreeMap<EventTime, Vec<KeyId>>,
    slots: Slots,
    /// What an advance of the watermark has still to fire.
    firings: Option<Firings>,
    kept: Kept,
    tracked: Tracked,
}

/// How much is kept, of all keys.
#[derive(Debug, Default)]
struct Kept {
    slices: usize,
    fired: usize,
    /// Bytes of the records that stand.
    standing_bytes: usize,
}

/// What a key has.
#[derive(Debug, Default)]
struct KeySlices {
    /// In order of time. Every slice here has a record.
    slices: Vec<Slice>,
    /// Windows whose end the watermark has reached and that are not gone, in order of end; only those with a pane, and
    /// only where a late record may fire them again.
    fired: Vec<FiredWindow>,
    /// What the values of windows that end one after the other are made from.
    running: Running,
}

#[derive(Debug, Clone, Copy)]
struct Slice {
    span: WindowSpan,
    slot: u32,
}

#[derive(Debug)]
struct FiredWindow {
    span: WindowSpan,
    next_index: u64,
    standing: Vec<StandingPane>,
    /// Whether it is stored as it is.
    mark: Mark,
}

/// The numbers of accumulators in use.
#[derive(Debug, Default)]
struct Slots {
    free: Vec<u32>,
    count: u32,
}

impl Slots {
    fn take(&mut self, builtins: &mut Builtins) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            builtins.reserve(index(self.count));
            self.count - 1
        })
    }

    fn give_back(&mut self, builtins: &mut Builtins, slot: u32) {
        builtins.reset(slot);
        self.free.push(slot);
    }
}

/// The windows of one record, as far as they matter: the first and the last that are not gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlicedTarget {
    slice: WindowSpan,
    first_end: EventTime,
    last_end: EventTime,
}

impl SlicedTarget {
    /// The end of the last window.
    pub(super) fn last_end(self) -> EventTime {
        self.last_end
    }
}

impl Sliced {
    pub(super) fn new(size: Millis, slide: Millis, offset: Millis, lateness: Millis, late: Late) -> Self {
        Self {
            grid: Grid::new(size, slide, offset),
            lateness,
            late,
            keys: HashMap::new(),
            timers: BTreeMap::new(),
            slots: Slots::default(),
            firings: None,
            kept: Kept::default(),
            tracked: Tracked::default(),
        }
    }

    /// Where a record goes, and whether some of its windows are gone; none: all are.
    pub(super) fn target(&self, time: EventTime, watermark: Watermark) -> Option<(SlicedTarget, bool)> {
        let slice = self.grid.slice_of(time);
        let last_end = self.grid.last_end(slice);
        if is_gone(last_end, self.lateness, watermark) {
            return None;
        }
        let first_end = self.grid.end_at_or_after(slice.end);
        let first_kept = if is_gone(first_end, self.lateness, watermark) {
            // The first end for which `end + L > W`.
            self.grid.end_at_or_after(watermark.as_millis().saturating_sub(self.lateness.0).saturating_add(1))
        } else {
            first_end
        };
        Some((SlicedTarget { slice, first_end: first_kept, last_end }, first_kept > first_end))
    }

    /// Adds a record: the slot of its slice.
    pub(super) fn admit(
        &mut self,
        keys: &mut KeyTable,
        builtins: &mut Builtins,
        tracker: &mut Tracker,
        key: KeyId,
        target: SlicedTarget,
        watermark: Watermark,
    ) -> u32 {
        let of_key = self.keys.entry(key).or_insert_with(|| {
            keys.retain(key);
            KeySlices::default()
        });
        if of_key.running.holds(target.slice) {
            of_key.running.release(&mut self.slots, builtins);
        }
        let place = of_key.slices.partition_point(|slice| slice.span.start < target.slice.start);
        let found = of_key.slices.get(place).filter(|slice| slice.span == target.slice).map(|slice| slice.slot);
        let slot = found.unwrap_or_else(|| {
            let slot = self.slots.take(builtins);
            of_key.slices.insert(place, Slice { span: target.slice, slot });
            self.kept.slices += 1;
            self.tracked.open(slot, key, target.slice.start, tracker);
            slot
        });
        self.tracked.changing(slot, With { keys, builtins }, tracker);
        if found.is_none() {
            self.set_timer(key, watermark);
        }
        slot
    }

    /// The windows of a record whose end the watermark has reached, in order of end.
    pub(super) fn late_windows(
        &self,
        target: SlicedTarget,
        watermark: Watermark,
    ) -> impl Iterator<Item = WindowSpan> + use<> {
        let grid = self.grid;
        let ends = std::iter::successors(Some(target.first_end), move |end| Some(grid.end_after(*end)));
        ends.take_while(move |end| *end <= target.last_end && watermark.reached(*end))
            .map(move |end| grid.window_ending(end))
    }

    /// Whether no pane will show the record: all its windows have ended, and late ones are not shown.
    pub(super) fn is_unshown(&self, target: SlicedTarget, watermark: Watermark) -> bool {
        self.late == Late::None && watermark.reached(target.last_end)
    }

    /// The earliest time at which anything may be due.
    pub(super) fn next_due(&self) -> Option<EventTime> {
        self.timers.first_key_value().map(|(due, _)| *due)
    }

    /// The number of slices kept.
    pub(super) fn len(&self) -> usize {
        self.kept.slices
    }

    /// Bytes of the slices, of the windows that have fired and may again, and of the records that stand.
    pub(super) fn bytes(&self) -> u64 {
        let Kept { slices, fired, standing_bytes } = self.kept;
        let keys = self.keys.len() * (size_of::<KeyId>() * 2 + size_of::<KeySlices>());
        (keys + slices * size_of::<Slice>() + fired * size_of::<FiredWindow>() + standing_bytes) as u64
    }

    /// Sets the key's timer: when its next window ends, or something of it is gone.
    fn set_timer(&mut self, key: KeyId, watermark: Watermark) {
        if let Some(due) = self.keys.get(&key).and_then(|of_key| self.due_of(of_key, watermark)) {
            let keys = self.timers.entry(due).or_default();
            if keys.last() != Some(&key) {
                keys.push(key);
            }
        }
    }

    fn due_of(&self, of_key: &KeySlices, watermark: Watermark) -> Option<EventTime> {
        let next = watermark.as_millis().saturating_add(1);
        let alive = of_key.slices.iter().find(|slice| self.grid.last_end(slice.span) >= next);
        let ends = alive.map(|slice| self.grid.end_at_or_after(slice.span.end.max(next)));
        let slice_gone =
            of_key.slices.first().map(|slice| self.grid.last_end(slice.span).saturating_add(self.lateness.0));
        let window_gone = of_key.fired.first().map(|fired| fired.span.end.saturating_add(self.lateness.0));
        [ends, slice_gone, window_gone].into_iter().flatten().min()
    }
}

impl KeySlices {
    /// The place of the remembered window, remembered from now on if it was not.
    fn fired(&mut self, span: WindowSpan) -> usize {
        let place = self.fired.partition_point(|fired| fired.span.end < span.end);
        if self.fired.get(place).is_none_or(|fired| fired.span != span) {
            self.fired.insert(place, FiredWindow { span, next_index: 0, standing: Vec::new(), mark: Mark::default() });
        }
        place
    }
}

#[cfg(test)]
mod tests;
