//! Which Rust compiles for WebAssembly on this machine.
//!
//! Two ways: rustup's (or any) `rustc` with the target `wasm32-unknown-unknown` installed; and, on Debian, `rustc-web` with the
//! standard library built from `rust-web-src`. `look` gathers facts, `choose` decides on them alone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use super::BuildError;

/// The target of all guests: no operating system, no imports.
pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// Which toolchain the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    /// The first that is there
    Any,
    /// The rustc on the path, with its installed target
    Rustup,
    /// Debian's rustc-web
    Debian,
}

/// How to call cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Toolchain {
    /// Its name, for people.
    pub(super) name: String,
    /// The cargo to run.
    pub(super) cargo: PathBuf,
    /// Variables to run it with.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// Arguments to add.
    pub(super) arguments: Vec<&'static str>,
}

/// What is on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Facts {
    /// The version of the `rustc` on the path, as it says it.
    rustc: Option<String>,
    /// Whether that has the target.
    has_target: bool,
    /// Whether there is rustup.
    has_rustup: bool,
    /// Whether this is a Debian, or another system with its packages.
    has_apt: bool,
    /// Debian's rustc, as it says it.
    debian_rustc: Option<String>,
    /// The packages of Debian's way that are missing.
    debian_missing: Vec<&'static str>,
}

/// Finds the toolchain to build `folder` with.
pub(super) fn find(folder: &Path, choice: Choice) -> Result<Toolchain, BuildError> {
    choose(&look(folder), choice).map_err(BuildError::NoToolchain)
}

fn look(folder: &Path) -> Facts {
    // In the folder, because a rust-toolchain.toml there counts.
    let ask = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(folder).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let library = |sysroot: String, path: String| Path::new(&sysroot).join("lib/rustlib").join(path).exists();
    let sysroot = |program: &str| ask(program, &["--print", "sysroot"]);
    let debian_source =
        || sysroot("/usr/bin/rustc").is_some_and(|root| library(root, "src/rust/library/std/Cargo.toml".to_owned()));
    let is_missing = |package: &&'static str| match *package {
        "rustc-web" => !Path::new("/usr/bin/rustc").exists(),
        "cargo-web" => !Path::new("/usr/bin/cargo").exists(),
        "lld" => !Path::new("/usr/bin/wasm-ld").exists(),
        _ => !debian_source(),
    };
    Facts {
        rustc: ask("rustc", &["--version"]),
        has_target: sysroot("rustc").is_some_and(|root| library(root, format!("{TARGET}/lib"))),
        has_rustup: ask("rustup", &["--version"]).is_some(),
        has_apt: Path::new("/usr/bin/apt-get").exists(),
        debian_rustc: ask("/usr/bin/rustc", &["--version"]),
        debian_missing: ["rustc-web", "cargo-web", "rust-web-src", "lld"].into_iter().filter(is_missing).collect(),
    }
}

/// The toolchain, or what is missing and how to get it.
fn choose(facts: &Facts, choice: Choice) -> Result<Toolchain, String> {
    match (&facts.rustc, &facts.debian_rustc) {
        (Some(version), _) if choice != Choice::Debian && facts.has_target => {
            Ok(Toolchain { name: version.clone(), cargo: "cargo".into(), variables: Vec::new(), arguments: Vec::new() })
        }
        (_, Some(version)) if choice != Choice::Rustup && facts.debian_missing.is_empty() => Ok(Toolchain {
            name: format!("Debian's {version}"),
            cargo: "/usr/bin/cargo".into(),
            variables: vec![
                ("RUSTC", "/usr/bin/rustc".into()),
                ("RUSTC_BOOTSTRAP", "1".into()),
                ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-Clinker=/usr/bin/wasm-ld".into()),
            ],
            arguments: vec!["-Zbuild-std=std,panic_abort"],
        }),
        _ => Err(ways_out(facts, choice)),
    }
}

fn ways_out(facts: &Facts, choice: Choice) -> String {
    let mut ways = Vec::new();
    if choice != Choice::Debian {
        ways.push(match (&facts.rustc, facts.has_rustup) {
            (Some(version), true) => format!("{version} lacks the target: run `rustup target add {TARGET}`"),
            (Some(version), false) => {
                format!("{version} lacks the target {TARGET}: install Rust with rustup (https://rustup.rs), then run `rustup target add {TARGET}`")
            }
            (None, _) => {
                format!("there is no rustc: install Rust with rustup (https://rustup.rs), then run `rustup target add {TARGET}`")
            }
        });
    }
    if choice == Choice::Debian || (choice == Choice::Any && facts.has_apt) {
        let missing = facts.debian_missing.join(" ");
        ways.push(format!("with Debian's packages: run `apt-get install --no-install-recommends {missing}`"));
    }
    ways.join("; or, ")
}

#[cfg(test)]
mod tests;
