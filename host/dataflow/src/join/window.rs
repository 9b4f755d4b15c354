//! Window joins: pairs of rows of one key in the same window, emitted as the window fires on time.
//!
//! A row is kept once, however many windows it is in: a window's rows are those of its span. Of each key only one window to
//! fire is known, the next in which rows of both inputs can be; whether they are is looked at once it has ended, and then
//! the next one is looked for. So nothing that a row or a window costs grows with the rows of its key that meet nothing. A row
//! that comes after a window has ended meets the others of that window at once.
//!
//! Invariant: a key's `due` window is no later than the earliest that has not ended and has rows of both inputs, has a kept
//! row, and `due` names it.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use tidegate_pipeline::JoinSide;
use tidegate_types::{EventTime, Millis, Origin, Watermark};
use tidegate_windows::{covering_windows, is_gone, tumbling_start};

use super::buffer::{Kept, Place};
use super::core::Core;
use super::emitter::About;
use super::keys::KeyId;
use super::packed::RowValues;
use super::round::Round;
use super::{Arriving, Judgement, Rule, other};

/// Windows of one size that start every `slide`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub(super) size: Millis,
    pub(super) slide: Millis,
    pub(super) offset: Millis,
}

impl Grid {
    /// The start of the first window that holds a time.
    fn first(self, time: EventTime) -> EventTime {
        let mut windows = covering_windows(time, self.size, self.slide, self.offset);
        windows.next().expect("no slide is longer than the windows").start
    }

    /// The start of the last window that holds a time.
    fn last(self, time: EventTime) -> EventTime {
        tumbling_start(time, self.slide, self.offset)
    }

    /// The start of the first window that holds a time and ends after another.
    fn first_ending_after(self, time: EventTime, end: EventTime) -> EventTime {
        let passed = tumbling_start(end.saturating_sub(self.size.0), self.slide, self.offset);
        self.first(time).max(passed.saturating_add(self.slide.0))
    }

    /// The end of the window that starts there.
    fn end(self, start: EventTime) -> EventTime {
        start.saturating_add(self.size.0)
    }
}

pub(super) struct WindowRule {
    grid: Grid,
    lateness: Millis,
    /// The start of each key's next window to fire.
    due: BTreeSet<(EventTime, KeyId)>,
}

/// A window that fires, as far as it has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Firing {
    start: EventTime,
    key: KeyId,
    /// The left row at work.
    left: Place,
    /// The last right row that it has met.
    right: Option<Place>,
}

pub(super) enum Task {
    /// A row meets the others of its windows that have ended, from the one that starts at `start` on, whose rows up to
    /// `after` are done; then it is kept.
    Late { row: Arriving, start: EventTime, after: Option<Place> },
    /// Windows fire by the event at this position; then rows are let go.
    Fires { position: u32, firing: Option<Firing> },
}

impl WindowRule {
    pub(super) fn new(grid: Grid, lateness: Millis) -> Self {
        Self { grid, lateness, due: BTreeSet::new() }
    }

    /// The first window, from `start` on, in which a key can have rows of both inputs, as far as its first rows tell.
    fn next_shared(&self, core: &Core, key: KeyId, start: EventTime) -> Option<EventTime> {
        let left = core.buffers.left.first_from(key, start)?;
        let right = core.buffers.right.first_from(key, start)?;
        // No window before the first of the later row reaches as far.
        Some(start.max(self.grid.first(left.max(right))))
    }

    /// Sees to it that a key's next window fires, which is none before `start`.
    fn schedule(&mut self, core: &mut Core, key: KeyId, start: EventTime) {
        let Some(next) = self.next_shared(core, key, start) else { return };
        if let Some(due) = core.keys.due(key) {
            if due <= next {
                return;
            }
            self.due.remove(&(due, key));
        }
        core.keys.set_due(key, Some(next));
        self.due.insert((next, key));
    }

    /// A row meets the others of its windows that have ended. What is left once the emitter is ripe.
    fn meet(
        &self,
        row: Arriving,
        mut start: EventTime,
        mut after: Option<Place>,
        round: &Round,
        core: &mut Core,
    ) -> Option<Task> {
        let input = round.inputs.of(row.side);
        let (hash, encoded) = input.key(row.row);
        let key = core.keys.find(hash, encoded)?;
        let others = core.buffers.of(other(row.side));
        while start <= self.grid.last(row.time) && core.watermark.reached(self.grid.end(start)) {
            let end = self.grid.end(start);
            let next = others.first_from(key, start)?;
            if next >= end {
                // No window before this one reaches as far.
                (start, after) = (self.grid.first(next), None);
                continue;
            }
            let from = after.map_or(Bound::Included((start, 0)), Bound::Excluded);
            for (place, kept) in others.range(key, from, end - 1) {
                let about = About {
                    key: encoded,
                    time: end - 1,
                    watermark: core.watermark,
                    clock: core.clock,
                    position: input.batch.positions[row.row],
                    blame: Some((&input.batch.origin, input.batch.rows[row.row])),
                };
                core.emitter.row(row.side, input.values(row.row), RowValues::Kept(&kept.packed), &about);
                if core.emitter.is_ripe() {
                    return Some(Task::Late { row, start, after: Some(place) });
                }
            }
            (start, after) = (start.saturating_add(self.grid.slide.0), None);
        }
        None
    }

    /// The row has met all rows that it had to meet at once.
    fn settle(&mut self, row: Arriving, round: &Round, core: &mut Core) {
        let key = core.keep(row, round, false);
        if !core.watermark.reached(self.grid.end(self.grid.last(row.time))) {
            let start = self.grid.first_ending_after(row.time, core.watermark.as_millis());
            self.schedule(core, key, start);
        }
    }

    /// The next window that the watermark has reached the end of.
    fn take_due(&mut self, core: &mut Core) -> Option<Firing> {
        let (start, key) = *self.due.first()?;
        if !core.watermark.reached(self.grid.end(start)) {
            return None;
        }
        self.due.pop_first();
        core.keys.set_due(key, None);
        Some(Firing { start, key, left: (start, 0), right: None })
    }

    fn fire(&mut self, position: u32, mut firing: Option<Firing>, core: &mut Core) -> Option<Task> {
        while let Some(window) = firing.take().or_else(|| self.take_due(core)) {
            if let Some(rest) = self.pairs(window, position, core) {
                return Some(Task::Fires { position, firing: Some(rest) });
            }
            self.schedule(core, window.key, window.start.saturating_add(self.grid.slide.0));
        }
        for side in [JoinSide::Left, JoinSide::Right] {
            while core.buffers.of(side).oldest().is_some_and(|place| self.is_gone(place.0, core.watermark)) {
                core.drop_oldest(side, None);
            }
        }
        None
    }

    /// The pairs of a window, in order of the left, then the right row. What is left once the emitter is ripe.
    fn pairs(&self, window: Firing, position: u32, core: &mut Core) -> Option<Firing> {
        let last = self.grid.end(window.start) - 1;
        let emitter = &mut core.emitter;
        for (left, one) in core.buffers.left.range(window.key, Bound::Included(window.left), last) {
            let done = window.right.filter(|_| left == window.left);
            let from = done.map_or(Bound::Included((window.start, 0)), Bound::Excluded);
            for (right, two) in core.buffers.right.range(window.key, from, last) {
                let about = About {
                    key: core.keys.encoded(window.key),
                    time: last,
                    watermark: core.watermark,
                    clock: core.clock,
                    position,
                    blame: later_record((left, one), (right, two)),
                };
                emitter.row(JoinSide::Left, RowValues::Kept(&one.packed), RowValues::Kept(&two.packed), &about);
                if emitter.is_ripe() {
                    return Some(Firing { left, right: Some(right), ..window });
                }
            }
        }
        None
    }

    /// Whether all windows of a time are gone.
    fn is_gone(&self, time: EventTime, watermark: Watermark) -> bool {
        is_gone(self.grid.end(self.grid.last(time)), self.lateness, watermark)
    }
}

/// The record of the row of a pair that came last.
fn later_record<'a>(left: (Place, &'a Kept), right: (Place, &'a Kept)) -> Option<(&'a Arc<Origin>, u32)> {
    let (_, kept) = if left.0.1 > right.0.1 { left } else { right };
    kept.origin.as_ref().map(|origin| (origin, 0))
}

impl Rule for WindowRule {
    type Task = Task;

    fn judge(&self, time: EventTime, watermark: Watermark) -> Judgement {
        if self.is_gone(time, watermark) {
            return Judgement::TooLate;
        }
        let first = self.grid.end(self.grid.first(time));
        Judgement::Accepted { partly_late: is_gone(first, self.lateness, watermark) }
    }

    fn arrive(&self, row: Arriving, watermark: Watermark) -> Task {
        let gone = watermark.as_millis().saturating_sub(self.lateness.0);
        Task::Late { row, start: self.grid.first_ending_after(row.time, gone), after: None }
    }

    fn advance(&self, position: u32) -> Task {
        Task::Fires { position, firing: None }
    }

    fn go_on(&mut self, task: Task, round: &Round, core: &mut Core) -> Option<Task> {
        match task {
            // It meets nothing, now or later.
            Task::Late { row, .. } if row.null_key => None,
            Task::Late { row, start, after } => {
                let rest = self.meet(row, start, after, round, core);
                if rest.is_none() {
                    self.settle(row, round, core);
                }
                rest
            }
            Task::Fires { position, firing } => self.fire(position, firing, core),
        }
    }

    /// Which window of a key is next follows from its rows: every shared window has a left row.
    fn restored(&mut self, core: &mut Core) {
        let rows: Vec<(KeyId, EventTime)> = core.buffers.left.places().collect();
        for (key, time) in rows {
            if !core.watermark.reached(self.grid.end(self.grid.last(time))) {
                let start = self.grid.first_ending_after(time, core.watermark.as_millis());
                self.schedule(core, key, start);
            }
        }
    }

    /// Whether a window of a key is due depends on rows that are gone: each key counts as if one were.
    fn state_bytes(&self, keys: usize) -> u64 {
        (keys * size_of::<(EventTime, KeyId)>()) as u64
    }
}
