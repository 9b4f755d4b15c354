//! The components of a run: which file holds which component that the pipeline names.
//!
//! Invariants: each `--component` serves a hook, each hook has exactly one component, and a component is compiled once however
//! many hooks use it. Nothing is loaded without `--allow-unsigned`, since signatures are not checked yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tidegate_pipeline::{Aggregate, ComponentRef, Hook, Parsed, Pipeline, WindowKind};
use tidegate_sandbox::{Component, Sandbox, SandboxConfig, SandboxError};

use crate::failure::Failure;

/// The components of a run, by what the pipeline calls them.
pub(super) struct Components {
    loaded: BTreeMap<ComponentRef, Component>,
}

/// A `--component` flag.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Given {
    name: String,
    version: Option<String>,
    file: PathBuf,
}

/// A hook and where the file names its component.
pub(super) struct Named<'a> {
    pub(super) path: String,
    pub(super) hook: &'a Hook,
}

/// The hooks of a pipeline, in the order of a record's way.
pub(super) fn hooks(pipeline: &Pipeline) -> Vec<Named<'_>> {
    let map = pipeline.map.iter().map(|hook| Named { path: "map".into(), hook });
    let window = match &pipeline.window.kind {
        WindowKind::Custom { hook } => Some(Named { path: "window".into(), hook }),
        _ => None,
    };
    let aggregates = pipeline.aggregates.iter().filter_map(|aggregate| match aggregate {
        Aggregate::Hook { name, hook } => Some(Named { path: format!("aggregate.{name}"), hook }),
        Aggregate::Builtin { .. } => None,
    });
    map.chain(window).chain(aggregates).collect()
}

/// As the pipeline writes it: `name` or `name@version`.
pub(super) fn written(component: &ComponentRef) -> String {
    match &component.version {
        Some(version) => format!("{}@{version}", component.name),
        None => component.name.clone(),
    }
}

/// The files of the components that the pipeline names.
///
/// # Errors
/// If a flag is malformed, serves no hook, or a hook has no component or several.
pub(super) fn resolve(parsed: &Parsed, flags: &[String]) -> Result<BTreeMap<ComponentRef, PathBuf>, Failure> {
    let given = flags.iter().map(|flag| Given::parse(flag)).collect::<Result<Vec<_>, _>>()?;
    let mut files = BTreeMap::new();
    for named in hooks(&parsed.pipeline) {
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

fn file_of(parsed: &Parsed, named: &Named<'_>, given: &[Given]) -> Result<PathBuf, Failure> {
    let component = &named.hook.component;
    let name = written(component);
    let exact: Vec<&Given> = given.iter().filter(|given| given.is_for(component) && given.version.is_some()).collect();
    let any: Vec<&Given> = given.iter().filter(|given| given.is_for(component) && given.version.is_none()).collect();
    match (exact.as_slice(), any.as_slice()) {
        ([one], _) | ([], [one]) => Ok(one.file.clone()),
        ([], []) => {
            let path = format!("{}.component", named.path);
            let line = parsed.line_of(&path).map_or_else(String::new, |line| format!(" (line {line})"));
            Err(Failure::invalid(format!(
                "{path}{line}: no file is given for `{name}`; add --component {}=FILE.wasm",
                component.name
            )))
        }
        _ => Err(Failure::invalid(format!("--component: `{name}` is given more than once; keep one"))),
    }
}

fn serves_no_hook<'a>(given: &Given, components: impl Iterator<Item = &'a ComponentRef>) -> Failure {
    let named: Vec<String> = components.map(|component| format!("`{}`", written(component))).collect();
    let named = if named.is_empty() { "no component".to_owned() } else { named.join(", ") };
    Failure::invalid(format!("--component {}: no hook of the pipeline uses it (it names {named})", given.written()))
}

impl Given {
    fn parse(flag: &str) -> Result<Self, Failure> {
        let wrong = || Failure::invalid(format!("--component {flag}: write NAME=FILE.wasm"));
        let (called, file) = flag.split_once('=').ok_or_else(wrong)?;
        let (name, version) = match called.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (called, None),
        };
        if name.is_empty() || version.is_some_and(str::is_empty) || file.is_empty() {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), version: version.map(str::to_owned), file: file.into() })
    }

    fn is_for(&self, component: &ComponentRef) -> bool {
        self.name == component.name && (self.version.is_none() || self.version == component.version)
    }

    fn written(&self) -> String {
        written(&ComponentRef { name: self.name.clone(), version: self.version.clone() })
    }
}

impl Components {
    /// Loads the components of these files.
    ///
    /// # Errors
    /// If unsigned components are not allowed, a file cannot be read, or it is no component that may run.
    pub(super) fn load(files: &BTreeMap<ComponentRef, PathBuf>, allow_unsigned: bool) -> Result<Self, Failure> {
        if files.is_empty() {
            return Ok(Self { loaded: BTreeMap::new() });
        }
        if !allow_unsigned {
            return Err(Failure::invalid(
                "--component: this release checks no signatures yet, so any component is unsigned; if you trust where the \
                 file comes from, say so with --allow-unsigned",
            ));
        }
        let sandbox = Sandbox::new(SandboxConfig::default()).map_err(|error| Failure::external(error.to_string()))?;
        let mut loaded = BTreeMap::new();
        for (component, file) in files {
            loaded.insert(component.clone(), load(&sandbox, component, file)?);
        }
        Ok(Self { loaded })
    }

    /// The component that a hook names.
    pub(super) fn of(&self, hook: &Hook) -> &Component {
        self.loaded.get(&hook.component).expect("every hook's component was resolved and loaded")
    }
}

fn load(sandbox: &Sandbox, component: &ComponentRef, file: &Path) -> Result<Component, Failure> {
    let flag = format!("--component {}={}", component.name, file.display());
    let bytes = std::fs::read(file).map_err(|error| Failure::invalid(format!("{flag}: {error}")))?;
    sandbox.load(&written(component), &bytes).map_err(|error| match error {
        SandboxError::Engine { .. } => Failure::external(error.to_string()),
        _ => Failure::invalid(format!("{flag}: {error}")),
    })
}

#[cfg(test)]
mod tests;
