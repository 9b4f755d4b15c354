//! What the sandbox says of a component, as refusals.
//!
//! Invariant: an error that is the host's own never becomes a refusal.

use tidegate_sandbox::{ImageError, OpenError, SandboxError, Stage};
use tidegate_signing::Refusal;

use crate::error::AdmitError;
use crate::rule::Rule;

/// Ask the tenant to do this where only a higher limit would help.
const RAISE: &str = "make it smaller, or ask the operator for a higher limit";

/// A refusal by a rule of admission.
pub(crate) fn by(rule: Rule, place: impl Into<String>, reason: impl Into<String>, mend: impl Into<String>) -> Refusal {
    Refusal { rule: rule.code(), place: place.into(), reason: reason.into(), mend: mend.into() }
}

/// A component that is too large to be looked at.
pub(crate) fn too_large(found: usize, limit: usize) -> Refusal {
    let reason = format!("it has {found} bytes, more than the {limit} allowed");
    by(Rule::ComponentTooLarge, "component", reason, "build it optimised for size and without debug information")
}

/// Why a component is not compiled or not loaded.
pub(crate) fn of_sandbox(error: SandboxError) -> AdmitError {
    let component = || "component".to_owned();
    let byte = |at: Option<u64>| at.map_or_else(component, |at| format!("byte {at}"));
    let refusal = match error {
        SandboxError::Engine { detail } => return AdmitError::unavailable(detail),
        SandboxError::NotAComponent { what, mend, .. } => {
            by(Rule::NotAComponent, "byte 0", format!("it is {what}, not a WebAssembly component"), mend)
        }
        SandboxError::Malformed { detail, at, .. } => {
            let mend = "upload the file exactly as `tidegate build` wrote it; if it is, build it again";
            by(Rule::MalformedComponent, byte(at), detail, mend)
        }
        SandboxError::TooLarge { what, found, limit, at, mend, .. } => {
            let rule = if what == "bytes" { Rule::ComponentTooLarge } else { Rule::StructureLimit };
            by(rule, byte(at), format!("it has {found} {what}, more than the {limit} allowed"), mend)
        }
        SandboxError::NotGranted { imports, mend, .. } => by(
            Rule::ImportNotGranted,
            format!("imports {}", imports.join(", ")),
            "that is granted to no component",
            mend,
        ),
        SandboxError::WrongImport { detail, .. } => {
            by(Rule::ImportWrongType, "imports", detail, "build it against the contract tidegate:job@0.1.0")
        }
        SandboxError::Unfit { detail } => by(Rule::ResourceLimit, "component", detail, RAISE),
        SandboxError::NoHook { exports, .. } => by(
            Rule::NoHook,
            "exports",
            format!(
                "it exports {exports}, and none of tidegate:job/mapper, aggregator, windower or processor in version 0.1"
            ),
            "build it for a world of the package tidegate:job@0.1.0",
        ),
        SandboxError::Compile { detail, .. } => {
            let mend =
                "leave out what the reason names; components are built for plain WebAssembly 2.0 without threads";
            by(Rule::CompileFailed, "component", detail, mend)
        }
    };
    refusal.into()
}

/// Why a fresh image is not loaded: the component's doing, or a fault of the host.
pub(crate) fn of_image(error: ImageError) -> AdmitError {
    match error {
        ImageError::Refused(error) => of_sandbox(error),
        other => AdmitError::unavailable(format!("a fresh image was not taken: {other}")),
    }
}

/// What is wrong with a hook that does not open without a config.
pub(crate) enum NotOpened {
    /// It is refused, or the host failed.
    Fails(AdmitError),
    /// Perhaps it wants a config or fields: a job's submission will show it.
    Perhaps(String),
}

/// Sorts the failures of `open`. `exhausted`: whether the tenant's memory was used up.
pub(crate) fn of_open(error: OpenError, exhausted: bool) -> NotOpened {
    let text = error.to_string();
    let refused = |refusal: Refusal| NotOpened::Fails(refusal.into());
    match error {
        OpenError::Failed { hook, stage: Stage::Open, code: "fault", detail, .. } => NotOpened::Perhaps(format!(
            "{hook}: without a config, `open` answered a fault ({detail}); it is opened again, with the pipeline's config, when \
             a job is submitted"
        )),
        OpenError::Plan { hook, place, reason, .. } => NotOpened::Perhaps(format!(
            "{hook}: without a config, the plan's {place} is wrong ({reason}); it is looked at again, with the pipeline's \
             config and fields, when a job is submitted"
        )),
        OpenError::Failed { hook, stage: Stage::Open, detail, .. } => refused(by(
            Rule::OpenFailed,
            format!("{hook}.open"),
            detail,
            "answer a fault where a config is not taken (in Rust: return `Err`), and do not trap; a hook that the source does \
             not have traps too",
        )),
        OpenError::Failed { code: "not-instantiable", detail, .. } => {
            refused(by(Rule::NotInstantiable, "component", detail, "build it against the contract tidegate:job@0.1.0"))
        }
        OpenError::Failed { detail, .. } => refused(by(
            Rule::StartFailed,
            "start",
            detail,
            "do little when the module starts, and nothing that may fail: `open` is the place for it",
        )),
        OpenError::NoSuchHook { .. } | OpenError::Interrupted { .. } | OpenError::TooMany { .. } => {
            NotOpened::Fails(AdmitError::unavailable(text))
        }
        OpenError::Platform { .. } if exhausted => refused(memory("component", text)),
        OpenError::Platform { .. } => NotOpened::Fails(AdmitError::unavailable(text)),
    }
}

/// The tenant's memory is not enough for one instance.
pub(crate) fn memory(place: impl Into<String>, reason: impl Into<String>) -> Refusal {
    by(
        Rule::MemoryLimit,
        place,
        reason,
        "use less memory, declare more when signing, or ask a platform admin for a higher limit",
    )
}
