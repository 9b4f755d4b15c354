//! Slices and windows that may fire again, as they are stored. Merged values are made again.

use tidegate_state::Changes;
use tidegate_types::batch::index;
use tidegate_types::stored::{Malformed, Read, put_u64};
use tidegate_types::{EventTime, Watermark};

use super::{FiredWindow, KeyId, KeySlices, KeyTable, Mark, Slice, Sliced, StandingPane, Tracker};
use crate::aggregate::Builtins;
use crate::window::stored::{FIRED, SLICE, VERSION, put_standing, put_time};
use crate::window::table::bytes_of;
use crate::window::tracked::Listed;

/// What has changed of the slices and windows of all keys.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    /// By slot; as far as slots are slices. Empty where no changes are kept in mind.
    slices: Vec<Tracing>,
    changed: Listed<u32>,
    changed_fired: Listed<(KeyId, EventTime)>,
}

/// Which slice a slot is.
#[derive(Debug, Clone, Copy, Default)]
struct Tracing {
    key: KeyId,
    start: EventTime,
    mark: Mark,
    is_live: bool,
}

/// What entries are written with.
#[derive(Debug, Clone, Copy)]
pub(in crate::window) struct With<'a> {
    pub(in crate::window) keys: &'a KeyTable,
    pub(in crate::window) builtins: &'a Builtins,
}

impl Tracing {
    fn put(&self, slot: u32, with: With<'_>, tracker: &Tracker, changes: &mut Changes) {
        let value = |out: &mut Vec<u8>| {
            out.push(VERSION);
            with.builtins.write(slot, out);
        };
        changes.put(|key| self.put_key(with.keys, tracker, key), value);
    }

    fn put_key(&self, keys: &KeyTable, tracker: &Tracker, out: &mut Vec<u8>) {
        tracker.put_prefix(out, SLICE, keys.hash(self.key));
        out.extend_from_slice(keys.encoded(self.key));
        put_time(out, self.start);
    }
}

impl Tracked {
    /// A slot became a slice.
    pub(super) fn open(&mut self, slot: u32, key: KeyId, start: EventTime, tracker: &Tracker) {
        if tracker.is_on() {
            if self.slices.len() <= index(slot) {
                self.slices.resize_with(index(slot) + 1, Tracing::default);
            }
            let slice = &mut self.slices[index(slot)];
            *slice = Tracing { key, start, mark: tracker.reused(slice.mark), is_live: true };
        }
    }

    /// A slice is about to change.
    #[inline]
    pub(super) fn changing(&mut self, slot: u32, with: With<'_>, tracker: &mut Tracker) {
        if let Some(slice) = self.slices.get_mut(index(slot))
            && !tracker.is_listed(slice.mark)
        {
            slice.mark = tracker.change(slice.mark, |tracker, changes| slice.put(slot, with, tracker, changes));
            self.changed.push(slot);
        }
    }

    /// A slice is about to go.
    pub(super) fn forgetting(&mut self, slot: u32, with: With<'_>, tracker: &mut Tracker) {
        if let Some(slice) = self.slices.get_mut(index(slot)) {
            let put = |tracker: &Tracker, changes: &mut Changes| slice.put(slot, with, tracker, changes);
            slice.mark = tracker.forget(slice.mark, put, |tracker, out| slice.put_key(with.keys, tracker, out));
            slice.is_live = false;
        }
    }

    /// A window is about to fire again.
    pub(super) fn changing_fired(
        &mut self,
        fired: &mut FiredWindow,
        key: KeyId,
        keys: &KeyTable,
        tracker: &mut Tracker,
    ) {
        if !tracker.is_listed(fired.mark) {
            fired.mark = tracker.change(fired.mark, |tracker, changes| fired.put(key, keys, tracker, changes));
            self.changed_fired.push((key, fired.span.end));
        }
    }
}

impl FiredWindow {
    /// The window is about to go.
    pub(super) fn forgetting(&mut self, key: KeyId, keys: &KeyTable, tracker: &mut Tracker) {
        let put = |tracker: &Tracker, changes: &mut Changes| self.put(key, keys, tracker, changes);
        self.mark = tracker.forget(self.mark, put, |tracker, out| self.put_key(key, keys, tracker, out));
    }

    fn put(&self, key: KeyId, keys: &KeyTable, tracker: &Tracker, changes: &mut Changes) {
        let value = |out: &mut Vec<u8>| {
            out.push(VERSION);
            put_u64(out, self.next_index);
            put_standing(out, &self.standing);
        };
        changes.put(|out| self.put_key(key, keys, tracker, out), value);
    }

    fn put_key(&self, key: KeyId, keys: &KeyTable, tracker: &Tracker, out: &mut Vec<u8>) {
        tracker.put_prefix(out, FIRED, keys.hash(key));
        out.extend_from_slice(keys.encoded(key));
        put_time(out, self.span.end);
    }
}

impl Sliced {
    /// What has changed is to be written as it is now.
    pub(in crate::window) fn freeze(&mut self) {
        self.tracked.changed.freeze();
        self.tracked.changed_fired.freeze();
    }

    /// Writes so many of the frozen entries.
    pub(in crate::window) fn write(
        &mut self,
        with: With<'_>,
        tracker: &Tracker,
        entries: usize,
        changes: &mut Changes,
    ) {
        let mut left = entries;
        while left > 0
            && let Some(slot) = self.tracked.changed.pop()
        {
            left -= 1;
            let slice = &mut self.tracked.slices[index(slot)];
            if tracker.is_frozen(slice.mark) {
                slice.mark = if slice.is_live { Mark::STORED } else { Mark::default() };
                if slice.is_live {
                    slice.put(slot, with, tracker, changes);
                }
            }
        }
        while left > 0
            && let Some((key, end)) = self.tracked.changed_fired.pop()
        {
            left -= 1;
            let fired = self.keys.get_mut(&key).and_then(|of_key| {
                let place = of_key.fired.partition_point(|fired| fired.span.end < end);
                of_key.fired.get_mut(place).filter(|fired| fired.span.end == end)
            });
            if let Some(fired) = fired.filter(|fired| tracker.is_frozen(fired.mark)) {
                fired.mark = Mark::STORED;
                fired.put(key, with.keys, tracker, changes);
            }
        }
    }

    /// Whether every frozen entry is written.
    pub(in crate::window) fn is_written(&self) -> bool {
        self.tracked.changed.is_done() && self.tracked.changed_fired.is_done()
    }

    /// A slice that was stored: its slot.
    pub(in crate::window) fn read_slice(
        &mut self,
        keys: &mut KeyTable,
        builtins: &mut Builtins,
        key: KeyId,
        start: EventTime,
        tracker: &Tracker,
    ) -> Read<u32> {
        let span = self.grid.slice_of(start);
        let of_key = self.of_key(keys, key);
        if span.start != start || of_key.slices.last().is_some_and(|last| last.span.start >= start) {
            return Err(Malformed::new("a slice after the one before it"));
        }
        let slot = self.slots.take(builtins);
        self.of_key(keys, key).slices.push(Slice { span, slot });
        self.kept.slices += 1;
        self.tracked.open(slot, key, start, tracker);
        if let Some(slice) = self.tracked.slices.get_mut(index(slot)) {
            slice.mark = Mark::STORED;
        }
        Ok(slot)
    }

    /// A window that was stored.
    pub(in crate::window) fn read_fired(
        &mut self,
        keys: &mut KeyTable,
        key: KeyId,
        end: EventTime,
        next_index: u64,
        standing: Vec<StandingPane>,
    ) -> Read<()> {
        let is_end = self.grid.end_at_or_after(end) == end;
        let span = self.grid.window_ending(end);
        let bytes = bytes_of(&standing);
        let of_key = self.of_key(keys, key);
        if !is_end || of_key.fired.last().is_some_and(|last| last.span.end >= end) {
            return Err(Malformed::new("a window after the one before it"));
        }
        of_key.fired.push(FiredWindow { span, next_index, standing, mark: Mark::STORED });
        self.kept.fired += 1;
        self.kept.standing_bytes += bytes;
        Ok(())
    }

    /// Sets the timers of all keys, which have none.
    pub(in crate::window) fn set_all_timers(&mut self, watermark: Watermark) {
        let keys: Vec<KeyId> = self.keys.keys().copied().collect();
        for key in keys {
            self.set_timer(key, watermark);
        }
    }

    fn of_key(&mut self, keys: &mut KeyTable, key: KeyId) -> &mut KeySlices {
        self.keys.entry(key).or_insert_with(|| {
            keys.retain(key);
            KeySlices::default()
        })
    }
}
