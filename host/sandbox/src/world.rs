//! What a component may import, and which hooks it exports.
//!
//! Only this package's own interfaces are granted: `types` (types alone) and `log`. The diff is made over the component's
//! type, before it is linked, so that a refusal can name every import and the way out.

use wasmtime::Engine;
use wasmtime::component::types::{Component as Type, ComponentItem};

use crate::error::SandboxError;

/// A hook of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookKind {
    /// `tidegate:job/mapper`.
    Mapper,
    /// `tidegate:job/aggregator`.
    Aggregator,
    /// `tidegate:job/windower`.
    Windower,
}

impl HookKind {
    const ALL: [Self; 3] = [Self::Mapper, Self::Aggregator, Self::Windower];

    /// The interface's name in the contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mapper => "mapper",
            Self::Aggregator => "aggregator",
            Self::Windower => "windower",
        }
    }
}

/// What a component imports and exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Face {
    pub(crate) imports: Vec<String>,
    pub(crate) hooks: Vec<HookKind>,
}

/// Refuses a component that imports what is not granted, or has no hook.
pub(crate) fn face(engine: &Engine, name: &str, component: &Type) -> Result<Face, SandboxError> {
    let imports: Vec<(String, ComponentItem)> =
        component.imports(engine).map(|(import, item)| (import.to_owned(), item.ty)).collect();
    let refused: Vec<String> = imports
        .iter()
        .filter(|(import, item)| !granted(engine, import, item))
        .map(|(import, _)| quoted(import))
        .collect();
    if !refused.is_empty() {
        return Err(SandboxError::NotGranted { component: name.to_owned(), mend: mend(&refused), imports: refused });
    }
    let exports: Vec<String> = component.exports(engine).map(|(export, _)| export.to_owned()).collect();
    let exported = |kind: &HookKind| exports.iter().any(|export| interface(export) == Some(kind.name()));
    let hooks: Vec<HookKind> = HookKind::ALL.into_iter().filter(exported).collect();
    if hooks.is_empty() {
        let exports = exports.iter().take(8).map(|export| quoted(export)).collect::<Vec<_>>().join(", ");
        let exports = if exports.is_empty() { "nothing".to_owned() } else { exports };
        return Err(SandboxError::NoHook { component: name.to_owned(), exports });
    }
    Ok(Face { imports: imports.into_iter().map(|(import, _)| import).collect(), hooks })
}

/// The interface that a name of our package in a compatible version (0.1.x) stands for.
fn interface(name: &str) -> Option<&str> {
    let (interface, version) = name.strip_prefix("tidegate:job/")?.split_once('@')?;
    let patch = version.strip_prefix("0.1.")?;
    patch.bytes().all(|byte| byte.is_ascii_digit()).then_some(interface)
}

fn granted(engine: &Engine, name: &str, item: &ComponentItem) -> bool {
    let ComponentItem::ComponentInstance(instance) = item else {
        return false;
    };
    let only_types = || instance.exports(engine).all(|(_, export)| matches!(export.ty, ComponentItem::Type(_)));
    match interface(name) {
        Some("types") => only_types(),
        Some("log") => instance.exports(engine).all(|(export, item)| match item.ty {
            ComponentItem::ComponentFunc(_) => export == "write",
            ComponentItem::Type(_) => true,
            _ => false,
        }),
        _ => false,
    }
}

fn mend(refused: &[String]) -> &'static str {
    if refused.iter().all(|import| import.starts_with("`wasi:")) {
        "components run without WASI (no clocks, files, network or random numbers); build with `tidegate build`, or with the \
         language tool's option for that (componentize-py and componentize-qjs: --stub-wasi; componentize-js: -d for each)"
    } else if refused.iter().any(|import| import.starts_with("`tidegate:job/")) {
        "this host speaks tidegate:job@0.1; build against its version of the contract"
    } else {
        "a component may import tidegate:job/types and tidegate:job/log only"
    }
}

/// Names are the tenant's: bounded, and without control characters.
fn quoted(name: &str) -> String {
    format!("`{}`", crate::text::line(name, 128))
}
