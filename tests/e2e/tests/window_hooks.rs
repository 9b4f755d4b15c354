//! Window hooks that fail, in WebAssembly: one dead letter for one record, failed panes whose state stays, and the same at
//! every batch size, parallelism and age of instances.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tidegate_e2e::{CUTS, Finished, Folder, all_outputs, guest, parsed};

const MINUTE: i64 = 60_000;

/// A folder with 1,000 records of ten keys, `k0` to `k8` and `bad`, in minutes, and a window hook that fails.
fn failing(config: &Value, trigger: &Value) -> Folder {
    let folder = Folder::new();
    let pipeline = json!({
        "job": "failing", "version": 1,
        "source": {
            "log": "in", "timestamp_field": "at", "schema": {"k": "text"},
            "watermark": {"strategy": "bounded_out_of_orderness", "max_delay": "30s"},
        },
        "key_by": ["k"],
        "window": {"type": "custom", "component": "evil", "uid": "minutes", "config": config, "allowed_lateness": "60s"},
        "trigger": trigger,
        "aggregate": {"n": {"fn": "count"}},
        "sink": {"type": "log", "log": "out"},
    });
    folder.write("pipeline.yaml", pipeline.to_string());
    let line = |number: i64| {
        let key = if number % 10 == 9 { "bad".to_owned() } else { format!("k{}", number % 10) };
        let mark = if number == 617 { "bad" } else { "good" };
        // Two seconds apart, every seventh a minute late.
        let at = 2_000 * number - if number % 7 == 0 { MINUTE } else { 0 };
        format!("{}\n", json!({"k": key, "at": at, "mark": mark}))
    };
    folder.write("in.ndjson", (0..1_000).map(line).collect::<String>());
    folder
}

/// Runs it once.
fn run(folder: &Folder, more: &[&str]) -> (Finished, Vec<Value>) {
    let component = format!("evil={}", guest("evil").display());
    let done = folder.run_to_files("in.ndjson", &component, more);
    let dead = parsed(&folder.read("dead.ndjson"));
    (done, dead)
}

/// Runs it at every cut; what came of it is the same each time.
fn run_at_every_cut(folder: &Folder) -> (Finished, Vec<Value>) {
    let (done, dead) = run(folder, &[]);
    let usual = all_outputs(folder, &done, "k");
    for more in CUTS {
        let (again, _) = run(folder, more);
        assert_eq!(all_outputs(folder, &again, "k"), usual, "{more:?}");
    }
    (done, dead)
}

fn assert_one_dead_letter(deed: &str, reason: &str, (done, dead): &(Finished, Vec<Value>)) {
    assert_eq!((done.count("accepted"), done.count("rejected"), dead.len()), (999, 1, 1), "{deed}");
    assert_eq!((&dead[0]["reason"], &dead[0]["offset"]), (&reason.into(), &617.into()), "{}", dead[0]);
    assert_eq!((&dead[0]["operator"], &dead[0]["record"]["mark"]), (&"minutes".into(), &"bad".into()));
    assert!(dead[0]["component"].as_str().is_some_and(|digest| digest.starts_with("sha256:")), "{}", dead[0]);
}

#[test]
fn one_record_of_a_thousand_on_which_assign_traps_is_one_dead_letter() {
    let folder = failing(&json!({"evil": "trap", "in": "assign", "on": "bad"}), &json!({}));
    assert_one_dead_letter("trap", "trap", &run_at_every_cut(&folder));
}

#[test]
fn so_is_one_on_which_assign_fails_in_another_way() {
    for (deed, reason) in [("loop", "out-of-fuel"), ("fault", "fault"), ("window-empty", "malformed-result")] {
        let folder = failing(&json!({"evil": deed, "in": "assign", "on": "bad"}), &json!({}));
        assert_one_dead_letter(deed, reason, &run(&folder, &[]));
    }
}

#[test]
fn records_on_which_decide_fails_are_dead_letters() {
    let folder = failing(&json!({"evil": "trap", "in": "decide", "on": "bad"}), &json!({}));
    let (done, dead) = run_at_every_cut(&folder);
    assert_eq!((done.count("accepted"), done.count("rejected"), dead.len()), (900, 100, 100));
    assert!(dead.iter().all(|letter| letter["reason"] == "trap" && letter["record"]["k"] == "bad"), "{dead:?}");
    assert!(parsed(&folder.read("panes.ndjson")).iter().all(|pane| pane["k"] != "bad"));
}

#[test]
fn a_decision_that_fails_at_the_end_is_a_failed_pane_and_the_state_stays() {
    let config = json!({"evil": "trap", "in": "decide", "on": "bad", "count": 0});
    let folder = failing(&config, &json!({}));
    let (done, dead) = run_at_every_cut(&folder);
    assert_eq!((done.count("accepted"), done.count("rejected")), (1_000, 0));
    assert!(!dead.is_empty());
    for letter in &dead {
        assert_eq!((&letter["reason"], &letter["operator"]), (&"pane-failed".into(), &"minutes".into()));
        assert_eq!(letter["key"], json!({"k": "bad"}));
        assert!(letter["window_start"].is_string() && letter["record"].is_null(), "{letter}");
    }
    // A late record finds the records whose on-time pane failed: its pane counts them too.
    let late: Vec<u64> = parsed(&folder.read("panes.ndjson"))
        .iter()
        .filter(|pane| pane["k"] == "bad" && pane["pane"]["timing"] == "LATE")
        .map(|pane| pane["n"].as_u64().unwrap())
        .collect();
    assert!(late.iter().any(|count| *count > 1), "{late:?}");
    assert!(done.count("unshown") > 0, "windows of which nothing was shown before they went: {}", done.summary());
}

#[test]
fn a_pane_on_which_emit_fails_is_a_failed_pane() {
    let config = json!({"evil": "fault", "in": "emit", "on": "bad"});
    let folder = failing(&config, &json!({"early": "every 2 elements", "late": "every_element"}));
    let (done, dead) = run_at_every_cut(&folder);
    assert_eq!((done.count("accepted"), done.count("rejected")), (1_000, 0));
    assert!(dead.iter().all(|letter| letter["reason"] == "pane-failed" && letter["key"]["k"] == "bad"), "{dead:?}");
    let panes = parsed(&folder.read("panes.ndjson"));
    assert!(panes.iter().all(|pane| pane["k"] != "bad"));
    let windows = |panes: &[Value], key: &str| -> BTreeSet<String> {
        panes.iter().filter(|pane| pane["k"] == key).map(|pane| pane["window_start"].to_string()).collect()
    };
    assert!(windows(&panes, "k0").len() > 30, "the other keys have all their windows");
    assert!(dead.len() > 30, "every firing tries again: {}", dead.len());
}
