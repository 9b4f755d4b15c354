//! The watermark and the clock move: windows fire on time, are corrected one last time, are purged; instants of
//! processing time fire what is new (docs/semantics.md, 4).
//!
//! On the way to a later clock come, in this order: the instants before it under the old watermark, the watermark's own
//! firings, and the instant itself.

use tidegate_pipeline::{Early, Late};
use tidegate_types::hooks::Decision;
use tidegate_types::{EventTime, Millis, NO_CLOCK, Timing, Watermark};
use tidegate_windows::{WindowSpan, ticks_within};

use super::run::Fire;
use super::{WindowOperator, WindowOutput};
use crate::OperatorError;

/// Which periodic triggers an instant belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Instant {
    early: bool,
    late: bool,
}

impl WindowOperator {
    /// Whether anything falls due on the way to this watermark and clock.
    pub(super) fn is_due(&self, watermark: Watermark, clock: EventTime) -> bool {
        self.windows.next_due().is_some_and(|due| watermark.reached(due))
            || (clock > self.clock && !self.awaiting.is_empty() && self.instants(clock).next().is_some())
    }

    /// Moves the watermark and the clock, firing what falls due. Neither moves backwards.
    pub(super) fn advance(
        &mut self,
        watermark: Watermark,
        clock: EventTime,
        out: &mut WindowOutput,
    ) -> Result<(), OperatorError> {
        let due: Vec<(EventTime, Instant)> =
            if clock > self.clock { self.instants(clock).collect() } else { Vec::new() };
        for (_, instant) in due.iter().filter(|(at, _)| *at < clock) {
            self.tick(*instant, out)?;
        }
        if watermark > self.watermark {
            self.watermark = watermark;
            self.fire_due(out)?;
        }
        // Under the new watermark, so that a window that has just passed its end is not early any more.
        if clock > self.clock {
            let instant = self.instant_at(clock);
            self.tick(instant, out)?;
            self.clock = clock;
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
    fn tick(&mut self, instant: Instant, out: &mut WindowOutput) -> Result<(), OperatorError> {
        if !(instant.early || instant.late) || self.awaiting.is_empty() {
            return Ok(());
        }
        let mut awaiting = std::mem::take(&mut self.awaiting);
        awaiting.sort_unstable();
        awaiting.dedup();
        let mut fires = Vec::new();
        for reference in awaiting {
            let Some(slot) = self.windows.resolve(reference) else { continue };
            let window = self.windows.slot(slot);
            if window.fresh == 0 {
                continue;
            }
            let (due, timing) =
                if window.past_end { (instant.late, Timing::Late) } else { (instant.early, Timing::Early) };
            if due {
                fires.push(Fire { slot, timing, watermark: self.watermark });
            } else {
                self.awaiting.push(reference);
            }
        }
        self.order(&mut fires);
        self.emit(&fires, out)
    }

    /// What the watermark has made due: on-time panes, last late panes, purges.
    fn fire_due(&mut self, out: &mut WindowOutput) -> Result<(), OperatorError> {
        let due = self.windows.take_due(self.watermark);
        if self.hook_decides() {
            return self.decide_due(&due, out);
        }
        let mut fires = Vec::new();
        let mut purges = Vec::new();
        for slot in due {
            let gone = self.windows.is_gone(slot, self.watermark);
            let window = self.windows.slot_mut(slot);
            let timing = if window.past_end {
                let last = matches!(self.config.late, Late::EveryProcessingTime(_)) && window.fresh > 0;
                last.then_some(Timing::Late)
            } else {
                window.past_end = true;
                let shown = window.span != WindowSpan::GLOBAL || window.fresh > 0;
                shown.then_some(Timing::OnTime)
            };
            fires.extend(timing.map(|timing| Fire { slot, timing, watermark: self.watermark }));
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
    fn decide_due(&mut self, due: &[u32], out: &mut WindowOutput) -> Result<(), OperatorError> {
        let ended: Vec<u32> = due.iter().copied().filter(|slot| !self.windows.slot(*slot).past_end).collect();
        for slot in &ended {
            self.windows.slot_mut(*slot).past_end = true;
        }
        let decided = self.decide(&ended, 0, self.watermark)?;
        let mut purges: Vec<u32> =
            due.iter().copied().filter(|slot| self.windows.is_gone(*slot, self.watermark)).collect();
        let mut fires = Vec::new();
        for (slot, decision) in ended.iter().zip(decided) {
            match decision {
                Ok(decision) => {
                    if matches!(decision, Decision::Fire | Decision::FireAndPurge) {
                        fires.push(Fire { slot: *slot, timing: Timing::OnTime, watermark: self.watermark });
                    }
                    if matches!(decision, Decision::Purge | Decision::FireAndPurge) && !purges.contains(slot) {
                        purges.push(*slot);
                    }
                }
                Err(failure) => self.fail_decision(*slot, &failure, out),
            }
        }
        self.order(&mut fires);
        self.emit(&fires, out)?;
        for slot in due {
            if purges.contains(slot) {
                self.purge(*slot, out);
            } else {
                self.windows.set_timer(*slot);
            }
        }
        Ok(())
    }

    /// The window's state is gone.
    pub(super) fn purge(&mut self, slot: u32, out: &mut WindowOutput) {
        if self.late() == Late::None && self.is_session() {
            out.account.unshown += self.windows.slot(slot).fresh;
        }
        let followed = std::mem::take(&mut self.windows.slot_mut(slot).followed);
        let gone = followed.into_iter().filter(|record| self.unshown.leave(*record, false)).count();
        out.account.unshown += gone as u64;
        self.close(slot);
    }

    /// Frees a slot and its accumulators.
    pub(super) fn close(&mut self, slot: u32) {
        self.windows.close(&mut self.keys, slot);
        self.builtins.reset(slot);
        for hook in &mut self.hooks {
            hook.reset(slot);
        }
    }

    /// Windows of one key that fire together fire in order of end, then start.
    fn order(&self, fires: &mut [Fire]) {
        fires.sort_by_key(|fire| {
            let window = self.windows.slot(fire.slot);
            (window.span.end, window.span.start, fire.slot)
        });
    }
}
