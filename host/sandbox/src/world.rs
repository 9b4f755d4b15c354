//! What a component may import, and which hooks it exports.
//!
//! Only this package's own interfaces are granted: `types` (types alone), `log`, and, to components with a processor,
//! `keyed-state` and `timers`. The diff is made over the component's type, before it is linked, so that a refusal can name
//! every import and the way out.

use wasmtime::Engine;
use wasmtime::component::types::{Component as Type, ComponentItem};

use crate::error::SandboxError;

/// The interface of a processor's state.
pub(crate) const KEYED_STATE: &str = "keyed-state";
/// Its functions.
const KEYED_STATE_FUNCTIONS: [&str; 9] =
    ["get", "put", "clear", "append", "get-list", "map-get", "map-put", "map-remove", "map-entries"];
/// The interface of a processor's timers.
pub(crate) const TIMERS: &str = "timers";
/// Its functions.
const TIMER_FUNCTIONS: [&str; 2] = ["set", "clear"];

/// A hook of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookKind {
    /// `tidegate:job/mapper`.
    Mapper,
    /// `tidegate:job/aggregator`.
    Aggregator,
    /// `tidegate:job/windower`.
    Windower,
    /// `tidegate:job/processor`.
    Processor,
}

impl HookKind {
    const ALL: [Self; 4] = [Self::Mapper, Self::Aggregator, Self::Windower, Self::Processor];

    /// The interface's name in the contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mapper => "mapper",
            Self::Aggregator => "aggregator",
            Self::Windower => "windower",
            Self::Processor => "processor",
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
    let exports: Vec<String> = component.exports(engine).map(|(export, _)| export.to_owned()).collect();
    let exported = |kind: &HookKind| exports.iter().any(|export| interface(export) == Some(kind.name()));
    let hooks: Vec<HookKind> = HookKind::ALL.into_iter().filter(exported).collect();
    let refused: Vec<String> = imports
        .iter()
        .filter(|(import, item)| !granted(engine, import, item, &hooks))
        .map(|(import, _)| quoted(import))
        .collect();
    if !refused.is_empty() {
        return Err(SandboxError::NotGranted { component: name.to_owned(), mend: mend(&refused), imports: refused });
    }
    if hooks.is_empty() {
        let exports = exports.iter().take(8).map(|export| quoted(export)).collect::<Vec<_>>().join(", ");
        let exports = if exports.is_empty() { "nothing".to_owned() } else { exports };
        return Err(SandboxError::NoHook { component: name.to_owned(), exports });
    }
    Ok(Face { imports: imports.into_iter().map(|(import, _)| import).collect(), hooks })
}

impl Face {
    /// Whether the component imports this interface of the contract.
    pub(crate) fn has_import(&self, name: &str) -> bool {
        self.imports.iter().any(|import| interface(import) == Some(name))
    }
}

/// The interface that a name of our package in a compatible version (0.1.x) stands for.
fn interface(name: &str) -> Option<&str> {
    let (interface, version) = name.strip_prefix("tidegate:job/")?.split_once('@')?;
    let patch = version.strip_prefix("0.1.")?;
    patch.bytes().all(|byte| byte.is_ascii_digit()).then_some(interface)
}

fn granted(engine: &Engine, name: &str, item: &ComponentItem, hooks: &[HookKind]) -> bool {
    let ComponentItem::ComponentInstance(instance) = item else {
        return false;
    };
    let functions: &[&str] = match interface(name) {
        Some("types") => &[],
        Some("log") => &["write"],
        Some(KEYED_STATE) if hooks.contains(&HookKind::Processor) => &KEYED_STATE_FUNCTIONS,
        Some(TIMERS) if hooks.contains(&HookKind::Processor) => &TIMER_FUNCTIONS,
        _ => return false,
    };
    instance.exports(engine).all(|(export, item)| match item.ty {
        ComponentItem::ComponentFunc(_) => functions.contains(&export),
        ComponentItem::Type(_) => true,
        _ => false,
    })
}

fn mend(refused: &[String]) -> &'static str {
    let of_processors =
        |import: &String| [KEYED_STATE, TIMERS].iter().any(|name| import.contains(&format!("/{name}@")));
    if refused.iter().all(of_processors) {
        "state and timers are for components that export tidegate:job/processor; export it, or do without them"
    } else if refused.iter().all(|import| import.starts_with("`wasi:")) {
        "components run without WASI (no clocks, files, network or random numbers); build with `tidegate build`, or with the \
         language tool's option for that (componentize-py and componentize-qjs: --stub-wasi; componentize-js: -d for each)"
    } else if refused.iter().any(|import| import.starts_with("`tidegate:job/")) {
        "this host speaks tidegate:job@0.1; build against its version of the contract"
    } else {
        "a component may import tidegate:job/types and tidegate:job/log only, one with a processor also \
         tidegate:job/keyed-state and tidegate:job/timers"
    }
}

/// Names are the tenant's: bounded, and without control characters.
fn quoted(name: &str) -> String {
    format!("`{}`", crate::text::line(name, 128))
}
