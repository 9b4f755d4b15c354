//! What the hook makes of panes: any number of rows of each.
//!
//! Each pane is made alone, whatever it is asked with; one on which the hook fails by itself is left out. A call has panes
//! of one watermark only, as the contract says.

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{Call, GuestFailure};
use tidegate_types::{Column, ColumnBuilder, PaneBatch};

use super::{CustomWindows, in_calls};
use crate::OperatorError;
use crate::verdict::{Work, insist};

/// The rows that the hook made of panes.
pub(in crate::window) struct Made {
    /// One per output field; none where the hook made nothing of no pane.
    pub(in crate::window) columns: Vec<Column>,
    /// The pane of each row, ascending.
    pub(in crate::window) sources: Vec<usize>,
    /// The panes on which the hook failed, ascending.
    pub(in crate::window) failed: Vec<(usize, GuestFailure)>,
}

impl CustomWindows {
    /// Whether the hook makes the rows of panes.
    pub(in crate::window) fn emits(&self) -> bool {
        self.plan().emits
    }

    /// Asks what panes become.
    pub(in crate::window) fn emit(&mut self, panes: &PaneBatch) -> Result<Made, OperatorError> {
        let mut work = EmitWork { custom: self, panes, answers: Vec::new(), sources: Vec::new(), failed: Vec::new() };
        let mut from = 0;
        for same in panes.infos.chunk_by(|a, b| a.watermark == b.watermark) {
            in_calls(&mut work, from, from + same.len(), |work| work.custom.emits.rows())?;
            from += same.len();
        }
        Ok(Made { columns: joined(work.answers), sources: work.sources, failed: work.failed })
    }
}

struct EmitWork<'a> {
    custom: &'a mut CustomWindows,
    panes: &'a PaneBatch,
    /// The columns of each call that succeeded. The panes are worked through in order.
    answers: Vec<Vec<Column>>,
    sources: Vec<usize>,
    failed: Vec<(usize, GuestFailure)>,
}

impl Work for EmitWork<'_> {
    fn run(&mut self, call: Call, from: usize, to: usize) -> Result<Result<(), GuestFailure>, OperatorError> {
        let some;
        let panes = if to - from == self.panes.infos.len() {
            self.panes
        } else {
            some = part(self.panes, from, to);
            &some
        };
        let custom = &mut *self.custom;
        let budget = custom.hook.fuel_budget();
        match insist(&custom.operator, || custom.hook.emit(call, panes))? {
            Ok(answer) => {
                custom.emits.note(to - from, answer.fuel_used, budget);
                self.sources.extend(answer.value.sources.iter().map(|source| from + index(*source)));
                self.answers.push(answer.value.columns);
                Ok(Ok(()))
            }
            Err(failure) => {
                custom.emits.shrink();
                Ok(Err(failure))
            }
        }
    }

    fn condemn(&mut self, at: usize, failure: GuestFailure) {
        self.failed.push((at, failure));
    }
}

/// Panes `from..to`.
fn part(all: &PaneBatch, from: usize, to: usize) -> PaneBatch {
    let places: Vec<u32> = (index32(from)..index32(to)).collect();
    let take = |columns: &[Column]| columns.iter().map(|column| column.take(&places)).collect();
    PaneBatch { keys: take(&all.keys), values: take(&all.values), infos: all.infos[from..to].to_vec(), order: None }
}

/// The rows of all answers, one after the other.
fn joined(mut answers: Vec<Vec<Column>>) -> Vec<Column> {
    if answers.len() <= 1 {
        return answers.pop().unwrap_or_default();
    }
    let mut builders: Vec<ColumnBuilder> = answers[0].iter().map(|_| ColumnBuilder::new()).collect();
    for columns in &answers {
        builders.iter_mut().zip(columns).for_each(|(builder, column)| builder.append(column));
    }
    builders.iter_mut().map(ColumnBuilder::finish).collect()
}
