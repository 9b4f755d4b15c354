//! Graphs that the page refuses: exit status 2 and the field's path in the message, and their neighbours that it takes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use tidegate_conformance::json::Value;
use tidegate_conformance::run::{Binary, Finished, Speed};
use tidegate_conformance::scenario::Scenario;

const FIRST: &str = r#"{"name":"first","input":"s","key_by":["k"],"aggregate":{"n":{"fn":"count"}},"#;
const SECOND: &str = r#"{"name":"second","input":"first","key_by":["k"],"aggregate":"#;
const COUNT: &str = r#"{"n":{"fn":"count"}}"#;
const TUMBLING: &str = r#""window":{"type":"tumbling","size":"10s"}"#;
const LATE: &str = r#""window":{"type":"tumbling","size":"10s","allowed_lateness":"1s"}"#;
const RETRACTING: &str = r#""accumulation":"accumulating_and_retracting""#;
const JOIN: &str = r#"{"name":"second","join":{"left":{"input":"first","key_by":["k"]},"right":{"input":"s","key_by":["k"]},"select":{"k":"left.k"},"#;
const INTERVAL: &str = r#""type":"interval","lower":"0s","upper":"1s""#;

/// A graph of the operators and the input of the only sink.
fn run(operators: &str, sink: &str) -> Finished {
    let text = format!(
        r#"{{"job":"t","version":1,
            "sources":[{{"name":"s","log":"in","timestamp_field":"ts","watermark":{{"strategy":"ascending"}}}}],
            "operators":[{operators}],"sinks":[{{"input":"{sink}","type":"log","log":"o"}}]}}"#
    );
    let scenario = Scenario::new(Value::parse(&text).unwrap_or_else(|| panic!("{text}")), &[r#"{"k":1,"ts":0}"#]);
    let folder = tempfile::tempdir().unwrap();
    #[allow(clippy::disallowed_methods, reason = "the command under test is named by the environment")]
    let given = std::env::var_os("TIDEGATE_BIN").map(PathBuf::from);
    Binary::find(given)
        .unwrap()
        .run(&scenario, folder.path(), Speed { batch_rows: 7, parallelism: 1, restore_every: None })
        .unwrap()
}

/// `first` and `second` by their members, and the paths or words that the refusal has (none: accepted).
fn table() -> Vec<(String, &'static [&'static str])> {
    let chain = |first: &str, aggregate: &str, second: &str| format!("{FIRST}{first}}},{SECOND}{aggregate},{second}}}");
    let join = |first: &str, members: &str| format!("{FIRST}{first}}},{JOIN}{members}}}}}");
    let refused: &[&str] = &["operators[0].accumulation", "second"];
    let retracting = format!("{LATE},{RETRACTING}");
    let discarding = format!(r#"{LATE},"accumulation":"discarding""#);
    let early = r#""trigger":{"early":"every 2 elements"}"#;
    vec![
        (chain(TUMBLING, COUNT, TUMBLING), &[]),
        (chain(LATE, COUNT, TUMBLING), refused),
        (chain(&format!("{TUMBLING},{early}"), COUNT, TUMBLING), refused),
        (chain(&discarding, COUNT, TUMBLING), &[]),
        (chain(&retracting, COUNT, TUMBLING), &[]),
        (chain(&retracting, r#"{"t":{"fn":"top_k","field":"n","k":2},"a":{"fn":"avg","field":"n"}}"#, TUMBLING), &[]),
        (chain(&retracting, r#"{"m":{"fn":"min","field":"n"}}"#, TUMBLING), refused),
        (chain(&retracting, COUNT, r#""window":{"type":"session","gap":"5s"}"#), refused),
        (chain(&retracting, COUNT, &format!(r#"{TUMBLING},"dedup":{{"field":"n","horizon":"20s"}}"#)), refused),
        (chain(&retracting, COUNT, &format!(r#""window":{{"type":"global"}},{early}"#)), &[]),
        (chain(&format!("{TUMBLING},{RETRACTING}"), r#"{"m":{"fn":"min","field":"n"}}"#, TUMBLING), &[]),
        (chain(&format!(r#""window":{{"type":"global"}},{early}"#), COUNT, TUMBLING), &["operators[0].window.type"]),
        (join(TUMBLING, INTERVAL), &[]),
        (join(&retracting, INTERVAL), refused),
        (join(&discarding, INTERVAL), &[]),
        (join(TUMBLING, r#""type":"interval","lower":"-5s","upper":"-1s""#), &[]),
        (join(TUMBLING, r#""type":"interval","lower":"2s","upper":"1s""#), &["operators[1].join."]),
        (join(TUMBLING, r#""type":"window","window":{"type":"tumbling","size":"1s"}"#), &[]),
        (
            join(TUMBLING, r#""type":"window","matching":"left","window":{"type":"tumbling","size":"1s"}"#),
            &["operators[1].join.matching"],
        ),
        (
            join(TUMBLING, r#""type":"window","window":{"type":"session","gap":"1s"}"#),
            &["operators[1].join.window.type"],
        ),
        (
            chain(TUMBLING, COUNT, TUMBLING).replace(r#""input":"first""#, r#""input":"firsts""#),
            &["operators[1].input", "first"],
        ),
        (chain(TUMBLING, COUNT, TUMBLING).replace(r#""input":"s""#, r#""input":"second""#), &["operators["]),
    ]
}

#[test]

fn refuses_graphs_with_their_path_and_runs_their_neighbours() {
    let mut wrong = Vec::new();
    for (operators, words) in table() {
        let done = run(&operators, "second");
        let right = match words {
            [] => done.status == Some(0) && *done.outcome.summary.get("read") == Value::Int(1),
            words => done.status == Some(2) && words.iter().all(|word| done.stderr.contains(word)),
        };
        if !right {
            wrong.push(format!("{operators}\n  expected {words:?}, got {:?}: {}", done.status, done.stderr));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]

fn refuses_a_sink_on_a_source_and_an_operator_that_nothing_reads() {
    let chain = format!("{FIRST}{TUMBLING}}},{SECOND}{COUNT},{TUMBLING}}}");
    for (sink, path) in [("s", "sinks[0].input"), ("first", "operators[1]"), ("third", "sinks[0].input")] {
        let done = run(&chain, sink);
        assert!(done.status == Some(2) && done.stderr.contains(path), "{sink}: {:?} {}", done.status, done.stderr);
    }
}
