//! Tenants' aggregate hooks: one call per run and hook, on accumulators that the host keeps.
//!
//! A call gets the accumulators of all windows that the run touches and the rows that go to each. Its answer is stored
//! only when the run commits. Where a call fails, `verdict` finds the guilty records.

use std::sync::Arc;

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{AggregateHook, Call, Cells, ComponentId, GuestFailure};
use tidegate_types::stored::{Read, Stored};
use tidegate_types::{Batch, Column, ColumnBuilder};

use super::{Prep, WindowOperator};
use crate::OperatorError;
use crate::aggregate::{HookAccumulators, put_framed};
use crate::pacer::Pacer;
use crate::reads::ReadColumns;
use crate::side::Condemned;
use crate::verdict::{CONDEMNED_BEFORE_SINGLE, Work, insist, search};

/// A hook, its accumulators, and how much it bears in one call.
pub(crate) struct HookedAggregate {
    hook: Box<dyn AggregateHook>,
    accumulators: HookAccumulators,
    operator: Arc<str>,
    pacer: Pacer,
}

/// A batch's columns as one hook reads them.
pub(crate) struct HookedBatch {
    reads: ReadColumns,
}

/// New accumulators, to be stored when the run commits.
pub(super) struct Updated {
    slots: Vec<u32>,
    columns: Vec<Column>,
}

/// The output columns of the firings that succeeded, and the places of those that failed (then no column is valid).
pub(super) struct Finished {
    pub(super) columns: Vec<Column>,
    pub(super) failed: Vec<(usize, GuestFailure)>,
}

impl HookedAggregate {
    /// A hook without accumulators. `batch_rows` bounds a call's rows.
    pub(crate) fn new(hook: Box<dyn AggregateHook>, operator: Arc<str>, batch_rows: usize) -> Self {
        let accumulators = HookAccumulators::new(hook.plan());
        Self { hook, accumulators, operator, pacer: Pacer::new(batch_rows) }
    }

    pub(super) fn prepare(&self, batch: &Batch) -> HookedBatch {
        HookedBatch { reads: ReadColumns::of(batch, &self.hook.plan().reads) }
    }

    pub(super) fn row_limit(&self) -> usize {
        self.pacer.rows()
    }

    pub(super) fn reserve(&mut self, slots: usize) {
        self.accumulators.reserve(slots);
    }

    pub(super) fn reset(&mut self, slot: u32) {
        self.accumulators.reset(slot);
    }

    pub(super) fn state_bytes(&self) -> u64 {
        self.accumulators.state_bytes()
    }

    pub(super) fn store(&mut self, updated: &Updated) {
        self.accumulators.scatter(&updated.slots, &updated.columns);
    }

    /// Appends a slot's accumulator after its length.
    pub(super) fn write(&self, slot: u32, out: &mut Vec<u8>) {
        put_framed(out, |out| self.accumulators.write(slot, out));
    }

    /// Makes a slot's accumulator the one that was written.
    pub(super) fn read(&mut self, slot: u32, stored: &mut Stored<'_>) -> Read<()> {
        let mut part = Stored::new(stored.bytes()?);
        self.accumulators.read(slot, &mut part)?;
        part.end()
    }

    pub(super) fn component(&self) -> &Arc<ComponentId> {
        self.hook.component()
    }

    pub(super) fn operator(&self) -> &Arc<str> {
        &self.operator
    }
}

impl HookedBatch {
    /// Why the hook cannot be shown this row.
    pub(super) fn mismatch(&self, row: u32) -> Option<&str> {
        self.reads.mismatch(row)
    }
}

impl WindowOperator {
    /// Calls every hook for the run's rows. Where `prep.condemned` grew, the answers are void.
    pub(super) fn call_hooks(&mut self, prep: &mut Prep) -> Result<Vec<Updated>, OperatorError> {
        let (slots, groups) = distinct(&self.run.slots);
        let mut updates = Vec::with_capacity(self.hooks.len());
        for place in 0..self.hooks.len() {
            let before = prep.condemned.len();
            let cells = self.cells(place, &slots);
            let Some(accumulators) = self.merged_accumulators(prep, place, &slots)? else {
                return Ok(Vec::new());
            };
            let hooked = &mut self.hooks[place];
            let mut work = AggregateWork {
                hook: hooked.hook.as_mut(),
                operator: &hooked.operator,
                pacer: &mut hooked.pacer,
                batch: &prep.batch,
                reads: &prep.hooks[place].reads,
                cells,
                accumulators,
                records: records_of(&self.run.rows),
                rows: &self.run.rows,
                groups: &groups,
                condemned: Vec::new(),
            };
            let records = work.records.len();
            let call = if before >= CONDEMNED_BEFORE_SINGLE && records == 1 { Call::VERDICT } else { Call::USUAL };
            if work.run(call, 0, records)?.is_err() {
                let mut count = before;
                search(&mut work, 0, records, &mut count)?;
            }
            let AggregateWork { accumulators: columns, condemned, .. } = work;
            if !condemned.is_empty() {
                prep.condemned.extend(condemned);
                return Ok(Vec::new());
            }
            updates.push(Updated { slots: slots.clone(), columns });
        }
        Ok(updates)
    }

    /// What the hook's accumulators are before the run's rows: as stored, a session merge already made. None: the merge
    /// failed, and the record that caused it is condemned.
    fn merged_accumulators(
        &mut self,
        prep: &mut Prep,
        place: usize,
        slots: &[u32],
    ) -> Result<Option<Vec<Column>>, OperatorError> {
        let hooked = &mut self.hooks[place];
        let Some(merge) = &self.run.merge else {
            return Ok(Some(hooked.accumulators.gather(slots)));
        };
        let mut merged = hooked.accumulators.gather(&[merge.target]);
        for other in &merge.others {
            let right = hooked.accumulators.gather(&[*other]);
            let mut answer = insist(&hooked.operator, || hooked.hook.merge(Call::USUAL, &merged, &right))?;
            if answer.is_err() {
                answer = insist(&hooked.operator, || hooked.hook.merge(Call::VERDICT, &merged, &right))?;
            }
            match answer {
                Ok(answer) => merged = answer.value,
                Err(failure) => {
                    let condemned = Condemned::by_failure(hooked.hook.component(), failure);
                    prep.condemned.insert(index(self.run.rows[0]), condemned);
                    return Ok(None);
                }
            }
        }
        Ok(Some(merged))
    }

    /// The keys and windows of slots, as far as the hook asks for them.
    fn cells(&self, place: usize, slots: &[u32]) -> Cells {
        let plan = self.hooks[place].hook.plan();
        let keys = if plan.keys { self.key_columns(slots.iter().copied()) } else { Vec::new() };
        let mut cells = Cells { keys, ..Cells::default() };
        if plan.windows {
            let spans = || slots.iter().map(|slot| self.windows.slot(*slot).span);
            cells.starts = spans().map(|span| span.start).collect();
            cells.ends = spans().map(|span| span.end).collect();
        }
        cells
    }

    /// Asks a hook for the values of panes; if the call fails, one window at a time.
    pub(super) fn finish_hook(&mut self, place: usize, slots: &[u32]) -> Result<Finished, OperatorError> {
        let all = self.finish_call(place, slots, Call::USUAL)?;
        if let Ok(columns) = all {
            return Ok(Finished { columns, failed: Vec::new() });
        }
        let mut failed = Vec::new();
        let mut builders: Vec<ColumnBuilder> = Vec::new();
        for (at, slot) in slots.iter().enumerate() {
            match self.finish_call(place, &[*slot], Call::VERDICT)? {
                Ok(columns) => {
                    builders.resize_with(columns.len(), ColumnBuilder::new);
                    builders.iter_mut().zip(&columns).for_each(|(builder, column)| builder.append(column));
                }
                Err(failure) => failed.push((at, failure)),
            }
        }
        Ok(Finished { columns: builders.iter_mut().map(ColumnBuilder::finish).collect(), failed })
    }

    fn finish_call(
        &mut self,
        place: usize,
        slots: &[u32],
        call: Call,
    ) -> Result<Result<Vec<Column>, GuestFailure>, OperatorError> {
        let cells = self.cells(place, slots);
        let hooked = &mut self.hooks[place];
        let accumulators = hooked.accumulators.gather(slots);
        let answer = insist(&hooked.operator, || hooked.hook.finish(call, &cells, &accumulators))?;
        Ok(answer.map(|answer| answer.value))
    }
}

/// The distinct slots in order of first use, and each pair's place among them.
fn distinct(slots: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut places: hashbrown::HashMap<u32, u32> = hashbrown::HashMap::with_capacity(slots.len());
    let mut order = Vec::new();
    let mut group = |slot: &u32| {
        *places.entry(*slot).or_insert_with(|| {
            order.push(*slot);
            index32(order.len() - 1)
        })
    };
    let groups = slots.iter().map(&mut group).collect();
    (order, groups)
}

/// Where each record's pairs begin and end: a row with several windows stands several times in a row.
fn records_of(rows: &[u32]) -> Vec<(usize, usize)> {
    let mut records = Vec::new();
    let mut from = 0;
    for chunk in rows.chunk_by(|a, b| a == b) {
        records.push((from, from + chunk.len()));
        from += chunk.len();
    }
    records
}

struct AggregateWork<'a> {
    hook: &'a mut dyn AggregateHook,
    operator: &'a str,
    pacer: &'a mut Pacer,
    batch: &'a Batch,
    reads: &'a ReadColumns,
    cells: Cells,
    /// What the records run so far left.
    accumulators: Vec<Column>,
    records: Vec<(usize, usize)>,
    rows: &'a [u32],
    groups: &'a [u32],
    condemned: Vec<(usize, Condemned)>,
}

impl AggregateWork<'_> {
    /// The cells and accumulators at these places, and no others: what a call costs must not depend on records that are not
    /// in it. No places: all of them.
    fn part(&self, places: &[u32]) -> (Cells, Vec<Column>) {
        if places.is_empty() {
            return (self.cells.clone(), self.accumulators.clone());
        }
        let times = |times: &[i64]| if times.is_empty() { Vec::new() } else { at_places(times, places) };
        let columns = |columns: &[Column]| columns.iter().map(|column| column.take(places)).collect();
        let Cells { keys, starts, ends } = &self.cells;
        (Cells { keys: columns(keys), starts: times(starts), ends: times(ends) }, columns(&self.accumulators))
    }

    /// Puts accumulators back to their places.
    fn put(&mut self, places: &[u32], new: Vec<Column>) {
        if places.is_empty() {
            self.accumulators = new;
            return;
        }
        let rows = self.accumulators.first().map_or(0, Column::len);
        let mut from: Vec<u32> = (0..index32(rows)).collect();
        for (at, place) in places.iter().enumerate() {
            from[index(*place)] = index32(rows + at);
        }
        for (old, new) in self.accumulators.iter_mut().zip(&new) {
            let mut both = ColumnBuilder::new();
            both.append(old);
            both.append(new);
            *old = both.finish().take(&from);
        }
    }
}

fn at_places(times: &[i64], places: &[u32]) -> Vec<i64> {
    places.iter().map(|place| times[index(*place)]).collect()
}

impl Work for AggregateWork<'_> {
    fn run(&mut self, call: Call, from: usize, to: usize) -> Result<Result<(), GuestFailure>, OperatorError> {
        let mut pairs: Vec<usize> = (self.records[from].0..self.records[to - 1].1).collect();
        let mut refused = Vec::new();
        loop {
            let rows: Vec<u32> = pairs.iter().map(|pair| self.rows[*pair]).collect();
            let all: Vec<u32> = pairs.iter().map(|pair| self.groups[*pair]).collect();
            let (places, groups) = if all.len() == self.groups.len() { (Vec::new(), all) } else { distinct(&all) };
            let (cells, accumulators) = self.part(&places);
            let input = self.reads.take(self.batch, &rows);
            let budget = self.hook.fuel_budget();
            let hook = &mut *self.hook;
            let answer = match insist(self.operator, || hook.accumulate(call, &cells, &accumulators, &groups, &input))?
            {
                Ok(answer) => answer,
                Err(failure) => {
                    self.pacer.shrink();
                    return Ok(Err(failure));
                }
            };
            self.pacer.note(rows.len(), answer.fuel_used, budget);
            if answer.value.rejected.is_empty() {
                self.put(&places, answer.value.accumulators);
                self.condemned.append(&mut refused);
                return Ok(Ok(()));
            }
            for rejection in answer.value.rejected {
                let row = rows[index(rejection.row)];
                let component = self.hook.component();
                let condemned = Condemned::by_guest(component, rejection.code, rejection.message);
                refused.push((index(row), condemned));
            }
            pairs.retain(|pair| refused.iter().all(|(row, _)| *row != index(self.rows[*pair])));
            if pairs.is_empty() {
                self.condemned.append(&mut refused);
                return Ok(Ok(()));
            }
        }
    }

    fn condemn(&mut self, at: usize, failure: GuestFailure) {
        let row = self.rows[self.records[at].0];
        self.condemned.push((index(row), Condemned::by_failure(self.hook.component(), failure)));
    }
}
