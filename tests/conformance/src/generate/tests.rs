//! What the generator promises to the rest of the suite.

use std::collections::BTreeMap;

use super::{graph, processors, scenario};
use crate::reference::interpret;

#[test]
fn draws_the_same_scenario_from_the_same_seed() {
    for seed in 0..20 {
        let (a, b) = (scenario(seed), scenario(seed));
        assert_eq!((a.pipeline, a.files), (b.pipeline, b.files), "seed {seed}");
    }
}

#[test]
fn reaches_every_verdict_timing_and_count() {
    let mut total = BTreeMap::new();
    for seed in 0..300 {
        let summary = interpret(&scenario(seed)).summary;
        for (name, count) in summary.members().chain(summary.get("panes").members()) {
            *total.entry(name.to_owned()).or_insert(0) += count.as_int().unwrap_or(0);
        }
        let n = |name: &str| summary.get(name).as_int().unwrap();
        assert_eq!(n("read"), n("accepted") + n("too_late") + n("duplicate") + n("rejected"), "seed {seed}: {summary}");
    }
    for name in [
        "accepted",
        "too_late",
        "duplicate",
        "rejected",
        "partly_late",
        "unshown",
        "retractions",
        "EARLY",
        "ON_TIME",
        "LATE",
    ] {
        assert!(total[name] > 25, "{name} occurs {} times in {total:?}", total[name]);
    }
}

#[test]
fn draws_graphs_of_every_kind_that_emit_refuse_and_forward() {
    let mut total = BTreeMap::new();
    for seed in 0..100 {
        let scenario = graph(seed);
        let summary = interpret(&scenario).summary;
        let n = |name: &str| summary.get(name).as_int().unwrap();
        let ends = n("accepted") + n("too_late") + n("duplicate") + n("rejected");
        assert_eq!(n("read") + n("forwarded"), ends, "seed {seed}: {summary}");
        for (name, count) in summary.members().chain(summary.get("panes").members()) {
            *total.entry(name.to_owned()).or_insert(0) += count.as_int().unwrap_or(0);
        }
        for operator in scenario.pipeline.get("operators").items() {
            let kind = operator.at("join.type").as_str().unwrap_or("chain");
            let chained = operator.get("input").as_str().is_none_or(|input| input.starts_with('o'));
            *total.entry(kind.to_owned()).or_insert(0) += i64::from(chained);
        }
    }
    for name in
        ["interval", "window", "chain", "forwarded", "emitted", "retractions", "too_late", "partly_late", "rejected"]
    {
        assert!(total[name] > 25, "{name} occurs {} times in {total:?}", total[name]);
    }
}

#[test]
fn draws_processors_that_count_fire_forget_and_refuse() {
    let mut total = BTreeMap::new();
    for seed in 0..60 {
        let outcome = interpret(&processors(seed));
        let n = |name: &str| outcome.summary.get(name).as_int().unwrap();
        let ends = n("accepted") + n("too_late") + n("duplicate") + n("rejected");
        assert_eq!(n("read") + n("forwarded"), ends, "seed {seed}: {}", outcome.summary);
        for line in outcome.lines.values().flatten() {
            let what = line.get("what").as_str().or(line.get("reason").as_str()).unwrap_or("");
            *total.entry(what.to_owned()).or_insert(0) += 1;
        }
    }
    for what in ["row", "event", "processing", "refused"] {
        assert!(total.get(what) > Some(&25), "{what} occurs {:?} times", total.get(what));
    }
}
