//! Hand-computed graphs (`tests/figures/graphs.json`): chains of windows and joins, reference and engine against literal
//! lines.
//!
//! The expected lines were worked out on paper from the page, not printed by either program. A case gives a pipeline's three
//! lists, the files of each source, each output line by line and the account as far as it is not 0.

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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/figures/graphs.json");
    let file = Value::parse(&fs::read_to_string(path).unwrap()).expect("the figures are JSON");
    let figure = |case: &Value| Figure {
        name: case.get("name").as_str().unwrap().to_owned(),
        scenario: scenario(case),
        expected: expected(case),
    };
    file.get("cases").items().iter().map(figure).collect()
}

fn scenario(case: &Value) -> Scenario {
    let lists = ["sources", "operators", "sinks"].map(|list| (list, case.get(list).clone()));
    let mut scenario =
        Scenario::new(Value::obj([("job", "figure".into()), ("version", 1.into())].into_iter().chain(lists)), &[]);
    scenario.files.clear();
    for source in case.get("sources").items() {
        let name = source.get("name").as_str().unwrap();
        for file in case.get("files").get(name).items() {
            scenario.files.push(file.items().iter().map(Value::to_string).collect());
            scenario.sources.push(name.to_owned());
        }
    }
    scenario.arrival_field = case.get("arrival_field").as_str().map(str::to_owned);
    scenario
}

/// A value with every `@12` written as that time.
fn timed(value: &Value) -> Value {
    match value {
        Value::Str(text) => match text.strip_prefix('@') {
            Some(ms) => write_time(ms.parse().unwrap()),
            None => value.clone(),
        },
        Value::Obj(members) => Value::Obj(members.iter().map(|(k, v)| (k.clone(), timed(v))).collect()),
        Value::Arr(items) => Value::Arr(items.iter().map(timed).collect()),
        other => other.clone(),
    }
}

fn expected(case: &Value) -> Outcome {
    let lines = |list: &Value| list.items().iter().map(timed).collect::<Vec<_>>();
    let mut all: BTreeMap<String, Vec<Value>> =
        case.get("outputs").members().map(|(output, list)| (output.to_owned(), lines(list))).collect();
    for (output, list) in [("too-late", "too_late"), ("dead-letter", "dead_letter"), ("duplicates", "duplicates")] {
        all.insert(output.to_owned(), lines(case.get(list)));
    }
    let count = |name| (name, Value::Int(case.get("account").get(name).as_int().unwrap_or(0)));
    let names = "read expanded forwarded accepted filtered too_late duplicate rejected partly_late unshown emitted";
    let counts = names.split(' ').chain(["retractions"]).map(count);
    let panes = ("panes", Value::obj(["EARLY", "ON_TIME", "LATE"].map(count)));
    Outcome { lines: all, summary: Value::obj(counts.chain([panes])) }
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

fn hold(who: &str, run: fn(&Scenario) -> Vec<Finished>) {
    let mut found = Vec::new();
    for Figure { name, scenario, expected } in figures() {
        if let Some(first) = run(&scenario).iter().find_map(|got| difference(&scenario, &expected, got)) {
            found.push(format!("{who}: {name}\n{}\n{}", scenario.pipeline, first.text));
        }
    }
    assert!(found.is_empty(), "{} differ:\n{}", found.len(), found.join("\n\n"));
}

#[test]
fn the_reference_reads_graphs_as_on_paper() {
    hold("reference", reference);
}

#[test]

fn the_engine_runs_graphs_as_on_paper() {
    hold("engine", engine);
}
