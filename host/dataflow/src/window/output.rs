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
    /// The records in `panes`.
    rows: usize,
}

/// An output is full with so many records of panes: what fires more goes on once they were taken.
pub(super) const PANES_BEFORE_PAUSE: usize = 1 << 14;

impl WindowOutput {
    /// Adds panes after the others.
    pub(super) fn push(&mut self, panes: PaneBatch) {
        self.rows += panes.infos.len();
        self.panes.push(panes);
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows >= PANES_BEFORE_PAUSE
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
