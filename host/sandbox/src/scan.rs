//! A look over a component's bytes before anything is compiled: is it a component at all, and is it of a size and shape that
//! compiling and instantiating can bear?
//!
//! The format's own limits are far too wide for a host of strangers (1 GiB modules, a million types, nesting 100 deep).
//! Invariant: nothing here allocates in proportion to what the bytes claim, only to what they are.

use wasmparser::{Encoding, Parser, Payload, TypeRef};

use crate::config::ScanLimits;
use crate::error::SandboxError;

mod tally;
use tally::Tally;

/// Refuses what is no component, or one beyond the limits.
pub(crate) fn scan(name: &str, bytes: &[u8], limits: &ScanLimits) -> Result<(), SandboxError> {
    if bytes.len() > limits.component_bytes {
        return Err(SandboxError::TooLarge {
            component: name.to_owned(),
            what: "bytes",
            found: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            limit: u64::try_from(limits.component_bytes).unwrap_or(u64::MAX),
            at: None,
            mend: "build it optimised for size and without debug information",
        });
    }
    if let Some((what, mend)) = not_a_component(bytes) {
        return Err(SandboxError::NotAComponent { component: name.to_owned(), what, mend });
    }
    let mut tally = Tally::new(limits);
    let outcome = walk(bytes, &mut tally);
    outcome.map_err(|problem| problem.into_error(name))
}

/// What the bytes are, if no component, and the way out.
fn not_a_component(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if wasmtime::Engine::detect_precompiled(bytes).is_some() || bytes.starts_with(b"\x7fELF") {
        return Some(("a precompiled image", "give the component itself, the host compiles it"));
    }
    if Parser::is_component(bytes) {
        return None;
    }
    if Parser::is_core_wasm(bytes) {
        return Some(("a core module", "wrap it with `tidegate build`, or with `wasm-tools component new`"));
    }
    if bytes.trim_ascii_start().starts_with(b"(") {
        return Some(("WebAssembly text", "assemble it first, for instance with `wasm-tools parse`"));
    }
    Some(("something else", "give the .wasm file that `tidegate build` made"))
}

/// Why a walk ended early.
enum Problem {
    Malformed { detail: String, at: Option<u64> },
    TooMany { what: &'static str, found: u64, limit: u64, at: Option<u64> },
}

impl Problem {
    fn into_error(self, name: &str) -> SandboxError {
        let component = name.to_owned();
        match self {
            Self::Malformed { detail, at } => SandboxError::Malformed { component, detail, at },
            Self::TooMany { what, found, limit, at } => {
                let mend = match what {
                    "bytes of custom sections" => "strip debug information, for instance with `wasm-tools strip`",
                    "memories in one core module" => "use one memory",
                    "bytes in one function" | "locals in one function" => "split the function",
                    _ => "link the component's parts into fewer, or ask the operator for a higher limit",
                };
                SandboxError::TooLarge { component, what, found, limit, at, mend }
            }
        }
    }
}

impl Problem {
    /// The same, where it was not known yet at this byte.
    fn or_at(self, byte: Option<u64>) -> Self {
        match self {
            Self::Malformed { detail, at } => Self::Malformed { detail, at: at.or(byte) },
            Self::TooMany { what, found, limit, at } => Self::TooMany { what, found, limit, at: at.or(byte) },
        }
    }
}

impl From<wasmparser::BinaryReaderError> for Problem {
    fn from(error: wasmparser::BinaryReaderError) -> Self {
        Self::Malformed { detail: error.message().to_owned(), at: Some(error.offset()) }
    }
}

fn walk(bytes: &[u8], tally: &mut Tally<'_>) -> Result<(), Problem> {
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        let at = start(&payload);
        count(payload, tally).map_err(|problem| problem.or_at(at))?;
    }
    Ok(())
}

/// Where a part of the component begins, byte.
fn start(payload: &Payload<'_>) -> Option<u64> {
    match payload {
        Payload::Version { range, .. } => Some(range.start),
        Payload::CodeSectionEntry(body) => Some(body.range().start),
        other => other.as_section().map(|(_, range)| range.start),
    }
}

fn count(payload: Payload<'_>, tally: &mut Tally<'_>) -> Result<(), Problem> {
    match payload {
        Payload::Version { encoding, .. } => tally.enter(encoding == Encoding::Component),
        Payload::End(_) => {
            tally.leave();
            Ok(())
        }
        Payload::ModuleSection { .. } => tally.module(),
        Payload::ComponentSection { .. } => tally.component(),
        Payload::InstanceSection(section) => tally.core_instances(section.count()),
        Payload::ComponentInstanceSection(section) => tally.instances(section.count()),
        Payload::CustomSection(section) => tally.custom(section.data().len()),
        Payload::CodeSectionStart { count, .. } => tally.functions(count),
        Payload::CodeSectionEntry(body) => {
            let locals = body.get_locals_reader()?.into_iter();
            tally.body(body.as_bytes().len(), locals)
        }
        Payload::TypeSection(section) => tally.entries(section.count()),
        Payload::ImportSection(section) => {
            tally.entries(section.count())?;
            for import in section.into_imports() {
                if matches!(import?.ty, TypeRef::Memory(_)) {
                    tally.memories(1)?;
                }
            }
            Ok(())
        }
        Payload::MemorySection(section) => tally.memories(section.count()),
        Payload::ExportSection(section) => tally.entries(section.count()),
        Payload::CoreTypeSection(section) => tally.entries(section.count()),
        Payload::ComponentTypeSection(section) => tally.entries(section.count()),
        Payload::ComponentAliasSection(section) => tally.entries(section.count()),
        Payload::ComponentImportSection(section) => tally.entries(section.count()),
        Payload::ComponentExportSection(section) => tally.entries(section.count()),
        Payload::ComponentCanonicalSection(section) => tally.entries(section.count()),
        Payload::ComponentStartSection { .. } => {
            let detail = "it has a component start section, which the contract does not use".to_owned();
            Err(Problem::Malformed { detail, at: None })
        }
        _ => Ok(()),
    }
}
