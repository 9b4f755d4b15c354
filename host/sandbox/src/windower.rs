//! The window hook over a component.

use std::sync::Arc;

use tidegate_types::hooks::{
    Assignments, Call, ComponentId, Decision, DecisionRequest, Emitted, Hook, HookError, HookResult, HookRows,
    WindowHook, WindowPlan,
};
use tidegate_types::{EventTime, Field, PaneBatch, Timing};
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use crate::bindings::exports::tidegate::job::windower::{
    Assignments as WireAssignments, Decision as WireDecision, Guest, GuestIndices, Panes, Plan, Timing as WireTiming,
};
use crate::bindings::tidegate::job::types::{Batch, Fault, Rows};
use crate::component::{Component, OpenOptions};
use crate::error::OpenError;
use crate::hook::{Interface, OpenArgs, Runner};
use crate::instance::HostState;
use crate::lift::{self, rows};
use crate::lower::Lowering;
use crate::plan::{self, Wrong};
use crate::world::HookKind;
use crate::{fields, input};

/// An open window hook.
pub(crate) struct Windower {
    runner: Runner<Windowing>,
    plan: WindowPlan,
    key: Vec<Field>,
    value: Vec<Field>,
    buffers: [Lowering; 2],
}

/// The interface `windower`.
struct Windowing;

impl Interface for Windowing {
    const KIND: HookKind = HookKind::Windower;
    const OPEN: &'static str = "windower.open";
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
        let OpenArgs { config, key, input, value } = args;
        guest.call_open(store, config, &fields::params(key), &fields::params(input), &fields::params(value))
    }
}

impl Windower {
    pub(crate) fn open(
        component: &Component,
        config: &str,
        key: &[Field],
        input: &[Field],
        value: &[Field],
        options: OpenOptions,
    ) -> Result<Self, OpenError> {
        let (key, value) = (key.to_vec(), value.to_vec());
        let args =
            OpenArgs { config: config.to_owned(), key: key.clone(), input: input.to_vec(), value: value.clone() };
        let (runner, plan) = Runner::open(component, args, options)?;
        let plan = check(plan, input).map_err(|wrong| wrong.of(&component.id().name, HookKind::Windower.name()))?;
        Ok(Self { runner, plan, key, value, buffers: Default::default() })
    }
}

fn check(plan: Plan, input: &[Field]) -> Result<WindowPlan, Wrong> {
    let reads = plan::reads(plan.reads, input)?;
    let output = plan::makes("output", &plan.output)?;
    match (plan.emits, output.is_empty()) {
        (true, true) => Err(Wrong::new("output", "it has no field, and `emits` is true; name what `emit` makes")),
        (false, false) => {
            Err(Wrong::new("output", "it has fields, and `emits` is false; set it, or leave `output` empty"))
        }
        _ => Ok(WindowPlan { reads, decides: plan.decides, emits: plan.emits, output }),
    }
}

impl Hook for Windower {
    fn component(&self) -> &Arc<ComponentId> {
        self.runner.component().id()
    }

    fn fuel_budget(&self) -> u64 {
        self.runner.fuel_budget()
    }
}

impl WindowHook for Windower {
    fn plan(&self) -> &WindowPlan {
        &self.plan
    }

    fn assign(&mut self, call: Call, input: &HookRows) -> HookResult<Assignments> {
        let Self { runner, plan, buffers: [lowering, _], .. } = self;
        let times = input::times(input, plan.reads.times)?;
        let lowered = lowering.lower(&input.columns, &plan.reads.columns, input.len)?;
        let bytes = lowered.bytes + size_of_val(times);
        let batch = Batch { times, columns: &lowered.columns };
        runner.call(
            call,
            "windower.assign",
            bytes,
            |guest, store| guest.call_assign(store, batch),
            |answer| assignments(answer, input.len),
        )
    }

    fn decide(&mut self, call: Call, request: &DecisionRequest) -> HookResult<Vec<Decision>> {
        let Self { runner, key, buffers: [lowering, _], .. } = self;
        let DecisionRequest { keys, starts, ends, counts, watermark } = request;
        let windows = starts.len();
        input::length("window ends", ends.len(), windows)?;
        input::length("counts", counts.len(), windows)?;
        let lowered = lowering.lower(keys, key, windows)?;
        let bytes = lowered.bytes + size_of_val(&starts[..]) + size_of_val(&ends[..]) + size_of_val(&counts[..]);
        let watermark = watermark.as_millis();
        runner.call(
            call,
            "windower.decide",
            bytes,
            |guest, store| guest.call_decide(store, &lowered.columns, starts, ends, counts, watermark),
            |decisions| {
                if decisions.len() != windows {
                    return Err(format!("it made {} decisions about {windows} windows", decisions.len()));
                }
                Ok(decisions.into_iter().map(decision).collect())
            },
        )
    }

    fn emit(&mut self, call: Call, panes: &PaneBatch) -> HookResult<Emitted> {
        let Self { runner, plan, key, value, buffers: [for_keys, for_values] } = self;
        let lists = PaneLists::of(panes)?;
        let count = panes.infos.len();
        let keys = for_keys.lower(&panes.keys, key, count)?;
        let values = for_values.lower(&panes.values, value, count)?;
        let bytes = keys.bytes + values.bytes + lists.bytes();
        runner.call(
            call,
            "windower.emit",
            bytes,
            |guest, store| guest.call_emit(store, lists.wire(), &keys.columns, &values.columns),
            |rows| emitted(rows, &plan.output, count),
        )
    }
}

fn assignments(answer: WireAssignments, inputs: usize) -> Result<Assignments, String> {
    let WireAssignments { offsets, starts, ends } = answer;
    lift::offsets(&offsets, inputs, starts.len())?;
    if ends.len() != starts.len() {
        return Err(format!("it answered {} starts and {} ends of windows", starts.len(), ends.len()));
    }
    if let Some(at) = starts.iter().zip(&ends).position(|(start, end)| start >= end) {
        return Err(format!("window {at} is from {} to {}; a window ends after it starts", starts[at], ends[at]));
    }
    let place = |offset: u32| usize::try_from(offset).expect("offsets are within a list in memory");
    for (row, pair) in offsets.windows(2).enumerate() {
        let (from, to) = (place(pair[0]), place(pair[1]));
        let ordered = (from + 1..to).all(|at| (ends[at - 1], starts[at - 1]) < (ends[at], starts[at]));
        if !ordered {
            return Err(format!("the windows of row {row} do not ascend by end, then start, without repeats"));
        }
    }
    Ok(Assignments { offsets, starts, ends })
}

fn decision(decision: WireDecision) -> Decision {
    match decision {
        WireDecision::Wait => Decision::Wait,
        WireDecision::Fire => Decision::Fire,
        WireDecision::FireAndPurge => Decision::FireAndPurge,
        WireDecision::Purge => Decision::Purge,
    }
}

fn emitted(rows: Rows, output: &[Field], panes: usize) -> Result<Emitted, String> {
    let made = rows::made("the result", rows, output, panes)?;
    let all = || (0..u32::try_from(panes).expect("batches are limited far below 2^32")).collect();
    Ok(Emitted { columns: made.columns, sources: made.sources.unwrap_or_else(all) })
}

/// What is said of panes, column by column.
struct PaneLists {
    starts: Vec<EventTime>,
    ends: Vec<EventTime>,
    timings: Vec<WireTiming>,
    indexes: Vec<u32>,
    watermark: EventTime,
}

impl PaneLists {
    fn of(panes: &PaneBatch) -> Result<Self, HookError> {
        let watermark = panes.infos.first().map_or(EventTime::MIN, |info| info.watermark.as_millis());
        if panes.infos.iter().any(|info| info.watermark.as_millis() != watermark) {
            return Err(HookError::Platform { detail: "a hook was given panes of several watermarks at once".into() });
        }
        // A global window is all of time.
        let window = |at: usize| panes.infos[at].window.unwrap_or((EventTime::MIN, EventTime::MAX));
        let rows = 0..panes.infos.len();
        Ok(Self {
            starts: rows.clone().map(|at| window(at).0).collect(),
            ends: rows.map(|at| window(at).1).collect(),
            timings: panes.infos.iter().map(|info| timing(info.timing)).collect(),
            indexes: panes.infos.iter().map(|info| u32::try_from(info.index).unwrap_or(u32::MAX)).collect(),
            watermark,
        })
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.starts[..])
            + size_of_val(&self.ends[..])
            + self.timings.len()
            + size_of_val(&self.indexes[..])
    }

    fn wire(&self) -> Panes<'_> {
        let Self { starts, ends, timings, indexes, watermark } = self;
        Panes { starts, ends, timings, indexes, watermark: *watermark }
    }
}

fn timing(timing: Timing) -> WireTiming {
    match timing {
        Timing::Early => WireTiming::Early,
        Timing::OnTime => WireTiming::OnTime,
        Timing::Late => WireTiming::Late,
    }
}
