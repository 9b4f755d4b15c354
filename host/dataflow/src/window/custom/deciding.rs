//! The hook's decisions: what becomes of windows that rows were added to, or whose end the watermark has passed.
//!
//! Each window is decided alone, whatever it is asked with: a call that fails is halved until the windows are found on
//! which the hook fails by itself, and those have its failure in place of a decision.

use tidegate_types::Watermark;
use tidegate_types::batch::index32;
use tidegate_types::hooks::{Call, Decision, DecisionRequest, GuestFailure};

use super::{CustomWindows, in_calls};
use crate::OperatorError;
use crate::verdict::{Work, insist};
use crate::window::WindowOperator;

/// What the hook decided about each window, or how it failed on it.
pub(in crate::window) type Decided = Vec<Result<Decision, GuestFailure>>;

impl WindowOperator {
    /// Whether the hook, not the pipeline's trigger, says when windows fire.
    pub(in crate::window) fn hook_decides(&self) -> bool {
        self.custom.as_ref().is_some_and(|custom| custom.plan().decides)
    }

    /// Asks the hook about windows to each of which `count` rows were added. One answer per slot, in the same order.
    pub(in crate::window) fn decide(
        &mut self,
        slots: &[u32],
        count: u32,
        watermark: Watermark,
    ) -> Result<Decided, OperatorError> {
        let spans = || slots.iter().map(|slot| self.windows.slot(*slot).span);
        let request = DecisionRequest {
            keys: self.key_columns(slots.iter().copied()),
            starts: spans().map(|span| span.start).collect(),
            ends: spans().map(|span| span.end).collect(),
            counts: vec![count; slots.len()],
            watermark,
        };
        let Some(custom) = &mut self.custom else { return Ok(Vec::new()) };
        let mut work = DecideWork { custom, request, decided: Vec::with_capacity(slots.len()) };
        in_calls(&mut work, 0, slots.len(), |work| work.custom.decides.rows())?;
        debug_assert_eq!(work.decided.len(), slots.len());
        Ok(work.decided)
    }
}

struct DecideWork<'a> {
    custom: &'a mut CustomWindows,
    request: DecisionRequest,
    /// The answers so far. The windows are worked through in order.
    decided: Decided,
}

impl Work for DecideWork<'_> {
    fn run(&mut self, call: Call, from: usize, to: usize) -> Result<Result<(), GuestFailure>, OperatorError> {
        let some;
        let request = if to - from == self.request.starts.len() {
            &self.request
        } else {
            some = part(&self.request, from, to);
            &some
        };
        let custom = &mut *self.custom;
        let budget = custom.hook.fuel_budget();
        match insist(&custom.operator, || custom.hook.decide(call, request))? {
            Ok(answer) => {
                custom.decides.note(to - from, answer.fuel_used, budget);
                self.decided.extend(answer.value.into_iter().map(Ok));
                Ok(Ok(()))
            }
            Err(failure) => {
                custom.decides.shrink();
                Ok(Err(failure))
            }
        }
    }

    fn condemn(&mut self, _at: usize, failure: GuestFailure) {
        self.decided.push(Err(failure));
    }
}

/// Windows `from..to` of a request.
fn part(all: &DecisionRequest, from: usize, to: usize) -> DecisionRequest {
    let places: Vec<u32> = (index32(from)..index32(to)).collect();
    DecisionRequest {
        keys: all.keys.iter().map(|column| column.take(&places)).collect(),
        starts: all.starts[from..to].to_vec(),
        ends: all.ends[from..to].to_vec(),
        counts: all.counts[from..to].to_vec(),
        watermark: all.watermark,
    }
}
