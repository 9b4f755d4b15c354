//! The aggregate hook over a component.

use std::sync::Arc;

use tidegate_types::hooks::{
    Accumulated, AggregateHook, AggregatePlan, Call, Cells, ComponentId, Hook, HookError, HookResult, HookRows,
};
use tidegate_types::{Column, Field};
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use crate::bindings::exports::tidegate::job::aggregator::{Cells as WireCells, Guest, GuestIndices, Plan};
use crate::bindings::tidegate::job::types::{Batch, Fault};
use crate::component::{Component, OpenOptions};
use crate::error::OpenError;
use crate::hook::{Interface, OpenArgs, Runner};
use crate::instance::HostState;
use crate::lift::{self, rows};
use crate::lower::Lowering;
use crate::plan::{self, Wrong};
use crate::world::HookKind;
use crate::{fields, input};

/// An open aggregate hook.
pub(crate) struct Aggregator {
    runner: Runner<Aggregation>,
    plan: AggregatePlan,
    /// The key's fields, where the plan asks for keys.
    key: Vec<Field>,
    buffers: Buffers,
}

/// One for each list of columns that a call may take.
#[derive(Default)]
struct Buffers {
    keys: Lowering,
    accumulators: Lowering,
    others: Lowering,
}

/// The interface `aggregator`.
struct Aggregation;

impl Interface for Aggregation {
    const KIND: HookKind = HookKind::Aggregator;
    const OPEN: &'static str = "aggregator.open";
    type Indices = GuestIndices;
    type Guest = Guest;
    type Plan = Plan;

    fn indices(pre: &InstancePre<HostState>) -> wasmtime::Result<GuestIndices> {
        GuestIndices::new(pre)
    }

    fn load(indices: &GuestIndices, store: &mut Store<HostState>, raw: &Instance) -> wasmtime::Result<Guest> {
        indices.load(store, raw)
    }

    fn open(guest: &Guest, store: &mut Store<HostState>, args: &OpenArgs) -> wasmtime::Result<Result<Plan, Fault>> {
        guest.call_open(store, &args.config, &fields::params(&args.key), &fields::params(&args.input))
    }
}

impl Aggregator {
    pub(crate) fn open(
        component: &Component,
        config: &str,
        key: &[Field],
        input: &[Field],
        options: OpenOptions,
    ) -> Result<Self, OpenError> {
        let args = OpenArgs { config: config.to_owned(), key: key.to_vec(), input: input.to_vec(), value: Vec::new() };
        let (runner, plan) = Runner::open(component, args, options)?;
        let plan = check(plan, input).map_err(|wrong| wrong.of(&component.id().name, HookKind::Aggregator.name()))?;
        let key = if plan.keys { key.to_vec() } else { Vec::new() };
        Ok(Self { runner, plan, key, buffers: Buffers::default() })
    }
}

fn check(plan: Plan, input: &[Field]) -> Result<AggregatePlan, Wrong> {
    let reads = plan::reads(plan.reads, input)?;
    let accumulator = plan::makes("accumulator", &plan.accumulator)?;
    if accumulator.is_empty() {
        return Err(Wrong::new("accumulator", "it has no field; a hook that keeps nothing has nothing to finish"));
    }
    let output = plan::makes("output", &plan.output)?;
    if output.is_empty() {
        return Err(Wrong::new("output", "it has no field; a pane needs at least one"));
    }
    let initial =
        lift::columns("one row of it", plan.initial, &accumulator, 1).map_err(|wrong| Wrong::new("initial", wrong))?;
    Ok(AggregatePlan { reads, keys: plan.keys, windows: plan.windows, accumulator, initial, output })
}

/// The key and window of each of `rows` accumulators, as far as the plan asks for them; and what they measure.
fn lower_cells<'a>(
    buffer: &'a mut Lowering,
    cells: &'a Cells,
    key: &[Field],
    windows: bool,
    rows: usize,
) -> Result<CellsParam<'a>, HookError> {
    // What was not asked for is not sent, also where the host has it at hand.
    let keys = if key.is_empty() { &[][..] } else { &cells.keys[..] };
    let lowered = buffer.lower(keys, key, rows)?;
    let (starts, ends) = if windows { (&cells.starts[..], &cells.ends[..]) } else { (&[][..], &[][..]) };
    let due = if windows { rows } else { 0 };
    input::length("window starts", starts.len(), due)?;
    input::length("window ends", ends.len(), due)?;
    let bytes = lowered.bytes + size_of_val(starts) + size_of_val(ends);
    Ok(CellsParam { keys: lowered.columns, starts, ends, bytes })
}

struct CellsParam<'a> {
    keys: Vec<crate::bindings::tidegate::job::types::ColumnParam<'a>>,
    starts: &'a [i64],
    ends: &'a [i64],
    bytes: usize,
}

impl CellsParam<'_> {
    fn wire(&self) -> WireCells<'_> {
        WireCells { keys: &self.keys, starts: self.starts, ends: self.ends }
    }
}

/// The number of rows that columns of at least one field have.
fn rows_of(columns: &[Column]) -> usize {
    columns.first().map_or(0, Column::len)
}

impl Hook for Aggregator {
    fn component(&self) -> &Arc<ComponentId> {
        self.runner.component().id()
    }

    fn fuel_budget(&self) -> u64 {
        self.runner.fuel_budget()
    }
}

impl AggregateHook for Aggregator {
    fn plan(&self) -> &AggregatePlan {
        &self.plan
    }

    fn accumulate(
        &mut self,
        call: Call,
        cells: &Cells,
        accumulators: &[Column],
        groups: &[u32],
        input: &HookRows,
    ) -> HookResult<Accumulated> {
        let Self { runner, plan, key, buffers } = self;
        let rows = rows_of(accumulators);
        input::length("groups", groups.len(), input.len)?;
        let times = input::times(input, plan.reads.times)?;
        let cells = lower_cells(&mut buffers.keys, cells, key, plan.windows, rows)?;
        let old = buffers.accumulators.lower(accumulators, &plan.accumulator, rows)?;
        let read = buffers.others.lower(&input.columns, &plan.reads.columns, input.len)?;
        let bytes = cells.bytes + old.bytes + read.bytes + size_of_val(groups) + size_of_val(times);
        let batch = Batch { times, columns: &read.columns };
        runner.call(
            call,
            "aggregator.accumulate",
            bytes,
            |guest, store| guest.call_accumulate(store, cells.wire(), &old.columns, groups, batch),
            |answer| {
                let rejected = rows::refused(answer.rejected, input.len)?;
                // Where rows are refused, the accumulators are to be discarded, and may be anything.
                let accumulators = if rejected.is_empty() {
                    lift::columns("accumulators", answer.accumulators, &plan.accumulator, rows)?
                } else {
                    Vec::new()
                };
                Ok(Accumulated { accumulators, rejected })
            },
        )
    }

    fn merge(&mut self, call: Call, left: &[Column], right: &[Column]) -> HookResult<Vec<Column>> {
        let Self { runner, plan, buffers, .. } = self;
        let rows = rows_of(left);
        let left = buffers.accumulators.lower(left, &plan.accumulator, rows)?;
        let right = buffers.others.lower(right, &plan.accumulator, rows)?;
        runner.call(
            call,
            "aggregator.merge",
            left.bytes + right.bytes,
            |guest, store| guest.call_merge(store, &left.columns, &right.columns),
            |merged| lift::columns("the result", merged, &plan.accumulator, rows),
        )
    }

    fn finish(&mut self, call: Call, cells: &Cells, accumulators: &[Column]) -> HookResult<Vec<Column>> {
        let Self { runner, plan, key, buffers } = self;
        let rows = rows_of(accumulators);
        let cells = lower_cells(&mut buffers.keys, cells, key, plan.windows, rows)?;
        let old = buffers.accumulators.lower(accumulators, &plan.accumulator, rows)?;
        runner.call(
            call,
            "aggregator.finish",
            cells.bytes + old.bytes,
            |guest, store| guest.call_finish(store, cells.wire(), &old.columns),
            |values| lift::columns("the result", values, &plan.output, rows),
        )
    }
}
