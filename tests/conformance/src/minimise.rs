//! Makes a differing scenario small: fewer lines, fewer files, fewer features, as long as it still differs.
//!
//! Invariant: what comes out differs in the same way (a refusal of the pipeline stays a refusal, an output an output).

use crate::generate::graph::inputs;
use crate::json::Value;
use crate::scenario::Scenario;

#[cfg(test)]
mod tests;

/// Members of a source, an operator or a sink that may go without making the pipeline invalid by themselves.
const OF_SOURCES: &[&str] = &["schema", "format", "watermark.idle_partition_timeout"];
const OF_OPERATORS: &[&str] = &[
    "dedup",
    "accumulation",
    "trigger",
    "trigger.early",
    "trigger.late",
    "trigger.on_time",
    "window.allowed_lateness",
    "window.offset",
    "window.max_duration",
    "late_side_output",
    "join.matching",
    "join.allowed_lateness",
    "join.late_side_output",
    "join.window.offset",
];
const OF_SINKS: &[&str] = &["stamp", "name"];

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
            if let Some(source) = scenario.sources.get(file) {
                candidate.sources.remove(file);
                if candidate.files_of(source).is_empty() {
                    continue; // A source goes with the last operator that reads it.
                }
            }
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
    fewer_operators(scenario, still_differs);
    for path in optional(&scenario.pipeline) {
        let mut candidate = scenario.clone();
        let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
        let alone = parent.ends_with("aggregate") || parent.ends_with("select");
        if remove(&mut candidate.pipeline, &path) && !(alone && members(&candidate.pipeline, parent).is_empty()) {
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

/// One sink on one operator, with what it needs; otherwise one sink less.
fn fewer_operators(scenario: &mut Scenario, still_differs: &mut dyn FnMut(&Scenario) -> bool) {
    let operators = scenario.pipeline.get("operators").items().to_vec();
    for operator in &operators {
        let sink = [("input", operator.get("name").clone()), ("type", "log".into()), ("log", "out".into())];
        let mut candidate = scenario.clone();
        set(&mut candidate.pipeline, "sinks", Value::Arr(vec![Value::obj(sink)]));
        prune(&mut candidate);
        if size(&candidate) < size(scenario) && keep(scenario, candidate, still_differs) {
            return;
        }
    }
    for place in (0..scenario.pipeline.get("sinks").items().len()).rev() {
        let mut sinks = scenario.pipeline.get("sinks").items().to_vec();
        sinks.remove(place);
        let mut candidate = scenario.clone();
        set(&mut candidate.pipeline, "sinks", Value::Arr(sinks.clone()));
        prune(&mut candidate);
        if !sinks.is_empty() {
            keep(scenario, candidate, still_differs);
        }
    }
}

/// Leaves out operators and sources that nothing reads, and the files of these sources.
fn prune(scenario: &mut Scenario) {
    loop {
        let all = ["operators", "sinks"].map(|list| scenario.pipeline.get(list).items().to_vec()).concat();
        let read =
            |one: &Value| all.iter().any(|reader| inputs(reader).contains(&one.get("name").as_str().unwrap_or("")));
        for list in ["operators", "sources"] {
            let left = scenario.pipeline.get(list).items().iter().filter(|one| read(one)).cloned().collect();
            set(&mut scenario.pipeline, list, Value::Arr(left));
        }
        let left = scenario.pipeline.get("operators").items().len() + scenario.pipeline.get("sinks").items().len();
        if left == all.len() {
            break;
        }
    }
    let sources = scenario.pipeline.get("sources").items();
    let known = |name: &String| sources.iter().any(|source| source.get("name").as_str() == Some(name));
    let files = scenario.files.drain(..).zip(scenario.sources.drain(..)).filter(|(_, source)| known(source));
    let (files, of) = files.unzip();
    (scenario.files, scenario.sources) = (files, of);
}

/// The paths of all that may go.
fn optional(pipeline: &Value) -> Vec<String> {
    let mut paths = vec!["precedence".to_owned()];
    let mut all = |prefix: &str, operator: bool, known: &[&str]| {
        paths.extend(known.iter().map(|path| format!("{prefix}{path}")));
        let parts: &[&str] = if operator { &["aggregate", "join.select"] } else { &["schema"] };
        for part in parts {
            let inner = members(pipeline, &format!("{prefix}{part}"));
            paths.extend(inner.iter().map(|path| format!("{path}.where")));
            paths.extend(inner);
        }
    };
    if pipeline.get("sources").is_null() {
        all("", true, OF_OPERATORS);
        all("source.", false, OF_SOURCES);
        return paths;
    }
    for (list, known) in [("sources", OF_SOURCES), ("operators", OF_OPERATORS), ("sinks", OF_SINKS)] {
        for place in 0..pipeline.get(list).items().len() {
            all(&format!("{list}.{place}."), list == "operators", known);
        }
    }
    paths
}

/// The paths of the members of the object at a path.
fn members(value: &Value, path: &str) -> Vec<String> {
    let step = |value: &Value, name: &str| match (value, name.parse::<usize>()) {
        (Value::Arr(items), Ok(place)) => items.get(place).cloned().unwrap_or_default(),
        _ => value.get(name).clone(),
    };
    let found = path.split('.').fold(value.clone(), |value, name| step(&value, name));
    found.members().map(|(name, _)| format!("{path}.{name}")).collect()
}

/// Without `--arrival-field` the wall clock would decide.
fn needs_arrivals(scenario: &Scenario) -> bool {
    let text = scenario.pipeline.to_string();
    scenario.arrival_field.is_none()
        && (["processing_time", "idle_partition_timeout", "generated_at"].iter().any(|what| text.contains(what)))
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
    if let (Value::Arr(items), Some((place, rest))) = (&mut *value, path.split_once('.')) {
        let place = place.parse::<usize>().ok();
        return place.and_then(|place| items.get_mut(place)).is_some_and(|inner| remove(inner, rest));
    }
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
