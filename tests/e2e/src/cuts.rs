//! What may change nothing: how batches are cut, how many tasks share the work, whether instances are new.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Finished, Folder, by_key, parsed};

/// Flags that change no output.
pub const CUTS: [&[&str]; 6] = [
    &["--batch-rows", "1"],
    &["--batch-rows", "7"],
    &["--batch-rows", "1000"],
    &["--parallelism", "3"],
    &["--parallelism", "3", "--batch-rows", "7"],
    &["--fresh-instances"],
];

/// All that a run gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Outputs {
    summary: Value,
    /// The lines of each key, in their order.
    panes: BTreeMap<String, Vec<String>>,
    /// Sorted: too-late records and duplicates, then dead letters without the fuel and the words of the call that failed, which
    /// depend on what else was in it.
    sides: [Vec<String>; 3],
}

impl Folder {
    /// Runs `pipeline.yaml` over a file with a component (`name=path`) to `panes.ndjson`, `late.ndjson`,
    /// `duplicates.ndjson` and `dead.ndjson`.
    ///
    /// # Panics
    /// If the status is not 0, or a record is not accounted for.
    pub fn run_to_files(&self, input: &str, component: &str, more: &[&str]) -> Finished {
        let usual = ["run", "pipeline.yaml", "--input", input, "--component", component, "--allow-unsigned"];
        let files = ["--output", "panes.ndjson", "--too-late", "late.ndjson"];
        let letters = ["--duplicates", "duplicates.ndjson", "--dead-letter", "dead.ndjson"];
        let done = self.tidegate(&[&usual[..], &files, &letters, more].concat()).success();
        done.assert_balanced();
        done
    }
}

/// What a run to files gave, as far as it is the same for all [`CUTS`]. `key`: the field of `key_by`.
///
/// # Panics
/// If a file is missing.
pub fn all_outputs(folder: &Folder, done: &Finished, key: &str) -> Outputs {
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let lines = |name: &str| sorted(folder.read(name).lines().map(str::to_owned).collect());
    let letter = |letter: &Value| {
        let fixed = ["reason", "operator", "partition", "offset", "record", "key", "window_start", "window_end"];
        fixed.map(|field| letter[field].to_string()).join(" ")
    };
    let dead = sorted(parsed(&folder.read("dead.ndjson")).iter().map(letter).collect());
    Outputs {
        summary: done.summary(),
        panes: by_key(&folder.read("panes.ndjson"), &[key]),
        sides: [lines("late.ndjson"), lines("duplicates.ndjson"), dead],
    }
}
