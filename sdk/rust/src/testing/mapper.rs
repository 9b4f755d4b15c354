//! The harness for map hooks.

use std::marker::PhantomData;

use super::check;
use crate::columns::{Batch, Fault, Field, Mapped, MapperPlan, Rejection};
use crate::config;
use crate::export::RowWise;
use crate::mapper::{ColumnMapper, Mapper};
use crate::row::{ColumnSource, Emit, ReadRow, WriteRow, to_columns};

/// A map hook under test.
pub struct MapperHarness<M> {
    config: String,
    input: Vec<Field>,
    plan: MapperPlan,
    hook: PhantomData<M>,
}

impl<M: Mapper> MapperHarness<M> {
    /// Opens the hook with its config as JSON (`null` for none), as if the pipeline declared exactly the fields that it reads.
    pub fn open(config: &str) -> Result<Self, Fault> {
        use crate::row::Row;
        Self::open_with(config, M::In::<'static>::fields())
    }

    /// Opens the hook with its config as JSON and the fields that the pipeline declares.
    pub fn open_with(config: &str, input: Vec<Field>) -> Result<Self, Fault> {
        let (_, plan) = instance::<M>(config, &input)?;
        Ok(Self { config: config.to_owned(), input, plan, hook: PhantomData })
    }

    /// What the hook reads and makes.
    pub fn plan(&self) -> &MapperPlan {
        &self.plan
    }

    /// Maps rows in one batch, and again row by row in fresh instances.
    ///
    /// # Errors
    /// A fault of the hook, or a result that breaks the contract.
    ///
    /// # Panics
    /// Where the hook panics, or where the cut changes the answer.
    pub fn map<'a>(&self, rows: &[M::In<'a>]) -> Result<MapResult<M>, Fault>
    where
        M::In<'a>: WriteRow + Clone,
    {
        let whole = self.batch(rows)?;
        let mut cut = Vec::new();
        let mut rejected = Vec::new();
        for row in rows {
            let one = self.batch(std::slice::from_ref(row))?;
            cut.extend(check::comparable(&one.mapped.output.columns, one.sources.len()));
            rejected.extend(one.mapped.rejected.into_iter().map(|rejection| (rejection.code, rejection.message)));
        }
        let expected = check::comparable(&whole.mapped.output.columns, whole.sources.len());
        assert_eq!(expected, cut, "not repeatable: rows in one batch and row by row give different output");
        let refused: Vec<_> = whole.rejected().iter().map(|r| (r.code.clone(), r.message.clone())).collect();
        assert_eq!(refused, rejected, "not repeatable: rows in one batch and row by row are rejected differently");
        Ok(whole)
    }

    fn batch<'a>(&self, rows: &[M::In<'a>]) -> Result<MapResult<M>, Fault>
    where
        M::In<'a>: WriteRow + Clone,
    {
        let (hook, _) = instance::<M>(&self.config, &self.input)?;
        let sent = to_columns(rows.iter().cloned());
        let times =
            sent.times.unwrap_or_else(|| if sent.columns.is_empty() { vec![0; rows.len()] } else { Vec::new() });
        let mapped = hook.process(Batch { times, columns: sent.columns })?;
        check::rejections(&mapped.rejected, rows.len())?;
        let sources = check::made(&self.plan.output, &mapped.output, rows.len(), &mapped.rejected)?;
        Ok(MapResult { mapped, sources, hook: PhantomData })
    }
}

fn instance<M: Mapper>(config: &str, input: &[Field]) -> Result<(RowWise<M>, MapperPlan), Fault> {
    <RowWise<M> as ColumnMapper>::open(config::parse(config)?, input)
}

/// What a map hook made.
pub struct MapResult<M> {
    mapped: Mapped,
    sources: Vec<u32>,
    hook: PhantomData<M>,
}

impl<M: Mapper> MapResult<M> {
    /// The rows that it made, in order.
    ///
    /// # Panics
    /// Where a struct with several `Out` lifetimes reads other columns than it writes: a derived one does not.
    pub fn rows<'s>(&'s self) -> Vec<<M::Out<'s> as Emit>::Row>
    where
        <M::Out<'s> as Emit>::Row: ReadRow<'s>,
    {
        let output = &self.mapped.output;
        let times = output.times.as_deref().unwrap_or_default();
        let reader = <M::Out<'s> as Emit>::Row::reader(&mut ColumnSource::in_order(times, &output.columns))
            .expect("the result was checked against the row's own fields");
        (0..self.sources.len()).map(|row| <M::Out<'s> as Emit>::Row::read(&reader, row)).collect()
    }

    /// The input row that each of them came from.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// The rows that it refused, in order.
    pub fn rejected(&self) -> &[Rejection] {
        &self.mapped.rejected
    }
}
