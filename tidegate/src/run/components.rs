//! The components of a run: which file holds which component that the pipeline names.
//!
//! Invariants: each `--component` serves a hook, each hook has exactly one component, and a component is compiled once however
//! many hooks use it. The bytes that `trust` has admitted are the bytes that are loaded: a file is read once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tidegate_pipeline::{ComponentRef, Hook, NamedHook, Parsed};
use tidegate_sandbox::{Component, Sandbox, SandboxConfig, SandboxError};

use super::given::{Given, for_component, written};
use super::trust::Trust;
use crate::failure::Failure;
use crate::key_files;

const COMPONENT: &str = "--component";

/// The components of a run, by what the pipeline calls them.
pub(super) struct Components {
    loaded: BTreeMap<ComponentRef, Component>,
}

/// The files of the components that the pipeline names.
///
/// # Errors
/// If a flag is malformed, serves no hook, or a hook has no component or several.
pub(super) fn resolve(parsed: &Parsed, flags: &[String]) -> Result<BTreeMap<ComponentRef, PathBuf>, Failure> {
    let parse = |flag: &String| Given::parse(COMPONENT, flag, "FILE.wasm");
    let given = flags.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let mut files = BTreeMap::new();
    for named in parsed.pipeline.hooks() {
        let component = &named.hook.component;
        if files.contains_key(component) {
            continue;
        }
        files.insert(component.clone(), file_of(parsed, &named, &given)?);
    }
    match given.iter().find(|given| !files.keys().any(|component| given.is_for(component))) {
        Some(given) => Err(serves_no_hook(given, files.keys())),
        None => Ok(files),
    }
}

fn file_of(parsed: &Parsed, named: &NamedHook<'_>, given: &[Given]) -> Result<PathBuf, Failure> {
    let component = &named.hook.component;
    match for_component(COMPONENT, given, component)? {
        Some(given) => Ok(given.file.clone()),
        None => {
            let path = format!("{}.component", named.path);
            let line = parsed.line_of(&path).map_or_else(String::new, |line| format!(" (line {line})"));
            let name = written(component);
            Err(Failure::invalid(format!(
                "{path}{line}: no file is given for `{name}`; add --component {}=FILE.wasm",
                component.name
            )))
        }
    }
}

fn serves_no_hook<'a>(given: &Given, components: impl Iterator<Item = &'a ComponentRef>) -> Failure {
    let named: Vec<String> = components.map(|component| format!("`{}`", written(component))).collect();
    let named = if named.is_empty() { "no component".to_owned() } else { named.join(", ") };
    Failure::invalid(format!("--component {}: no hook of the pipeline uses it (it names {named})", given.written()))
}

impl Components {
    /// Loads the components of these files.
    ///
    /// # Errors
    /// If a file cannot be read, is not to be trusted, or is no component that may run.
    pub(super) fn load(files: &BTreeMap<ComponentRef, PathBuf>, trust: &Trust) -> Result<Self, Failure> {
        if files.is_empty() {
            return Ok(Self { loaded: BTreeMap::new() });
        }
        let admitted = files.iter().map(|(component, file)| Ok((component, file, read(component, file, trust)?)));
        let admitted = admitted.collect::<Result<Vec<_>, Failure>>()?;
        let sandbox = Sandbox::new(SandboxConfig::default()).map_err(|error| Failure::external(error.to_string()))?;
        let mut loaded = BTreeMap::new();
        for (component, file, bytes) in admitted {
            loaded.insert(component.clone(), compile(&sandbox, component, file, &bytes)?);
        }
        Ok(Self { loaded })
    }

    /// The component that a hook names.
    pub(super) fn of(&self, hook: &Hook) -> &Component {
        self.loaded.get(&hook.component).expect("every hook's component was resolved and loaded")
    }
}

/// The bytes of a component that may be loaded.
fn read(component: &ComponentRef, file: &Path, trust: &Trust) -> Result<Vec<u8>, Failure> {
    let bytes = key_files::read_component(file)
        .map_err(|error| Failure::invalid(format!("{}: {error}", flag_of(component, file))))?;
    trust.admit(component, file, &bytes)?;
    Ok(bytes)
}

fn compile(sandbox: &Sandbox, component: &ComponentRef, file: &Path, bytes: &[u8]) -> Result<Component, Failure> {
    sandbox.load(&written(component), bytes).map_err(|error| match error {
        SandboxError::Engine { .. } => Failure::external(error.to_string()),
        _ => Failure::invalid(format!("{}: {error}", flag_of(component, file))),
    })
}

fn flag_of(component: &ComponentRef, file: &Path) -> String {
    format!("{COMPONENT} {}={}", component.name, file.display())
}

#[cfg(test)]
mod tests;
