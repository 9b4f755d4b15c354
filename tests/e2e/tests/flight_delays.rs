//! The example `guest-examples/flight-delays-rust`: a map hook and an aggregate hook in WebAssembly over real flights.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tidegate_e2e::{Finished, Folder, by_key, flights, guest, last_per_window, parsed};

const KEY: [&str; 1] = ["origin"];

/// A folder with the example's pipeline and its flights.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("pipeline.yaml", fs::read(flights::example().join("pipeline.yaml")).unwrap());
    folder.write("flights.ndjson", fs::read(flights::part()).unwrap());
    folder
}

fn run(folder: &Folder, more: &[&str]) -> Finished {
    let component = format!("flight-delays={}", guest("flight-delays").display());
    let args = [
        "run",
        "pipeline.yaml",
        "--input",
        "flights.ndjson",
        "--partition-field",
        "origin",
        "--arrival-field",
        "arrival",
        "--component",
        &component,
        "--allow-unsigned",
        "--output",
        "panes.ndjson",
        "--too-late",
        "late.ndjson",
        "--dead-letter",
        "dead.ndjson",
    ];
    let done = folder.tidegate(&[&args, more].concat()).success();
    done.assert_balanced();
    done
}

#[test]
fn the_example_runs_as_its_readme_says() {
    let folder = prepared();
    let done = run(&folder, &[]);
    assert_eq!(done.count("read"), 3_000);
    assert!(done.count("accepted") > 2_900, "{}", done.summary());
    let panes = parsed(&folder.read("panes.ndjson"));
    for timing in ["EARLY", "ON_TIME", "LATE"] {
        assert!(panes.iter().any(|pane| pane["pane"]["timing"] == timing), "{timing}");
    }
}

#[test]
fn the_hooks_agree_with_the_built_in_functions() {
    /// Airport and hour: flights, departed, delayed, the worst delay.
    type Hours = BTreeMap<(String, String), (u64, u64, u64, Option<i64>)>;
    let folder = prepared();
    run(&folder, &[]);
    // What the hooks compute, computed here from the flights.
    let gone: Vec<u64> =
        parsed(&folder.read("late.ndjson")).iter().map(|line| line["offset"].as_u64().unwrap()).collect();
    let mut expected = Hours::new();
    let events = folder.read("flights.ndjson");
    for (_, flight) in (0..).zip(parsed(&events)).filter(|(offset, _)| !gone.contains(offset)) {
        let text = |field: &str| flight[field].as_str().unwrap().to_owned();
        let row = expected.entry((text("origin"), text("event_time")[..13].to_owned())).or_default();
        let delay = flight["dep_delay_min"].as_i64();
        row.0 += 1;
        row.1 += u64::from(flight["status"] == "departed");
        row.2 += u64::from(delay.is_some_and(|delay| delay >= 15));
        row.3 = row.3.max(delay);
    }
    let panes = last_per_window(&folder.read("panes.ndjson"), &KEY);
    let row = |pane: &Value| {
        let text = |field: &str| pane[field].as_str().unwrap().to_owned();
        let count = |field: &str| pane[field].as_u64().unwrap_or_else(|| panic!("{field}: {pane}"));
        let key = (text("origin"), text("window_start")[..13].to_owned());
        (key, (count("flights"), count("departed"), count("delayed"), pane["worst_min"].as_i64()))
    };
    assert_eq!(panes.values().map(row).collect::<Hours>(), expected);
}

#[test]
fn hooks_keep_nothing_between_calls_and_batches_do_not_matter() {
    let folder = prepared();
    let sorted = |file: &str| {
        let mut lines: Vec<String> = folder.read(file).lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let outputs = |more: &[&str]| {
        let done = run(&folder, more);
        (done.summary(), by_key(&folder.read("panes.ndjson"), &KEY), sorted("late.ndjson"), sorted("dead.ndjson"))
    };
    let usual = outputs(&[]);
    for more in [
        ["--fresh-instances"].as_slice(),
        &["--batch-rows", "1"],
        &["--batch-rows", "7"],
        &["--batch-rows", "1000"],
        &["--parallelism", "3", "--batch-rows", "100"],
    ] {
        assert_eq!(outputs(more), usual, "{more:?}");
    }
}

#[test]
fn what_the_map_hook_refuses_is_a_dead_letter_with_its_digest() {
    let folder = prepared();
    let mut events = folder.read("flights.ndjson");
    let odd = events.lines().next().unwrap().replace("\"departed\"", "\"vanished\"");
    events = format!("{odd}\n{events}");
    folder.write("flights.ndjson", events);
    let done = run(&folder, &[]);
    assert_eq!(done.count("rejected"), 1);
    let dead = parsed(&folder.read("dead.ndjson"));
    assert_eq!((&dead[0]["reason"], &dead[0]["operator"]), (&"unknown-status".into(), &"derive".into()));
    assert_eq!((&dead[0]["partition"], &dead[0]["offset"]), (&"EWR".into(), &0.into()));
    assert!(dead[0]["component"].as_str().unwrap().starts_with("sha256:"), "{}", dead[0]);
}

#[test]
fn a_hook_whose_configuration_is_wrong_is_named_with_its_place() {
    let folder = prepared();
    let pipeline = folder.read("pipeline.yaml").replace("delayed_from_min: 15", "delayed_from_min: soon");
    folder.write("pipeline.yaml", pipeline);
    let component = format!("flight-delays={}", guest("flight-delays").display());
    let done = folder.tidegate(&[
        "run",
        "pipeline.yaml",
        "--input",
        "flights.ndjson",
        "--component",
        &component,
        "--allow-unsigned",
    ]);
    let refusal = done.refusal();
    assert!(refusal.starts_with("invalid-pipeline: map (line "), "{refusal}");
}
