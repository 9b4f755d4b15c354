//! A loaded component: scanned, hashed, compiled and linked, with the hooks that it exports.

use std::sync::Arc;

use tidegate_types::Field;
use tidegate_types::hooks::{AggregateHook, ComponentId, MapHook, WindowHook};
use wasmtime::component::{InstancePre, Linker};

use crate::aggregator::Aggregator;
use crate::engine::Shared;
use crate::error::{OpenError, SandboxError};
use crate::instance::HostState;
use crate::log::GuestLog;
use crate::mapper::Mapper;
use crate::memory::MemoryTotal;
use crate::windower::Windower;
use crate::world::{Face, HookKind};
use crate::{compile, digest, log, scan, world};

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
    size: usize,
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
}

impl OpenOptions {
    /// The usual options, with this log.
    #[must_use]
    pub fn new(log: Arc<dyn GuestLog>) -> Self {
        Self { fresh_instances: false, log, memory: None }
    }
}

impl Component {
    pub(crate) fn load(shared: &Arc<Shared>, name: &str, bytes: &[u8]) -> Result<Self, SandboxError> {
        scan::scan(name, bytes, &shared.config.scan)?;
        let id = Arc::new(ComponentId { name: name.to_owned(), digest: digest::sha256(bytes) });
        let compiled = compile::compile(&shared.engine, name, bytes)?;
        let face = world::face(&shared.engine, name, &compiled.component_type())?;
        let pre = link(shared, &compiled)
            .map_err(|error| SandboxError::Compile { component: name.to_owned(), detail: format!("{error:#}") })?;
        Ok(Self { inner: Arc::new(Inner { shared: Arc::clone(shared), id, pre, face, size: bytes.len() }) })
    }

    /// Its name and digest.
    #[must_use]
    pub fn id(&self) -> &Arc<ComponentId> {
        &self.inner.id
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
    pub fn size(&self) -> usize {
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
}

fn link(shared: &Shared, component: &wasmtime::component::Component) -> wasmtime::Result<InstancePre<HostState>> {
    let mut linker = Linker::new(&shared.engine);
    log::link(&mut linker)?;
    linker.instantiate_pre(component)
}
