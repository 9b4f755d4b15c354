//! Counts what instances hold: all memories and tables of one instance together, and all memories and hooks of a tenant
//! together.
//!
//! Invariant: a refusal by the instance's own limit is deterministic (`memory.grow` returns -1), and a refusal for a shared
//! reason (the total, the operating system) ends the call with [`Refused`], which is never a verdict on a record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use wasmtime::{ResourceLimiter, Result};

use crate::config::SandboxConfig;

/// Memory that several instances share, for instance all of a tenant's, and how many hooks are open that share it.
#[derive(Debug)]
pub struct MemoryTotal {
    limit: usize,
    used: AtomicUsize,
    hooks: AtomicU32,
    exhausted: AtomicBool,
}

impl MemoryTotal {
    /// A total of so many bytes.
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0), hooks: AtomicU32::new(0), exhausted: AtomicBool::new(false) })
    }

    /// Bytes held now.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether anything was refused because this total would have been exceeded.
    #[must_use]
    pub fn was_exhausted(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed)
    }

    /// Hooks that are open now; each has one instance at most.
    #[must_use]
    pub fn hooks(&self) -> u32 {
        self.hooks.load(Ordering::Relaxed)
    }

    /// Whether so many more hooks may be open.
    pub(crate) fn room_for(&self, asked: u32, limit: u32) -> std::result::Result<(), TooManyHooks> {
        let open = self.hooks();
        let fits = open.checked_add(asked).is_some_and(|sum| sum <= limit);
        if fits { Ok(()) } else { Err(TooManyHooks { open, asked, limit }) }
    }

    /// Counts one more hook, for as long as the place lives.
    pub(crate) fn place(self: &Arc<Self>, limit: u32) -> std::result::Result<HookPlace, TooManyHooks> {
        let add = |open: u32| open.checked_add(1).filter(|sum| *sum <= limit);
        match self.hooks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            Ok(_) => Ok(HookPlace(Arc::clone(self))),
            Err(open) => Err(TooManyHooks { open, asked: 1, limit }),
        }
    }

    fn reserve(&self, bytes: usize) -> std::result::Result<(), Refused> {
        let add = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            Ok(_) => Ok(()),
            Err(used) => {
                self.exhausted.store(true, Ordering::Relaxed);
                Err(Refused::Total { used, limit: self.limit, asked: bytes })
            }
        }
    }

    fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// An open hook's place among those that share a total.
#[derive(Debug)]
pub(crate) struct HookPlace(Arc<MemoryTotal>);

impl Drop for HookPlace {
    fn drop(&mut self) {
        self.0.hooks.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A tenant may not have so many hooks open, each of which takes an instance of the pool that all tenants share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tenant has {open} hooks open of at most {limit}, and {asked} more are asked for (each hook of the windows and \
     aggregates once for each subtask); lower `parallelism`, name fewer hooks, or cancel a job"
)]
pub struct TooManyHooks {
    /// Hooks that are open.
    pub open: u32,
    /// How many more were asked for.
    pub asked: u32,
    /// The most at once.
    pub limit: u32,
}

/// Growth refused for a reason that another run need not meet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error(
        "the memory of all instances together is used up: {used} of {limit} bytes are held and {asked} more were asked for"
    )]
    Total { used: usize, limit: usize, asked: usize },
    #[error("the operating system gave no memory: {0}")]
    System(String),
}

/// The meter of one instance's memories and tables.
#[derive(Debug)]
pub(crate) struct Meter {
    memory_limit: usize,
    memory_used: usize,
    element_limit: usize,
    elements_used: usize,
    memories: usize,
    tables: usize,
    instances: usize,
    total: Arc<MemoryTotal>,
}

impl Meter {
    pub(crate) fn new(config: &SandboxConfig, total: Arc<MemoryTotal>) -> Self {
        let size = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        Self {
            memory_limit: config.memory_bytes,
            memory_used: 0,
            element_limit: config.table_elements,
            elements_used: 0,
            memories: size(config.memories),
            tables: size(config.tables),
            instances: size(config.core_instances),
            total,
        }
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        let more = desired.saturating_sub(current);
        let within = self.memory_used.checked_add(more).is_some_and(|sum| sum <= self.memory_limit);
        if !within || maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.total.reserve(more)?;
        self.memory_used += more;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> Result<()> {
        // Beyond what any memory can be: wasmtime does not even ask. (The one text match; a test holds it.)
        if error.to_string().contains("exceeds memory type's limits") {
            return Ok(());
        }
        // What is beyond the memory's own type or the instance's limit was answered above. The pool's slots are as large as
        // an instance may grow, so what fails after that failed for want of real memory.
        Err(Refused::System(error.to_string()).into())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        let more = desired.saturating_sub(current);
        let within = self.elements_used.checked_add(more).is_some_and(|sum| sum <= self.element_limit);
        if !within || maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.elements_used += more;
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.tables
    }

    fn memories(&self) -> usize {
        self.memories
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.total.release(self.memory_used);
    }
}
