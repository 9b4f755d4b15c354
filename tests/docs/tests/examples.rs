//! The worked examples of docs/semantics.md, run by the real command: each gives exactly the panes that stand there.
//!
//! An example is a comment `<!-- example: NAME; flags: … -->` and the three blocks after it: pipeline, input, panes.

use std::fs;
use std::process::Command;

use serde_json::Value;
use tidegate_conformance::run::Binary;
use tidegate_docs::{Block, blocks, root};

struct Example {
    name: String,
    flags: Vec<String>,
    pipeline: String,
    input: String,
    panes: String,
}

fn examples() -> Vec<Example> {
    let text = fs::read_to_string(root().join("docs/semantics.md")).expect("there is a page");
    let blocks = blocks(&text);
    let marked = blocks.iter().enumerate().filter_map(|(at, block)| Some((at, marker(block)?)));
    marked
        .map(|(at, (name, flags))| {
            let [pipeline, input, panes] =
                [at, at + 1, at + 2].map(|at| blocks.get(at).expect("three blocks").text.clone());
            Example { name, flags, pipeline, input, panes }
        })
        .collect()
}

/// The name and the flags of the example that begins with this block.
fn marker(block: &Block) -> Option<(String, Vec<String>)> {
    let marker = block.before.strip_prefix("<!-- example: ")?.strip_suffix(" -->")?;
    let (name, flags) = marker.split_once("; flags: ").unwrap_or((marker, ""));
    Some((name.to_owned(), flags.split_whitespace().map(str::to_owned).collect()))
}

fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

#[test]
fn the_examples_of_the_semantics_page_give_the_panes_that_stand_there() {
    let binary = Binary::find(None).expect("the command is built");
    let examples = examples();
    assert!(examples.len() >= 3, "only {} examples were found", examples.len());
    for example in examples {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let [pipeline, input, panes] =
            ["pipeline.yaml", "input.ndjson", "panes.ndjson"].map(|name| folder.path().join(name));
        fs::write(&pipeline, &example.pipeline).expect("a file can be written");
        fs::write(&input, &example.input).expect("a file can be written");
        let mut command = Command::new(binary.path());
        command.arg("run").arg(&pipeline).arg("--input").arg(&input).arg("--output").arg(&panes).args(&example.flags);
        let finished = command.output().expect("the command runs");
        assert!(finished.status.success(), "{}: {}", example.name, String::from_utf8_lossy(&finished.stderr));
        let given = fs::read_to_string(&panes).expect("there is an output");
        assert_eq!(values(&given), values(&example.panes), "example `{}`", example.name);
    }
}
