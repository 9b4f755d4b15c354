//! The reference on random graphs against definitions that know no events: all pairs of a join, and a chain computed anew
//! from the last panes of the window before it.
//!
//! What these definitions leave out (order, watermarks, what is late) is in the figures.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use tidegate_conformance::generate::Rng;
use tidegate_conformance::json::Value;
use tidegate_conformance::reference::interpret;
use tidegate_conformance::scenario::Scenario;
use tidegate_conformance::time::{read_time, write_time};

const SEEDS: u64 = 60;

/// A row: its key, `None` for null, its time, and a number that tells it from others.
type Row = (Option<i64>, i64, i64);

fn rows(rng: &mut Rng, from: i64) -> Vec<Row> {
    let key = |rng: &mut Rng| if rng.chance(10) { None } else { Some(rng.within(1, 2)) };
    (0..rng.within(0, 12)).map(|n| (key(rng), rng.within(-20, 20), from + n)).collect()
}

fn lines(rows: &[Row]) -> Vec<String> {
    let line = |(key, time, id): &Row| {
        let key = key.map_or(Value::Null, Value::Int);
        Value::obj([("k", key), ("ts", Value::Int(*time)), ("id", Value::Int(*id))]).to_string()
    };
    rows.iter().map(line).collect()
}

/// A join of the sources `l` and `r`, whose pairs are shown by their ids.
fn joined(rng: &mut Rng, join: &str, left: &[Row], right: &[Row]) -> Vec<(Option<i64>, Option<i64>, i64)> {
    let strategy =
        *rng.pick(&[r#"{"strategy":"none"}"#, r#"{"strategy":"bounded_out_of_orderness","max_delay":"40ms"}"#]);
    let source =
        |name: &str| format!(r#"{{"name":"{name}","log":"{name}","timestamp_field":"ts","watermark":{strategy}}}"#);
    let pipeline = format!(
        r#"{{"job":"t","version":1,"sources":[{},{}],"operators":[{{"name":"j","join":{{{join},
            "left":{{"input":"l","key_by":["k"]}},"right":{{"input":"r","key_by":["k"]}},
            "select":{{"l":"left.id","r":"right.id"}}}}}}],"sinks":[{{"input":"j","type":"log","log":"o"}}]}}"#,
        source("l"),
        source("r")
    );
    let mut scenario = Scenario::new(Value::parse(&pipeline).expect("the pipeline is JSON"), &[]);
    scenario.files = vec![lines(left), lines(right)];
    scenario.sources = ["l", "r"].map(str::to_owned).to_vec();
    let outcome = interpret(&scenario);
    assert_eq!(outcome.lines.get("too-late"), None, "nothing is late");
    let time = |line: &Value| i64::try_from(read_time(line.get("time")).unwrap()).unwrap();
    let pair = |line: &Value| (line.get("l").as_int(), line.get("r").as_int(), time(line));
    let mut pairs: Vec<_> = outcome.lines.get("output").into_iter().flatten().map(pair).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn an_interval_join_gives_all_pairs_and_alone_what_has_none() {
    let (mut some, mut alone) = (0, 0);
    for seed in 0..SEEDS {
        let rng = &mut Rng::new(seed);
        let (left, right) = (rows(rng, 0), rows(rng, 100));
        let lower = rng.within(-15, 10);
        let upper = lower + rng.within(0, 20);
        let matching = *rng.pick(&["inner", "left", "right", "full"]);
        let meet = |l: &Row, r: &Row| l.0.is_some() && l.0 == r.0 && (l.1 + lower..=l.1 + upper).contains(&r.1);
        let mut expected = Vec::new();
        for l in &left {
            expected.extend(right.iter().filter(|r| meet(l, r)).map(|r| (Some(l.2), Some(r.2), l.1.max(r.1))));
            if ["left", "full"].contains(&matching) && !right.iter().any(|r| meet(l, r)) {
                expected.push((Some(l.2), None, l.1));
                alone += 1;
            }
        }
        let outer = ["right", "full"].contains(&matching);
        for r in right.iter().filter(|r| outer && !left.iter().any(|l| meet(l, r))) {
            expected.push((None, Some(r.2), r.1));
            alone += 1;
        }
        expected.sort_unstable();
        some += expected.len();
        let join = format!(r#""type":"interval","matching":"{matching}","lower":"{lower}ms","upper":"{upper}ms""#);
        assert_eq!(joined(rng, &join, &left, &right), expected, "seed {seed}: {join}");
    }
    assert!(some > 100 && alone > 100, "{some} lines, {alone} of them alone");
}

#[test]
fn a_window_join_gives_all_pairs_of_each_window() {
    let mut some = 0;
    for seed in 0..SEEDS {
        let rng = &mut Rng::new(seed);
        let (left, right) = (rows(rng, 0), rows(rng, 100));
        let size = rng.within(2, 15);
        let slide = rng.within(1, size);
        let mut expected = Vec::new();
        for start in (-60..60).map(|place| place * slide) {
            let within = |row: &&Row| start <= row.1 && row.1 < start + size;
            for l in left.iter().filter(within) {
                let partners = right.iter().filter(within).filter(|r| l.0.is_some() && l.0 == r.0);
                expected.extend(partners.map(|r| (Some(l.2), Some(r.2), start + size - 1)));
            }
        }
        expected.sort_unstable();
        some += expected.len();
        let join = format!(r#""type":"window","window":{{"type":"sliding","size":"{size}ms","slide":"{slide}ms"}}"#);
        assert_eq!(joined(rng, &join, &left, &right), expected, "seed {seed}: {join}");
    }
    assert!(some > 100, "{some} pairs");
}

/// Sums by key and minute of ten, then of forty milliseconds; the first ones may be wrong at first.
const CHAIN: &str = r#"{"job":"t","version":1,
    "sources":[{"name":"s","log":"s","timestamp_field":"ts","watermark":{"strategy":"bounded_out_of_orderness","max_delay":"5ms"}}],
    "operators":[
      {"name":"a","input":"s","key_by":["k"],"window":{"type":"tumbling","size":"10ms","allowed_lateness":"100ms"},
       "trigger":{"early":"every 2 elements"},"accumulation":"accumulating_and_retracting","aggregate":{"sum":{"fn":"sum","field":"id"}}},
      {"name":"b","input":"a","key_by":["k"],"window":{"type":"tumbling","size":"40ms","allowed_lateness":"200ms"},
       "aggregate":{"n":{"fn":"count"},"sum":"sum","most":{"fn":"top_k","field":"sum","k":2}}}],
    "sinks":[{"input":"a","type":"log","log":"a"},{"input":"b","type":"log","log":"b"}]}"#;

#[test]
fn the_last_panes_of_a_chain_are_those_of_the_last_panes_before_it() {
    let (mut corrected, mut compared) = (0, 0);
    for seed in 0..SEEDS {
        let rng = &mut Rng::new(seed);
        let mut scenario = Scenario::new(Value::parse(CHAIN).unwrap(), &[]);
        scenario.files = vec![lines(&rows(rng, 0)), lines(&rows(rng, 100))];
        scenario.sources = vec!["s".to_owned(); 2];
        let outcome = interpret(&scenario);
        corrected += outcome.summary.get("retractions").as_int().unwrap();
        let last = |output: &str| -> BTreeMap<(Value, Value), Value> {
            let lines = outcome.lines.get(output).into_iter().flatten().filter(|line| line.get("op").is_null());
            lines.map(|line| ((line.get("k").clone(), line.get("window_start").clone()), line.clone())).collect()
        };
        let mut parts: BTreeMap<(Value, Value), Vec<i64>> = BTreeMap::new();
        for ((key, start), line) in last("output a") {
            let start = read_time(&start).unwrap().div_euclid(40) * 40;
            parts.entry((key, write_time(start))).or_default().push(line.get("sum").as_int().unwrap());
        }
        let results = last("output b");
        assert_eq!(results.keys().collect::<Vec<_>>(), parts.keys().collect::<Vec<_>>(), "seed {seed}");
        for (window, mut sums) in parts {
            let line = &results[&window];
            assert_eq!(line.get("n").as_int(), i64::try_from(sums.len()).ok(), "seed {seed}: {line}");
            assert_eq!(line.get("sum").as_int(), Some(sums.iter().sum()), "seed {seed}: {line}");
            sums.sort_unstable();
            sums.dedup();
            let most = line.get("most").items().len();
            assert_eq!(most, sums.len().min(2), "seed {seed}: {line}");
            compared += 1;
        }
    }
    assert!(corrected > 100 && compared > 100, "{corrected} retractions, {compared} windows");
}
