//! The watermark and the clock move: windows fire on time, are corrected one last time, are purged; instants of
//! processing time fire what is new (docs/semantics.md, 4).
//!
//! On the way to a later clock come, in this order: the instants before it under the old watermark, the watermark's own
//! firings, and the instant itself.

use std::collections::BTreeSet;

use tidegate_pipeline::{Early, Late};
use tidegate_types::hooks::Decision;
use tidegate_types::{EventTime, Millis, NO_CLOCK, Timing, Watermark};
use tidegate_windows::ticks_within;

use super::WindowOperator;
use super::run::Fire;
use super::sliced::Sliced;
use crate::OperatorError;
use crate::operator::OperatorOutput;

/// Which periodic triggers an instant belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Instant {
    early: bool,
    late: bool,
}

impl WindowOperator {
    /// Whether anything falls due on the way to this watermark and clock.
    pub(super) fn is_due(&self, watermark: Watermark, clock: EventTime) -> bool {
        let next_due = self.sliced.as_ref().map_or_else(|| self.windows.next_due(), Sliced::next_due);
        next_due.is_some_and(|due| watermark.reached(due))
            || (clock > self.clock && !self.awaiting.is_empty() && self.instants(clock).next().is_some())
    }

    /// Moves the watermark and the clock, firing what falls due. Neither moves backwards.
    pub(super) fn advance(
        &mut self,
        watermark: Watermark,
        clock: EventTime,
        out: &mut OperatorOutput,
    ) -> Result<(), OperatorError> {
        let moves = clock > self.clock;
        let due: Vec<(EventTime, Instant)> = if moves { self.instants(clock).collect() } else { Vec::new() };
        for (at, instant) in due.iter().filter(|(at, _)| *at < clock) {
            self.clock = *at;
            self.tick(*instant, out)?;
        }
        self.clock = self.clock.max(clock);
        if watermark > self.watermark {
            let before = std::mem::replace(&mut self.watermark, watermark);
            self.fire_due(before, out)?;
        }
        // Under the new watermark, so that a window that has just passed its end is not early any more.
        if moves {
            let instant = self.instant_at(clock);
            self.tick(instant, out)?;
        }
        Ok(())
    }

    /// The first instant of each periodic trigger on the clock's way to `to`, in order; equal ones are one.
    fn instants(&self, to: EventTime) -> impl Iterator<Item = (EventTime, Instant)> + use<> {
        let from = self.clock;
        let [early, late] = self.periods();
        let early = early.and_then(|every| ticks_within(from, to, every));
        let late = late.and_then(|every| ticks_within(from, to, every));
        let both = early.is_some() && early == late;
        let first = early.map(|at| (at, Instant { early: true, late: both }));
        let second = late.filter(|_| !both).map(|at| (at, Instant { early: false, late: true }));
        let mut instants: Vec<_> = first.into_iter().chain(second).collect();
        instants.sort_by_key(|(at, _)| *at);
        instants.into_iter()
    }

    /// The triggers that have an instant exactly at `clock`.
    fn instant_at(&self, clock: EventTime) -> Instant {
        let [early, late] = self.periods();
        let divides =
            |every: Option<Millis>| clock != NO_CLOCK && every.is_some_and(|every| clock.rem_euclid(every.0) == 0);
        Instant { early: divides(early), late: divides(late) }
    }

    pub(super) fn periods(&self) -> [Option<Millis>; 2] {
        let early = match self.early() {
            Early::EveryProcessingTime(every) => Some(every),
            Early::None | Early::EveryElements(_) => None,
        };
        let late = match self.late() {
            Late::EveryProcessingTime(every) => Some(every),
            Late::EveryElement | Late::None => None,
        };
        [early, late]
    }

    /// An instant of processing time: one pane for each window of that phase that has new records.
    fn tick(&mut self, instant: Instant, out: &mut OperatorOutput) -> Result<(), OperatorError> {
        if !(instant.early || instant.late) || self.awaiting.is_empty() {
            return Ok(());
        }
        let mut awaiting = std::mem::take(&mut self.awaiting);
        awaiting.sort_unstable();
        awaiting.dedup();
        let mut fires = Vec::new();
        for reference in awaiting {
            let Some(slot) = self.windows.resolve(reference) else { continue };
            if self.windows.slot(slot).fresh == 0 {
                self.windows.slot_mut(slot).awaits = false;
                continue;
            }
            let window = self.windows.slot(slot);
            let (due, timing) =
                if window.past_end { (instant.late, Timing::Late) } else { (instant.early, Timing::Early) };
            if due {
                self.changing(slot);
                self.windows.slot_mut(slot).awaits = false;
                fires.push(Fire { slot, timing, event: self.event() });
            } else {
                self.awaiting.push(reference);
            }
        }
        self.order(&mut fires);
        self.emit(&fires, out)?;
        Ok(())
    }

    /// What the watermark has made due: on-time panes, last late panes, purges.
    fn fire_due(&mut self, before: Watermark, out: &mut OperatorOutput) -> Result<(), OperatorError> {
        if self.sliced.is_some() {
            self.fire_sliced(before, out);
            return Ok(());
        }
        let due = self.windows.take_due(self.watermark);
        if self.hook_decides() {
            return self.decide_due(due, out);
        }
        let global = self.is_global();
        let mut fires = Vec::new();
        let mut purges = Vec::new();
        for slot in due {
            let gone = self.windows.is_gone(slot, self.watermark);
            self.changing(slot);
            let window = self.windows.slot_mut(slot);
            let timing = if window.past_end {
                let last = matches!(self.config.late, Late::EveryProcessingTime(_)) && window.fresh > 0;
                last.then_some(Timing::Late)
            } else {
                window.past_end = true;
                let shown = !global || window.fresh > 0;
                shown.then_some(Timing::OnTime)
            };
            fires.extend(timing.map(|timing| Fire { slot, timing, event: self.event() }));
            if gone {
                purges.push(slot);
            } else {
                self.windows.set_timer(slot);
            }
        }
        self.order(&mut fires);
        self.emit(&fires, out)?;
        for slot in purges {
            self.purge(slot, out);
        }
        Ok(())
    }

    /// As `fire_due`, where the window hook decides what fires as the watermark passes a window's end.
    fn decide_due(&mut self, mut due: Vec<u32>, out: &mut OperatorOutput) -> Result<(), OperatorError> {
        due.sort_by_key(|slot| self.place_in_order(*slot));
        let ended: Vec<u32> = due.iter().copied().filter(|slot| !self.windows.slot(*slot).past_end).collect();
        for slot in &ended {
            self.changing(*slot);
            self.windows.slot_mut(*slot).past_end = true;
        }
        let decided = self.decide(&ended, 0, self.watermark)?;
        let mut fires = Vec::new();
        let mut done = Vec::new();
        for (slot, decision) in ended.into_iter().zip(decided) {
            match decision {
                Ok(decision) => {
                    if matches!(decision, Decision::Fire | Decision::FireAndPurge) {
                        fires.push(Fire { slot, timing: Timing::OnTime, event: self.event() });
                    }
                    if matches!(decision, Decision::Purge | Decision::FireAndPurge) {
                        done.push(slot);
                    }
                }
                Err(failure) => self.fail_decision(slot, &failure, out),
            }
        }
        let failed: BTreeSet<u32> = self.emit(&fires, out)?.into_iter().collect();
        let done: BTreeSet<u32> = done.into_iter().filter(|slot| !failed.contains(slot)).collect();
        for slot in due {
            if done.contains(&slot) || self.windows.is_gone(slot, self.watermark) {
                self.purge(slot, out);
            } else {
                self.windows.set_timer(slot);
            }
        }
        Ok(())
    }

    /// The window's state is gone.
    pub(super) fn purge(&mut self, slot: u32, out: &mut OperatorOutput) {
        if self.late() == Late::None && self.is_session() {
            out.account.unshown += self.windows.slot(slot).fresh;
        }
        self.forgetting(slot);
        let hidden = std::mem::take(&mut self.windows.slot_mut(slot).hidden);
        out.account.unshown += self.unshown.purged(hidden, &mut self.tracker);
        self.close(slot);
    }

    /// Frees a slot and its accumulators.
    pub(super) fn close(&mut self, slot: u32) {
        self.forgetting(slot);
        self.windows.close(&mut self.keys, slot);
        self.builtins.reset(slot);
        for hook in &mut self.hooks {
            hook.reset(slot);
        }
    }

    /// Windows of one key that fire together fire in order of end, then start.
    fn order(&self, fires: &mut [Fire]) {
        fires.sort_by_key(|fire| self.place_in_order(fire.slot));
    }

    fn place_in_order(&self, slot: u32) -> (EventTime, EventTime, u32) {
        let span = self.windows.slot(slot).span;
        (span.end, span.start, slot)
    }
}
