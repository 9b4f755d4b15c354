//! A scenario: one pipeline, its input files and the flags that give them meaning, as plain data.
//!
//! Shared by the generator, the reference, the runner and the minimiser. Invariant: it holds all that a run's output
//! depends on, so that a stored scenario replays a difference.

use std::fs;
use std::io;
use std::path::Path;

use crate::json::Value;

/// What one run is given.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The pipeline file.
    pub pipeline: Value,
    /// The lines of each `--input` file, without their ends.
    pub files: Vec<Vec<String>>,
    /// `--partition-field`.
    pub partition_field: Option<String>,
    /// `--arrival-field`.
    pub arrival_field: Option<String>,
}

impl Scenario {
    /// A scenario of one file without flags.
    pub fn new(pipeline: Value, lines: &[&str]) -> Self {
        let file = lines.iter().map(|l| (*l).to_owned()).collect();
        Scenario { pipeline, files: vec![file], partition_field: None, arrival_field: None }
    }

    /// Writes the files into `folder` and returns the arguments of `tidegate` that run them there.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<Vec<String>> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("pipeline.json"), format!("{}\n", self.pipeline))?;
        let mut args = vec!["run".to_owned(), "pipeline.json".to_owned(), "--allow-unsigned".to_owned()];
        for (i, lines) in self.files.iter().enumerate() {
            let name = format!("input{i}.ndjson");
            let mut text: String = lines.iter().flat_map(|l| [l.as_str(), "\n"]).collect();
            // Every other file does without the end of its last line; a blank last line is one only by its end.
            if lines.len() % 2 == 1 && lines.last().is_some_and(|l| !l.is_empty()) {
                text.pop();
            }
            fs::write(folder.join(&name), text)?;
            args.extend(["--input".to_owned(), name]);
        }
        for (flag, field) in [("--partition-field", &self.partition_field), ("--arrival-field", &self.arrival_field)] {
            if let Some(field) = field {
                args.extend([flag.to_owned(), field.clone()]);
            }
        }
        for output in OUTPUTS {
            args.extend([format!("--{}", output.0), output.1.to_owned()]);
        }
        Ok(args)
    }
}

/// The flags that name output files, and the names used for them.
pub const OUTPUTS: [(&str, &str); 4] = [
    ("output", "panes.ndjson"),
    ("too-late", "late.ndjson"),
    ("dead-letter", "dead.ndjson"),
    ("duplicates", "dups.ndjson"),
];
