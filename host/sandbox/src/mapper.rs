//! The map hook over a component.

use std::sync::Arc;

use tidegate_types::Field;
use tidegate_types::hooks::{Call, ComponentId, Hook, HookResult, HookRows, MapHook, MapPlan, Mapped};
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use crate::bindings::exports::tidegate::job::mapper::{Guest, GuestIndices, Mapped as WireMapped, Plan};
use crate::bindings::tidegate::job::types::{Batch, Fault};
use crate::component::{Component, OpenOptions};
use crate::error::OpenError;
use crate::hook::{Interface, OpenArgs, Runner};
use crate::instance::HostState;
use crate::lift::rows;
use crate::lower::Lowering;
use crate::plan::{self, Wrong};
use crate::world::HookKind;
use crate::{fields, input};

/// An open map hook.
pub(crate) struct Mapper {
    runner: Runner<Mapping>,
    plan: MapPlan,
    input: Lowering,
}

/// The interface `mapper`.
struct Mapping;

impl Interface for Mapping {
    const KIND: HookKind = HookKind::Mapper;
    const OPEN: &'static str = "mapper.open";
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
        guest.call_open(store, &args.config, &fields::params(&args.input))
    }
}

impl Mapper {
    pub(crate) fn open(
        component: &Component,
        config: &str,
        input: &[Field],
        options: OpenOptions,
    ) -> Result<Self, OpenError> {
        let args = OpenArgs { config: config.to_owned(), key: Vec::new(), input: input.to_vec(), value: Vec::new() };
        let (runner, plan) = Runner::open(component, args, options)?;
        let plan = check(plan, input).map_err(|wrong| wrong.of(&component.id().name, HookKind::Mapper.name()))?;
        Ok(Self { runner, plan, input: Lowering::default() })
    }
}

fn check(plan: Plan, input: &[Field]) -> Result<MapPlan, Wrong> {
    let reads = plan::reads(plan.reads, input)?;
    let output = plan::makes("output", &plan.output)?;
    let keep = plan::keeps(&plan.keep, input, &reads, &output)?;
    Ok(MapPlan { reads, keep, output })
}

impl Hook for Mapper {
    fn component(&self) -> &Arc<ComponentId> {
        self.runner.component().id()
    }

    fn fuel_budget(&self) -> u64 {
        self.runner.fuel_budget()
    }
}

impl MapHook for Mapper {
    fn plan(&self) -> &MapPlan {
        &self.plan
    }

    fn process(&mut self, call: Call, input: &HookRows) -> HookResult<Mapped> {
        let Self { runner, plan, input: lowering } = self;
        let times = input::times(input, plan.reads.times)?;
        let lowered = lowering.lower(&input.columns, &plan.reads.columns, input.len)?;
        let bytes = lowered.bytes + size_of_val(times);
        let batch = Batch { times, columns: &lowered.columns };
        runner.call(
            call,
            "mapper.process",
            bytes,
            |guest, store| guest.call_process(store, batch),
            |answer| mapped(answer, &plan.output, input.len),
        )
    }
}

fn mapped(answer: WireMapped, output: &[Field], inputs: usize) -> Result<Mapped, String> {
    let made = rows::made("output", answer.output, output, inputs)?;
    let rejected = rows::rejected(answer.rejected, inputs, made.sources.as_deref())?;
    Ok(Mapped { columns: made.columns, len: made.len, times: made.times, sources: made.sources, rejected })
}
