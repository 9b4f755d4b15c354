//! The windows that are kept: one slot per key and window, and the timers that say when each is due.
//!
//! A slot's number is also the number of its accumulators. Invariants: every live slot has exactly one valid timer, at its
//! end while the watermark has not reached that, then at its end plus the allowed lateness; timers are corrected lazily
//! when they come due (a session's end moves); a slot that is closed invalidates what still refers to it by generation.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use tidegate_types::batch::{index, index32};
use tidegate_types::{EventTime, Millis, PaneInfo, Value, Watermark};
use tidegate_windows::{WindowSpan, is_gone};

use super::keys::{KeyId, KeyTable};
use super::tracked::Mark;
use super::unshown::Hidden;

/// A record that was emitted and may have to be taken back.
#[derive(Debug, Clone)]
pub(crate) struct StandingPane {
    pub(crate) info: PaneInfo,
    pub(crate) values: Vec<Value>,
}

impl StandingPane {
    /// Bytes that it takes.
    fn bytes(&self) -> usize {
        let of_text = |value: &Value| match value {
            Value::Text(text) | Value::Json(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 0,
        };
        let values: usize = self.values.iter().map(|value| size_of::<Value>() + of_text(value)).sum();
        size_of::<Self>() + values
    }
}

/// One window of one key.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) key: KeyId,
    pub(crate) span: WindowSpan,
    /// Records that no pane has shown.
    pub(crate) fresh: u64,
    /// The index of the next pane.
    pub(crate) next_index: u64,
    /// Whether the watermark has reached the end.
    pub(crate) past_end: bool,
    /// Whether it is among those that wait for an instant of processing time.
    pub(crate) awaits: bool,
    /// Under retracting: the records that stand, in order of their windows' start.
    pub(crate) standing: Vec<StandingPane>,
    /// Where a hook decides what is shown: the records that no pane of this window has shown.
    pub(crate) hidden: Hidden,
    /// The run that touched it last, and the one in which a firing of it is pending.
    pub(crate) touched_in: u64,
    pub(crate) fires_in: u64,
    live: bool,
    generation: u32,
    /// Whether it is stored as it is.
    pub(super) mark: Mark,
}

impl Slot {
    /// The slot as it is before a run changes it. `hidden` stays: runs that are taken back do not change it.
    pub(crate) fn saved(&mut self) -> Box<Self> {
        let hidden = std::mem::take(&mut self.hidden);
        let saved = Box::new(self.clone());
        self.hidden = hidden;
        saved
    }

    /// Takes back what a run changed. What is listed stays listed.
    pub(crate) fn restore(&mut self, saved: Self) {
        let hidden = std::mem::take(&mut self.hidden);
        *self = Self { hidden, mark: self.mark, awaits: self.awaits, ..saved };
    }

    /// Whether there is a window.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }
}

/// A reference that ends with the slot's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotRef {
    slot: u32,
    generation: u32,
}

#[derive(Debug)]
pub(crate) struct WindowTable {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Windows that do not merge: found by key and span.
    by_span: HashMap<(KeyId, WindowSpan), u32>,
    timers: BTreeMap<EventTime, Vec<SlotRef>>,
    lateness: Millis,
    sessions: bool,
    /// Bytes of the records that stand.
    standing_bytes: usize,
}

impl WindowTable {
    pub(crate) fn new(lateness: Millis, sessions: bool) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            by_span: HashMap::new(),
            timers: BTreeMap::new(),
            lateness,
            sessions,
            standing_bytes: 0,
        }
    }

    pub(crate) fn slot(&self, slot: u32) -> &Slot {
        &self.slots[index(slot)]
    }

    pub(crate) fn slot_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[index(slot)]
    }

    /// The number of slots, live or free: what accumulators must have room for.
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The number of windows kept.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Bytes of the windows kept, of what finds them, of their timers and of the records that stand.
    pub(crate) fn bytes(&self) -> u64 {
        let each = size_of::<Slot>() + size_of::<((KeyId, WindowSpan), u32)>() + size_of::<SlotRef>();
        (self.standing_bytes + self.len() * each) as u64
    }

    /// Lets these records of a window stand, in place of those that did.
    pub(crate) fn stand(&mut self, slot: u32, standing: Vec<StandingPane>) -> Vec<StandingPane> {
        self.standing_bytes += bytes_of(&standing);
        let before = std::mem::replace(&mut self.slot_mut(slot).standing, standing);
        self.standing_bytes -= bytes_of(&before);
        before
    }

    /// The slot of a window that does not merge.
    pub(crate) fn find(&self, key: KeyId, span: WindowSpan) -> Option<u32> {
        self.by_span.get(&(key, span)).copied()
    }

    /// Opens a window, with its timer.
    pub(crate) fn open(&mut self, keys: &mut KeyTable, key: KeyId, span: WindowSpan, watermark: Watermark) -> u32 {
        let fresh = Slot {
            key,
            span,
            fresh: 0,
            next_index: 0,
            past_end: watermark.reached(span.end),
            awaits: false,
            standing: Vec::new(),
            hidden: Hidden::default(),
            touched_in: 0,
            fires_in: 0,
            live: true,
            generation: 0,
            mark: Mark::default(),
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                let Slot { generation, mark, .. } = *self.slot(slot);
                *self.slot_mut(slot) = Slot { generation, mark, ..fresh };
                slot
            }
            None => {
                self.slots.push(fresh);
                index32(self.slots.len() - 1)
            }
        };
        keys.retain(key);
        if self.sessions {
            self.list_session(keys, slot);
        } else {
            self.by_span.insert((key, span), slot);
        }
        self.set_timer(slot);
        slot
    }

    /// Closes a window: the slot is free, and what refers to it by generation is void.
    pub(crate) fn close(&mut self, keys: &mut KeyTable, slot: u32) {
        let (key, span) = (self.slot(slot).key, self.slot(slot).span);
        if self.sessions {
            self.unlist_session(keys, slot);
        } else {
            self.by_span.remove(&(key, span));
        }
        self.standing_bytes -= bytes_of(&self.slot(slot).standing);
        let closed = self.slot_mut(slot);
        closed.live = false;
        closed.generation = closed.generation.wrapping_add(1);
        closed.standing = Vec::new();
        closed.hidden = Hidden::default();
        self.free.push(slot);
        keys.release(key);
    }

    /// Puts a session in its place among those of its key.
    pub(crate) fn list_session(&self, keys: &mut KeyTable, slot: u32) {
        let span = self.slot(slot).span;
        let sessions = keys.sessions_mut(self.slot(slot).key);
        let place = sessions.partition_point(|other| self.slot(*other).span <= span);
        sessions.insert(place, slot);
    }

    /// Takes a session from its place among those of its key, if it is there.
    pub(crate) fn unlist_session(&self, keys: &mut KeyTable, slot: u32) {
        let span = self.slot(slot).span;
        let sessions = keys.sessions_mut(self.slot(slot).key);
        let first = sessions.partition_point(|other| self.slot(*other).span < span);
        let equal = sessions.range(first..).take_while(|other| self.slot(**other).span == span);
        if let Some(past) = equal.into_iter().position(|other| *other == slot) {
            sessions.remove(first + past);
        }
    }

    /// Sets a timer at the slot's next due time.
    pub(crate) fn set_timer(&mut self, slot: u32) {
        let due = self.due(self.slot(slot));
        let reference = self.reference(slot);
        self.timers.entry(due).or_default().push(reference);
    }

    /// When the slot's window is due next: its end, then its end plus the allowed lateness.
    fn due(&self, slot: &Slot) -> EventTime {
        if slot.past_end { slot.span.end.saturating_add(self.lateness.0) } else { slot.span.end }
    }

    /// The earliest time at which anything may be due.
    pub(crate) fn next_due(&self) -> Option<EventTime> {
        self.timers.first_key_value().map(|(due, _)| *due)
    }

    /// Takes out the slots that are due at `watermark`. Each must be given a new timer or be closed.
    pub(crate) fn take_due(&mut self, watermark: Watermark) -> Vec<u32> {
        let mut due_slots = Vec::new();
        while let Some(first) = self.timers.first_entry().filter(|first| watermark.reached(*first.key())) {
            for reference in first.remove() {
                let Some(slot) = self.resolve(reference) else { continue };
                if watermark.reached(self.due(self.slot(slot))) {
                    due_slots.push(slot);
                } else {
                    self.set_timer(slot);
                }
            }
        }
        // A session that was merged back and forth can have left two timers.
        due_slots.sort_unstable();
        due_slots.dedup();
        due_slots
    }

    /// Whether the window is gone at `watermark`.
    pub(crate) fn is_gone(&self, slot: u32, watermark: Watermark) -> bool {
        is_gone(self.slot(slot).span.end, self.lateness, watermark)
    }

    pub(crate) fn reference(&self, slot: u32) -> SlotRef {
        SlotRef { slot, generation: self.slot(slot).generation }
    }

    /// The slot, if its window is still the one referred to.
    pub(crate) fn resolve(&self, reference: SlotRef) -> Option<u32> {
        let slot = self.slot(reference.slot);
        (slot.live && slot.generation == reference.generation).then_some(reference.slot)
    }
}

/// Bytes that these records take.
pub(super) fn bytes_of(standing: &[StandingPane]) -> usize {
    standing.iter().map(StandingPane::bytes).sum()
}
