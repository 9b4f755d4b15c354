//! Bytes to machine code. Apart from the rest, because compiling is to move into a process of its own.
//!
//! Until then a panic of the compiler, which a stranger's bytes have brought about before, is caught here: it refuses the
//! component and leaves the host alone.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::error::SandboxError;

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
