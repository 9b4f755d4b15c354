//! Why a component is not loaded, and why a hook does not open. Each says what was wrong, where, and the way out.

use crate::memory::TooManyHooks;

/// Why the sandbox refuses to start, or refuses a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// The machine cannot run the sandbox.
    #[error("the sandbox cannot start: {detail}")]
    Engine {
        /// What failed.
        detail: String,
    },
    /// The bytes are no component in the binary format.
    #[error("component `{component}` is {what}, not a WebAssembly component: {mend}")]
    NotAComponent {
        /// The component's name.
        component: String,
        /// What the bytes are.
        what: &'static str,
        /// The way out.
        mend: &'static str,
    },
    /// The bytes break a rule of the format.
    #[error("component `{component}` is malformed: {detail}{}", place(*at))]
    Malformed {
        /// The component's name.
        component: String,
        /// What is wrong.
        detail: String,
        /// The byte where it was found, where that is known.
        at: Option<u64>,
    },
    /// The component exceeds a limit on size or structure.
    #[error("component `{component}` has {found} {what}, more than the {limit} allowed: {mend}")]
    TooLarge {
        /// The component's name.
        component: String,
        /// What there is too much of.
        what: &'static str,
        /// How much there is, as far as it was counted.
        found: u64,
        /// How much there may be.
        limit: u64,
        /// The byte where the section or function begins that was too much.
        at: Option<u64>,
        /// The way out.
        mend: &'static str,
    },
    /// The component imports what no component is granted.
    #[error("component `{component}` imports {}, which is not granted: {mend}", imports.join(", "))]
    NotGranted {
        /// The component's name.
        component: String,
        /// The names of the imports.
        imports: Vec<String>,
        /// The way out.
        mend: &'static str,
    },
    /// The image of a component does not fit the engine: it needs more memories, tables or instances than one component is
    /// granted.
    #[error("the component's image cannot be loaded: {detail}")]
    Unfit {
        /// What does not fit.
        detail: String,
    },
    /// The component has no hook.
    #[error(
        "component `{component}` exports none of tidegate:job/mapper, aggregator, windower or processor in version 0.1 (it \
         exports: {exports}): build it for a world of the package tidegate:job@0.1.0"
    )]
    NoHook {
        /// The component's name.
        component: String,
        /// What it exports.
        exports: String,
    },
    /// The component imports a granted interface with another type than the contract's.
    #[error(
        "component `{component}` imports something of the contract with another type: {detail}; build it against \
         tidegate:job@0.1.0"
    )]
    WrongImport {
        /// The component's name.
        component: String,
        /// Which, and what does not fit.
        detail: String,
    },
    /// The component does not fit the engine: a disabled feature, more memories or tables than it grants.
    #[error("component `{component}` cannot be compiled: {detail}")]
    Compile {
        /// The component's name.
        component: String,
        /// What the compiler said.
        detail: String,
    },
}

/// How far the opening of a hook came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The component could not be instantiated: its start functions, memories and tables, before any hook is called.
    Instantiation,
    /// `open` was called.
    Open,
}

fn place(at: Option<u64>) -> String {
    at.map_or_else(String::new, |at| format!(" (at byte {at})"))
}

/// Why a hook does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The component has no such hook.
    #[error("component `{component}` has no hook `{hook}` (it has: {has})")]
    NoSuchHook {
        /// The component's name.
        component: String,
        /// The hook asked for.
        hook: &'static str,
        /// The hooks that it has.
        has: String,
    },
    /// Instantiation or `open` failed.
    #[error("component `{component}`, `{hook}.open`: {code}: {detail}")]
    Failed {
        /// The component's name.
        component: String,
        /// The hook.
        hook: &'static str,
        /// Whether it was `open` itself, or what comes before it.
        stage: Stage,
        /// `trap`, `out-of-fuel`, `fault`, `malformed-result` or `not-instantiable`.
        code: &'static str,
        /// What happened.
        detail: String,
    },
    /// The plan that `open` returned is wrong.
    #[error("component `{component}`, `{hook}.open`: the plan's {place}: {reason}")]
    Plan {
        /// The component's name.
        component: String,
        /// The hook.
        hook: &'static str,
        /// Where in the plan: `output`, `reads.columns[2] (distance)`.
        place: String,
        /// What is wrong, and the way out.
        reason: String,
    },
    /// `open` took too long by the wall clock. Trying again may help.
    #[error("component `{component}`, `{hook}.open` was stopped after {millis} ms of wall-clock time")]
    Interrupted {
        /// The component's name.
        component: String,
        /// The hook.
        hook: &'static str,
        /// The backstop, ms.
        millis: u64,
    },
    /// The tenant has as many hooks open as it may.
    #[error("component `{component}`, hook `{hook}`: {refused}")]
    TooMany {
        /// The component's name.
        component: String,
        /// The hook.
        hook: &'static str,
        /// How many are open, and how many may be.
        refused: TooManyHooks,
    },
    /// The host has no room for an instance.
    #[error("component `{component}`, hook `{hook}`: the host could not make an instance: {detail}")]
    Platform {
        /// The component's name.
        component: String,
        /// The hook.
        hook: &'static str,
        /// What failed.
        detail: String,
    },
}
