//! Hand-computed scenarios (`tests/figures/*.json`): the reference and the engine both against literal panes.
//!
//! The expected values were worked out on paper from the page, not printed by either program. A case gives its pipeline's
//! members over a base, its files, its panes as `[key, start, end, timing, index, is_last, watermark, aggregates]` (with
//! `"retract"` at the end of a retraction) and its side outputs as `[partition, offset, reason]`; the account follows.

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

fn figures() -> Vec<Figure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/figures");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut figures = Vec::new();
    for path in paths {
        let file = Value::parse(&fs::read_to_string(&path).unwrap()).unwrap_or_else(|| panic!("{path:?} is no JSON"));
        for case in file.get("cases").items() {
            let scenario = scenario(&file, case);
            let expected = expected(case, &scenario);
            let name = format!("{}: {}", path.file_stem().unwrap().display(), case.get("name").as_str().unwrap());
            figures.push(Figure { name, scenario, expected });
        }
    }
    assert!(figures.len() > 30);
    figures
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
    let read = scenario.files.iter().flatten().filter(|line| !line.is_empty()).count();
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
    let lines = BTreeMap::from([("output", panes), ("too-late", late), ("duplicates", dups), ("dead-letter", dead)]);
    Outcome { lines, summary }
}

fn disagreements(mut run: impl FnMut(&Scenario) -> Vec<Finished>) -> Vec<String> {
    let mut found = Vec::new();
    for figure in figures() {
        for got in run(&figure.scenario) {
            if let Some(difference) = difference(&figure.scenario, &figure.expected, &got) {
                found.push(format!("{}\n{}\n{}", figure.name, figure.scenario.pipeline, difference.text));
                break;
            }
        }
    }
    found
}

#[test]
fn the_reference_computes_every_figure() {
    let found = disagreements(|scenario| {
        let outcome = interpret(scenario);
        vec![Finished { status: Some(0), stderr: String::new(), outcome, unreadable: Vec::new() }]
    });
    assert!(found.is_empty(), "{} figures differ:\n{}", found.len(), found.join("\n\n"));
}

#[test]
fn the_engine_computes_every_figure() {
    #[allow(clippy::disallowed_methods, reason = "the command under test is named by the environment")]
    let given = std::env::var_os("TIDEGATE_BIN").map(PathBuf::from);
    let binary = Binary::find(given).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let found = disagreements(|scenario| {
        speeds().into_iter().map(|speed| binary.run(scenario, folder.path(), speed).unwrap()).collect()
    });
    assert!(found.is_empty(), "{} figures differ:\n{}", found.len(), found.join("\n\n"));
}
