//! Hand-computed scenarios (`tests/figures/*.json`): the reference and the engine both against literal panes.
//!
//! The expected values were worked out on paper from the page, not printed by either program. A case gives its pipeline's
//! members over a base, its files, its panes as `[key, start, end, timing, index, is_last, watermark, aggregates]` (with
//! `"retract"` at the end of a retraction) and its side outputs as `[partition, offset, reason]`; the account follows.
//! The figures of the Dataflow paper (`dataflow_paper.json`) are tests of their own, the other files one test each.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tidegate_conformance::check::speeds;
use tidegate_conformance::compare::difference;
use tidegate_conformance::json::Value;
use tidegate_conformance::reference::{Outcome, interpret};
use tidegate_conformance::run::{Binary, Finished};
use tidegate_conformance::scenario::Scenario;
use tidegate_conformance::time::write_time;

struct Figure {
    name: String,
    scenario: Scenario,
    expected: Outcome,
}

/// The figures of `tests/figures/<stem>.json`.
fn figures(stem: &str) -> Vec<Figure> {
    let path = folder().join(stem).with_extension("json");
    let file = Value::parse(&fs::read_to_string(&path).unwrap()).unwrap_or_else(|| panic!("{path:?} is no JSON"));
    let figure = |case: &Value| {
        let scenario = scenario(&file, case);
        let expected = expected(case, &scenario);
        Figure { name: case.get("name").as_str().unwrap().to_owned(), scenario, expected }
    };
    file.get("cases").items().iter().map(figure).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/figures")
}

fn scenario(file: &Value, case: &Value) -> Scenario {
    let mut source =
        vec![("log", "in".into()), ("timestamp_field", "ts".into()), ("watermark", case.get("watermark").clone())];
    if !case.get("schema").is_null() {
        source.push(("schema", case.get("schema").clone()));
    }
    let sum = Value::obj([("fn", Value::from("sum")), ("field", "v".into())]);
    let mut pipeline = BTreeMap::from([
        ("job".to_owned(), "figure".into()),
        ("version".to_owned(), 1.into()),
        ("source".to_owned(), Value::obj(source)),
        ("key_by".to_owned(), Value::Arr(vec!["k".into()])),
        ("aggregate".to_owned(), Value::obj([("n", Value::obj([("fn", Value::from("count"))])), ("s", sum)])),
        ("sink".to_owned(), Value::obj([("type", Value::from("log")), ("log", "out".into())])),
    ]);
    pipeline.extend(case.get("pipeline").members().map(|(k, v)| (k.to_owned(), v.clone())));
    let line = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let lines = |file: &Value| file.items().iter().map(line).collect();
    let named = case.get("data").as_str().map(|name| vec![lines(file.get("data").get(name))]);
    let flag = |name: &str| case.get(name).as_str().map(str::to_owned);
    Scenario {
        pipeline: Value::Obj(pipeline),
        files: named.unwrap_or_else(|| case.get("files").items().iter().map(lines).collect()),
        sources: Vec::new(),
        partition_field: flag("partition_field"),
        arrival_field: flag("arrival_field"),
    }
}

fn time(v: &Value) -> Value {
    v.as_int().map_or(Value::Null, |ms| write_time(ms.into()))
}

fn pane(tuple: &[Value]) -> Value {
    let about = [("timing", tuple[3].clone()), ("index", tuple[4].clone()), ("is_last", tuple[5].clone())];
    let mut line = vec![
        ("k", tuple[0].clone()),
        ("window_start", time(&tuple[1])),
        ("window_end", time(&tuple[2])),
        ("pane", Value::obj(about)),
        ("watermark", time(&tuple[6])),
    ];
    line.extend(tuple[7].members().map(|(name, value)| (name, value.clone())));
    line.extend(tuple.get(8).map(|op| ("op", op.clone())));
    Value::obj(line)
}

fn side(case: &Value, scenario: &Scenario, name: &str, reason: &str) -> Vec<Value> {
    let line = |entry: &Value| {
        let [partition, offset, rest @ ..] = entry.items() else { panic!("{name} of {case}") };
        let file = if scenario.partition_field.is_none() { partition.as_int().unwrap() } else { 0 };
        let [file, place] = [file, offset.as_int().unwrap()].map(|n| usize::try_from(n).unwrap());
        let text = &scenario.files[file][place];
        Value::obj([
            ("partition", partition.clone()),
            ("offset", offset.clone()),
            ("reason", rest.first().cloned().unwrap_or(reason.into())),
            ("record", Value::parse(text).unwrap_or(Value::str(text.as_str()))),
        ])
    };
    case.get(name).items().iter().map(line).collect()
}

fn expected(case: &Value, scenario: &Scenario) -> Outcome {
    let panes: Vec<Value> = case.get("panes").items().iter().map(|tuple| pane(tuple.items())).collect();
    let [late, dups, dead] = [("too_late", "too-late"), ("duplicates", "duplicate"), ("dead_letter", "")]
        .map(|(name, reason)| side(case, scenario, name, reason));
    let read = scenario.files.iter().flatten().filter(|line| !line.trim().is_empty()).count();
    let timing = |t: &str| {
        Value::int(panes.iter().filter(|p| p.get("op").is_null() && p.at("pane.timing").as_str() == Some(t)).count())
    };
    let given = |name: &str| case.get(name).as_int().map_or(Value::Int(0), Value::Int);
    let summary = Value::obj([
        ("read", Value::int(read)),
        ("expanded", Value::Int(0)),
        ("accepted", Value::int(read - late.len() - dups.len() - dead.len())),
        ("filtered", Value::Int(0)),
        ("too_late", Value::int(late.len())),
        ("duplicate", Value::int(dups.len())),
        ("rejected", Value::int(dead.len())),
        ("partly_late", given("partly_late")),
        ("unshown", given("unshown")),
        ("panes", Value::obj(["EARLY", "ON_TIME", "LATE"].map(|t| (t, timing(t))))),
        ("retractions", Value::int(panes.iter().filter(|p| !p.get("op").is_null()).count())),
    ]);
    let lines = [("output", panes), ("too-late", late), ("duplicates", dups), ("dead-letter", dead)];
    let lines = lines.into_iter().map(|(key, lines)| (key.to_owned(), lines)).collect();
    Outcome { lines, summary }
}

fn reference(scenario: &Scenario) -> Vec<Finished> {
    let outcome = interpret(scenario);
    vec![Finished { status: Some(0), stderr: String::new(), outcome, unreadable: Vec::new() }]
}

/// The command, at every speed of the random tests.
fn engine(scenario: &Scenario) -> Vec<Finished> {
    #[allow(clippy::disallowed_methods, reason = "the command under test is named by the environment")]
    let given = std::env::var_os("TIDEGATE_BIN").map(PathBuf::from);
    let (binary, folder) = (Binary::find(given).unwrap(), tempfile::tempdir().unwrap());
    speeds().into_iter().map(|speed| binary.run(scenario, folder.path(), speed).unwrap()).collect()
}

/// Holds both programs to the figures.
fn hold(figures: &[Figure]) {
    assert!(!figures.is_empty(), "no such figure");
    let mut found = Vec::new();
    for (who, run) in [("reference", reference as fn(&Scenario) -> Vec<Finished>), ("engine", engine)] {
        for Figure { name, scenario, expected } in figures {
            if let Some(first) = run(scenario).iter().find_map(|got| difference(scenario, expected, got)) {
                found.push(format!("{who}: {name}\n{}\n{}", scenario.pipeline, first.text));
            }
        }
    }
    assert!(found.is_empty(), "{} differ:\n{}", found.len(), found.join("\n\n"));
}

#[test]
fn records_are_judged_keyed_and_aggregated_as_on_paper() {
    hold(&figures("records"));
}

#[test]
fn watermarks_and_clocks_move_as_on_paper() {
    hold(&figures("watermarks"));
}

#[test]
fn windows_open_fire_and_go_as_on_paper() {
    hold(&figures("windows"));
}

#[test]
fn every_file_of_figures_has_its_test() {
    let stem = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().path().file_stem().unwrap().to_owned();
    let mut stems: Vec<_> = fs::read_dir(folder()).unwrap().map(stem).collect();
    stems.sort();
    assert_eq!(stems, ["dataflow_paper", "graphs", "records", "watermarks", "windows"]); // `graphs` in tests/graphs.rs
}

/// One test for each figure of the Dataflow paper, by the name of its case.
macro_rules! dataflow_paper {
    ($($test:ident: $case:literal,)*) => {
        mod dataflow_paper {
            $(#[test]
            fn $test() {
                let figures = super::figures("dataflow_paper");
                super::hold(&figures.into_iter().filter(|figure| figure.name == $case).collect::<Vec<_>>());
            })*

            #[test]
            fn has_a_test_for_each_case() {
                let cases: Vec<String> = super::figures("dataflow_paper").into_iter().map(|figure| figure.name).collect();
                assert_eq!(cases, [$($case),*]);
            }
        }
    };
}

dataflow_paper! {
    classic_batch: "classic batch",
    global_window_by_period_accumulating: "global window, accumulating, by period of processing time",
    global_window_by_period_discarding: "global window, discarding, by period of processing time",
    global_window_by_count_discarding: "global window, discarding, by two elements",
    fixed_windows_batch: "fixed windows, batch",
    fixed_windows_accumulating: "fixed windows, accumulating",
    fixed_windows_discarding: "fixed windows, discarding",
    fixed_windows_retracting: "fixed windows, accumulating and retracting",
    fixed_windows_with_early_on_time_and_late_panes: "fixed windows, early, on-time and late firings",
    sessions_with_retractions: "sessions with retractions, joined to 25 and then to 39 by late data",
}
