//! The map operator: one call of the tenant's map hook per batch, stateless.
//!
//! The hook sees the columns that it reads; the columns that it keeps ride along by the sources of its rows. A record
//! that the hook refuses, or on which alone it fails, becomes a dead letter; the rest of the batch goes on.

use std::sync::Arc;

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{Call, GuestFailure, HookRows, MapHook, Mapped};
use tidegate_types::time::is_record_time;
use tidegate_types::{Batch, Column, ColumnBuilder, EventTime, Field, Schema};

use crate::OperatorError;
use crate::account::Account;
use crate::pacer::Pacer;
use crate::reads::ReadColumns;
use crate::side::Condemned;
use crate::verdict::{CONDEMNED_BEFORE_SINGLE, Work, insist, search};

/// The code of a record whose value does not fit what a hook reads.
pub(crate) const TYPE_MISMATCH: &str = "type-mismatch";

/// The time of a row that has none.
pub(crate) const NO_TIME: EventTime = EventTime::MIN;

/// A map hook with what it needs around it.
pub(crate) struct MapOperator {
    hook: Box<dyn MapHook>,
    operator: Arc<str>,
    pacer: Pacer,
    schema: Arc<Schema>,
}

/// What the map made of a batch.
#[derive(Debug, Default)]
pub(crate) struct MapOutput {
    pub(crate) columns: Vec<Column>,
    /// The input row of each row, ascending.
    pub(crate) sources: Vec<u32>,
    /// The rows' times: the hook's, or each source row's; [`NO_TIME`] where neither gave one.
    pub(crate) times: Vec<EventTime>,
    /// Condemned input rows, ascending.
    pub(crate) condemned: Vec<(u32, Condemned)>,
}

impl MapOutput {
    /// Counts what the hook dropped on purpose and what it added, of so many input rows.
    pub(crate) fn count(&self, input_rows: usize, account: &mut Account) {
        let mut made = vec![0_u64; input_rows];
        for source in &self.sources {
            made[index(*source)] += 1;
        }
        for (row, _) in &self.condemned {
            made[index(*row)] = 1;
        }
        account.filtered += made.iter().filter(|count| **count == 0).count() as u64;
        account.expanded += made.iter().map(|count| count.saturating_sub(1)).sum::<u64>();
    }

    /// Condemns the rows that have no valid time. Each is one of its record's, which may have good ones besides.
    pub(crate) fn refuse_untimed(&mut self) {
        if self.times.iter().all(|time| is_record_time(*time)) {
            return;
        }
        let rows = 0..index32(self.times.len());
        let (good, bad): (Vec<u32>, Vec<u32>) = rows.partition(|row| is_record_time(self.times[index(*row)]));
        let untimed = |row: u32| (self.sources[index(row)], Condemned::without_time(self.times[index(row)]));
        let refused: Vec<_> = bad.into_iter().map(untimed).collect();
        self.condemned.extend(refused);
        self.condemned.sort_by_key(|(row, _)| *row);
        self.columns = self.columns.iter().map(|column| column.take(&good)).collect();
        self.sources = good.iter().map(|row| self.sources[index(*row)]).collect();
        self.times = good.iter().map(|row| self.times[index(*row)]).collect();
    }
}

impl MapOperator {
    /// Puts the operator together; `input` is what arrives.
    ///
    /// `batch_rows` bounds a call's rows.
    pub(crate) fn new(hook: Box<dyn MapHook>, operator: Arc<str>, input: &Schema, batch_rows: usize) -> Self {
        let plan = hook.plan();
        let kept = plan.keep.iter().map(|name| match input.index_of(name) {
            Some(place) => input.fields[place].clone(),
            None => Field::dynamic(name.clone()),
        });
        let fields = plan.output.iter().cloned().chain(kept).collect();
        Self { hook, operator, pacer: Pacer::new(batch_rows), schema: Arc::new(Schema::new(fields)) }
    }

    /// The fields of the rows that come out: the hook's output, then what it keeps.
    pub(crate) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Runs the hook over a batch.
    pub(crate) fn process(&mut self, batch: &Batch) -> Result<MapOutput, OperatorError> {
        let plan = self.hook.plan();
        let reads = ReadColumns::of(batch, &plan.reads);
        let kept: Vec<Column> =
            plan.keep.iter().map(|name| batch.column(name).cloned().unwrap_or(Column::Null(batch.len()))).collect();
        let mut output = MapOutput::default();
        let mut good = Vec::with_capacity(batch.len());
        for row in 0..index32(batch.len()) {
            match reads.mismatch(row) {
                None => good.push(row),
                Some(detail) => output.condemned.push((row, Condemned::by_host(TYPE_MISMATCH, detail.to_owned()))),
            }
        }
        let mut parts = Parts { kinds: plan.output.clone(), ..Parts::default() };
        let mut condemned = 0;
        let mut from = 0;
        while from < good.len() {
            let to = (from + self.pacer.rows()).min(good.len());
            let rows = &good[from..to];
            self.call(&reads, batch, rows, &mut parts, &mut condemned)?;
            from = to;
        }
        output.condemned.append(&mut parts.condemned);
        output.condemned.sort_by_key(|(row, _)| *row);
        output.columns = parts.columns.iter_mut().map(ColumnBuilder::finish).collect();
        if output.columns.is_empty() {
            output.columns = parts.kinds.iter().map(|_| Column::Null(0)).collect();
        }
        output.columns.extend(kept.iter().map(|column| column.take(&parts.sources)));
        output.sources = parts.sources;
        output.times = parts.times;
        Ok(output)
    }

    fn call(
        &mut self,
        reads: &ReadColumns,
        batch: &Batch,
        rows: &[u32],
        parts: &mut Parts,
        condemned: &mut usize,
    ) -> Result<(), OperatorError> {
        let mut work = MapWork {
            hook: self.hook.as_mut(),
            operator: &self.operator,
            pacer: &mut self.pacer,
            reads,
            batch,
            rows,
            parts,
        };
        if *condemned >= CONDEMNED_BEFORE_SINGLE {
            return search_singly(&mut work, rows.len(), condemned);
        }
        match work.run(Call::USUAL, 0, rows.len())? {
            Ok(()) => Ok(()),
            Err(_) => search(&mut work, 0, rows.len(), condemned),
        }
    }
}

fn search_singly(work: &mut MapWork<'_>, records: usize, condemned: &mut usize) -> Result<(), OperatorError> {
    for at in 0..records {
        if work.run(Call::USUAL, at, at + 1)?.is_err() {
            search(work, at, at + 1, condemned)?;
        }
    }
    Ok(())
}

/// The answers of a batch's calls, laid end to end.
#[derive(Debug, Default)]
struct Parts {
    kinds: Vec<Field>,
    columns: Vec<ColumnBuilder>,
    sources: Vec<u32>,
    times: Vec<EventTime>,
    condemned: Vec<(u32, Condemned)>,
}

struct MapWork<'a> {
    hook: &'a mut dyn MapHook,
    operator: &'a str,
    pacer: &'a mut Pacer,
    reads: &'a ReadColumns,
    batch: &'a Batch,
    rows: &'a [u32],
    parts: &'a mut Parts,
}

impl Work for MapWork<'_> {
    fn run(&mut self, call: Call, from: usize, to: usize) -> Result<Result<(), GuestFailure>, OperatorError> {
        let rows = &self.rows[from..to];
        let input: HookRows = self.reads.take(self.batch, rows);
        let budget = self.hook.fuel_budget();
        match insist(self.operator, || self.hook.process(call, &input))? {
            Ok(answer) => {
                self.pacer.note(rows.len(), answer.fuel_used, budget);
                self.keep(answer.value, rows);
                Ok(Ok(()))
            }
            Err(failure) => {
                self.pacer.shrink();
                Ok(Err(failure))
            }
        }
    }

    fn condemn(&mut self, at: usize, failure: GuestFailure) {
        let condemned = Condemned::by_failure(self.hook.component(), failure);
        self.parts.condemned.push((self.rows[at], condemned));
    }
}

impl MapWork<'_> {
    fn keep(&mut self, mapped: Mapped, rows: &[u32]) {
        let component = self.hook.component();
        for rejection in mapped.rejected {
            let row = rows[index(rejection.row)];
            let condemned = Condemned::by_guest(component, rejection.code, rejection.message);
            self.parts.condemned.push((row, condemned));
        }
        let first = self.parts.sources.len();
        match &mapped.sources {
            None => self.parts.sources.extend_from_slice(rows),
            Some(sources) => self.parts.sources.extend(sources.iter().map(|source| rows[index(*source)])),
        }
        let sources = &self.parts.sources[first..];
        match mapped.times {
            Some(times) => self.parts.times.extend(times),
            None => self.parts.times.extend(sources.iter().map(|row| self.batch.times[index(*row)])),
        }
        if self.parts.columns.is_empty() {
            self.parts.columns = mapped.columns.iter().map(|_| ColumnBuilder::new()).collect();
        }
        for (builder, column) in self.parts.columns.iter_mut().zip(&mapped.columns) {
            builder.append(column);
        }
    }
}
