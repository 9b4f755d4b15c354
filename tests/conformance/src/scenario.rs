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
    /// The source that each file is of; empty where there is one source, which needs no name.
    pub sources: Vec<String>,
    /// `--partition-field`.
    pub partition_field: Option<String>,
    /// `--arrival-field`.
    pub arrival_field: Option<String>,
}

impl Scenario {
    /// A scenario of one file without flags.
    pub fn new(pipeline: Value, lines: &[&str]) -> Self {
        let file = lines.iter().map(|l| (*l).to_owned()).collect();
        Scenario { pipeline, files: vec![file], sources: Vec::new(), partition_field: None, arrival_field: None }
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
            let of = self.sources.get(i).map_or(String::new(), |source| format!("{source}="));
            args.extend(["--input".to_owned(), of + &name]);
        }
        for (flag, field) in [("--partition-field", &self.partition_field), ("--arrival-field", &self.arrival_field)] {
            if let Some(field) = field {
                args.extend([flag.to_owned(), field.clone()]);
            }
        }
        for Output { flag, value, .. } in self.outputs() {
            args.extend([format!("--{flag}"), value]);
        }
        Ok(args)
    }

    /// The files of a source, by their places.
    pub fn files_of(&self, source: &str) -> Vec<usize> {
        (0..self.files.len()).filter(|file| self.sources.get(*file).is_none_or(|of| of == source)).collect()
    }

    /// Every output file: one for each sink, then the side outputs.
    pub fn outputs(&self) -> Vec<Output> {
        let names: Vec<&str> = self.pipeline.get("sinks").items().iter().filter_map(sink_name).collect();
        let mut outputs = match names[..] {
            [] | [_] => vec![Output::new("output", "output", "panes.ndjson")],
            _ => names.iter().map(|name| Output::named(name)).collect(),
        };
        outputs.push(Output::new("too-late", "too-late", "late.ndjson"));
        outputs.push(Output::new("dead-letter", "dead-letter", "dead.ndjson"));
        outputs.push(Output::new("duplicates", "duplicates", "dups.ndjson"));
        outputs
    }
}

/// The name of a sink of the long form: its input's where it has none.
pub fn sink_name(sink: &Value) -> Option<&str> {
    sink.get("name").as_str().or(sink.get("input").as_str())
}

/// An output file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// What it is called here: the flag, and of several sinks their name.
    pub key: String,
    /// The flag that asks for it.
    pub flag: &'static str,
    /// The flag's value.
    pub value: String,
    /// The file's name.
    pub file: String,
}

impl Output {
    fn new(key: &str, flag: &'static str, file: &str) -> Self {
        Output { key: key.to_owned(), flag, value: file.to_owned(), file: file.to_owned() }
    }

    fn named(sink: &str) -> Self {
        let file = format!("panes-{sink}.ndjson");
        Output { key: format!("output {sink}"), flag: "output", value: format!("{sink}={file}"), file }
    }
}
