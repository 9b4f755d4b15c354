//! The built-in aggregates (docs/semantics.md, 5), vectorised, and the store for accumulators of tenants' aggregate hooks.
//!
//! An accumulator lives in a *slot*: one key and window. Every function keeps its accumulators as a struct of arrays
//! indexed by slot, and adds a batch in one loop over pairs of row and slot. Invariant: what a slot's pane shows depends
//! only on the rows that were added to it, less those that were taken back (and on their order of arrival, for `first` and
//! `last`), never on how they were split into calls, batches or merged slots.

use std::ops::Range;
use std::sync::Arc;

use tidegate_pipeline::{Aggregate, Function};
use tidegate_types::batch::index;
use tidegate_types::stored::{Malformed, Read, Stored};
use tidegate_types::{Batch, Column, Field, Schema};

use approx::ApproximateDistinct;
use averages::Averages;
use counts::Counts;
use distinct::{Distinct, UndoableDistinct};
use edges::Edges;
use extremes::Extremes;
use store::{Change, Rows, Store};
use sums::Sums;
use top_k::TopK;

mod approx;
mod arena;
mod averages;
mod cells;
mod counts;
mod distinct;
mod edges;
mod exact;
mod extremes;
mod framed;
mod hook_store;
mod ledger;
mod numbers;
mod plan;
mod prepared;
mod store;
mod sums;
mod superaccumulator;
mod tally;
mod top_k;

pub(crate) use framed::put_framed;
pub(crate) use hook_store::HookAccumulators;
use plan::Plan;
pub(crate) use prepared::Prepared;

/// Which rows go to which slots.
///
/// Pair `i` adds row `rows[i]` of the batch to slot `slots[i]`. Pairs are in arrival order; a row with several windows
/// stands several times in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Additions<'a> {
    /// Rows of the batch.
    pub(crate) rows: &'a [u32],
    /// The slot of each.
    pub(crate) slots: &'a [u32],
}

/// All built-in aggregates of an operator.
#[derive(Debug)]
pub(crate) struct Builtins {
    plan: Arc<Plan>,
    accumulators: Vec<Accumulators>,
    slots: usize,
}

/// The accumulators of one function. Sums stand apart because only they can refuse a row.
#[derive(Debug)]
enum Accumulators {
    Sums(Sums),
    Other(Box<dyn Store>),
}

impl Builtins {
    /// The built-in functions among `aggregates`, in their order; hooks are skipped. `schema`: the operator's input.
    pub(crate) fn new(aggregates: &[Aggregate], schema: &Schema) -> Self {
        Self::made(aggregates, schema, false)
    }

    /// As [`Self::new`], where rows may take earlier ones back: functions that all can undo.
    pub(crate) fn undoing(aggregates: &[Aggregate], schema: &Schema) -> Self {
        Self::made(aggregates, schema, true)
    }

    fn made(aggregates: &[Aggregate], schema: &Schema, undoes: bool) -> Self {
        let plan = Plan::new(aggregates, schema);
        let accumulators = plan.functions.iter().map(|function| Accumulators::new(function.function, undoes)).collect();
        Self { plan: Arc::new(plan), accumulators, slots: 0 }
    }

    /// The fields of the columns that [`Self::finish`] makes, in their order.
    pub(crate) fn output_fields(&self) -> Vec<Field> {
        self.plan.functions.iter().map(plan::FunctionPlan::output_field).collect()
    }

    /// Looks a batch over once: `where`, nulls, mismatches, and how much its integers can add to a sum.
    ///
    /// Call it before anything else about the batch.
    pub(crate) fn prepare(&mut self, batch: &Batch) -> Prepared {
        let prepared = Prepared::new(&self.plan, batch);
        for (place, accumulators) in self.accumulators.iter_mut().enumerate() {
            if let Accumulators::Sums(sums) = accumulators {
                sums.make_room(prepared.magnitude(place));
            }
        }
        prepared
    }

    /// Whether an integer sum might leave 64 bits while this batch is added, whatever the slots and merges.
    ///
    /// False is certain, and the usual answer: then no row needs [`Self::overflow`].
    pub(crate) fn may_overflow(&self, prepared: &Prepared) -> bool {
        self.sums().any(|(place, sums)| sums.may_overflow(prepared.magnitude(place)))
    }

    /// The name of an aggregate whose integer sum over the slots `parts` together and this row, added or taken back, would
    /// leave 64 bits.
    ///
    /// `parts`: the slots that a session merge joins, or the one slot; empty for a window that does not exist yet.
    pub(crate) fn overflow(&self, prepared: &Prepared, row: u32, parts: &[u32]) -> Option<String> {
        self.overflow_in(prepared, row, parts, std::slice::from_ref(&(0..parts.len())))
    }

    /// As [`Self::overflow`], over the slots of any one of these ranges of `slots`, whose bounds ascend.
    pub(crate) fn overflow_in(
        &self,
        prepared: &Prepared,
        row: u32,
        slots: &[u32],
        ranges: &[Range<usize>],
    ) -> Option<String> {
        let change = prepared.change(row);
        self.sums()
            .find(|(place, sums)| sums.would_overflow(prepared.input(*place), index(row), change, slots, ranges))
            .map(|(place, _)| self.plan.functions[place].name.clone())
    }

    /// Makes sure that the slots `0..slots` exist; new ones are fresh.
    pub(crate) fn reserve(&mut self, slots: usize) {
        if slots > self.slots {
            self.slots = slots;
            self.stores_mut().for_each(|store| store.reserve(slots));
        }
    }

    /// Makes a slot fresh again.
    pub(crate) fn reset(&mut self, slot: u32) {
        self.stores_mut().for_each(|store| store.reset(index(slot)));
    }

    /// Adds rows to slots, and takes those back from their slots that are retractions. Rows that [`Prepared::mismatch`] or [`Self::overflow`] names must not be among them.
    pub(crate) fn add(&mut self, prepared: &Prepared, batch: &Batch, additions: &Additions<'_>) {
        debug_assert_eq!(additions.rows.len(), additions.slots.len());
        if prepared.retractions.is_none() {
            self.apply(prepared, batch, additions, Change::Add);
            return;
        }
        // What slots hold in the end does not depend on the order.
        for change in [Change::Add, Change::Undo] {
            let pairs = additions.rows.iter().zip(additions.slots).filter(|(row, _)| prepared.change(**row) == change);
            let (rows, slots): (Vec<u32>, Vec<u32>) = pairs.unzip();
            self.apply(prepared, batch, &Additions { rows: &rows, slots: &slots }, change);
        }
    }

    fn apply(&mut self, prepared: &Prepared, batch: &Batch, additions: &Additions<'_>, change: Change) {
        for (place, accumulators) in self.accumulators.iter_mut().enumerate() {
            let rows = Rows { batch, input: prepared.input(place), additions };
            match change {
                Change::Add => accumulators.store_mut().add(&rows),
                Change::Undo => accumulators.store_mut().undo(&rows),
            }
        }
    }

    /// Adds what `from` holds to `into`; `from` is left as it is, and its rows are not yet in `into`.
    pub(crate) fn merge(&mut self, into: u32, from: u32) {
        debug_assert_ne!(into, from);
        self.stores_mut().for_each(|store| store.merge(index(into), index(from)));
    }

    /// What panes of these slots show: a column for each function, a row for each slot.
    pub(crate) fn finish(&mut self, slots: &[u32]) -> Vec<Column> {
        self.stores_mut().map(|store| store.finish(slots)).collect()
    }

    /// Appends what a slot holds, each function's part after its length.
    pub(crate) fn write(&self, slot: u32, out: &mut Vec<u8>) {
        for accumulators in &self.accumulators {
            put_framed(out, |out| accumulators.store().write(index(slot), out));
        }
    }

    /// Makes a fresh slot hold what was written.
    ///
    /// # Errors
    /// If that were not accumulators of these functions.
    pub(crate) fn read(&mut self, slot: u32, stored: &mut Stored<'_>) -> Read<()> {
        for store in self.stores_mut() {
            let mut part = Stored::new(stored.bytes()?);
            store.read(index(slot), &mut part)?;
            part.end().map_err(|_| Malformed::new("the end of an accumulator"))?;
        }
        Ok(())
    }

    /// The functions' names, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.plan.functions.iter().map(|function| function.name.as_str())
    }

    /// Bytes that the accumulators hold.
    pub(crate) fn state_bytes(&self) -> u64 {
        self.accumulators.iter().map(|accumulators| accumulators.store().bytes()).sum()
    }

    fn stores_mut(&mut self) -> impl Iterator<Item = &mut dyn Store> {
        self.accumulators.iter_mut().map(Accumulators::store_mut)
    }

    fn sums(&self) -> impl Iterator<Item = (usize, &Sums)> {
        self.accumulators.iter().enumerate().filter_map(|(place, accumulators)| match accumulators {
            Accumulators::Sums(sums) => Some((place, sums)),
            Accumulators::Other(_) => None,
        })
    }
}

impl Accumulators {
    fn new(function: Function, undoes: bool) -> Self {
        Self::Other(match function {
            Function::Sum => return Self::Sums(Sums::new(undoes)),
            Function::Count => Box::new(Counts::default()),
            Function::Min => Box::new(Extremes::least()),
            Function::Max => Box::new(Extremes::greatest()),
            Function::Avg => Box::new(Averages::new(undoes)),
            Function::First => Box::new(Edges::first()),
            Function::Last => Box::new(Edges::last()),
            Function::CountDistinct if undoes => Box::new(UndoableDistinct::new()),
            Function::CountDistinct => Box::new(Distinct::default()),
            Function::ApproxCountDistinct => Box::new(ApproximateDistinct::default()),
            Function::TopK { k } => Box::new(TopK::new(index(k), undoes)),
        })
    }

    fn store(&self) -> &dyn Store {
        match self {
            Self::Sums(sums) => sums,
            Self::Other(store) => store.as_ref(),
        }
    }

    fn store_mut(&mut self) -> &mut dyn Store {
        match self {
            Self::Sums(sums) => sums,
            Self::Other(store) => store.as_mut(),
        }
    }
}

#[cfg(test)]
mod tests;
