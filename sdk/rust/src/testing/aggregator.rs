//! The harness for aggregate hooks: it keeps accumulators, as the host does.

use std::marker::PhantomData;

use super::check;
use crate::aggregator::{Aggregator, ColumnAggregator};
use crate::columns::{AggregatorPlan, Batch, Cells, Column, Fault, Field, Rejection};
use crate::config;
use crate::export::RowWise;
use crate::row::{ReadRow, Row, WriteRow, from_columns, to_columns};

/// An aggregate hook under test.
pub struct AggregatorHarness<A> {
    config: String,
    key: Vec<Field>,
    input: Vec<Field>,
    plan: AggregatorPlan,
    hook: PhantomData<A>,
}

/// A key and window, for hooks that ask for them.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The key, one column of one row per key field.
    pub key: Vec<Column>,
    /// The window `[start, end)`.
    pub window: (i64, i64),
}

/// The accumulator of one key and window.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulators {
    columns: Vec<Column>,
}

impl<A: Aggregator> AggregatorHarness<A> {
    /// Opens the hook with its config as JSON (`null` for none), as if the pipeline declared exactly the fields that it reads.
    pub fn open(config: &str) -> Result<Self, Fault> {
        Self::open_with(config, Vec::new(), A::In::<'static>::fields())
    }

    /// Opens the hook with its config as JSON, the key fields, and the fields that reach it.
    pub fn open_with(config: &str, key: Vec<Field>, input: Vec<Field>) -> Result<Self, Fault> {
        let (_, plan) = instance::<A>(config, &key, &input)?;
        check::columns("initial", &plan.accumulator, &plan.initial, 1)?;
        Ok(Self { config: config.to_owned(), key, input, plan, hook: PhantomData })
    }

    /// What the hook reads and makes.
    pub fn plan(&self) -> &AggregatorPlan {
        &self.plan
    }

    /// A fresh accumulator.
    pub fn fresh(&self) -> Accumulators {
        Accumulators { columns: self.plan.initial.clone() }
    }

    /// Aggregates rows of one key and window, from a fresh accumulator to the pane. See [`accumulate`](Self::accumulate).
    pub fn aggregate<'a>(&self, group: &Group, rows: &[A::In<'a>]) -> Result<(A::Out, Vec<Rejection>), Fault>
    where
        A::In<'a>: WriteRow + Clone,
        A::Out: for<'r> ReadRow<'r>,
    {
        let (accumulator, rejected) = self.accumulate(group, &self.fresh(), rows)?;
        Ok((self.finish(group, &accumulator)?, rejected))
    }

    /// Adds rows to an accumulator in one batch, as the host does: rows that are refused are left out and the rest is done again.
    /// Then once more row by row in fresh instances.
    ///
    /// # Errors
    /// A fault of the hook, or a result that breaks the contract.
    ///
    /// # Panics
    /// Where the hook panics, or where the cut changes the accumulator.
    pub fn accumulate<'a>(
        &self,
        group: &Group,
        accumulator: &Accumulators,
        rows: &[A::In<'a>],
    ) -> Result<(Accumulators, Vec<Rejection>), Fault>
    where
        A::In<'a>: WriteRow + Clone,
    {
        let (mut whole, rejected) = self.call(group, accumulator, rows)?;
        if !rejected.is_empty() {
            let refused = |row: &usize| rejected.iter().any(|rejection| usize::try_from(rejection.row) == Ok(*row));
            let kept: Vec<_> = (0..rows.len()).filter(|row| !refused(row)).map(|row| rows[row].clone()).collect();
            let (again, more) = self.call(group, accumulator, &kept)?;
            assert!(more.is_empty(), "not repeatable: rows were refused only once others were gone: {more:?}");
            whole = again;
        }
        let mut one_by_one = accumulator.clone();
        for row in rows {
            let (next, refused) = self.call(group, &one_by_one, std::slice::from_ref(row))?;
            if refused.is_empty() {
                one_by_one = next;
            }
        }
        let (left, right) = (check::comparable(&whole.columns, 1), check::comparable(&one_by_one.columns, 1));
        assert_eq!(left, right, "not repeatable: rows in one batch and row by row give different accumulators");
        Ok((whole, rejected))
    }

    fn call<'a>(
        &self,
        group: &Group,
        accumulator: &Accumulators,
        rows: &[A::In<'a>],
    ) -> Result<(Accumulators, Vec<Rejection>), Fault>
    where
        A::In<'a>: WriteRow + Clone,
    {
        if rows.is_empty() {
            return Ok((accumulator.clone(), Vec::new()));
        }
        let sent = to_columns(rows.iter().cloned());
        let times =
            sent.times.unwrap_or_else(|| if sent.columns.is_empty() { vec![0; rows.len()] } else { Vec::new() });
        let batch = Batch { times, columns: sent.columns };
        let groups = vec![0; rows.len()];
        let made = self.instance()?.accumulate(cells::<A>(group), accumulator.columns.clone(), &groups, batch)?;
        check::columns("accumulators", &self.plan.accumulator, &made.accumulators, 1)?;
        check::rejections(&made.rejected, rows.len())?;
        Ok((Accumulators { columns: made.accumulators }, made.rejected))
    }

    /// Combines two accumulators, and each with a fresh one, which must change nothing.
    pub fn merge(&self, left: &Accumulators, right: &Accumulators) -> Result<Accumulators, Fault> {
        let fresh = self.fresh();
        for (one, other, side) in [(left, &fresh, left), (&fresh, right, right)] {
            let merged = self.merge_once(one, other)?;
            let (expected, got) = (check::comparable(&side.columns, 1), check::comparable(&merged.columns, 1));
            assert_eq!(expected, got, "merging with a fresh accumulator must change nothing");
        }
        self.merge_once(left, right)
    }

    fn merge_once(&self, left: &Accumulators, right: &Accumulators) -> Result<Accumulators, Fault> {
        let columns = self.instance()?.merge(left.columns.clone(), right.columns.clone())?;
        check::columns("merged", &self.plan.accumulator, &columns, 1)?;
        Ok(Accumulators { columns })
    }

    /// What a pane shows of an accumulator.
    pub fn finish(&self, group: &Group, accumulator: &Accumulators) -> Result<A::Out, Fault>
    where
        A::Out: for<'r> ReadRow<'r>,
    {
        let columns = self.instance()?.finish(cells::<A>(group), accumulator.columns.clone())?;
        check::columns("pane", &self.plan.output, &columns, 1)?;
        let mut rows: Vec<A::Out> = from_columns(&columns, &[], 1)?;
        rows.pop().ok_or_else(|| Fault::new("no pane"))
    }

    fn instance(&self) -> Result<RowWise<A>, Fault> {
        Ok(instance::<A>(&self.config, &self.key, &self.input)?.0)
    }
}

fn instance<A: Aggregator>(
    config: &str,
    key: &[Field],
    input: &[Field],
) -> Result<(RowWise<A>, AggregatorPlan), Fault> {
    <RowWise<A> as ColumnAggregator>::open(config::parse(config)?, key, input)
}

fn cells<A: Aggregator>(group: &Group) -> Cells {
    let times = |time: i64| if A::WINDOWS { vec![time] } else { Vec::new() };
    let keys = if A::KEYS { group.key.clone() } else { Vec::new() };
    Cells { keys, starts: times(group.window.0), ends: times(group.window.1) }
}
