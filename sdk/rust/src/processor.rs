//! Process hooks: a tenant's own operator over the rows of each key, with state and timers that the host keeps.
//!
//! [`Processor`] is written one row at a time over handles of its state; [`ColumnProcessor`] works on whole columns and
//! calls the host itself. The first is carried by the second. Underneath, what the rows of one call read and write is
//! gathered: see `processor/call.rs`.

use serde::de::DeserializeOwned;

use crate::columns::{Batch, Clock, Column, Due, Fault, Field, Processed, ProcessorPlan, Rejection, Rows, StatePlan};
use crate::error::Reject;
use crate::mapper::{Sources, reads, refuse};
use crate::row::{ColumnSink, ColumnSource, Emit, ReadRow, Row, WriteRow};

mod call;
mod list;
mod map;
mod setup;
mod store;
mod timer;
mod value;

pub use call::Key;
pub use list::ListState;
pub use map::{MapKey, MapState};
pub use setup::Setup;
#[doc(hidden)]
pub use store::HostState;
pub use store::KeyedState;
pub use timer::{Fired, Timer};
pub use value::ValueState;

use call::Call;

/// A row that a state may hold: any struct of owned fields that derives [`Row`](macro@Row) and `Clone`, without
/// `#[row(time)]`.
pub trait Stored: for<'a> ReadRow<'a> + WriteRow + Clone + 'static {}

impl<R: for<'a> ReadRow<'a> + WriteRow + Clone + 'static> Stored for R {}

/// A process hook, row by row.
///
/// Rows of one key come in order of arrival, late ones too. Everything that must last between two rows is in the states and
/// timers that [`open`](Self::open) sets up: the host keeps them for each key, saves them with the job's checkpoints, and takes
/// them back where a call fails.
pub trait Processor: Sized + 'static {
    /// The `config` of the hook in the pipeline file; `()` for none.
    type Config: DeserializeOwned;
    /// A row as it comes in.
    type In<'a>: ReadRow<'a>;
    /// What comes of a row, and of a timer: `Row`, `Option<Row>`, `Vec<Row>` or `[Row; N]`.
    ///
    /// If the row has a `#[row(time)]` field, that becomes its event time. Otherwise a row keeps the time of the row that it
    /// came from, or of its timer.
    type Out: Emit;
    /// Whether [`Key::field`] is wanted.
    const KEYS: bool = false;
    /// Whether [`Key::watermark`] is wanted.
    const WATERMARKS: bool = false;

    /// Sets the hook up, once per instance: makes the handles of its states and timers, always the same ones in the same
    /// order for one config. An error refuses the job.
    fn open(config: Self::Config, setup: &mut Setup<'_>) -> Result<Self, Fault>;

    /// Works on one row of a key. An error sends this record to the dead-letter output, and what the row had written is undone.
    fn process(&self, key: &Key<'_>, row: Self::In<'_>) -> Result<Self::Out, Reject>;

    /// Works on a timer that is due. It is no longer pending.
    ///
    /// # Panics
    /// As provided: a hook with timers writes its own.
    fn on_timer(&self, _key: &Key<'_>, _fired: Fired) -> Self::Out {
        panic!("a process hook with timers needs its own `on_timer`")
    }
}

/// A process hook over whole columns.
pub trait ColumnProcessor: Sized + 'static {
    /// The `config` of the hook in the pipeline file; `()` for none.
    type Config: DeserializeOwned;

    /// Sets the hook up, once per instance, and says what it reads, keeps and makes. An error refuses the job.
    fn open(config: Self::Config, key: &[Field], input: &[Field]) -> Result<(Self, ProcessorPlan), Fault>;

    /// Works on rows in order of arrival; `groups[i]` is the number of row `i`'s key in this call.
    fn process(
        &self,
        state: &dyn KeyedState,
        keys: Vec<Column>,
        groups: &[u32],
        watermarks: &[i64],
        batch: Batch,
    ) -> Result<Processed, Fault>;

    /// Works on timers that are due, at most one for each key. `sources` of the result are entries of `due`.
    fn on_timer(&self, state: &dyn KeyedState, keys: Vec<Column>, due: Due) -> Result<Rows, Fault>;
}

type OutRow<P> = <<P as Processor>::Out as Emit>::Row;

/// A row-wise process hook with the states that it keeps.
#[derive(Debug)]
pub struct RowProcessor<P> {
    hook: P,
    states: Vec<StatePlan>,
}

impl<P: Processor> ColumnProcessor for RowProcessor<P> {
    type Config = P::Config;

    fn open(config: P::Config, key: &[Field], input: &[Field]) -> Result<(Self, ProcessorPlan), Fault> {
        let mut setup = Setup::new(key, input);
        let hook = P::open(config, &mut setup)?;
        let (states, timers) = setup.into_parts()?;
        if !OutRow::<P>::TIME && timers.iter().any(|timer| timer.clock == Clock::Processing) {
            return Err(Fault::new(
                "rows made for a processing timer have no time to keep: give them a `#[row(time)]`",
            ));
        }
        let plan = ProcessorPlan {
            reads: Some(reads::<P::In<'static>>()),
            keys: P::KEYS,
            watermarks: P::WATERMARKS,
            states: states.clone(),
            timers,
            output: OutRow::<P>::fields(),
        };
        Ok((Self { hook, states }, plan))
    }

    fn process(
        &self,
        state: &dyn KeyedState,
        keys: Vec<Column>,
        groups: &[u32],
        watermarks: &[i64],
        batch: Batch,
    ) -> Result<Processed, Fault> {
        let call = Call::new(state, self.states.len(), groups);
        let (output, rejected) = process_rows(&self.hook, &call, &keys, groups, watermarks, &batch)?;
        call.flush();
        Ok(Processed { output, rejected })
    }

    fn on_timer(&self, state: &dyn KeyedState, keys: Vec<Column>, due: Due) -> Result<Rows, Fault> {
        let call = Call::new(state, self.states.len(), &due.groups);
        let mut made = Made::<P>::new(due.groups.len());
        for (row, number) in due.groups.iter().enumerate() {
            let key = Key::new(&call, *number, &keys, None);
            made.add(row, self.hook.on_timer(&key, Fired::new(due.timers[row], due.times[row])));
        }
        call.flush();
        Ok(made.finish())
    }
}

fn process_rows<'a, P: Processor>(
    hook: &P,
    call: &Call<'_>,
    keys: &[Column],
    groups: &[u32],
    watermarks: &[i64],
    batch: &'a Batch,
) -> Result<(Rows, Vec<Rejection>), Fault> {
    let reader = P::In::<'a>::reader(&mut ColumnSource::in_order(&batch.times, &batch.columns))?;
    let mut made = Made::<P>::new(groups.len());
    let mut rejected = Vec::new();
    for (row, number) in groups.iter().enumerate() {
        let key = Key::new(call, *number, keys, watermarks.get(row).copied());
        match hook.process(&key, P::In::<'a>::read(&reader, row)) {
            Ok(out) => {
                call.settle();
                made.add(row, out);
            }
            Err(reject) => {
                call.undo();
                rejected.push(refuse(reject, row));
                made.skip(row);
            }
        }
    }
    Ok((made.finish(), rejected))
}

/// The rows that a call makes.
struct Made<P: Processor> {
    writer: <OutRow<P> as WriteRow>::Writer,
    sources: Sources,
}

impl<P: Processor> Made<P> {
    fn new(rows: usize) -> Self {
        Self { writer: OutRow::<P>::writer(rows), sources: Sources::default() }
    }

    fn add(&mut self, row: usize, out: P::Out) {
        let writer = &mut self.writer;
        let made = out.emit(|made| made.write(writer));
        self.sources.add(row, made);
    }

    fn skip(&mut self, row: usize) {
        self.sources.add(row, 0);
    }

    fn finish(self) -> Rows {
        let mut columns = ColumnSink::default();
        OutRow::<P>::finish(self.writer, &mut columns);
        Rows { columns: columns.columns, times: columns.times, sources: self.sources.listed }
    }
}
