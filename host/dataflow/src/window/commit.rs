//! A run is published, or taken back.

use super::run::Undo;
use super::{Flushed, Prep, WindowOperator, WindowOutput};
use crate::OperatorError;
use crate::aggregate::Additions;

impl WindowOperator {
    /// Calls the hooks for the run's rows and, if no record is condemned, publishes all that the run decided.
    pub(super) fn flush(&mut self, prep: &mut Prep<'_>, out: &mut WindowOutput) -> Result<Flushed, OperatorError> {
        if self.run.has_rows() && !self.hooks.is_empty() {
            let before = prep.condemned.len();
            let accumulators = self.call_hooks(prep)?;
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
        self.builtins.add(&prep.builtins, prep.batch, &additions);
        out.sides.append(&mut self.run.sides);
        out.account += std::mem::take(&mut self.run.account);
        let fires = std::mem::take(&mut self.run.fires);
        self.emit(&fires, out)?;
        Ok(Flushed::Committed)
    }

    /// Undoes what the run decided, newest first, and goes back to where it started.
    fn take_back(&mut self) {
        for undo in self.run.take_back() {
            match undo {
                Undo::Opened(slot) => self.windows.close(&mut self.keys, slot),
                Undo::Changed(slot, before) => *self.windows.slot_mut(slot) = *before,
                Undo::Sessions(key, sessions) => *self.keys.sessions_mut(key) = sessions,
                Undo::Accepted(accepted) => {
                    if let Some(identities) = &mut self.identities {
                        identities.undo(&mut self.keys, &accepted);
                    }
                }
            }
        }
        self.watermark = self.run.start.watermark;
        self.clock = self.run.start.clock;
    }
}
