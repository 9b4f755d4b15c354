//! A trial of every hook: an instance, `open`, and one row through each function.
//!
//! No pipeline is known yet, so `open` gets no config and no fields (a window hook: one value; a process hook: one key), and the row is made up of what the plan says that the hook
//! reads. What a hook says no to under these circumstances (a fault, a wrong plan, a trap on the made-up row) is a remark: a
//! job's submission opens it again with its own config. What no config mends is a refusal: a component that cannot start, an
//! `open` that traps or does not end, one row that uses up the fuel of a call, an answer that breaks the contract.

mod row;
mod state;

use std::fmt::Debug;
use std::sync::Arc;

use tidegate_sandbox::{Component, HookKind, MemoryTotal, NoLog, OpenError, OpenOptions};
use tidegate_types::hooks::{
    AggregateHook, Call, Cells, DecisionRequest, DueTimers, HookError, HookResult, MapHook, ProcessHook, StateAccess,
    WindowHook,
};
use tidegate_types::{Column, Field, Kind, PaneBatch, PaneInfo, PaneOp, Timing, ValueRef, Watermark};

use crate::error::AdmitError;
use crate::refusal::{self, NotOpened, by};
use crate::rule::Rule;

pub use state::TrialState;

/// A clock that only goes forward, in microseconds.
pub type Micros = Arc<dyn Fn() -> u64 + Send + Sync>;

/// What one call cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// The hook.
    pub hook: &'static str,
    /// The function.
    pub function: &'static str,
    /// Fuel; the same every time.
    pub fuel: u64,
    /// Microseconds, this time.
    pub micros: u64,
}

/// What the component is granted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Granted {
    pub(crate) call_fuel: u64,
    pub(crate) memory_bytes: u64,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    pub(crate) costs: Vec<Cost>,
    pub(crate) remarks: Vec<String>,
}

/// The window that the row is said to be in, ms.
const WINDOW: (i64, i64) = (0, 60_000);
/// No config.
const CONFIG: &str = "null";

/// Tries out all hooks of a component.
pub(crate) fn run(component: &Component, granted: Granted, micros: &Micros) -> Result<Trial, AdmitError> {
    let mut trial = Trial::default();
    for kind in component.hooks() {
        let mut trying = Trying { hook: kind.name(), granted, micros, memory: memory(granted), trial: &mut trial };
        match kind {
            HookKind::Mapper => trying.mapper(component)?,
            HookKind::Aggregator => trying.aggregator(component)?,
            HookKind::Windower => trying.windower(component)?,
            HookKind::Processor => trying.processor(component)?,
        }
    }
    Ok(trial)
}

fn memory(granted: Granted) -> Arc<MemoryTotal> {
    MemoryTotal::new(usize::try_from(granted.memory_bytes).unwrap_or(usize::MAX))
}

/// One hook's trial.
struct Trying<'a> {
    hook: &'static str,
    granted: Granted,
    micros: &'a Micros,
    memory: Arc<MemoryTotal>,
    trial: &'a mut Trial,
}

impl Trying<'_> {
    fn mapper(&mut self, component: &Component) -> Result<(), AdmitError> {
        let opened = component.open_mapper(CONFIG, &[], self.options());
        let Some(mut hook) = self.opened(opened)? else { return Ok(()) };
        let rows = row::of(&hook.plan().reads);
        self.twice("process", |call| MapHook::process(&mut *hook, call, &rows))?;
        Ok(())
    }

    fn aggregator(&mut self, component: &Component) -> Result<(), AdmitError> {
        let opened = component.open_aggregator(CONFIG, &[], &[], self.options());
        let Some(mut hook) = self.opened(opened)? else { return Ok(()) };
        let rows = row::of(&hook.plan().reads);
        let fresh = hook.plan().initial.clone();
        let cells = if hook.plan().windows {
            Cells { keys: Vec::new(), starts: vec![WINDOW.0], ends: vec![WINDOW.1] }
        } else {
            Cells::default()
        };
        let grown =
            self.twice("accumulate", |call| AggregateHook::accumulate(&mut *hook, call, &cells, &fresh, &[0], &rows))?;
        let grown = grown.map(|answer| answer.accumulators).filter(|columns| !columns.is_empty());
        let grown = grown.unwrap_or_else(|| fresh.clone());
        self.once("merge", |call| AggregateHook::merge(&mut *hook, call, &fresh, &grown))?;
        self.once("finish", |call| AggregateHook::finish(&mut *hook, call, &cells, &grown))?;
        Ok(())
    }

    fn windower(&mut self, component: &Component) -> Result<(), AdmitError> {
        // A pane has at least one value, unlike a key or a source, which may have no field.
        let value = [Field::typed("value", Kind::Int, true)];
        let opened = component.open_windower(CONFIG, &[], &[], &value, self.options());
        let Some(mut hook) = self.opened(opened)? else { return Ok(()) };
        let rows = row::of(&hook.plan().reads);
        self.twice("assign", |call| WindowHook::assign(&mut *hook, call, &rows))?;
        if hook.plan().decides {
            let request = DecisionRequest {
                keys: Vec::new(),
                starts: vec![WINDOW.0],
                ends: vec![WINDOW.1],
                counts: vec![1],
                watermark: Watermark::at(WINDOW.0),
            };
            self.once("decide", |call| WindowHook::decide(&mut *hook, call, &request))?;
        }
        if hook.plan().emits {
            let info = PaneInfo {
                window: Some(WINDOW),
                timing: Timing::OnTime,
                index: 0,
                is_last: false,
                watermark: Watermark::at(WINDOW.1),
                op: PaneOp::Insert,
                fired_at: 0,
            };
            let panes = PaneBatch { keys: Vec::new(), values: vec![Column::Null(1)], infos: vec![info], order: None };
            self.once("emit", |call| WindowHook::emit(&mut *hook, call, &panes))?;
        }
        Ok(())
    }

    /// Each call has one key, a made-up text, that holds nothing yet.
    fn processor(&mut self, component: &Component) -> Result<(), AdmitError> {
        let key = [Field::typed("key", Kind::Text, false)];
        let opened = component.open_processor(CONFIG, &key, &[], self.options());
        let Some(mut hook) = self.opened(opened)? else { return Ok(()) };
        let plan = hook.plan().clone();
        let fresh = || -> Box<dyn StateAccess> { Box::new(TrialState::new(&plan, 1)) };
        let keys = [Column::of_values([ValueRef::Text("key")])];
        let rows = row::of(&plan.reads);
        let watermarks = if plan.watermarks { vec![WINDOW.0] } else { Vec::new() };
        self.twice("process", |call| {
            ProcessHook::process(&mut *hook, call, &mut fresh(), &keys, &[0], &watermarks, &rows)
        })?;
        for timer in 0..plan.timers.len() {
            let timer = u32::try_from(timer).expect("a plan has few timers");
            let due = DueTimers { timers: vec![timer], groups: vec![0], times: vec![WINDOW.1] };
            self.once("on-timer", |call| ProcessHook::on_timer(&mut *hook, call, &mut fresh(), &keys, &due))?;
        }
        Ok(())
    }

    fn options(&self) -> OpenOptions {
        OpenOptions {
            memory: Some(Arc::clone(&self.memory)),
            call_fuel: Some(self.granted.call_fuel),
            ..OpenOptions::new(Arc::new(NoLog))
        }
    }

    /// The open hook; none where only a job's own config can tell.
    fn opened<T>(&mut self, opened: Result<T, OpenError>) -> Result<Option<T>, AdmitError> {
        match opened.map_err(|error| refusal::of_open(error, self.memory.was_exhausted())) {
            Ok(hook) => Ok(Some(hook)),
            Err(NotOpened::Fails(error)) => Err(error),
            Err(NotOpened::Perhaps(remark)) => {
                self.trial.remarks.push(remark);
                Ok(None)
            }
        }
    }

    /// Calls a function twice in one instance, and remarks on answers that differ.
    fn twice<T: Debug>(
        &mut self,
        function: &'static str,
        mut call: impl FnMut(Call) -> HookResult<T>,
    ) -> Result<Option<T>, AdmitError> {
        let Some(first) = self.once(function, &mut call)? else { return Ok(None) };
        let place = format!("{}.{function}", self.hook);
        match call(Call::USUAL) {
            Ok(second) if format!("{first:?}") == format!("{:?}", second.value) => {}
            Ok(_) => self.trial.remarks.push(format!(
                "{place}: not-repeatable: the same row got another answer the second time; answers may depend on the config, the \
                 plan and the arguments alone"
            )),
            Err(error) => self.trial.remarks.push(format!("{place}: the same row failed the second time: {error}")),
        }
        Ok(Some(first))
    }

    /// Calls a function with the fuel of one call, and notes the cost. None: it failed, as it may on a made-up row.
    fn once<T>(
        &mut self,
        function: &'static str,
        call: impl FnOnce(Call) -> HookResult<T>,
    ) -> Result<Option<T>, AdmitError> {
        let started = (self.micros)();
        let outcome = call(Call::USUAL);
        let micros = (self.micros)().saturating_sub(started);
        let place = format!("{}.{function}", self.hook);
        let failure = match outcome {
            Ok(answer) => {
                let fuel = answer.fuel_used;
                self.trial.costs.push(Cost { hook: self.hook, function, fuel, micros });
                return Ok(Some(answer.value));
            }
            Err(HookError::Guest(failure)) => failure,
            Err(HookError::Platform { detail }) if self.memory.was_exhausted() => {
                return Err(refusal::memory(place, detail).into());
            }
            Err(other) => return Err(AdmitError::unavailable(format!("{place}: {other}"))),
        };
        match failure.code {
            "out-of-fuel" => Err(by(
                Rule::WarmUpTooDear,
                place,
                format!("one row takes more than the {} fuel of a call", self.granted.call_fuel),
                "do less for a row, or ask a platform admin for more fuel of a call (`call_fuel`)",
            )
            .into()),
            "malformed-result" => Err(by(
                Rule::AnswerMalformed,
                place,
                failure.detail,
                "answer as the contract says; the SDKs do, where a hook goes through them",
            )
            .into()),
            code => {
                let detail = failure.detail;
                self.trial
                    .remarks
                    .push(format!("{place}: a made-up row, without a config, ended in {code} ({detail})"));
                Ok(None)
            }
        }
    }
}
