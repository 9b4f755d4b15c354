//! Makes a differing scenario small: fewer lines, fewer files, fewer features, as long as it still differs.
//!
//! Invariant: what comes out differs in the same way (a refusal of the pipeline stays a refusal, an output an output).

use crate::json::Value;
use crate::scenario::Scenario;

/// Members of the pipeline that may go without making it invalid by themselves.
const OPTIONAL: &[&str] = &[
    "dedup",
    "accumulation",
    "trigger",
    "trigger.early",
    "trigger.late",
    "trigger.on_time",
    "source.schema",
    "source.format",
    "source.watermark.idle_partition_timeout",
    "window.allowed_lateness",
    "window.offset",
    "window.max_duration",
];

/// The smallest scenario found that still differs.
pub fn minimise(mut scenario: Scenario, still_differs: &mut dyn FnMut(&Scenario) -> bool) -> Scenario {
    loop {
        let before = size(&scenario);
        drop_files(&mut scenario, still_differs);
        drop_lines(&mut scenario, still_differs);
        simplify_pipeline(&mut scenario, still_differs);
        simplify_lines(&mut scenario, still_differs);
        if size(&scenario) == before {
            return scenario;
        }
    }
}

fn size(scenario: &Scenario) -> usize {
    let lines: usize = scenario.files.iter().flatten().map(|l| l.len() + 1).sum();
    scenario.pipeline.to_string().len() + lines + scenario.files.len() + flags(scenario)
}

fn flags(scenario: &Scenario) -> usize {
    usize::from(scenario.arrival_field.is_some()) + usize::from(scenario.partition_field.is_some())
}

/// Keeps the candidate if it still differs.
fn keep(scenario: &mut Scenario, candidate: Scenario, still_differs: &mut dyn FnMut(&Scenario) -> bool) -> bool {
    let better = still_differs(&candidate);
    if better {
        *scenario = candidate;
    }
    better
}

fn drop_files(scenario: &mut Scenario, still_differs: &mut dyn FnMut(&Scenario) -> bool) {
    for file in (0..scenario.files.len()).rev() {
        if scenario.files.len() > 1 {
            let mut candidate = scenario.clone();
            candidate.files.remove(file);
            keep(scenario, candidate, still_differs);
        }
    }
}

/// Ever smaller blocks of lines, from the end.
fn drop_lines(scenario: &mut Scenario, still_differs: &mut dyn FnMut(&Scenario) -> bool) {
    for file in 0..scenario.files.len() {
        let mut block = scenario.files[file].len().div_ceil(2);
        while block > 0 {
            let mut from = scenario.files[file].len().saturating_sub(block);
            loop {
                let mut candidate = scenario.clone();
                let to = (from + block).min(candidate.files[file].len());
                candidate.files[file].drain(from..to);
                keep(scenario, candidate, still_differs);
                if from == 0 {
                    break;
                }
                from = from.saturating_sub(block);
            }
            block /= 2;
        }
    }
}

fn simplify_pipeline(scenario: &mut Scenario, still_differs: &mut dyn FnMut(&Scenario) -> bool) {
    let members = |v: &Value, at: &str| v.at(at).members().map(|(k, _)| format!("{at}.{k}")).collect::<Vec<_>>();
    let mut paths: Vec<String> = OPTIONAL.iter().map(|p| (*p).to_owned()).collect();
    paths.extend(members(&scenario.pipeline, "aggregate"));
    paths.extend(members(&scenario.pipeline, "source.schema"));
    paths.extend(members(&scenario.pipeline, "aggregate").into_iter().map(|path| format!("{path}.where")));
    for path in paths {
        let mut candidate = scenario.clone();
        if remove(&mut candidate.pipeline, &path)
            && !candidate.pipeline.at("aggregate").members().collect::<Vec<_>>().is_empty()
        {
            keep(scenario, candidate, still_differs);
        }
    }
    let keys = scenario.pipeline.get("key_by").items().to_vec();
    for place in (0..keys.len()).rev() {
        let mut fewer = scenario.pipeline.get("key_by").items().to_vec();
        if fewer.len() > 1 {
            fewer.remove(place);
            let mut candidate = scenario.clone();
            set(&mut candidate.pipeline, "key_by", Value::Arr(fewer));
            set(
                &mut candidate.pipeline,
                "sink",
                Value::obj([("type", Value::from("log")), ("log", Value::from("out"))]),
            );
            keep(scenario, candidate, still_differs);
        }
    }
    for flag in [|s: &mut Scenario| s.partition_field.take(), |s: &mut Scenario| s.arrival_field.take()] {
        let mut candidate = scenario.clone();
        if flag(&mut candidate).is_some() && !needs_arrivals(&candidate) {
            keep(scenario, candidate, still_differs);
        }
    }
}

/// Without `--arrival-field` the wall clock would decide.
fn needs_arrivals(scenario: &Scenario) -> bool {
    let text = scenario.pipeline.to_string();
    scenario.arrival_field.is_none() && (text.contains("processing_time") || text.contains("idle_partition_timeout"))
}

/// Fewer members in each line.
fn simplify_lines(scenario: &mut Scenario, still_differs: &mut dyn FnMut(&Scenario) -> bool) {
    for file in 0..scenario.files.len() {
        for place in 0..scenario.files[file].len() {
            let Some(line) = Value::parse(&scenario.files[file][place]) else { continue };
            for name in line.members().map(|(k, _)| k.to_owned()).collect::<Vec<_>>() {
                let mut candidate = scenario.clone();
                let Some(mut line) = Value::parse(&candidate.files[file][place]) else { continue };
                if remove(&mut line, &name) {
                    candidate.files[file][place] = line.to_string();
                    keep(scenario, candidate, still_differs);
                }
            }
        }
    }
}

fn remove(value: &mut Value, path: &str) -> bool {
    let Value::Obj(members) = value else { return false };
    match path.split_once('.') {
        Some((first, rest)) => members.get_mut(first).is_some_and(|inner| remove(inner, rest)),
        None => members.remove(path).is_some(),
    }
}

fn set(value: &mut Value, name: &str, new: Value) {
    if let Value::Obj(members) = value {
        members.insert(name.to_owned(), new);
    }
}
