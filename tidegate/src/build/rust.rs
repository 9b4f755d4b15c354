//! Compiles a Rust hook with cargo and finds the module that it made.
//!
//! cargo's own messages go to standard error as they come; its list of artifacts, one JSON object a line, says where the module is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::toolchain::{TARGET, Toolchain};
use super::{BuildArgs, BuildError};

/// A core module that cargo made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Module {
    /// The package's name.
    pub(super) name: String,
    /// The file.
    pub(super) path: PathBuf,
}

/// A line of cargo's list, as far as it matters here.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    target: Target,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Default, Deserialize)]
struct Target {
    #[serde(default)]
    crate_types: Vec<String>,
}

/// Compiles the hook.
pub(super) fn compile(args: &BuildArgs, toolchain: &Toolchain) -> Result<Module, BuildError> {
    let output = cargo(args, toolchain)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| BuildError::Start { program: toolchain.cargo.clone(), source })?;
    if !output.status.success() {
        return Err(BuildError::Compile(args.folder.clone()));
    }
    let modules = modules(&String::from_utf8_lossy(&output.stdout));
    let names = || modules.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    match modules.len() {
        0 => Err(BuildError::NoLibrary(args.folder.clone())),
        1 => Ok(modules.into_iter().map(|(name, path)| Module { name, path }).next().expect("there is one")),
        _ => Err(BuildError::Several { folder: args.folder.clone(), names: names() }),
    }
}

fn cargo(args: &BuildArgs, toolchain: &Toolchain) -> Command {
    let mut command = Command::new(&toolchain.cargo);
    command.current_dir(&args.folder).envs(toolchain.variables.iter().cloned());
    command.args(["build", "--release", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    command.args(&toolchain.arguments);
    if let Some(package) = &args.package {
        command.args(["--package", package]);
    }
    if let Some(folder) = &args.target_dir {
        command.arg("--target-dir").arg(std::path::absolute(folder).unwrap_or_else(|_| folder.clone()));
    }
    if args.locked {
        command.arg("--locked");
    }
    command
}

/// The modules of libraries in cargo's list, by package. Lines that are no message are a build script's.
fn modules(list: &str) -> BTreeMap<String, PathBuf> {
    let messages = list.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let libraries = messages.filter(|message| {
        message.reason == "compiler-artifact" && message.target.crate_types.iter().any(|kind| kind == "cdylib")
    });
    let module = |message: Message| {
        let wasm = message.filenames.into_iter().find(|path| path.extension().is_some_and(|end| end == "wasm"))?;
        Some((package_name(&message.package_id).to_owned(), wasm))
    };
    libraries.filter_map(module).collect()
}

/// The name in a package id: `path+file:///hooks/ads#0.1.0` (the folder's name) or `path+file:///hooks/x#ads@0.1.0`.
fn package_name(id: &str) -> &str {
    let (place, version) = id.rsplit_once('#').unwrap_or((id, ""));
    match version.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
}

#[cfg(test)]
mod tests;
