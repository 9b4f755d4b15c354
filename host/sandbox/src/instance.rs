//! One instance of a component in a store of its own, and the discipline of calling it.
//!
//! Invariant: a store whose call failed in any way is dropped, never called again. Every call has its own fuel, its own
//! deadline and its own bound on what the host lifts.

use std::sync::{Arc, Mutex};

use wasmtime::Store;
use wasmtime::component::{Instance as Raw, InstancePre};

use crate::engine::Shared;
use crate::failure::Spent;
use crate::lent::Lent;
use crate::log::LogMeter;
use crate::memory::{MemoryTotal, Meter};

/// What a store carries for the host.
pub(crate) struct HostState {
    pub(crate) meter: Meter,
    pub(crate) log: Arc<Mutex<LogMeter>>,
    /// The state of the keys of a processor's call, while it runs.
    pub(crate) lent: Option<Box<Lent>>,
}

/// An instance.
pub(crate) struct Instance {
    store: Store<HostState>,
    /// Whether a hook's function other than `open` was called.
    pub(crate) used: bool,
}

/// What one call may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    pub(crate) fuel: u64,
    pub(crate) answer_bytes: usize,
}

impl Instance {
    /// An empty store under the limits of `shared`.
    pub(crate) fn new(shared: &Shared, memory: &Arc<MemoryTotal>, log: &Arc<Mutex<LogMeter>>) -> Self {
        let meter = Meter::new(&shared.config, Arc::clone(memory));
        let mut store = Store::new(&shared.engine, HostState { meter, log: Arc::clone(log), lent: None });
        store.limiter(|state| &mut state.meter);
        store.set_max_component_handles(shared.config.handles);
        Self { store, used: false }
    }

    /// Puts an instance of the component into the store, with the allowance of `open`, which goes on to `open` itself.
    pub(crate) fn instantiate(&mut self, shared: &Shared, pre: &InstancePre<HostState>) -> wasmtime::Result<Raw> {
        self.allow(shared, open_allowance(shared))?;
        pre.instantiate(&mut self.store)
    }

    /// Sets what the next call may use.
    pub(crate) fn allow(&mut self, shared: &Shared, allowance: Allowance) -> wasmtime::Result<()> {
        self.store.set_fuel(allowance.fuel)?;
        self.store.set_epoch_deadline(shared.config.backstop_ticks());
        self.store.set_hostcall_fuel(allowance.answer_bytes);
        Ok(())
    }

    pub(crate) fn store(&mut self) -> &mut Store<HostState> {
        &mut self.store
    }

    /// What was used of an allowance.
    pub(crate) fn spent(&self, shared: &Shared, allowance: Allowance) -> Spent {
        let left = self.store.get_fuel().unwrap_or(0);
        Spent {
            fuel_budget: allowance.fuel,
            fuel_used: allowance.fuel.saturating_sub(left),
            // What a processor read of its state counts as given.
            answer_bytes: self.store.hostcall_fuel(),
            backstop_millis: shared.config.backstop_millis(),
        }
    }
}

/// What instantiation and `open` may use together.
pub(crate) fn open_allowance(shared: &Shared) -> Allowance {
    Allowance { fuel: shared.config.open_fuel, answer_bytes: shared.config.answer_cap_bytes }
}
