//! A run is published, or taken back.

use std::collections::BTreeSet;

use tidegate_types::Timing;
use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::Decision;

use super::run::{Event, Fire, Undo};
use super::{Flushed, Prep, WindowOperator};
use crate::OperatorError;
use crate::aggregate::Additions;
use crate::operator::OperatorOutput;
use crate::side::Condemned;

impl WindowOperator {
    /// Calls the hooks for the run's rows and, if no record is condemned, publishes all that the run decided.
    pub(super) fn flush(&mut self, prep: &mut Prep, out: &mut OperatorOutput) -> Result<Flushed, OperatorError> {
        let mut decisions = Vec::new();
        if self.run.has_rows() && self.can_condemn() {
            let before = prep.condemned.len();
            // The window hook first: what it condemns need not be accumulated.
            if self.hook_decides() {
                decisions = self.decide_rows(prep)?;
            }
            let accumulators = if prep.condemned.len() == before { self.call_hooks(prep)? } else { Vec::new() };
            if prep.condemned.len() > before {
                self.take_back();
                return Ok(Flushed::Restart);
            }
            for (hook, accumulators) in self.hooks.iter_mut().zip(accumulators) {
                hook.store(&accumulators);
            }
        }
        if let Some(merge) = self.run.merge.take() {
            for other in &merge.others {
                self.builtins.merge(merge.target, *other);
                self.close(*other);
            }
        }
        let additions = Additions { rows: &self.run.rows, slots: &self.run.slots };
        self.builtins.add(&prep.builtins, &prep.batch, &additions);
        out.sides.append(&mut self.run.sides);
        out.account += std::mem::take(&mut self.run.account);
        let fires = std::mem::take(&mut self.run.fires);
        self.emit(&fires, out)?;
        if let Some(late) = self.run.late.take() {
            self.fire_late(&late, prep, out);
        }
        self.carry_out(&decisions, prep, out)?;
        Ok(Flushed::Committed)
    }

    /// Asks the window hook about every window that the run's rows went to. A row on which it fails is condemned.
    fn decide_rows(&mut self, prep: &mut Prep) -> Result<Vec<Decision>, OperatorError> {
        let slots = self.run.slots.clone();
        let decided = self.decide(&slots, 1, self.watermark)?;
        let mut decisions = Vec::with_capacity(decided.len());
        for (decision, row) in decided.into_iter().zip(&self.run.rows) {
            match decision {
                Ok(decision) => decisions.push(decision),
                Err(failure) => {
                    let Some(custom) = &self.custom else { continue };
                    let condemned = Condemned::by_failure(custom.component(), failure);
                    prep.condemned.entry(index(*row)).or_insert(condemned);
                }
            }
        }
        Ok(decisions)
    }

    /// Fires and purges what the window hook decided about the run's rows, and follows those rows.
    fn carry_out(
        &mut self,
        decisions: &[Decision],
        prep: &Prep,
        out: &mut OperatorOutput,
    ) -> Result<(), OperatorError> {
        if decisions.is_empty() {
            return Ok(());
        }
        let pairs: Vec<(u32, u32)> = self.run.rows.iter().copied().zip(self.run.slots.iter().copied()).collect();
        for record in pairs.chunk_by(|a, b| a.0 == b.0) {
            let hash = self.keys.hash(self.windows.slot(record[0].1).key);
            let follow = self.unshown.follow(index32(record.len()), hash);
            for (_, slot) in record {
                self.windows.slot_mut(*slot).hidden.add(follow);
            }
        }
        let decided = || pairs.iter().map(|(_, slot)| *slot).zip(decisions);
        let fires: Vec<Fire> = decisions
            .iter()
            .enumerate()
            .filter(|(_, decision)| matches!(decision, Decision::Fire | Decision::FireAndPurge))
            .map(|(at, _)| {
                let (row, slot) = pairs[at];
                let timing = if self.windows.slot(slot).past_end { Timing::Late } else { Timing::Early };
                let position = prep.batch.positions[index(row)];
                Fire { slot, timing, event: Event { position, clock: self.run.clocks[at], watermark: self.watermark } }
            })
            .collect();
        // A pane that failed leaves its window's state as it was.
        let failed: BTreeSet<u32> = self.emit(&fires, out)?.into_iter().collect();
        for (slot, decision) in decided() {
            if matches!(decision, Decision::Purge | Decision::FireAndPurge) && !failed.contains(&slot) {
                self.purge(slot, out);
            }
        }
        Ok(())
    }

    /// Undoes what the run decided, newest first, and goes back to where it started.
    fn take_back(&mut self) {
        for undo in self.run.take_back() {
            match undo {
                Undo::Opened(slot) => self.windows.close(&mut self.keys, slot),
                Undo::Changed(slot, before) => self.windows.slot_mut(slot).restore(*before),
                Undo::Sessions(key, sessions) => *self.keys.sessions_mut(key) = sessions,
                Undo::Accepted(accepted) => {
                    if let Some(identities) = &mut self.identities {
                        identities.undo(&mut self.keys, &mut self.tracker, &accepted);
                    }
                }
            }
        }
        self.watermark = self.run.start.watermark;
        self.clock = self.run.start.clock;
    }
}
