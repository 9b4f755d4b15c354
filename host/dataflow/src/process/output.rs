//! The rows that a processor puts out: those of a run in order of arrival, and those that are held while what falls due
//! right behind their rows is worked off.

use std::sync::Arc;

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::Mapped;
use tidegate_types::{Batch, Column, ColumnBuilder, Emitted, EventTime, RowBatch, Watermark};

use super::run::RunRow;
use super::store::Reach;
use crate::operator::OperatorOutput;

/// The rows of one answer.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) columns: Vec<Column>,
    pub(super) times: Vec<EventTime>,
}

/// A row of an answer that waits for its turn.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) made: Arc<Made>,
    pub(super) row: u32,
    pub(super) watermark: Watermark,
    pub(super) emitted_at: EventTime,
}

/// What a run's call put out.
pub(super) struct RunOutput {
    made: Made,
    rows: Vec<OutputRow>,
    feeds: bool,
}

/// Where a row of a run's output comes from.
struct OutputRow {
    position: u32,
    group: u32,
    at: Reach,
    /// Empty where nobody reads it.
    key: Box<[u8]>,
}

/// The encoded key of a batch's row.
pub(super) fn encoded_key(batch: &Batch, row: u32) -> &[u8] {
    batch.keys.as_ref().expect("every batch of a stateful operator is keyed").encoded.value(index(row))
}

impl RunOutput {
    pub(super) fn of(run: &[RunRow], batch: &Batch, mapped: Mapped, feeds: bool) -> Self {
        let source = |row: u32| run[mapped.sources.as_ref().map_or(index(row), |sources| index(sources[index(row)]))];
        let rows: Vec<RunRow> = (0..index32(mapped.len)).map(source).collect();
        let times = match mapped.times {
            Some(times) => times,
            None => rows.iter().map(|row| batch.times[index(row.row)]).collect(),
        };
        let output = |row: &RunRow| OutputRow {
            position: batch.positions[index(row.row)],
            group: row.group,
            at: row.at,
            key: if feeds { encoded_key(batch, row.row).into() } else { Box::default() },
        };
        Self { rows: rows.iter().map(output).collect(), made: Made { columns: mapped.columns, times }, feeds }
    }

    /// Puts the rows out: in the order of their events, those of one event in the order of their keys.
    pub(super) fn emit(mut self, out: &mut OperatorOutput) {
        if self.rows.is_empty() {
            return;
        }
        if self.rows.windows(2).any(|pair| pair[0].position == pair[1].position && pair[0].key > pair[1].key) {
            let mut order: Vec<u32> = (0..index32(self.rows.len())).collect();
            order.sort_by_key(|row| (self.rows[index(*row)].position, &*self.rows[index(*row)].key));
            self.made.columns = self.made.columns.iter().map(|column| column.take(&order)).collect();
            self.made.times = order.iter().map(|row| self.made.times[index(*row)]).collect();
            self.rows.sort_by(|a, b| (a.position, &a.key).cmp(&(b.position, &b.key)));
        }
        let positions = self.rows.iter().map(|row| row.position).collect();
        let watermarks = self.rows.iter().map(|row| row.at.watermark).collect();
        let emitted_at = self.rows.iter().map(|row| row.at.clock).collect();
        let keys = self.rows.into_iter().map(|row| row.key).collect();
        let order = self.feeds.then_some(Emitted { positions, keys });
        out.push_rows(RowBatch { columns: self.made.columns, times: self.made.times, watermarks, emitted_at, order });
    }

    /// The rows one by one, to be held: each with its position, its key's number in the run, and its key.
    pub(super) fn hold(self) -> impl Iterator<Item = (u32, u32, Box<[u8]>, Held)> {
        let made = Arc::new(self.made);
        (0..).zip(self.rows).map(move |(row, output)| {
            let (watermark, emitted_at) = (output.at.watermark, output.at.clock);
            (output.position, output.group, output.key, Held { made: Arc::clone(&made), row, watermark, emitted_at })
        })
    }
}

/// Gathers held rows whose turn has come.
pub(super) struct Turn {
    builders: Vec<ColumnBuilder>,
    rows: RowBatch,
    order: Emitted,
    feeds: bool,
}

impl Turn {
    pub(super) fn new(fields: usize, feeds: bool) -> Self {
        let builders = (0..fields).map(|_| ColumnBuilder::new()).collect();
        Self { builders, rows: RowBatch::default(), order: Emitted::default(), feeds }
    }

    /// Adds a row, emitted at this event for this key.
    pub(super) fn push(&mut self, held: &Held, position: u32, key: &[u8]) {
        let row = index(held.row);
        for (builder, column) in self.builders.iter_mut().zip(&held.made.columns) {
            builder.push(column.value(row));
        }
        self.rows.times.push(held.made.times[row]);
        self.rows.watermarks.push(held.watermark);
        self.rows.emitted_at.push(held.emitted_at);
        if self.feeds {
            self.order.positions.push(position);
            self.order.keys.push(key.into());
        }
    }

    /// Puts the rows out.
    pub(super) fn emit(mut self, out: &mut OperatorOutput) {
        if self.rows.times.is_empty() {
            return;
        }
        self.rows.columns = self.builders.iter_mut().map(ColumnBuilder::finish).collect();
        self.rows.order = self.feeds.then_some(self.order);
        out.push_rows(self.rows);
    }
}
