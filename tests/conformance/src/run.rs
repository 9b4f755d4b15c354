//! Runs the real `tidegate run` on a scenario and reads what it put out.
//!
//! Invariant: a folder of its own for each run, and everything judged comes from the outputs that docs/local-run.md names.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::json::Value;
use crate::reference::Outcome;
use crate::scenario::{Output, Scenario};

/// The component that processors name.
const GUEST: &str = "scripted-processor";

/// Flags that "change speed, never output".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed {
    /// `--batch-rows`.
    pub batch_rows: usize,
    /// `--parallelism`.
    pub parallelism: usize,
    /// `--restore-every`: state is taken out and put back, as a checkpoint and a restart do, after so many batches.
    pub restore_every: Option<usize>,
}

impl Speed {
    /// The flags as arguments.
    pub fn args(self) -> Vec<String> {
        let flags = [
            ("--batch-rows", Some(self.batch_rows)),
            ("--parallelism", Some(self.parallelism)),
            ("--restore-every", self.restore_every),
        ];
        flags.into_iter().filter_map(|(flag, n)| Some([flag.to_owned(), n?.to_string()])).flatten().collect()
    }
}

/// What one run of the command came to.
#[derive(Debug)]
pub struct Finished {
    /// The exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// All of standard error.
    pub stderr: String,
    /// The outputs, with the summary if the last line on standard error is one JSON object.
    pub outcome: Outcome,
    /// Lines of outputs that are no JSON objects, with the name of their flag.
    pub unreadable: Vec<(String, String)>,
}

/// The command under test.
#[derive(Clone, Debug)]
pub struct Binary(PathBuf);

impl Binary {
    /// The command at `given`, otherwise the one beside the test executable (`target/<profile>/tidegate`).
    ///
    /// # Errors
    /// With the way out, if there is no such file.
    pub fn find(given: Option<PathBuf>) -> Result<Self, String> {
        let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("tidegate"));
        let path = given.or_else(beside).ok_or("no TIDEGATE_BIN and no folder of the test executable")?;
        let missing = format!("{} is missing: run `cargo build -p tidegate` or set TIDEGATE_BIN", path.display());
        if path.is_file() { Ok(Binary(path)) } else { Err(missing) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes the scenario into `folder` and gives the arguments that run it there.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn args(&self, scenario: &Scenario, folder: &Path, speed: Speed) -> io::Result<Vec<String>> {
        let mut args = scenario.write(folder)?;
        args.extend(speed.args());
        if scenario.pipeline.to_string().contains(GUEST) {
            // The guests are at target/guests, a test is at target/<profile>/deps.
            let test = std::env::current_exe()?;
            let target = test.ancestors().find(|folder| folder.join("guests").is_dir()).unwrap_or(Path::new("."));
            let guest = target.join("guests").join(GUEST).with_extension("wasm");
            args.extend(["--component".to_owned(), format!("{GUEST}={}", guest.display())]);
        }
        Ok(args)
    }

    /// Writes the scenario into `folder`, runs it there and reads the outputs.
    ///
    /// # Errors
    /// When the files cannot be written or the process not started.
    pub fn run(&self, scenario: &Scenario, folder: &Path, speed: Speed) -> io::Result<Finished> {
        let args = self.args(scenario, folder, speed)?;
        for Output { file, .. } in scenario.outputs() {
            let _ = fs::remove_file(folder.join(file));
        }
        let done = Command::new(&self.0).args(&args).current_dir(folder).output()?;
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        let last = stderr.trim_end().lines().last().unwrap_or("");
        let summary = Value::parse(last).filter(|v| matches!(v, Value::Obj(_))).unwrap_or_default();
        let (mut lines, mut unreadable) = (BTreeMap::new(), Vec::new());
        for Output { key, file, .. } in scenario.outputs() {
            // A side output that nothing went to may be left out.
            let text = fs::read(folder.join(file)).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                match Value::parse(line).filter(|v| matches!(v, Value::Obj(_))) {
                    Some(value) => lines.entry(key.clone()).or_insert_with(Vec::new).push(value),
                    None => unreadable.push((key.clone(), line.to_owned())),
                }
            }
        }
        if !done.stdout.is_empty() {
            unreadable
                .push(("output".to_owned(), format!("on standard output: {}", String::from_utf8_lossy(&done.stdout))));
        }
        Ok(Finished { status: done.status.code(), stderr, outcome: Outcome { lines, summary }, unreadable })
    }
}
