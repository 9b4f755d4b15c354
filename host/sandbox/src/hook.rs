//! What all hooks share: opening instances, calling them under their limits, and dropping them after any failure.
//!
//! Invariant: an instance that answered `open` with another plan than the first instance did is never called.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tidegate_types::Field;
use tidegate_types::hooks::{Answer, Call, GuestFailure, HookError, HookResult};
use wasmtime::Store;
use wasmtime::component::{Instance as Raw, InstancePre};

use crate::bindings::tidegate::job::types::Fault;
use crate::component::{Component, OpenOptions};
use crate::error::{OpenError, Stage};
use crate::failure::{self, MALFORMED};
use crate::instance::{Allowance, HostState, Instance, open_allowance};
use crate::log::LogMeter;
use crate::memory::{HookPlace, MemoryTotal};
use crate::world::HookKind;

/// One interface of the contract, over the generated bindings.
pub(crate) trait Interface: 'static {
    const KIND: HookKind;
    const OPEN: &'static str;
    type Indices: Send;
    type Guest: Send;
    type Plan: Debug;

    fn indices(pre: &InstancePre<HostState>) -> wasmtime::Result<Self::Indices>;
    fn load(indices: &Self::Indices, store: &mut Store<HostState>, raw: &Raw) -> wasmtime::Result<Self::Guest>;
    fn open(
        guest: &Self::Guest,
        store: &mut Store<HostState>,
        args: &OpenArgs,
    ) -> wasmtime::Result<Result<Self::Plan, Fault>>;
}

/// The arguments of `open`, kept for further instances.
pub(crate) struct OpenArgs {
    pub(crate) config: String,
    pub(crate) key: Vec<Field>,
    pub(crate) input: Vec<Field>,
    pub(crate) value: Vec<Field>,
}

/// An open hook.
pub(crate) struct Runner<I: Interface> {
    component: Component,
    indices: I::Indices,
    args: OpenArgs,
    memory: Arc<MemoryTotal>,
    log: Arc<Mutex<LogMeter>>,
    fresh_instances: bool,
    call_fuel: u64,
    stop: Option<Arc<AtomicBool>>,
    /// The plan as it is printed (so that a NaN in it equals itself).
    plan: String,
    current: Option<Open<I>>,
    /// Given back after the instance: fields are dropped in their order.
    _place: Option<HookPlace>,
}

struct Open<I: Interface> {
    instance: Instance,
    guest: I::Guest,
}

/// Why there is no open instance.
enum StartError {
    /// The component cannot be instantiated, whatever its code does.
    NotInstantiable(String),
    Hook(Stage, HookError),
}

impl<I: Interface> Runner<I> {
    /// Opens a first instance; returns the plan as the guest gave it.
    pub(crate) fn open(
        component: &Component,
        args: OpenArgs,
        options: OpenOptions,
    ) -> Result<(Self, I::Plan), OpenError> {
        if !component.hooks().contains(&I::KIND) {
            return Err(no_such_hook::<I>(component));
        }
        let shared = &component.inner.shared;
        let indices =
            I::indices(&component.inner.pre).map_err(|error| not_instantiable::<I>(component, error.to_string()))?;
        let place = options.memory.as_ref().map(|memory| memory.place(shared.config.tenant_hooks)).transpose();
        let place = place.map_err(|refused| OpenError::TooMany {
            component: component.id().name.clone(),
            hook: I::KIND.name(),
            refused,
        })?;
        let memory = options.memory.unwrap_or_else(|| Arc::clone(&shared.memory));
        let log = Arc::new(Mutex::new(LogMeter::new(options.log, Arc::clone(shared.ticker.ticks()))));
        let (open, plan) =
            start::<I>(component, &indices, &args, &memory, &log).map_err(|error| open_error::<I>(component, error))?;
        let runner = Self {
            component: component.clone(),
            indices,
            args,
            memory,
            log,
            fresh_instances: options.fresh_instances,
            call_fuel: options.call_fuel.unwrap_or(shared.config.call_fuel),
            stop: options.stop,
            plan: format!("{plan:?}"),
            current: Some(open),
            _place: place,
        };
        Ok((runner, plan))
    }

    pub(crate) fn component(&self) -> &Component {
        &self.component
    }

    pub(crate) fn fuel_budget(&self) -> u64 {
        self.call_fuel
    }

    /// Makes one call of `function`, and has its answer checked. A failure of either drops the instance.
    pub(crate) fn call<R, T>(
        &mut self,
        call: Call,
        function: &'static str,
        input_bytes: usize,
        run: impl FnOnce(&I::Guest, &mut Store<HostState>) -> wasmtime::Result<Result<R, Fault>>,
        check: impl FnOnce(R) -> Result<T, String>,
    ) -> HookResult<T> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(HookError::Platform { detail: "the job is being stopped".to_owned() });
        }
        let mut open = self.take_instance(call.fresh_instance || self.fresh_instances)?;
        let shared = &self.component.inner.shared;
        let allowance = Allowance {
            fuel: self.call_fuel.saturating_mul(u64::from(call.budgets)),
            answer_bytes: shared.config.answer_bytes(input_bytes),
        };
        open.instance.used = true;
        let outcome = match open.instance.allow(shared, allowance) {
            Ok(()) => run(&open.guest, open.instance.store()),
            Err(error) => Err(error),
        };
        let spent = open.instance.spent(shared, allowance);
        let answer = match outcome {
            Ok(Ok(answer)) => answer,
            Ok(Err(fault)) => {
                let stack = fault.stack.as_deref();
                return Err(failure::fault(&fault.message, stack, function, spent.fuel_used).into());
            }
            Err(error) => return Err(failure::sort(&error, function, spent)),
        };
        let value = check(answer).map_err(|detail| GuestFailure {
            code: MALFORMED,
            detail: format!("`{function}`: {detail}"),
            fuel_used: spent.fuel_used,
        })?;
        self.current = Some(open);
        Ok(Answer { value, fuel_used: spent.fuel_used })
    }

    /// The open instance, out of its place, so that it is gone unless it is put back.
    fn take_instance(&mut self, fresh: bool) -> Result<Open<I>, HookError> {
        match self.current.take() {
            Some(open) if !(fresh && open.instance.used) => return Ok(open),
            // Dropped before the next is made, so that the two never count against the total together.
            other => drop(other),
        }
        let (open, plan) = start::<I>(&self.component, &self.indices, &self.args, &self.memory, &self.log)
            .map_err(StartError::into_call_error)?;
        if format!("{plan:?}") != self.plan {
            let detail = format!("`{}` of another instance answered with another plan", I::OPEN);
            return Err(HookError::Platform { detail });
        }
        Ok(open)
    }
}

/// Makes an instance and opens it.
fn start<I: Interface>(
    component: &Component,
    indices: &I::Indices,
    args: &OpenArgs,
    memory: &Arc<MemoryTotal>,
    log: &Arc<Mutex<LogMeter>>,
) -> Result<(Open<I>, I::Plan), StartError> {
    let shared = &component.inner.shared;
    let mut instance = Instance::new(shared, memory, log);
    let spent = |instance: &Instance| instance.spent(shared, open_allowance(shared));
    let raw = match instance.instantiate(shared, &component.inner.pre) {
        Ok(raw) => raw,
        Err(error) => {
            return Err(match failure::sort(&error, "instantiation", spent(&instance)) {
                HookError::Guest(failure) if failure.code == MALFORMED => StartError::NotInstantiable(failure.detail),
                other => StartError::Hook(Stage::Instantiation, other),
            });
        }
    };
    let guest =
        I::load(indices, instance.store(), &raw).map_err(|error| StartError::NotInstantiable(format!("{error:#}")))?;
    let sort = |error: &wasmtime::Error, instance: &Instance| failure::sort(error, I::OPEN, spent(instance));
    let plan = I::open(&guest, instance.store(), args)
        .map_err(|error| StartError::Hook(Stage::Open, sort(&error, &instance)))?;
    let plan = plan.map_err(|fault| {
        let fuel_used = spent(&instance).fuel_used;
        StartError::Hook(Stage::Open, failure::fault(&fault.message, fault.stack.as_deref(), I::OPEN, fuel_used).into())
    })?;
    Ok((Open { instance, guest }, plan))
}

impl StartError {
    /// A hook that was open before and now is not condemns no record.
    fn into_call_error(self) -> HookError {
        let detail = match self {
            Self::NotInstantiable(detail) => detail,
            Self::Hook(_, HookError::Guest(failure)) => format!("another instance did not open: {failure}"),
            Self::Hook(_, other) => return other,
        };
        HookError::Platform { detail }
    }
}

fn open_error<I: Interface>(component: &Component, error: StartError) -> OpenError {
    let (component, hook) = (component.id().name.clone(), I::KIND.name());
    match error {
        StartError::NotInstantiable(detail) => {
            OpenError::Failed { component, hook, stage: Stage::Instantiation, code: "not-instantiable", detail }
        }
        StartError::Hook(stage, HookError::Guest(failure)) => {
            OpenError::Failed { component, hook, stage, code: failure.code, detail: failure.detail }
        }
        StartError::Hook(_, HookError::Interrupted { millis }) => OpenError::Interrupted { component, hook, millis },
        StartError::Hook(_, HookError::Platform { detail }) => OpenError::Platform { component, hook, detail },
    }
}

fn not_instantiable<I: Interface>(component: &Component, detail: String) -> OpenError {
    open_error::<I>(component, StartError::NotInstantiable(detail))
}

fn no_such_hook<I: Interface>(component: &Component) -> OpenError {
    let has = component.hooks().iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    OpenError::NoSuchHook { component: component.id().name.clone(), hook: I::KIND.name(), has }
}
