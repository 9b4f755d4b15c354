//! Map hooks: rows in, rows out, nothing remembered.
//!
//! [`Mapper`] is written row by row over structs; [`ColumnMapper`] works on whole columns. The first is carried by the
//! second, so both go through one path, in a sandbox and in tests.

use serde::de::DeserializeOwned;

use crate::columns::{Batch, Fault, Field, Mapped, MapperPlan, Reads, Rejection, Rows};
use crate::error::Reject;
use crate::export::RowWise;
use crate::row::{ColumnSink, ColumnSource, Emit, ReadRow, Row, WriteRow};

/// A map hook, row by row: derive, filter, split, decode, enrich.
///
/// The columns that the host sends are the fields of `In`, those that it gets back the fields of `Out`; fields named in `KEEP`
/// ride along without being sent at all. If `In` has a `#[row(time)]` field the event times are sent too; if `Out` has one, it
/// becomes the rows' event time, otherwise each row keeps the time of the row that it came from.
///
/// What `map` answers must depend on `self` as `open` made it and on the row. The host makes and drops instances as it likes.
pub trait Mapper: Sized + 'static {
    /// The `config` of the hook in the pipeline file; `()` for none.
    type Config: DeserializeOwned;
    /// A row as it comes in.
    type In<'a>: ReadRow<'a>;
    /// What comes of a row: `Row`, `Option<Row>`, `Vec<Row>` or `[Row; N]`.
    type Out<'a>: Emit;
    /// Input fields that every row keeps unchanged.
    const KEEP: &'static [&'static str] = &[];

    /// Sets the hook up, once per instance. `input`: the fields that the pipeline declares. An error refuses the job.
    fn open(config: Self::Config, input: &[Field]) -> Result<Self, Fault>;

    /// Maps one row. An error sends this record to the dead-letter output; the others go on.
    fn map<'a>(&'a self, row: Self::In<'a>) -> Result<Self::Out<'a>, Reject>;
}

/// A map hook over whole columns.
pub trait ColumnMapper: Sized + 'static {
    /// The `config` of the hook in the pipeline file; `()` for none.
    type Config: DeserializeOwned;

    /// Sets the hook up, once per instance, and says what it reads and makes. An error refuses the job.
    fn open(config: Self::Config, input: &[Field]) -> Result<(Self, MapperPlan), Fault>;

    /// Maps one batch: its columns are those of the plan's `reads`, in that order.
    fn process(&self, batch: Batch) -> Result<Mapped, Fault>;
}

type OutRow<'a, M> = <<M as Mapper>::Out<'a> as Emit>::Row;

impl<M: Mapper> ColumnMapper for RowWise<M> {
    type Config = M::Config;

    fn open(config: M::Config, input: &[Field]) -> Result<(Self, MapperPlan), Fault> {
        let hook = M::open(config, input)?;
        let plan = MapperPlan {
            reads: Some(reads::<M::In<'static>>()),
            keep: M::KEEP.iter().map(|&name| name.to_owned()).collect(),
            output: OutRow::<'static, M>::fields(),
        };
        Ok((Self(hook), plan))
    }

    fn process(&self, batch: Batch) -> Result<Mapped, Fault> {
        map_rows(&self.0, &batch)
    }
}

/// What a row struct needs to be sent. Times are asked for also where there are no columns, which would leave a batch without
/// a number of rows.
pub(crate) fn reads<R: Row>() -> Reads {
    let columns = R::fields();
    Reads { times: R::TIME || columns.is_empty(), columns }
}

/// How many rows a batch has that was asked for by `reads`.
pub(crate) fn rows_of(batch: &Batch) -> usize {
    batch.columns.first().map_or(batch.times.len(), |column| column.rows())
}

fn map_rows<'a, M: Mapper>(hook: &'a M, batch: &'a Batch) -> Result<Mapped, Fault> {
    let rows = rows_of(batch);
    let reader = M::In::<'a>::reader(&mut ColumnSource::in_order(&batch.times, &batch.columns))?;
    let mut writer = OutRow::<'a, M>::writer(rows);
    let mut sources = Sources::default();
    let mut rejected = Vec::new();
    for row in 0..rows {
        let made = match hook.map(M::In::<'a>::read(&reader, row)) {
            Ok(out) => out.emit(|made| made.write(&mut writer)),
            Err(reject) => {
                rejected.push(refuse(reject, row));
                0
            }
        };
        sources.add(row, made);
    }
    let mut columns = ColumnSink::default();
    OutRow::<'a, M>::finish(writer, &mut columns);
    let output = Rows { columns: columns.columns, times: columns.times, sources: sources.listed };
    Ok(Mapped { output, rejected })
}

#[cold]
pub(crate) fn refuse(reject: Reject, row: usize) -> Rejection {
    reject.at(row_number(row))
}

/// Which input row each output row came from; nothing is listed as long as every row makes exactly one.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) listed: Option<Vec<u32>>,
}

impl Sources {
    #[inline(always)]
    pub(crate) fn add(&mut self, row: usize, made: usize) {
        if made == 1 && self.listed.is_none() {
            return;
        }
        let listed = self.listed.get_or_insert_with(|| (0..row_number(row)).collect());
        listed.extend(std::iter::repeat_n(row_number(row), made));
    }
}

fn row_number(row: usize) -> u32 {
    u32::try_from(row).expect("a batch has fewer than 2^32 rows")
}
