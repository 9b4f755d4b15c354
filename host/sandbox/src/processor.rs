//! The process hook over a component.

use std::sync::Arc;

use tidegate_types::hooks::{
    Call, ComponentId, DueTimers, Hook, HookError, HookResult, HookRows, Mapped, ProcessHook, ProcessPlan, StateAccess,
    TimerClock,
};
use tidegate_types::{Column, EventTime, Field};
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use crate::bindings::exports::tidegate::job::processor::{Due, Guest, GuestIndices, Plan, Processed};
use crate::bindings::tidegate::job::types::{Batch, Fault, Rows};
use crate::component::{Component, OpenOptions};
use crate::error::OpenError;
use crate::hook::{Interface, OpenArgs, Runner};
use crate::instance::HostState;
use crate::lent::Lent;
use crate::lift::rows;
use crate::lower::Lowering;
use crate::plan;
use crate::world::HookKind;
use crate::{fields, input};

/// An open process hook.
pub(crate) struct Processor {
    runner: Runner<Processing>,
    plan: Arc<ProcessPlan>,
    /// The key's fields, where the plan asks for keys.
    key: Vec<Field>,
    buffers: [Lowering; 2],
}

/// The interface `processor`.
struct Processing;

impl Interface for Processing {
    const KIND: HookKind = HookKind::Processor;
    const OPEN: &'static str = "processor.open";
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

impl Processor {
    pub(crate) fn open(
        component: &Component,
        config: &str,
        key: &[Field],
        input: &[Field],
        options: OpenOptions,
    ) -> Result<Self, OpenError> {
        let args = OpenArgs { config: config.to_owned(), key: key.to_vec(), input: input.to_vec(), value: Vec::new() };
        let (runner, plan) = Runner::open(component, args, options)?;
        let plan = plan::process::check(plan, input)
            .map_err(|wrong| wrong.of(&component.id().name, HookKind::Processor.name()))?;
        let key = if plan.keys { key.to_vec() } else { Vec::new() };
        Ok(Self { runner, plan: Arc::new(plan), key, buffers: Default::default() })
    }

    /// A place for the state of a call.
    fn lent(&self) -> Box<Lent> {
        Box::new(Lent::new(&self.plan, &self.runner.component().inner.shared))
    }
}

/// Calls the guest with the state in its store, and takes it back whatever comes of the call.
fn lending<T>(
    store: &mut Store<HostState>,
    mut lent: Box<Lent>,
    state: &mut Box<dyn StateAccess>,
    given: usize,
    call: impl FnOnce(&mut Store<HostState>) -> wasmtime::Result<T>,
) -> wasmtime::Result<T> {
    lent.swap(state, given);
    store.data_mut().lent = Some(lent);
    let outcome = call(store);
    if let Some(mut lent) = store.data_mut().lent.take() {
        lent.swap(state, 0);
    }
    outcome
}

impl Hook for Processor {
    fn component(&self) -> &Arc<ComponentId> {
        self.runner.component().id()
    }

    fn fuel_budget(&self) -> u64 {
        self.runner.fuel_budget()
    }
}

impl ProcessHook for Processor {
    fn plan(&self) -> &ProcessPlan {
        &self.plan
    }

    fn process(
        &mut self,
        call: Call,
        state: &mut Box<dyn StateAccess>,
        keys: &[Column],
        groups: &[u32],
        watermarks: &[EventTime],
        input: &HookRows,
    ) -> HookResult<Mapped> {
        let lent = self.lent();
        let Self { runner, plan, key, buffers: [for_keys, for_rows] } = self;
        input::length("groups", groups.len(), input.len)?;
        input::length("watermarks", watermarks.len(), if plan.watermarks { input.len } else { 0 })?;
        known(groups, state.keys())?;
        let times = input::times(input, plan.reads.times)?;
        let keys = for_keys.lower(if key.is_empty() { &[] } else { keys }, key, state.keys())?;
        let read = for_rows.lower(&input.columns, &plan.reads.columns, input.len)?;
        let lists = size_of_val(groups) + size_of_val(watermarks) + size_of_val(times);
        let bytes = keys.bytes + read.bytes + lists;
        let batch = Batch { times, columns: &read.columns };
        runner.call(
            call,
            "processor.process",
            bytes,
            |guest, store| {
                lending(store, lent, state, bytes, |store| {
                    guest.call_process(store, &keys.columns, groups, watermarks, batch)
                })
            },
            |answer| processed(answer, &plan.output, input.len),
        )
    }

    fn on_timer(
        &mut self,
        call: Call,
        state: &mut Box<dyn StateAccess>,
        keys: &[Column],
        due: &DueTimers,
    ) -> HookResult<Mapped> {
        let lent = self.lent();
        let Self { runner, plan, key, buffers: [for_keys, _] } = self;
        let DueTimers { timers, groups, times } = due;
        input::length("keys of due timers", groups.len(), timers.len())?;
        input::length("times of due timers", times.len(), timers.len())?;
        known(groups, state.keys())?;
        let keys = for_keys.lower(if key.is_empty() { &[] } else { keys }, key, state.keys())?;
        let bytes = keys.bytes + size_of_val(&timers[..]) + size_of_val(&groups[..]) + size_of_val(&times[..]);
        let wire = Due { timers, groups, times };
        runner.call(
            call,
            "processor.on-timer",
            bytes,
            |guest, store| lending(store, lent, state, bytes, |store| guest.call_on_timer(store, &keys.columns, wire)),
            |answer| fired(answer, plan, due),
        )
    }
}

/// Checks numbers of keys that the host made.
fn known(groups: &[u32], keys: usize) -> Result<(), HookError> {
    match groups.iter().find(|group| usize::try_from(**group).map_or(true, |group| group >= keys)) {
        Some(group) => Err(HookError::Platform { detail: format!("a hook was given key {group} of {keys}") }),
        None => Ok(()),
    }
}

fn processed(answer: Processed, output: &[Field], inputs: usize) -> Result<Mapped, String> {
    let made = rows::made("output", answer.output, output, inputs)?;
    let rejected = rows::rejected(answer.rejected, inputs, made.sources.as_deref())?;
    Ok(Mapped { columns: made.columns, len: made.len, times: made.times, sources: made.sources, rejected })
}

fn fired(answer: Rows, plan: &ProcessPlan, due: &DueTimers) -> Result<Mapped, String> {
    let made = rows::made("the result", answer, &plan.output, due.timers.len())?;
    if made.times.is_none() {
        let timer = |source: usize| usize::try_from(due.timers[source]).ok().and_then(|timer| plan.timers.get(timer));
        let at = |row: usize| made.sources.as_ref().map_or(Some(row), |sources| usize::try_from(sources[row]).ok());
        let timeless = |row: usize| at(row).and_then(timer).filter(|timer| timer.clock == TimerClock::Processing);
        if let Some(timer) = (0..made.len).find_map(timeless) {
            return Err(format!("a row made for the processing timer `{}` has no time; give `times`", timer.name));
        }
    }
    Ok(Mapped { columns: made.columns, len: made.len, times: made.times, sources: made.sources, rejected: Vec::new() })
}
