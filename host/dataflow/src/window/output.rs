//! What the window operator emits, in pieces: however much one advance of the watermark fires, an output has a bounded
//! number of panes, and the operator goes on once they were taken.

use tidegate_types::PaneBatch;

use crate::account::Account;
use crate::side::Side;

/// What the operator emitted.
#[derive(Debug, Default)]
pub struct WindowOutput {
    /// Panes, in the order of their firing.
    pub panes: Vec<PaneBatch>,
    /// Too-late, duplicate and rejected records, failed panes.
    pub sides: Vec<Side>,
    /// What became of the rows.
    pub account: Account,
}

/// An output is full with so many records of panes: what fires more goes on once they were taken.
pub(super) const PANES_BEFORE_PAUSE: usize = 1 << 14;

impl WindowOutput {
    pub(super) fn is_full(&self) -> bool {
        self.panes.iter().map(|panes| panes.infos.len()).sum::<usize>() >= PANES_BEFORE_PAUSE
    }
}

/// Whether an operator is through with a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a batch that is paused has to be resumed"]
pub enum Work {
    /// It is.
    Done,
    /// The output is to be taken first.
    Paused,
}
