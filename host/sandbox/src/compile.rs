//! Bytes to machine code. Apart from the rest, because compiling is to move into a process of its own.

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::error::SandboxError;

/// Compiles a scanned component.
pub(crate) fn compile(engine: &Engine, name: &str, bytes: &[u8]) -> Result<Component, SandboxError> {
    Component::from_binary(engine, bytes)
        .map_err(|error| SandboxError::Compile { component: name.to_owned(), detail: format!("{error:#}") })
}
