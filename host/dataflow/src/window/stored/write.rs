//! Changes of windows are kept in mind, and everything that is frozen is written.

use tidegate_state::Changes;
use tidegate_types::stored::{put_i64, put_len, put_u64};

use super::{SESSION, VERSION, WINDOW, put_standing, put_time};
use crate::window::tracked::{Mark, Tracker};
use crate::window::{WindowOperator, sliced};

/// What follows the version in a window's value.
pub(super) const PAST_END: u8 = 1;
pub(super) const AWAITS: u8 = 2;
pub(super) const STANDING: u8 = 4;
pub(super) const HIDDEN: u8 = 8;

impl WindowOperator {
    /// A window is about to change.
    #[inline]
    pub(in crate::window) fn changing(&mut self, slot: u32) {
        if !self.tracker.is_listed(self.windows.slot(slot).mark) {
            self.list(slot);
        }
    }

    fn list(&mut self, slot: u32) {
        let mark = self.windows.slot(slot).mark;
        let mark = if self.tracker.is_frozen(mark) { self.write_first(slot, mark) } else { self.tracker.listed(mark) };
        self.windows.slot_mut(slot).mark = mark;
        self.changed.push(slot);
    }

    fn write_first(&mut self, slot: u32, mark: Mark) -> Mark {
        let mut tracker = self.take_tracker();
        let mark = tracker.change(mark, |tracker, changes| self.put_window(tracker, slot, changes));
        self.tracker = tracker;
        mark
    }

    /// A window was opened in this slot.
    pub(in crate::window) fn opened(&mut self, slot: u32) {
        let window = self.windows.slot_mut(slot);
        window.mark = self.tracker.reused(window.mark);
        self.changing(slot);
    }

    /// A window is about to go.
    pub(in crate::window) fn forgetting(&mut self, slot: u32) {
        let mark = self.windows.slot(slot).mark;
        if !self.tracker.is_on() || !(mark.is_stored() || self.tracker.is_frozen(mark)) {
            // Nothing of it is written or to be written: it may stay listed.
            return;
        }
        let mut tracker = self.take_tracker();
        let put = |tracker: &Tracker, changes: &mut Changes| self.put_window(tracker, slot, changes);
        let mark = tracker.forget(mark, put, |tracker, out| self.put_window_key(tracker, slot, out));
        self.tracker = tracker;
        self.windows.slot_mut(slot).mark = mark;
    }

    /// A session's bounds are about to change, after [`Self::changing`].
    pub(in crate::window) fn renaming(&mut self, slot: u32) {
        let mark = self.windows.slot(slot).mark;
        let mut tracker = self.take_tracker();
        tracker.delete_stored(mark, |tracker, out| self.put_window_key(tracker, slot, out));
        self.tracker = tracker;
        self.windows.slot_mut(slot).mark = mark.unstored();
    }

    fn take_tracker(&mut self) -> Tracker {
        std::mem::replace(&mut self.tracker, Tracker::new(self.config.max_parallelism))
    }

    fn put_window(&self, tracker: &Tracker, slot: u32, changes: &mut Changes) {
        changes.put(|key| self.put_window_key(tracker, slot, key), |value| self.put_window_value(slot, value));
    }

    fn put_window_key(&self, tracker: &Tracker, slot: u32, out: &mut Vec<u8>) {
        let window = self.windows.slot(slot);
        let (hash, encoded) = (self.keys.hash(window.key), self.keys.encoded(window.key));
        if self.is_session() {
            tracker.put_prefix(out, SESSION, hash);
            out.extend_from_slice(encoded);
            put_time(out, window.span.start);
            put_time(out, window.span.end);
        } else {
            tracker.put_prefix(out, WINDOW, hash);
            put_time(out, window.span.end);
            put_time(out, window.span.start);
            out.extend_from_slice(encoded);
        }
    }

    fn put_window_value(&self, slot: u32, out: &mut Vec<u8>) {
        let window = self.windows.slot(slot);
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        out.push(VERSION);
        out.push(
            flag(window.past_end, PAST_END)
                | flag(window.awaits, AWAITS)
                | flag(!window.standing.is_empty(), STANDING)
                | flag(!window.hidden.is_empty(), HIDDEN),
        );
        put_u64(out, window.fresh);
        put_u64(out, window.next_index);
        if !window.standing.is_empty() {
            put_standing(out, &window.standing);
        }
        if !window.hidden.is_empty() {
            self.unshown.write(&window.hidden, out);
        }
        self.builtins.write(slot, out);
        self.hooks.iter().for_each(|hook| hook.write(slot, out));
    }

    /// See `Operator::freeze`.
    pub(in crate::window) fn freeze_all(&mut self) {
        if self.tracker.is_on() {
            self.tracker.freeze();
            self.changed.freeze();
            if let Some(identities) = &mut self.identities {
                identities.freeze();
            }
            if let Some(sliced) = &mut self.sliced {
                sliced.freeze();
            }
        }
    }

    /// See `Operator::write`.
    pub(in crate::window) fn write_frozen(&mut self, entries: usize, changes: &mut Changes) -> bool {
        let mut left = self.tracker.hand_out(entries, changes);
        while left > 0
            && let Some(slot) = self.changed.pop()
        {
            left -= 1;
            let window = self.windows.slot(slot);
            if self.tracker.is_frozen(window.mark) {
                let is_live = window.is_live();
                if is_live {
                    self.put_window(&self.tracker, slot, changes);
                }
                self.windows.slot_mut(slot).mark = if is_live { Mark::STORED } else { Mark::default() };
            }
        }
        if let Some(identities) = &mut self.identities {
            left = identities.write(&self.keys, &self.tracker, left, changes);
        }
        if let Some(sliced) = &mut self.sliced {
            let with = sliced::With { keys: &self.keys, builtins: &self.builtins };
            sliced.write(with, &self.tracker, left, changes);
        }
        self.tracker.has_handed_out()
            && self.changed.is_done()
            && self.identities.as_ref().is_none_or(crate::window::Identities::is_written)
            && self.sliced.as_ref().is_none_or(sliced::Sliced::is_written)
    }

    /// See `Operator::head`.
    pub(in crate::window) fn put_head(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        put_i64(out, self.watermark.as_millis());
        put_i64(out, self.clock);
        put_u64(out, self.unshown.next_number());
        let names = self.aggregates();
        put_len(out, names.len());
        names.iter().for_each(|name| tidegate_types::stored::put_bytes(out, name.as_bytes()));
    }

    /// The names of what every window keeps accumulators of, in the order in which they are stored.
    pub(super) fn aggregates(&self) -> Vec<&str> {
        self.builtins.names().chain(self.hooks.iter().map(|hook| &**hook.operator())).collect()
    }
}
