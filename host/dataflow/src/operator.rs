//! What every stateful operator is: a step machine over the batches of its inputs.
//!
//! A *round* is what one source batch leads to, at every operator. An operator gets the round's rows of each input and its
//! own progress, and works through them event by event: first the rows that its inputs emitted at an event, in order (a
//! join's left input before its right one), then the move of the watermark and the clock that the event brings.
//!
//! What it emits is bounded: an operator whose output is full pauses, and goes on once the output was taken.

use std::sync::Arc;

use tidegate_state::Changes;
use tidegate_types::stored::{Malformed, Read, Stored};
use tidegate_types::{Batch, Column, EventTime, PaneBatch, Progress, RowBatch, Value, ValueRef};

use crate::OperatorError;
use crate::account::Account;
use crate::report::StateSize;
use crate::side::Side;

/// One subtask of a stateful operator.
///
/// 1. Rows of a round arrive in order of position; `process` is given whole rounds, or rows without progress in between.
/// 2. After [`Work::Paused`], `resume` MUST be called until it is done, before anything else.
/// 3. Between two calls nothing is due at the operator's watermark and clock.
/// 4. After an error the operator MUST NOT be used again; no record was condemned by it.
pub trait Operator: Send {
    /// The operator's id.
    fn id(&self) -> &Arc<str>;

    /// Works through a round: one batch for each input, and the operator's own progress. `now` is the wall clock's reading;
    /// none under a virtual clock, which is the progress's.
    ///
    /// # Errors
    /// If a hook cannot be called.
    fn process(
        &mut self,
        inputs: Vec<Batch>,
        progress: &Arc<Progress>,
        now: Option<EventTime>,
        out: &mut OperatorOutput,
    ) -> Result<Work, OperatorError>;

    /// Goes on where it paused.
    ///
    /// # Errors
    /// As [`Operator::process`].
    fn resume(&mut self, out: &mut OperatorOutput) -> Result<Work, OperatorError>;

    /// The wall clock has reached `now`.
    ///
    /// # Errors
    /// As [`Operator::process`].
    fn advance_clock(&mut self, now: EventTime, out: &mut OperatorOutput) -> Result<(), OperatorError>;

    /// When the wall clock makes something due by itself, if anything waits for it.
    fn next_instant(&self) -> Option<EventTime>;

    /// Whether the last [`Operator::advance_clock`] had no room for everything: it MUST be called again before anything else.
    fn has_more(&self) -> bool {
        false
    }

    /// How much state it keeps.
    fn state(&self) -> StateSize;

    /// From now on changes are kept in mind, to be written at checkpoints. Called once, before the first row and before anything
    /// is restored; never where there are no checkpoints.
    fn keep_changes(&mut self) {}

    /// A checkpoint's barrier has come, between two rounds: everything that has changed since the last one is to be written as
    /// it is now. Copies nothing; what is frozen and changes before it was written is written first.
    fn freeze(&mut self) {}

    /// Writes about so many of the frozen entries. Returns whether all of them are written.
    fn write(&mut self, _entries: usize, _changes: &mut Changes) -> bool {
        true
    }

    /// What it keeps besides entries: a few numbers, as they are now. Called right after [`Operator::freeze`].
    fn head(&self, _out: &mut Vec<u8>) {}

    /// The heads of all subtasks that wrote the state that is restored; before any entry. The operator is fresh.
    ///
    /// # Errors
    /// If it is not what `head` writes.
    fn restore_head(&mut self, _head: &mut Stored<'_>) -> Read<()> {
        Ok(())
    }

    /// An entry of the state that is restored; all entries of this subtask come in the order of their keys.
    ///
    /// # Errors
    /// If it is not what `write` writes.
    fn restore(&mut self, _key: &[u8], _value: &[u8]) -> Read<()> {
        Err(Malformed::new("an entry of this operator"))
    }

    /// All entries were given.
    ///
    /// # Errors
    /// If they do not fit together.
    fn restored(&mut self) -> Read<()> {
        Ok(())
    }
}

/// What an operator emitted.
#[derive(Debug)]
pub struct OperatorOutput {
    /// Panes, in the order of their firing.
    pub panes: Vec<PaneBatch>,
    /// Rows that are no panes, in order.
    pub rows: Vec<RowBatch>,
    /// Too-late, duplicate and rejected records, failed panes.
    pub sides: Vec<Side>,
    /// What became of the rows.
    pub account: Account,
    /// The records in `panes` and `rows`.
    records: usize,
    /// With so many of them it is full.
    limit: usize,
    /// The bytes of their texts.
    bytes: usize,
}

/// An output is full with so many records: what is emitted beyond goes on once they were taken.
pub(crate) const RECORDS_BEFORE_PAUSE: usize = 1 << 14;

/// An output is full with so many bytes of texts, too: records can be as long as a hook's answer.
pub(crate) const BYTES_BEFORE_PAUSE: usize = 16 << 20;

impl Default for OperatorOutput {
    fn default() -> Self {
        Self::of(RECORDS_BEFORE_PAUSE)
    }
}

impl OperatorOutput {
    /// An empty output that is full with so many records.
    pub(crate) fn of(limit: usize) -> Self {
        let (panes, rows, sides) = (Vec::new(), Vec::new(), Vec::new());
        Self { panes, rows, sides, account: Account::default(), records: 0, bytes: 0, limit }
    }

    /// Adds panes after the others.
    pub(crate) fn push(&mut self, panes: PaneBatch) {
        self.records += panes.infos.len();
        self.bytes += panes.keys.iter().chain(&panes.values).map(long_bytes).sum::<usize>();
        self.panes.push(panes);
    }

    /// Adds rows after the others.
    pub(crate) fn push_rows(&mut self, rows: RowBatch) {
        self.records += rows.times.len();
        self.bytes += rows.columns.iter().map(long_bytes).sum::<usize>();
        self.rows.push(rows);
    }

    /// The position of the last event that emitted something; none where no operator reads it.
    pub(crate) fn last_position(&self) -> Option<u32> {
        let panes = self.panes.iter().filter_map(|panes| panes.order.as_ref()?.positions.last());
        let rows = self.rows.iter().filter_map(|rows| rows.order.as_ref()?.positions.last());
        panes.chain(rows).copied().max()
    }

    /// Whether the operator is to pause.
    pub(crate) fn is_full(&self) -> bool {
        self.records >= self.limit || self.bytes >= BYTES_BEFORE_PAUSE
    }
}

/// Bytes of a column's values that have no fixed length.
pub(crate) fn long_bytes(column: &Column) -> usize {
    let long = |value: &Value| match value.as_ref() {
        ValueRef::Text(text) | ValueRef::Json(text) => text.len(),
        ValueRef::Bytes(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Bool(_) | ValueRef::Int(_) | ValueRef::Float(_) => 0,
    };
    match column {
        Column::Text(array) => array.value_data().len(),
        Column::Bytes(array) => array.value_data().len(),
        Column::Dynamic(array) => array.values().iter().map(long).sum(),
        Column::Null(_) | Column::Bool(_) | Column::Int(_) | Column::Float(_) => 0,
    }
}

/// Whether an operator is through with a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a round that is paused has to be resumed"]
pub enum Work {
    /// It is.
    Done,
    /// The output is to be taken first.
    Paused,
}

#[cfg(test)]
mod tests;
