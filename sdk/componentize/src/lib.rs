//! From the core module that a compiler makes to a component that Tidegate runs, and what is in such a component.
//!
//! This crate keeps `wit-component` in one place. It has two users: `tidegate build`, for tenants, and the command
//! `componentize`, for the guests of our own tests. Invariant: [`componentize`] returns nothing that asks for more than the job
//! contract grants, so what it accepts is not refused at admission for its imports.

use sha2::{Digest, Sha256};
use thiserror::Error;
use wasmparser::{Encoding, Parser, Payload};
use wit_component::ComponentEncoder;

/// What the contract grants to a component: the log, the types that all interfaces share, and a processor's state and timers.
const GRANTED: [&str; 4] =
    ["tidegate:job/log", "tidegate:job/types", "tidegate:job/keyed-state", "tidegate:job/timers"];

/// What the contract lets a component export.
const HOOKS: [&str; 5] = ["mapper", "aggregator", "windower", "processor", "migrator"];

/// The versions of the contract that this build knows: 0.1 and whatever is compatible with it.
const VERSION: &str = "0.1.";

/// What is in a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its size in bytes.
    pub size: usize,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// The hooks that it exports (`mapper`, `aggregator`, …), in the order of the contract.
    pub hooks: Vec<&'static str>,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
}

/// Why a module makes no component of the contract.
#[derive(Debug, Error)]
pub enum ComponentError {
    /// The bytes are no WebAssembly.
    #[error("not a valid WebAssembly binary: {0}")]
    Malformed(#[from] wasmparser::BinaryReaderError),

    /// A component where a core module was expected, or the other way round.
    #[error("this is a {found}, not a {expected}")]
    WrongLayer {
        /// What was expected.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },

    /// It asks for something that the contract does not grant.
    #[error(
        "it imports `{name}`, which Tidegate does not grant: a component has no clock, random numbers, files, network or \
         JavaScript host. {}", way_out(.name)
    )]
    Import {
        /// The module or interface, and the item in it.
        name: String,
    },

    /// It has none of the contract's hooks.
    #[error(
        "it exports no hook of `tidegate:job`; name one with `tidegate_sdk::export! {{ mapper: MyMapper }}` and build a `cdylib`"
    )]
    NoHook,

    /// The module does not fit the interfaces that it names.
    #[error("the module does not fit the job contract: {0}")]
    Contract(String),
}

fn way_out(name: &str) -> &'static str {
    if name.starts_with("wasi") {
        "Build for wasm32-unknown-unknown instead of a WASI target"
    } else if name.starts_with("__wbindgen") {
        "A dependency was built for the browser (often getrandom's `js` or chrono's `wasmbind` feature): turn that feature off"
    } else {
        "Find the dependency that declares it with `cargo tree` and leave it out"
    }
}

/// Turns a core module with embedded bindings into a component, validated, that imports nothing but what is granted.
pub fn componentize(core: &[u8]) -> Result<Vec<u8>, ComponentError> {
    check_core_imports(core)?;
    let contract = |error: &dyn std::fmt::Display| ComponentError::Contract(format!("{error:#}"));
    let mut encoder = ComponentEncoder::default();
    encoder.module(core).map_err(|error| contract(&error))?;
    let component = encoder.validate(true).encode().map_err(|error| contract(&error))?;
    inspect(&component)?;
    Ok(component)
}

/// Says what is in a component; one that imports more than the contract grants, or has no hook, is an error.
pub fn inspect(component: &[u8]) -> Result<Facts, ComponentError> {
    let (imports, exports) = interfaces(component)?;
    if let Some(name) = imports.iter().find(|name| !GRANTED.iter().any(|granted| is_interface(name, granted))) {
        return Err(ComponentError::Import { name: name.clone() });
    }
    let exported = |hook: &str| exports.iter().any(|name| is_interface(name, &format!("tidegate:job/{hook}")));
    let hooks: Vec<_> = HOOKS.into_iter().filter(|hook| exported(hook)).collect();
    if hooks.is_empty() {
        return Err(ComponentError::NoHook);
    }
    Ok(Facts { size: component.len(), sha256: sha256(component), hooks, imports })
}

/// Whether `name` is the interface `path`, in a version that this build knows.
fn is_interface(name: &str, path: &str) -> bool {
    name.strip_prefix(path)
        .and_then(|rest| rest.strip_prefix('@'))
        .and_then(|version| version.strip_prefix(VERSION))
        .is_some_and(|patch| !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit()))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The encoder's own message for a foreign import is about WIT packages; ours names the way out.
fn check_core_imports(core: &[u8]) -> Result<(), ComponentError> {
    for payload in Parser::new(0).parse_all(core) {
        match payload? {
            Payload::Version { encoding: Encoding::Component, .. } => {
                return Err(ComponentError::WrongLayer { expected: "core module", found: "component" });
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    if !GRANTED.iter().any(|granted| is_interface(import.module, granted)) {
                        return Err(ComponentError::Import { name: format!("{}.{}", import.module, import.name) });
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The names that the outermost component imports and exports.
fn interfaces(component: &[u8]) -> Result<(Vec<String>, Vec<String>), ComponentError> {
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => {
                return Err(ComponentError::WrongLayer { expected: "component", found: "core module" });
            }
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok((imports, exports))
}

#[cfg(test)]
mod tests;
