//! A loaded component: scanned, hashed, compiled and linked, with the hooks that it exports.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tidegate_types::Field;
use tidegate_types::hooks::{AggregateHook, ComponentId, MapHook, ProcessHook, WindowHook};
use wasmtime::Engine;
use wasmtime::component::{InstancePre, Linker};

use crate::aggregator::Aggregator;
use crate::config::MESSAGE_BYTES;
use crate::engine::Shared;
use crate::error::{OpenError, SandboxError};
use crate::image::{self, ComponentDigest, ImageError};
use crate::instance::HostState;
use crate::log::GuestLog;
use crate::mapper::Mapper;
use crate::memory::{MemoryTotal, TooManyHooks};
use crate::processor::Processor;
use crate::windower::Windower;
use crate::world::{Face, HookKind, KEYED_STATE, TIMERS};
use crate::{compile, keyed_state, log, scan, text, timers, world};

/// A component that may run. Cheap to clone.
#[derive(Clone)]
pub struct Component {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: Arc<ComponentId>,
    pub(crate) pre: InstancePre<HostState>,
    face: Face,
    size: u64,
}

/// How a hook is opened.
#[derive(Clone)]
pub struct OpenOptions {
    /// One instance per call, to find out whether a hook keeps to its arguments.
    pub fresh_instances: bool,
    /// Where the guest's log goes.
    pub log: Arc<dyn GuestLog>,
    /// The total that the hook's memory counts against; none: the sandbox's own.
    pub memory: Option<Arc<MemoryTotal>>,
    /// Fuel of one call; none: the sandbox's own. It is what a tenant's limits grant its hooks.
    pub call_fuel: Option<u64>,
    /// Becomes true when the job is to end: no further call is made then, so that a search for a guilty record, which may
    /// take a thousand calls, ends with the one that is under way. None: nobody stops it.
    pub stop: Option<Arc<AtomicBool>>,
}

impl OpenOptions {
    /// The usual options, with this log.
    #[must_use]
    pub fn new(log: Arc<dyn GuestLog>) -> Self {
        Self { fresh_instances: false, log, memory: None, call_fuel: None, stop: None }
    }
}

impl Component {
    pub(crate) fn load(shared: &Arc<Shared>, name: &str, bytes: &[u8]) -> Result<Self, SandboxError> {
        scan::scan(name, bytes, &shared.config.scan)?;
        let compiled = compile::compile(&shared.engine, name, bytes)?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self::link(shared, name, ComponentDigest::of(bytes), size, &compiled)
    }

    /// From an image whose seal was checked: `image` is the buffer that was checked, and nothing is read a second time.
    pub(crate) fn load_image(
        shared: &Arc<Shared>,
        name: &str,
        digest: ComponentDigest,
        size: u64,
        image: image::Checked<'_>,
    ) -> Result<Self, ImageError> {
        let compiled = image::deserialize(&shared.engine, image)?;
        Ok(Self::link(shared, name, digest, size, &compiled)?)
    }

    fn link(
        shared: &Arc<Shared>,
        name: &str,
        digest: ComponentDigest,
        size: u64,
        compiled: &wasmtime::component::Component,
    ) -> Result<Self, SandboxError> {
        let face = world::face(&shared.engine, name, &compiled.component_type())?;
        let pre = link(&shared.engine, name, compiled, &face)?;
        let id = Arc::new(ComponentId { name: name.to_owned(), digest: format!("sha256:{digest}") });
        Ok(Self { inner: Arc::new(Inner { shared: Arc::clone(shared), id, pre, face, size }) })
    }

    /// Its name and digest.
    #[must_use]
    pub fn id(&self) -> &Arc<ComponentId> {
        &self.inner.id
    }

    /// Whether so many more hooks of a tenant, whose instances share this total, may be open at once.
    ///
    /// # Errors
    /// If they may not.
    pub fn room_for(&self, memory: &MemoryTotal, hooks: u32) -> Result<(), TooManyHooks> {
        memory.room_for(hooks, self.inner.shared.config.tenant_hooks)
    }

    /// The hooks that it exports.
    #[must_use]
    pub fn hooks(&self) -> &[HookKind] {
        &self.inner.face.hooks
    }

    /// The names of the interfaces that it imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.inner.face.imports
    }

    /// Its size, bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.inner.size
    }

    /// Opens its map hook over the fields that the pipeline declares. `config` is JSON text.
    ///
    /// # Errors
    /// If there is no such hook, `open` fails, or its plan is wrong.
    pub fn open_mapper(
        &self,
        config: &str,
        input: &[Field],
        options: OpenOptions,
    ) -> Result<Box<dyn MapHook>, OpenError> {
        Ok(Box::new(Mapper::open(self, config, input, options)?))
    }

    /// Opens its aggregate hook over the key's fields and the input's. `config` is JSON text.
    ///
    /// # Errors
    /// As [`Component::open_mapper`].
    pub fn open_aggregator(
        &self,
        config: &str,
        key: &[Field],
        input: &[Field],
        options: OpenOptions,
    ) -> Result<Box<dyn AggregateHook>, OpenError> {
        Ok(Box::new(Aggregator::open(self, config, key, input, options)?))
    }

    /// Opens its window hook over the key's fields, the input's, and those of a pane's value. `config` is JSON text.
    ///
    /// # Errors
    /// As [`Component::open_mapper`].
    pub fn open_windower(
        &self,
        config: &str,
        key: &[Field],
        input: &[Field],
        value: &[Field],
        options: OpenOptions,
    ) -> Result<Box<dyn WindowHook>, OpenError> {
        Ok(Box::new(Windower::open(self, config, key, input, value, options)?))
    }

    /// Opens its process hook over the key's fields and the input's. `config` is JSON text.
    ///
    /// # Errors
    /// As [`Component::open_mapper`].
    pub fn open_processor(
        &self,
        config: &str,
        key: &[Field],
        input: &[Field],
        options: OpenOptions,
    ) -> Result<Box<dyn ProcessHook>, OpenError> {
        Ok(Box::new(Processor::open(self, config, key, input, options)?))
    }
}

/// Links those of the contract's imports that the component has, which checks their types.
pub(crate) fn link(
    engine: &Engine,
    name: &str,
    component: &wasmtime::component::Component,
    face: &Face,
) -> Result<InstancePre<HostState>, SandboxError> {
    let linked = || {
        let mut linker = Linker::new(engine);
        log::link(&mut linker)?;
        if face.has_import(KEYED_STATE) {
            keyed_state::link(&mut linker)?;
        }
        if face.has_import(TIMERS) {
            timers::link(&mut linker)?;
        }
        linker.instantiate_pre(component)
    };
    linked().map_err(|error: wasmtime::Error| SandboxError::WrongImport {
        component: name.to_owned(),
        detail: text::line(&format!("{error:#}"), MESSAGE_BYTES),
    })
}
