//! Aggregate hooks: an accumulator per key and window, kept by the host.
//!
//! [`Aggregator`] is written over an accumulator struct and one row at a time; [`ColumnAggregator`] works on whole columns.

use serde::de::DeserializeOwned;

use crate::columns::{Accumulated, AggregatorPlan, Batch, Cells, Column, Fault, Field, Rejection, Value};
use crate::error::Reject;
use crate::export::RowWise;
use crate::mapper::{reads, refuse, rows_of};
use crate::row::{ColumnSource, ReadRow, Row, WriteRow, from_columns, to_columns};

/// An aggregate hook, row by row.
///
/// The host stores the accumulators, one per key and window, as columns of the struct `Accumulator`; it hands over only those
/// that a batch touches. Each method is a plain function of its arguments.
pub trait Aggregator: Sized + 'static {
    /// The `config` of the hook in the pipeline file; `()` for none.
    type Config: DeserializeOwned;
    /// A row as it comes in.
    type In<'a>: ReadRow<'a>;
    /// What is remembered of the rows of one key and window.
    type Accumulator: for<'a> ReadRow<'a> + WriteRow;
    /// What a pane shows.
    type Out: WriteRow;
    /// Whether [`Cell::key`] is wanted.
    const KEYS: bool = false;
    /// Whether [`Cell::window`] is wanted.
    const WINDOWS: bool = false;

    /// Sets the hook up, once per instance. `key`: the key fields. `input`: the fields that the pipeline declares, or that a map
    /// hook before this one makes or keeps. An error refuses the job.
    fn open(config: Self::Config, key: &[Field], input: &[Field]) -> Result<Self, Fault>;

    /// The accumulator before any row.
    fn init(&self) -> Self::Accumulator;

    /// Adds a row. An error sends this record to the dead-letter output, and whatever was done to the accumulator is undone.
    fn accumulate(&self, accumulator: &mut Self::Accumulator, row: Self::In<'_>) -> Result<(), Reject>;

    /// Adds what `right` saw to `left`. It must be associative, and merging with [`init`](Self::init) must change nothing.
    fn merge(&self, left: &mut Self::Accumulator, right: &Self::Accumulator);

    /// What a pane shows. The accumulator stays as it is; it may be a fresh one.
    fn finish(&self, accumulator: &Self::Accumulator) -> Self::Out;

    /// [`accumulate`](Self::accumulate), for a hook that asks for the key or the window.
    fn accumulate_in(
        &self,
        _cell: Cell<'_>,
        accumulator: &mut Self::Accumulator,
        row: Self::In<'_>,
    ) -> Result<(), Reject> {
        self.accumulate(accumulator, row)
    }

    /// [`finish`](Self::finish), for a hook that asks for the key or the window.
    fn finish_in(&self, _cell: Cell<'_>, accumulator: &Self::Accumulator) -> Self::Out {
        self.finish(accumulator)
    }
}

/// An aggregate hook over whole columns.
pub trait ColumnAggregator: Sized + 'static {
    /// The `config` of the hook in the pipeline file; `()` for none.
    type Config: DeserializeOwned;

    /// Sets the hook up, once per instance, and says what it reads and makes. An error refuses the job.
    fn open(config: Self::Config, key: &[Field], input: &[Field]) -> Result<(Self, AggregatorPlan), Fault>;

    /// Row `i` of `batch` belongs to accumulator row `groups[i]`. Gives all accumulators back, in the same order.
    fn accumulate(
        &self,
        cells: Cells,
        accumulators: Vec<Column>,
        groups: &[u32],
        batch: Batch,
    ) -> Result<Accumulated, Fault>;

    /// Row by row: combines two accumulators.
    fn merge(&self, left: Vec<Column>, right: Vec<Column>) -> Result<Vec<Column>, Fault>;

    /// Row by row: what a pane shows.
    fn finish(&self, cells: Cells, accumulators: Vec<Column>) -> Result<Vec<Column>, Fault>;
}

/// Where an accumulator stands: its key and its window, as far as the hook asked for them.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    cells: &'a Cells,
    row: usize,
}

impl<'a> Cell<'a> {
    /// One row of the cells.
    pub fn new(cells: &'a Cells, row: usize) -> Self {
        Self { cells, row }
    }

    /// The key's field number `field`, in the order of `key_by`.
    ///
    /// # Panics
    /// Where the hook has not set `KEYS`, or there is no such field.
    pub fn key(&self, field: usize) -> Value<'a> {
        self.cells.keys[field].value(self.row)
    }

    /// The window `[start, end)`, in milliseconds since the Unix epoch. Of a global window, the least and the greatest `i64`.
    ///
    /// # Panics
    /// Where the hook has not set `WINDOWS`.
    pub fn window(&self) -> (i64, i64) {
        (self.cells.starts[self.row], self.cells.ends[self.row])
    }
}

impl<A: Aggregator> ColumnAggregator for RowWise<A> {
    type Config = A::Config;

    fn open(config: A::Config, key: &[Field], input: &[Field]) -> Result<(Self, AggregatorPlan), Fault> {
        let hook = A::open(config, key, input)?;
        if A::Accumulator::TIME || A::Out::TIME {
            return Err(Fault::new(
                "accumulators and panes have no event time of their own: `#[row(time)]` is for rows",
            ));
        }
        if A::Accumulator::fields().is_empty() {
            return Err(Fault::new("an accumulator needs at least one field"));
        }
        let plan = AggregatorPlan {
            reads: Some(reads::<A::In<'static>>()),
            keys: A::KEYS,
            windows: A::WINDOWS,
            accumulator: A::Accumulator::fields(),
            initial: to_columns([hook.init()]).columns,
            output: A::Out::fields(),
        };
        Ok((Self(hook), plan))
    }

    fn accumulate(
        &self,
        cells: Cells,
        accumulators: Vec<Column>,
        groups: &[u32],
        batch: Batch,
    ) -> Result<Accumulated, Fault> {
        let mut accumulators: Vec<A::Accumulator> = read_all(&accumulators)?;
        let rejected = accumulate_rows(&self.0, &cells, &mut accumulators, groups, &batch)?;
        Ok(Accumulated { accumulators: to_columns(accumulators).columns, rejected })
    }

    fn merge(&self, left: Vec<Column>, right: Vec<Column>) -> Result<Vec<Column>, Fault> {
        let mut left: Vec<A::Accumulator> = read_all(&left)?;
        let right: Vec<A::Accumulator> = read_all(&right)?;
        left.iter_mut().zip(&right).for_each(|(left, right)| self.0.merge(left, right));
        Ok(to_columns(left).columns)
    }

    fn finish(&self, cells: Cells, accumulators: Vec<Column>) -> Result<Vec<Column>, Fault> {
        let accumulators: Vec<A::Accumulator> = read_all(&accumulators)?;
        let panes = accumulators
            .iter()
            .enumerate()
            .map(|(row, accumulator)| self.0.finish_in(Cell::new(&cells, row), accumulator));
        Ok(to_columns(panes).columns)
    }
}

fn read_all<R: for<'a> ReadRow<'a>>(columns: &[Column]) -> Result<Vec<R>, Fault> {
    from_columns(columns, &[], columns.first().map_or(0, Column::rows))
}

fn accumulate_rows<'a, A: Aggregator>(
    hook: &A,
    cells: &Cells,
    accumulators: &mut [A::Accumulator],
    groups: &[u32],
    batch: &'a Batch,
) -> Result<Vec<Rejection>, Fault> {
    let reader = A::In::<'a>::reader(&mut ColumnSource::in_order(&batch.times, &batch.columns))?;
    debug_assert!(batch.columns.is_empty() || rows_of(batch) == groups.len(), "one group per row");
    let mut rejected = Vec::new();
    for (row, group) in groups.iter().enumerate() {
        let group = usize::try_from(*group).unwrap_or(usize::MAX);
        let cell = Cell::new(cells, group);
        if let Err(reject) = hook.accumulate_in(cell, &mut accumulators[group], A::In::<'a>::read(&reader, row)) {
            rejected.push(refuse(reject, row));
        }
    }
    Ok(rejected)
}
