//! Bytes to machine code, and [`ImageCompiler`], which does that in a process of its own.
//!
//! A compiler that reads a stranger's bytes may run long, use much memory, or panic. So a host that serves many compiles
//! elsewhere: a child process with limits makes an image, the host seals it (`image`) and loads it. `Sandbox::load` compiles
//! in this process, for a command that runs its user's own component. A panic is caught in both: it refuses the component.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::component::link;
use crate::config::{SandboxConfig, ScanLimits};
use crate::engine::{code_config, engine_error};
use crate::error::SandboxError;
use crate::image::Stamp;
use crate::scan;
use crate::world::{self, HookKind};

/// Makes images of components. It runs none, has no thread and reserves no address space, so that limits on its process hold.
pub struct ImageCompiler {
    engine: Engine,
    scan: ScanLimits,
    stamp: Stamp,
}

/// The machine code of a component, and what the component shows of itself.
#[derive(Debug, Clone)]
pub struct Image {
    /// What `Sandbox::seal` takes.
    pub bytes: Vec<u8>,
    /// The hooks that it exports.
    pub hooks: Vec<HookKind>,
    /// The names of the interfaces that it imports.
    pub imports: Vec<String>,
}

impl ImageCompiler {
    /// A compiler for sandboxes with these limits.
    ///
    /// # Errors
    /// If the machine cannot run what it would make.
    pub fn new(config: &SandboxConfig) -> Result<Self, SandboxError> {
        let engine = Engine::new(&code_config(config)).map_err(|error| engine_error(&error))?;
        let stamp = Stamp::of(&engine, config);
        Ok(Self { engine, scan: config.scan.clone(), stamp })
    }

    /// What its images are compiled with: they load into sandboxes of the same stamp.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Scans, compiles and checks a component. `name` stands in messages.
    ///
    /// # Errors
    /// Each names the rule that the component breaks and the way out.
    pub fn compile(&self, name: &str, bytes: &[u8]) -> Result<Image, SandboxError> {
        scan::scan(name, bytes, &self.scan)?;
        let compiled = compile(&self.engine, name, bytes)?;
        let face = world::face(&self.engine, name, &compiled.component_type())?;
        link(&self.engine, name, &compiled, &face)?;
        let image = compiled
            .serialize()
            .map_err(|error| SandboxError::Compile { component: name.to_owned(), detail: format!("{error:#}") })?;
        Ok(Image { bytes: image, hooks: face.hooks, imports: face.imports })
    }
}

/// Compiles a scanned component.
pub(crate) fn compile(engine: &Engine, name: &str, bytes: &[u8]) -> Result<Component, SandboxError> {
    // Nothing that the compiler may have left half done is used again: it only reads the engine.
    let outcome = catch_unwind(AssertUnwindSafe(|| Component::from_binary(engine, bytes)));
    let detail = match outcome {
        Ok(Ok(component)) => return Ok(component),
        Ok(Err(error)) => format!("{error:#}"),
        Err(_) => "the compiler panicked; this is a fault of the host, please report it with the component".to_owned(),
    };
    Err(SandboxError::Compile { component: name.to_owned(), detail })
}
