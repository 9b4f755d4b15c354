//! Processors in the reference, by hand: state and its end, timers, refusals, and what they are forgotten by.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tidegate_conformance::json::Value;
use tidegate_conformance::reference::{Outcome, interpret};
use tidegate_conformance::scenario::Scenario;

fn run(config: &str, arrival: bool, lines: &[&str]) -> Outcome {
    let pipeline = format!(
        r#"{{"job":"t","version":1,
            "sources":[{{"name":"s","log":"s","timestamp_field":"ts","watermark":{{"strategy":"ascending"}}}}],
            "operators":[{{"name":"p","input":"s","key_by":["k"],
                "process":{{"component":"scripted-processor@1.0.0","config":{config}}}}}],
            "sinks":[{{"input":"p","type":"log","log":"o"}}]}}"#
    );
    let mut scenario = Scenario::new(Value::parse(&pipeline).unwrap(), lines);
    scenario.arrival_field = arrival.then(|| "at".to_owned());
    interpret(&scenario)
}

/// `what k rows total distinct @time` of each line.
fn shown(outcome: &Outcome) -> Vec<String> {
    let show = |line: &Value| {
        let text = |name: &str| line.get(name).as_str().unwrap_or("null").to_owned();
        let time = text("time").replace("1970-01-01T00:00:00.", "").replace('Z', "");
        let [rows, total, distinct] = ["rows", "total", "distinct"].map(|name| line.get(name).to_string());
        format!("{} {} {rows} {total} {distinct} @{time}", text("what"), text("k"))
    };
    outcome.lines.get("output").into_iter().flatten().map(show).collect()
}

#[test]
fn a_timer_that_is_set_again_replaces_what_was_pending_and_fires_when_the_watermark_reaches_it() {
    let lines = [
        r#"{"k":"a","ts":1,"v":5}"#,
        r#"{"k":"a","ts":4,"v":5}"#,
        r#"{"k":"b","ts":13,"v":1}"#,
        r#"{"k":"b","ts":14,"v":2}"#,
    ];
    let outcome = run(r#"{"event":10}"#, false, &lines);
    let expected = ["row a 1 5 1 @001", "row a 2 10 1 @004", "row b 1 1 1 @013", "row b 2 3 2 @014"];
    assert_eq!(shown(&outcome)[..4], expected);
    // The timer of `a` stands at 14, which the watermark reaches by the last record; that of `b` at 24.
    assert_eq!(shown(&outcome)[4..], ["event a 2 10 1 @014", "event b 2 3 2 @024"]);
}

#[test]
fn a_timer_at_the_watermark_or_before_it_fires_before_the_next_row() {
    let lines = [r#"{"k":"a","ts":20,"v":1}"#, r#"{"k":"a","ts":5,"v":2}"#, r#"{"k":"a","ts":6,"v":3}"#];
    let outcome = run(r#"{"event":10,"again":1}"#, false, &lines);
    let expected = [
        "row a 1 1 1 @020",
        "row a 2 3 2 @005",
        "event a 2 3 2 @015",
        "row a 3 6 3 @006",
        "event a 3 6 3 @016",
        "event a 3 6 3 @026",
    ];
    // At 15 it is set again to 25; the third row replaces that by 16, and at 16 it is set to 26.
    assert_eq!(shown(&outcome), expected);
}

#[test]
fn state_ends_so_long_after_the_last_row_and_before_a_timer_of_that_time() {
    let lines = [r#"{"k":"a","ts":1,"v":1}"#, r#"{"k":"a","ts":6,"v":2}"#, r#"{"k":"a","ts":17,"v":4}"#];
    let outcome = run(r#"{"event":10,"ttl":10}"#, false, &lines);
    // The row of 17 comes while the watermark is 6, so all is there. List and map are gone at 27, before the timer shows them.
    let expected = ["row a 1 1 1 @001", "row a 2 3 2 @006", "row a 3 7 3 @017", "event a 3 0 0 @027"];
    assert_eq!(shown(&outcome), expected);
    let lines = [lines[0], lines[1], r#"{"k":"b","ts":16}"#, lines[2]];
    let outcome = run(r#"{"event":10,"ttl":10}"#, false, &lines);
    assert_eq!(shown(&outcome)[2..5], ["row b 1 0 0 @016", "event a 2 0 0 @016", "row a 3 4 1 @017"]);
}

#[test]
fn a_refused_row_leaves_no_trace() {
    let lines = [r#"{"k":"a","ts":1,"v":1}"#, r#"{"k":"a","ts":2,"v":9}"#, r#"{"k":"a","ts":3,"v":1}"#];
    let outcome = run(r#"{"reject":9,"event":10}"#, false, &lines);
    assert_eq!(shown(&outcome), ["row a 1 1 1 @001", "row a 2 2 1 @003", "event a 2 2 1 @013"]);
    let letter = &outcome.lines["dead-letter"][0];
    assert_eq!((letter.get("reason"), letter.get("operator")), (&"refused".into(), &"p".into()));
    assert_eq!(outcome.summary.get("rejected"), &Value::Int(1));
}

#[test]
fn a_processing_timer_fires_when_the_clock_reaches_it_and_never_after_the_last_arrival() {
    let lines =
        [r#"{"k":"a","ts":1,"at":1,"v":1}"#, r#"{"k":"b","ts":2,"at":12,"v":2}"#, r#"{"k":"a","ts":3,"at":11,"v":4}"#];
    let outcome = run(r#"{"processing":10}"#, true, &lines);
    // That of `a` is at 11: the clock passes it before `b` comes, whose own, at 12, is due at once. That of the last row, at
    // 13, never fires.
    let expected = [
        "row a 1 1 1 @001",
        "processing a 1 1 1 @011",
        "row b 1 2 1 @002",
        "processing b 1 2 1 @012",
        "row a 2 5 2 @003",
    ];
    assert_eq!(shown(&outcome), expected);
}
