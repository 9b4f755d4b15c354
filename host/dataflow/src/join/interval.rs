//! Interval joins: pairs of rows of one key with `right.time` in `[left.time + lower, left.time + upper]`.
//!
//! A row is kept for as long as a row that is not late could still meet it; then it goes, and comes out without a partner
//! if it met none and the join is outer on its side. Rows of one side go in order of their times, so that the order of
//! places is the order of dropping.

use std::ops::Bound;

use tidegate_pipeline::{JoinSide, Matching};
use tidegate_types::{EventTime, Millis, Watermark};

use super::buffer::Place;
use super::core::Core;
use super::emitter::About;
use super::packed::RowValues;
use super::round::Round;
use super::stored::Entry;
use super::{Arriving, Both, Judgement, Rule, is_outer, other};

pub(super) struct IntervalRule {
    /// How far the partners of a row are from it, at least and at most.
    partners: Both<(i64, i64)>,
    lateness: Millis,
    /// Whether rows of a side come out without a partner.
    outer: Both<bool>,
}

pub(super) enum Task {
    /// A row meets its partners, those up to `after` being done; then it is kept or let go.
    Partners { row: Arriving, after: Option<Place>, matched: bool },
    /// Rows are let go by the event at this position.
    Drops { position: u32 },
}

impl IntervalRule {
    pub(super) fn new(lower: i64, upper: i64, lateness: Millis, matching: Matching) -> Self {
        Self {
            partners: Both { left: (lower, upper), right: (upper.saturating_neg(), lower.saturating_neg()) },
            lateness,
            outer: Both { left: is_outer(matching, JoinSide::Left), right: is_outer(matching, JoinSide::Right) },
        }
    }

    /// Whether no partner of a row of this time can come any more: all of them would be late.
    fn is_past(&self, side: JoinSide, time: EventTime, watermark: Watermark) -> bool {
        let last = time.saturating_add(self.partners.of(side).1).saturating_add(self.lateness.0);
        watermark > Watermark::at(last) || watermark == Watermark::MAX
    }

    fn meet(
        &self,
        row: Arriving,
        mut after: Option<Place>,
        mut matched: bool,
        round: &Round,
        core: &mut Core,
    ) -> Option<Task> {
        let input = round.inputs.of(row.side);
        let (hash, encoded) = input.key(row.row);
        let known = if row.null_key { None } else { core.keys.find(hash, encoded) };
        if let Some(key) = known {
            let (least, most) = *self.partners.of(row.side);
            let first = (row.time.saturating_add(least), 0);
            let from = after.map_or(Bound::Included(first), Bound::Excluded);
            let side = other(row.side);
            let (partners, changed) = core.buffers.of_mut(side).range_mut(key, from, row.time.saturating_add(most));
            for (place, kept) in partners {
                if *self.outer.of(side) && !kept.matched {
                    let entry = Entry { side, keys: &core.keys, max_parallelism: core.max_parallelism, key, place };
                    let mut mark = kept.mark;
                    changed.touch(&mut mark, || (key, place.0, place.1), |changes| entry.put(kept, changes));
                    (kept.mark, kept.matched) = (mark, true);
                }
                matched = true;
                after = Some(place);
                let about = About {
                    key: encoded,
                    time: row.time.max(place.0),
                    watermark: core.watermark,
                    clock: core.clock,
                    position: input.batch.positions[row.row],
                    blame: Some((&input.batch.origin, input.batch.rows[row.row])),
                };
                core.emitter.row(row.side, input.values(row.row), RowValues::Kept(&kept.packed), &about);
                if core.emitter.is_ripe() {
                    return Some(Task::Partners { row, after, matched });
                }
            }
        }
        self.settle(row, matched, round, core);
        None
    }

    /// The row has met all partners that are there.
    fn settle(&self, row: Arriving, matched: bool, round: &Round, core: &mut Core) {
        let outer = *self.outer.of(row.side);
        if self.is_past(row.side, row.time, core.watermark) {
            if outer && !matched {
                core.emit_arriving(row, round);
            }
        } else if outer || !row.null_key {
            core.keep(row, round, matched);
        }
    }

    /// Lets go what has no partner to come, in order of time, the left ones first.
    fn drop_past(&self, position: u32, core: &mut Core) -> Option<Task> {
        while !core.emitter.is_ripe() {
            let past = |side: JoinSide| {
                let oldest = core.buffers.of(side).oldest();
                oldest.filter(|place| self.is_past(side, place.0, core.watermark)).map(|place| (place.0, side))
            };
            let next = [past(JoinSide::Left), past(JoinSide::Right)].into_iter().flatten().min();
            let (_, side) = next?;
            core.drop_oldest(side, self.outer.of(side).then_some(position));
        }
        Some(Task::Drops { position })
    }
}

impl Rule for IntervalRule {
    type Task = Task;

    fn judge(&self, time: EventTime, watermark: Watermark) -> Judgement {
        if Watermark::at(time.saturating_add(self.lateness.0)) < watermark {
            Judgement::TooLate
        } else {
            Judgement::Accepted { partly_late: false }
        }
    }

    fn arrive(&self, row: Arriving, _watermark: Watermark) -> Task {
        Task::Partners { row, after: None, matched: false }
    }

    fn advance(&self, position: u32) -> Task {
        Task::Drops { position }
    }

    fn go_on(&mut self, task: Task, round: &Round, core: &mut Core) -> Option<Task> {
        match task {
            Task::Partners { row, after, matched } => self.meet(row, after, matched, round, core),
            Task::Drops { position } => self.drop_past(position, core),
        }
    }

    fn restored(&mut self, _core: &mut Core) {}

    fn state_bytes(&self, _keys: usize) -> u64 {
        0
    }
}
