//! A round at a join: the rows of both inputs and the moves of the watermark, in the order of events.

use std::sync::Arc;

use tidegate_pipeline::{Join, JoinSide};
use tidegate_types::{Batch, Column, EventTime, Progress, ProgressEntry};

use super::Both;
use super::packed::RowValues;

/// The next thing in a round.
#[derive(Debug)]
pub(super) enum Step {
    /// A row of an input.
    Row(JoinSide, usize),
    /// The watermark or the clock moves.
    Entry(ProgressEntry),
    /// That was all.
    End,
}

/// One input's rows.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) batch: Batch,
    /// The columns that pairs show.
    pub(super) columns: Vec<Column>,
    /// The columns of the key.
    keys: Vec<Column>,
    next: usize,
}

impl Input {
    fn new(batch: Batch, fields: &[String], key: &[String]) -> Self {
        let column = |name: &String| batch.column(name).cloned().unwrap_or(Column::Null(batch.len()));
        let columns = fields.iter().map(column).collect();
        let keys = key.iter().map(column).collect();
        Self { columns, keys, next: 0, batch }
    }

    /// A row's values.
    pub(super) fn values(&self, row: usize) -> RowValues<'_> {
        RowValues::Arriving(&self.columns, row)
    }

    /// A row's encoded key and its hash.
    pub(super) fn key(&self, row: usize) -> (u64, &[u8]) {
        let keys = self.batch.keys.as_ref().expect("a stateful operator's rows are keyed");
        (keys.hashes[row], keys.encoded.value(row))
    }

    pub(super) fn has_null_key(&self, row: usize) -> bool {
        self.keys.iter().any(|column| column.is_null(row))
    }

    pub(super) fn time(&self, row: usize) -> EventTime {
        self.batch.times[row]
    }

    fn next_position(&self) -> Option<u32> {
        self.batch.positions.get(self.next).copied()
    }
}

/// What a join works through.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) inputs: Both<Input>,
    progress: Arc<Progress>,
    next_entry: usize,
}

impl Round {
    /// `fields`: what pairs show of each input's rows.
    pub(super) fn new(inputs: Vec<Batch>, progress: Arc<Progress>, join: &Join, fields: &Both<Vec<String>>) -> Self {
        let [left, right] = <[Batch; 2]>::try_from(inputs).expect("a join has two inputs");
        let inputs = Both {
            left: Input::new(left, &fields.left, &join.left_key),
            right: Input::new(right, &fields.right, &join.right_key),
        };
        Self { inputs, progress, next_entry: 0 }
    }

    /// The next row or change: of one position the left rows, the right rows, then the changes.
    pub(super) fn next_step(&mut self) -> Step {
        let entry = self.progress.entries.get(self.next_entry);
        let left = self.inputs.left.next_position();
        let right = self.inputs.right.next_position();
        let first = [left, right, entry.map(|entry| entry.position)].into_iter().flatten().min();
        if first.is_none() {
            Step::End
        } else if left == first {
            self.inputs.left.next += 1;
            Step::Row(JoinSide::Left, self.inputs.left.next - 1)
        } else if right == first {
            self.inputs.right.next += 1;
            Step::Row(JoinSide::Right, self.inputs.right.next - 1)
        } else {
            self.next_entry += 1;
            entry.map_or(Step::End, |entry| Step::Entry(*entry))
        }
    }
}
