//! Pipelines that the page refuses: exit status 2 and the field's path in the message, and their neighbours that it takes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use tidegate_conformance::json::Value;
use tidegate_conformance::run::{Binary, Finished, Speed};
use tidegate_conformance::scenario::Scenario;

const LOG: &str = r#"{"type":"log","log":"out"}"#;
const UPSERT: &str = r#"{"type":"upsert_store","table":"t","key":["k","window_start","window_end"]}"#;
const UPSERT_START: &str = r#"{"type":"upsert_store","table":"t","key":["k","window_start"]}"#;

/// Members over the base, and the path that the refusal names (none: accepted).
const TABLE: &[(&str, Option<&str>)] = &[
    (r#""window":{"type":"sliding","size":"10s","slide":"11s"}"#, Some("window.slide")),
    (r#""window":{"type":"sliding","size":"10s","slide":"10s"}"#, None),
    (r#""window":{"type":"sliding","size":"1000001ms","slide":"1ms"}"#, Some("window.slide")),
    (r#""window":{"type":"sliding","size":"20s","slide":"1ms"}"#, None),
    (
        r#""window":{"type":"sliding","size":"100001ms","slide":"1ms"},"trigger":{"early":"every 3 elements"}"#,
        Some("window.slide"),
    ),
    (r#""window":{"type":"sliding","size":"20s","slide":"1ms"},"trigger":{"early":"every 3 elements"}"#, None),
    (r#""window":{"type":"session","gap":"10s","max_duration":"9s"}"#, Some("window.max_duration")),
    (r#""window":{"type":"session","gap":"10s","max_duration":"10s"}"#, None),
    (r#""window":{"type":"global"}"#, Some("trigger.early")),
    (r#""window":{"type":"global"},"trigger":{"early":"none"}"#, Some("trigger.early")),
    (
        r#""window":{"type":"global"},"trigger":{"early":"every 1 elements","late":"every_element"}"#,
        Some("trigger.late"),
    ),
    (
        r#""window":{"type":"global","allowed_lateness":"1s"},"trigger":{"early":"every 1 elements"}"#,
        Some("window.allowed_lateness"),
    ),
    (r#""window":{"type":"global"},"trigger":{"early":"every 1 elements"}"#, None),
    (
        r#""window":{"type":"tumbling","size":"1s","allowed_lateness":"10s"},"dedup":{"field":"id","horizon":"9s"}"#,
        Some("dedup.horizon"),
    ),
    (
        r#""window":{"type":"tumbling","size":"1s","allowed_lateness":"10s"},"dedup":{"field":"id","horizon":"10s"}"#,
        None,
    ),
    (
        r#""window":{"type":"tumbling","size":"1s","allowed_lateness":"1s"},"accumulation":"discarding","sink":UPSERT"#,
        Some("accumulation"),
    ),
    (
        r#""window":{"type":"tumbling","size":"1s"},"trigger":{"early":"every 2 elements"},"accumulation":"discarding","sink":UPSERT"#,
        Some("accumulation"),
    ),
    (r#""window":{"type":"tumbling","size":"1s"},"accumulation":"discarding","sink":UPSERT"#, None),
    (r#""window":{"type":"tumbling","size":"1s","allowed_lateness":"1s"},"accumulation":"discarding""#, None),
    (
        r#""window":{"type":"tumbling","size":"1s","allowed_lateness":"1s"},"accumulation":"accumulating","sink":UPSERT"#,
        None,
    ),
    (r#""window":{"type":"session","gap":"1s","allowed_lateness":"1s"},"sink":UPSERT"#, Some("accumulation")),
    (
        r#""window":{"type":"session","gap":"1s"},"trigger":{"early":"every 2 elements"},"sink":UPSERT"#,
        Some("accumulation"),
    ),
    (
        r#""window":{"type":"session","gap":"1s","allowed_lateness":"1s"},"accumulation":"discarding","sink":UPSERT"#,
        Some("accumulation"),
    ),
    (
        r#""window":{"type":"session","gap":"1s","allowed_lateness":"1s"},"accumulation":"accumulating_and_retracting","sink":UPSERT"#,
        None,
    ),
    (r#""window":{"type":"session","gap":"1s"},"sink":UPSERT"#, None),
    (r#""window":{"type":"session","gap":"1s","allowed_lateness":"1s"}"#, None),
    (r#""window":{"type":"session","gap":"1s"},"sink":UPSERT_START"#, Some("sink.key")),
    (r#""window":{"type":"tumbling","size":"1s"},"sink":UPSERT_START"#, None),
];

fn binary() -> Binary {
    #[allow(clippy::disallowed_methods, reason = "the command under test is named by the environment")]
    let given = std::env::var_os("TIDEGATE_BIN").map(PathBuf::from);
    Binary::find(given).unwrap()
}

fn run(members: &str) -> Finished {
    let sink = if members.contains("\"sink\"") { String::new() } else { format!(",\"sink\":{LOG}") };
    let members = members.replace("UPSERT_START", UPSERT_START).replace("UPSERT", UPSERT);
    let text = format!(
        r#"{{"job":"t","version":1,"source":{{"log":"in","timestamp_field":"ts","watermark":{{"strategy":"ascending"}}}},
            "key_by":["k"],"aggregate":{{"n":{{"fn":"count"}}}},{members}{sink}}}"#
    );
    let scenario = Scenario::new(Value::parse(&text).unwrap_or_else(|| panic!("{text}")), &[r#"{"k":1,"ts":0}"#]);
    let folder = tempfile::tempdir().unwrap();
    binary().run(&scenario, folder.path(), Speed { batch_rows: 7, parallelism: 1, restore_every: None }).unwrap()
}

#[test]
fn refuses_contradictions_with_their_path_and_runs_their_neighbours() {
    let mut wrong = Vec::new();
    for (members, path) in TABLE {
        let done = run(members);
        let right = match path {
            Some(path) => done.status == Some(2) && done.stderr.contains(path),
            None => done.status == Some(0) && *done.outcome.summary.get("read") == Value::Int(1),
        };
        if !right {
            wrong.push(format!("{members}\n  expected {path:?}, got {:?}: {}", done.status, done.stderr));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), TABLE.len(), wrong.join("\n"));
}

#[test]
fn a_short_horizon_warns_before_the_summary_and_changes_no_status() {
    let window = r#""window":{"type":"tumbling","size":"5s","allowed_lateness":"10s"}"#;
    for (horizon, warns) in [("14s", true), ("15s", false)] {
        let done = run(&format!(r#"{window},"dedup":{{"field":"id","horizon":"{horizon}"}}"#));
        assert_eq!(done.status, Some(0), "{}", done.stderr);
        let lines: Vec<&str> = done.stderr.trim_end().lines().collect();
        let warned = lines[..lines.len() - 1].iter().any(|l| l.contains("dedup.horizon"));
        assert_eq!(warned, warns, "horizon {horizon}: {}", done.stderr);
        assert_eq!(*done.outcome.summary.get("accepted"), Value::Int(1));
    }
}

#[test]
fn a_sum_of_a_declared_text_runs_with_a_remark_before_the_summary() {
    for (kind, remarks) in [("text?", true), ("int?", false)] {
        let done = run(&format!(
            r#""source":{{"log":"in","timestamp_field":"ts","watermark":{{"strategy":"none"}},"schema":{{"v":"{kind}"}}}},
                "aggregate":{{"total":{{"fn":"sum","field":"v"}}}},"window":{{"type":"tumbling","size":"5s"}}"#
        ));
        assert_eq!(done.status, Some(0), "{}", done.stderr);
        let lines: Vec<&str> = done.stderr.trim_end().lines().collect();
        let remarked = lines[..lines.len() - 1].iter().any(|l| l.contains("aggregate.total"));
        assert_eq!(remarked, remarks, "{kind}: {}", done.stderr);
        assert_eq!(*done.outcome.summary.get("accepted"), Value::Int(1));
    }
}
