//! What the figures do not say of the reference itself: its length, what it quotes, and sessions that merge.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_conformance::json::Value;
use tidegate_conformance::reference::interpret;
use tidegate_conformance::scenario::Scenario;

/// `src/reference.rs` and all of `src/reference/`.
fn sources() -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let parts = fs::read_dir(source.join("reference")).unwrap().map(|entry| entry.unwrap().path());
    parts.chain([source.join("reference.rs")]).collect()
}

#[test]
fn stays_within_1500_lines_comments_and_blank_lines_included() {
    let count: usize = sources().iter().map(|path| fs::read_to_string(path).unwrap().lines().count()).sum();
    assert!(count <= 1500, "{count} lines");
}

/// Text without the marks of Markdown, in lower case, words one space apart.
fn plain(text: &str) -> String {
    text.replace(['*', '`'], "").split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The comments of a source, each run of them as one text.
fn comments(source: &str) -> Vec<String> {
    let mut runs = vec![String::new()];
    for line in source.lines() {
        match line.split_once("//") {
            Some((code, comment)) if code.trim().is_empty() => {
                *runs.last_mut().unwrap() += &(comment.trim_start_matches(['/', '!']).to_owned() + " ");
            }
            Some((_, comment)) => runs.extend([comment.to_owned(), String::new()]),
            None => runs.push(String::new()),
        }
    }
    runs
}

#[test]
fn quotes_the_pages_word_for_word() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = ["semantics.md", "local-run.md"].map(|name| plain(&fs::read_to_string(docs.join(name)).unwrap()));
    let (mut found, mut missing) = (0, Vec::new());
    for path in sources() {
        for comment in comments(&fs::read_to_string(&path).unwrap()) {
            // The quotation marks inside of `"op": "retract"` pair up as well: their parts are on the page too.
            for part in comment.split('"').skip(1).step_by(2).flat_map(|quote| quote.split(" … ")) {
                let quote = plain(part);
                found += 1;
                if !pages.iter().any(|page| page.contains(quote.trim_end_matches(['.', ',']))) {
                    missing.push(format!("{}: {part}", path.display()));
                }
            }
        }
    }
    assert!(found > 50, "only {found} quotes");
    assert!(missing.is_empty(), "no page says:\n{}", missing.join("\n"));
}

fn pipeline(window: &str, rest: &str) -> Value {
    let text = format!(
        r#"{{"job":"t","version":1,"source":{{"log":"in","timestamp_field":"ts","watermark":{{"strategy":"ascending"}}}},
            "key_by":["k"],"window":{window},"aggregate":{{"n":{{"fn":"count"}}}},"sink":{{"type":"log","log":"o"}}{rest}}}"#
    );
    Value::parse(&text).unwrap()
}

/// `timing index n` of each line, with `-` before retractions.
fn panes(scenario: &Scenario) -> Vec<String> {
    let show = |line: &Value| {
        let op = if line.get("op").is_null() { "" } else { "-" };
        format!("{op}{} {} {}", line.at("pane.timing").as_str().unwrap(), line.at("pane.index"), line.get("n"))
    };
    interpret(scenario).lines.get("output").into_iter().flatten().map(show).collect()
}

#[test]
fn an_empty_input_fires_nothing_and_counts_nothing() {
    let scenario = Scenario::new(pipeline(r#"{"type":"tumbling","size":"1s"}"#, ""), &[]);
    let outcome = interpret(&scenario);
    assert!(outcome.lines.is_empty());
    assert_eq!(*outcome.summary.get("read"), Value::Int(0));
    assert_eq!(*outcome.summary.at("panes.ON_TIME"), Value::Int(0));
}

#[test]
fn a_late_merge_of_fired_sessions_retracts_both_before_its_first_pane() {
    let rest = r#","accumulation":"accumulating_and_retracting""#;
    let window = r#"{"type":"session","gap":"5ms","allowed_lateness":"1s"}"#;
    let lines = [r#"{"ts":0}"#, r#"{"ts":8}"#, r#"{"ts":20}"#, r#"{"ts":4}"#, r#"{"ts":10}"#];
    let scenario = Scenario::new(pipeline(window, rest), &lines);
    let expected = ["ON_TIME 0 1", "ON_TIME 0 1", "-ON_TIME 0 1", "-ON_TIME 0 1", "LATE 0 3", "-LATE 0 3", "LATE 0 4"];
    let (all, last) = (panes(&scenario), "ON_TIME 0 1");
    // ts 10 stretches [0, 13) to [0, 15): a new window, whose panes count from 0 again.
    assert_eq!(all[..7], expected);
    assert_eq!(all[7..], [last]);
}

#[test]
fn a_merge_that_is_merged_again_before_it_fires_passes_retractions_on() {
    let rest = r#","accumulation":"accumulating_and_retracting","trigger":{"early":"every 3 elements"}"#;
    let lines = [r#"{"ts":0}"#, r#"{"ts":0}"#, r#"{"ts":0}"#, r#"{"ts":3}"#, r#"{"ts":6}"#, r#"{"ts":6}"#];
    let scenario = Scenario::new(pipeline(r#"{"type":"session","gap":"5ms","allowed_lateness":"1s"}"#, rest), &lines);
    // [0,5) shows 3; ts 3 makes [0,8), ts 6 makes [0,11), whose third unshown record fires.
    assert_eq!(panes(&scenario), ["EARLY 0 3", "-EARLY 0 3", "EARLY 0 6", "-EARLY 0 6", "ON_TIME 1 6"]);
}
