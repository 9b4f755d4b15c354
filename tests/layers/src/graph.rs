//! The workspace's packages and what each depends on, from `cargo metadata`.
//!
//! Normal and build dependencies count for what a crate reaches; direct dependencies count whatever their kind, so that a
//! test cannot bring in through the back door what its crate must not know.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// One package of the workspace.
#[derive(Debug, Clone, Default)]
pub struct Package {
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// Names of the packages that its manifest names, of every kind (normal, build, dev).
    pub direct: BTreeSet<String>,
    /// Names of everything below it by normal and build dependencies, itself left out.
    pub reached: BTreeSet<String>,
}

/// The workspace's packages by name.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    pub packages: BTreeMap<String, Package>,
}

#[derive(Debug, thiserror::Error)]
pub enum MetadataError {
    #[error("could not run `cargo metadata` in {folder}: is cargo on the PATH?")]
    Run { folder: PathBuf, source: io::Error },
    #[error("`cargo metadata` failed in {folder}:\n{stderr}")]
    Failed { folder: PathBuf, stderr: String },
    #[error("`cargo metadata` printed something unexpected")]
    Json(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<RawPackage>,
    workspace_members: BTreeSet<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct RawPackage {
    id: String,
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<RawDependency>,
}

#[derive(Deserialize)]
struct RawDependency {
    name: String,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<NodeDependency>,
}

#[derive(Deserialize)]
struct NodeDependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// Absent for a normal dependency.
    kind: Option<String>,
}

impl Graph {
    /// Asks cargo about the workspace that holds `folder`, for this platform, as its lock file stands.
    pub fn read(folder: &Path) -> Result<Self, MetadataError> {
        let mut command = Command::new(option_env!("CARGO").unwrap_or("cargo"));
        command.current_dir(folder).args(["metadata", "--format-version", "1", "--locked"]);
        if cfg!(all(target_os = "linux", target_env = "gnu")) {
            // Only what this platform builds is sure to be downloaded.
            command.args(["--filter-platform", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)]);
        }
        let output = command.output().map_err(|source| MetadataError::Run { folder: folder.to_owned(), source })?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(MetadataError::Failed { folder: folder.to_owned(), stderr });
        }
        Self::from_json(&output.stdout)
    }

    /// Reads what `cargo metadata --format-version 1` prints.
    pub fn from_json(json: &[u8]) -> Result<Self, MetadataError> {
        let metadata: Metadata = serde_json::from_slice(json)?;
        let names: BTreeMap<&str, &str> =
            metadata.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
        let below: BTreeMap<&str, Vec<&str>> =
            metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), shipped(node))).collect();
        let members = metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id));
        let packages = members.map(|package| (package.name.clone(), describe(package, &names, &below))).collect();
        Ok(Self { packages })
    }
}

fn describe(package: &RawPackage, names: &BTreeMap<&str, &str>, below: &BTreeMap<&str, Vec<&str>>) -> Package {
    let reached = reach(&package.id, below);
    Package {
        folder: package.manifest_path.parent().map(Path::to_owned).unwrap_or_default(),
        direct: package.dependencies.iter().map(|dependency| dependency.name.clone()).collect(),
        reached: reached.iter().filter_map(|id| names.get(id)).map(|name| (*name).to_owned()).collect(),
    }
}

/// The dependencies of a node that end up in what is built of it.
fn shipped(node: &Node) -> Vec<&str> {
    let ships =
        |dependency: &&NodeDependency| dependency.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"));
    node.deps.iter().filter(ships).map(|dependency| dependency.pkg.as_str()).collect()
}

fn reach<'a>(from: &'a str, below: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(id) = waiting.pop() {
        for &next in below.get(id).into_iter().flatten() {
            if seen.insert(next) {
                waiting.push(next);
            }
        }
    }
    seen
}
