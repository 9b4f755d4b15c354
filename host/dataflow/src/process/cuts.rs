//! Where runs end besides where something falls due: at the halves of a call that failed, before a second refusal of one
//! key, and where a row set a timer that was due before the next one.
//!
//! No result depends on it, but for the instance and the budget that a call on suspects gets (`verdict`).

use tidegate_types::hooks::Call;

/// A row that a run must not reach, and how the calls before it are made.
#[derive(Debug, Clone, Copy)]
struct End {
    row: usize,
    call: Call,
}

#[derive(Debug)]
pub(super) struct Cuts {
    /// The innermost last; each within the one before.
    ends: Vec<End>,
    most: usize,
    /// How many rows a run should have at most, as far as timers that are due at once let us tell.
    rows: usize,
}

impl Cuts {
    pub(super) fn new(batch_rows: usize) -> Self {
        Self { ends: Vec::new(), most: batch_rows.max(1), rows: batch_rows.max(1) }
    }

    /// A new round: the ends were of rows of the last one.
    pub(super) fn forget_ends(&mut self) {
        self.ends.clear();
    }

    /// A run begins at this row.
    pub(super) fn begin(&mut self, row: usize) {
        while self.ends.pop_if(|end| end.row <= row).is_some() {}
    }

    /// The most rows of a run.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether a run must end before this row.
    pub(super) fn is_end(&self, row: usize) -> bool {
        self.ends.last().is_some_and(|end| row >= end.row)
    }

    /// How the run's call is made.
    pub(super) fn call(&self) -> Call {
        self.ends.last().map_or(Call::USUAL, |end| end.call)
    }

    /// Runs from here on end before this row, their calls made so.
    pub(super) fn end_at(&mut self, row: usize, call: Call) {
        self.ends.push(End { row, call });
    }

    /// Rows could not be in one call but the first `apart` of them.
    pub(super) fn keep_apart(&mut self, apart: usize) {
        self.rows = apart.max(1);
    }

    /// A call had all its rows together.
    pub(super) fn widen(&mut self) {
        self.rows = self.rows.saturating_mul(2).min(self.most);
    }
}
