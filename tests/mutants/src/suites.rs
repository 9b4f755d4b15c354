//! The tests that must find a fault, run on the copy: unit tests, figures, random scenarios.
//!
//! Each suite that finds it is noted, so that a fault which only one of them finds can be seen. Invariant: a run that does
//! not end counts as found, never as a hang of the whole.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tidegate_conformance::run::Binary;

use crate::report::Caught;
use crate::seeds::{first_difference, sorts};
use crate::tree::{TreeError, seed_target, write_if_new};

mod names;

/// Crates whose unit tests are run.
const UNIT_CRATES: [&str; 4] = ["-p", "tidegate-windows", "-p", "tidegate-dataflow"];
/// Seconds after which a whole suite counts as endless.
const SUITE_SECONDS: &str = "600";
/// Seconds after which one run of the command does.
const RUN_SECONDS: u32 = 20;
/// Random scenarios for each fault.
const SEEDS: u64 = 300;

/// Why a fault cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum SuitesError {
    /// A program cannot be started, or a scenario not be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The copy cannot be written.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// What was built is not where it should be.
    #[error("{0}")]
    Missing(String),
    /// The engine does not compile.
    #[error("does not compile:\n{0}")]
    Compile(String),
}

/// The suites of one copy.
#[derive(Debug)]
pub struct Suites {
    tree: PathBuf,
    target: PathBuf,
    /// The command with a limit on its time.
    limited: PathBuf,
}

impl Suites {
    /// Suites over the copy at `tree`. Its target folder is under `cache`; at first it is filled from `dependencies`.
    ///
    /// # Errors
    /// If the target folder cannot be made.
    pub fn new(tree: &Path, cache: &Path, dependencies: &Path) -> Result<Self, SuitesError> {
        let target = cache.join("target");
        seed_target(dependencies, &target)?;
        let limited = cache.join("tidegate");
        let command = target.join("debug/tidegate");
        let script = format!("#!/bin/sh\nexec timeout {RUN_SECONDS} '{}' \"$@\"\n", command.display());
        write_if_new(&limited, script.as_bytes())?;
        fs::set_permissions(&limited, fs::Permissions::from_mode(0o755))?;
        Ok(Self { tree: tree.to_owned(), target, limited })
    }

    /// Builds the copy as it stands and runs every suite on it; of the random scenarios those that show faults against a section
    /// of docs/semantics.md, where one is given.
    ///
    /// # Errors
    /// If it does not compile or a suite cannot be run.
    pub fn run(&self, section: Option<&str>) -> Result<Caught, SuitesError> {
        self.compile(&["build", "-p", "tidegate"])?;
        self.compile(&[&["test", "--no-run", "--lib"], UNIT_CRATES.as_slice()].concat())?;
        let units = self.test(&[&["--lib"], UNIT_CRATES.as_slice()].concat())?;
        let paper = ["-p", "tidegate-conformance", "--test", "figures", "--test", "graphs", "--test", "contradictions"];
        self.compile(&[&["test", "--no-run"], paper.as_slice()].concat())?;
        let figures = self.test(&paper)?;
        let binary = Binary::find(Some(self.limited.clone())).map_err(SuitesError::Missing)?;
        let mut seed = None;
        for sort in sorts(section) {
            if seed.is_none() {
                seed = first_difference(&binary, sort, SEEDS)?;
            }
        }
        Ok(Caught { units: names::of_units(&units), figures: names::of_figures(&figures), seed })
    }

    fn cargo(&self, limit: &str, words: &[&str]) -> io::Result<Output> {
        Command::new("timeout")
            .args([limit, "cargo"])
            .args(words)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_TERM_COLOR", "never")
            .env("TIDEGATE_BIN", &self.limited)
            .output()
    }

    fn compile(&self, words: &[&str]) -> Result<(), SuitesError> {
        let done = self.cargo("3600", words)?;
        if done.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&done.stderr);
        let from = text.find("error").unwrap_or(0);
        Err(SuitesError::Compile(text[from..].lines().take(20).collect::<Vec<_>>().join("\n")))
    }

    /// What tests printed, if any failed.
    fn test(&self, words: &[&str]) -> Result<Option<String>, SuitesError> {
        let done = self.cargo(SUITE_SECONDS, &[&["test", "--no-fail-fast"], words].concat())?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        Ok((!done.status.success()).then_some(text))
    }
}
