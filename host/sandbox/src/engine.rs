//! The engine's configuration, and [`Sandbox`]: the engine, its ticker, and what its components share.
//!
//! Every setting is one that docs/security/isolation.md relies on. One engine per process and trust tier: instances of
//! different engines never meet.

use std::num::NonZeroUsize;
use std::sync::Arc;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, WasmBacktraceDetails};

use crate::component::Component;
use crate::config::SandboxConfig;
use crate::error::SandboxError;
use crate::image::{self, ComponentDigest, ImageError, ImageKey, Stamp};
use crate::memory::MemoryTotal;
use crate::price;
use crate::ticker::Ticker;

/// Loads components and owns what their instances share.
///
/// Cheap to clone. Hooks keep the engine alive for as long as they live.
#[derive(Clone)]
pub struct Sandbox {
    pub(crate) shared: Arc<Shared>,
}

/// What all components of a sandbox share.
pub(crate) struct Shared {
    pub(crate) config: SandboxConfig,
    pub(crate) engine: Engine,
    pub(crate) ticker: Ticker,
    pub(crate) memory: Arc<MemoryTotal>,
    /// What an image must have been compiled with to be loaded here.
    pub(crate) stamp: Stamp,
}

impl Sandbox {
    /// Starts a sandbox and its ticker thread, which ends with the last clone, component and hook.
    ///
    /// # Errors
    /// If the machine or the limits do not allow it (address space, threads).
    pub fn new(config: SandboxConfig) -> Result<Self, SandboxError> {
        let engine = Engine::new(&engine_config(&config)).map_err(|error| engine_error(&error))?;
        let ticker = Ticker::start(engine.clone()).map_err(|error| engine_error(&error))?;
        let memory = MemoryTotal::new(config.total_memory_bytes);
        let stamp = Stamp::of(&engine, &config);
        Ok(Self { shared: Arc::new(Shared { config, engine, ticker, memory, stamp }) })
    }

    /// Checks and compiles a component. `name` stands in messages and dead letters; `bytes` are hashed as they are.
    ///
    /// # Errors
    /// Each names the rule that the component breaks and the way out.
    pub fn load(&self, name: &str, bytes: &[u8]) -> Result<Component, SandboxError> {
        Component::load(&self.shared, name, bytes)
    }

    /// What an image must have been compiled with to be loaded here. An [`ImageCompiler`](crate::ImageCompiler) says the same
    /// of what it makes.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.shared.stamp
    }

    /// Puts the host's seal on an image that an [`ImageCompiler`](crate::ImageCompiler) of this sandbox's stamp made of the
    /// component.
    #[must_use]
    pub fn seal(&self, key: &ImageKey, digest: ComponentDigest, size: u64, image: &[u8]) -> Vec<u8> {
        image::seal(key, &self.shared.stamp, digest, size, image)
    }

    /// Whether a sealed image is this host's, whole, of this component, and of this sandbox's stamp.
    ///
    /// # Errors
    /// The first of these that it is not: compile the component again.
    pub fn check_image(
        &self,
        key: &ImageKey,
        digest: ComponentDigest,
        size: u64,
        sealed: &[u8],
    ) -> Result<(), ImageError> {
        image::open(key, &self.shared.stamp, digest, size, sealed).map(|_| ())
    }

    /// Loads the sealed image of a component: checks it as [`Sandbox::check_image`] does, and loads the very bytes that were
    /// checked. `name` stands in messages and dead letters, `digest` and `size` are those of the component.
    ///
    /// # Errors
    /// As [`Sandbox::check_image`], or if the component needs more than this sandbox grants.
    pub fn load_image(
        &self,
        name: &str,
        digest: ComponentDigest,
        size: u64,
        sealed: &[u8],
        key: &ImageKey,
    ) -> Result<Component, ImageError> {
        let image = image::open(key, &self.shared.stamp, digest, size, sealed)?;
        Component::load_image(&self.shared, name, digest, size, image)
    }

    /// The limits.
    #[must_use]
    pub fn config(&self) -> &SandboxConfig {
        &self.shared.config
    }

    /// Bytes of memory that all instances hold now, those with a total of their own excepted.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        self.shared.memory.used()
    }
}

pub(crate) fn engine_error(error: &impl std::fmt::Display) -> SandboxError {
    // The alternate form shows what lies behind.
    SandboxError::Engine { detail: format!("{error:#}") }
}

/// The configuration of an engine that runs hooks.
fn engine_config(limits: &SandboxConfig) -> Config {
    let mut config = code_config(limits);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
    config
}

/// What decides which machine code comes of a component: the same for the engine that compiles an image and the one that
/// runs it. Instances come from where they are needed, so an engine of this alone reserves no address space.
pub(crate) fn code_config(limits: &SandboxConfig) -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .concurrency_support(false)
        // For the adapters that wasmtime itself puts between nested components; it panics without. The scan refuses modules
        // with several memories.
        .wasm_multi_memory(true)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        .cranelift_nan_canonicalization(true)
        .consume_fuel(true)
        .operator_cost(price::operator_cost())
        .epoch_interruption(true)
        .max_wasm_stack(limits.stack_bytes)
        .wasm_backtrace_max_frames(NonZeroUsize::new(32))
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .memory_init_cow(true);
    config
}

fn pool(limits: &SandboxConfig) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::default();
    let all = |each: u32| limits.instances.saturating_mul(each);
    pool.total_component_instances(limits.instances)
        .max_core_instances_per_component(limits.core_instances)
        .total_core_instances(all(limits.core_instances))
        .max_memories_per_component(limits.memories)
        .total_memories(all(limits.memories))
        .max_memory_size(limits.memory_bytes)
        .max_tables_per_component(limits.tables)
        .max_tables_per_module(limits.tables)
        .total_tables(all(limits.tables))
        .table_elements(limits.table_elements);
    pool
}
