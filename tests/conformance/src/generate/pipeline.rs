//! Pipelines drawn over the grammar of docs/pipeline-file.md, contradictions left out.
//!
//! Invariant: every pipeline drawn is one that the pages accept.

use super::events::Values;
use super::{Plan, Rng};
use crate::json::Value;

type Members = Vec<(&'static str, Value)>;

pub(super) fn draw(rng: &mut Rng, plan: &Plan) -> Value {
    let key_by: Vec<Value> =
        rng.pick(&[&["k"][..], &["k"], &["k", "j"], &["j", "k", "absent"]]).iter().map(|k| Value::from(*k)).collect();
    let lateness = match rng.chance(60) {
        true if plan.sessions => 40,
        true if plan.shared => 20,
        true => *rng.pick(&[1, 2, 3, 5, 8, 15, 30]),
        false => 0,
    };
    let (window, kind, size) = window(rng, plan, lateness);
    let trigger = trigger(rng, plan, kind);
    let early = trigger.iter().any(|(name, value)| *name == "early" && *value != Value::from("none"));
    let mut accumulation = *rng.pick(&["accumulating", "discarding", "accumulating_and_retracting", ""]);
    if kind == "session" && rng.chance(40) {
        accumulation = "accumulating_and_retracting";
    }
    let more_firings = early || lateness > 0;
    let upsert_refused = more_firings
        && (accumulation == "discarding" || kind == "session" && accumulation != "accumulating_and_retracting");
    let mut members: Members = vec![
        ("source", source(rng, plan)),
        ("aggregate", aggregates(rng, plan)),
        ("job", Value::from("drawn")),
        ("version", Value::Int(1)),
        ("key_by", Value::Arr(key_by.clone())),
        ("window", window),
        ("sink", sink(rng, key_by, !upsert_refused)),
    ];
    if rng.chance(30) {
        let horizon = duration(plan, lateness + if rng.chance(50) { size } else { rng.within(0, size) });
        if horizon != "0ms" {
            members.push((
                "dedup",
                Value::obj([
                    ("field", Value::from(*rng.pick(&["id", "id", "id", "v", "ts"]))),
                    ("horizon", Value::Str(horizon)),
                ]),
            ));
        }
    }
    if !trigger.is_empty() || rng.chance(20) {
        let trigger = if trigger.is_empty() { vec![("on_time", Value::from("at_watermark"))] } else { trigger };
        members.push(("trigger", Value::obj(trigger)));
    }
    if !accumulation.is_empty() {
        members.push(("accumulation", Value::from(accumulation)));
    }
    Value::obj(members)
}

/// So many units, in the largest unit of time that holds it, or in milliseconds.
pub(super) fn duration(plan: &Plan, units: i64) -> String {
    if units < 0 {
        return format!("-{}", duration(plan, -units));
    }
    let ms = units * plan.unit;
    for (size, name) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")] {
        if ms > 0 && ms % size == 0 && ms / size % 2 == 1 {
            return format!("{}{name}", ms / size);
        }
    }
    format!("{ms}ms")
}

pub(super) fn source(rng: &mut Rng, plan: &Plan) -> Value {
    let mut watermark: Members = match rng.within(0, 9) {
        0 => vec![("strategy", Value::from("none"))],
        1 => vec![("strategy", Value::from("ascending"))],
        2 | 3 => vec![("strategy", Value::from("punctuated")), ("field", Value::from("mark"))],
        _ => {
            let units = *rng.pick(&[0, 0, 1, 1, 2, 5]);
            let delay = Value::Str(duration(plan, units));
            vec![("strategy", Value::from("bounded_out_of_orderness")), ("max_delay", delay)]
        }
    };
    if plan.arrivals && rng.chance(60) {
        watermark.push(("idle_partition_timeout", Value::Str(duration(plan, rng.within(1, 12)))));
    }
    let mut source: Members =
        vec![("log", Value::from("in")), ("timestamp_field", Value::from("ts")), ("watermark", Value::obj(watermark))];
    if rng.chance(20) {
        source.push(("format", Value::from("json")));
    }
    if rng.chance(30) {
        let kind = match plan.values {
            Values::Floats => "float?",
            Values::Texts => "text?",
            _ => "int?",
        };
        let declared =
            [("v", kind), ("kind", "text?"), ("w", "float?"), ("id", "int?"), ("k", "text"), ("flag", "bool?")];
        let chosen = declared.into_iter().filter(|_| rng.chance(50)).map(|(field, kind)| (field, Value::from(kind)));
        source.push(("schema", Value::obj(chosen)));
    }
    Value::obj(source)
}

/// The window, its type, and its size (or gap) in units.
pub(super) fn window(rng: &mut Rng, plan: &Plan, lateness: i64) -> (Value, &'static str, i64) {
    let kinds = ["tumbling", "tumbling", "sliding", "sliding", "session", "session", "global"];
    let kind = if plan.sessions { "session" } else { *rng.pick(&kinds) };
    let kind = if plan.wide || plan.shared { "sliding" } else { kind };
    let size = if plan.wide { rng.within(60, 200) } else { rng.within(1, 10) };
    let mut members: Members = vec![("type", Value::from(kind))];
    let mut set = |name, units| members.push((name, Value::Str(duration(plan, units))));
    match kind {
        "session" => {
            set("gap", size);
            if rng.chance(if plan.sessions { 60 } else { 30 }) {
                set("max_duration", size + rng.within(0, 2 * size));
            }
        }
        "global" => {}
        _ => {
            set("size", size);
            if kind == "sliding" {
                set("slide", if plan.wide { rng.within(1, 5) } else { rng.within(1, size) });
            }
            if rng.chance(30) {
                set("offset", rng.within(0, 2 * size));
            }
        }
    }
    if kind != "global" && (lateness > 0 || rng.chance(10)) {
        set("allowed_lateness", lateness);
    }
    (Value::obj(members), kind, size)
}

pub(super) fn trigger(rng: &mut Rng, plan: &Plan, kind: &str) -> Members {
    if plan.shared {
        let late = *rng.pick(&["", "every_element", "none"]);
        return if late.is_empty() { Vec::new() } else { vec![("late", Value::from(late))] };
    }
    let mut members: Members = Vec::new();
    let global = kind == "global";
    let processing_time = |rng: &mut Rng| format!("every {} processing_time", duration(plan, rng.within(1, 6)));
    if global || rng.chance(50) {
        let timed = plan.arrivals && rng.chance(60);
        let early = if timed {
            processing_time(rng)
        } else if !global && rng.chance(20) {
            "none".to_owned()
        } else {
            format!("every {} elements", rng.within(1, 4))
        };
        members.push(("early", Value::Str(early)));
    }
    if rng.chance(30) {
        members.push(("on_time", Value::from("at_watermark")));
    }
    if !global && rng.chance(60) {
        let late = match rng.within(0, 2) {
            0 => "every_element".to_owned(),
            1 if plan.arrivals => processing_time(rng),
            // So long that on the wall clock only the purge fires it.
            1 => "every 90000d processing_time".to_owned(),
            _ => "none".to_owned(),
        };
        members.push(("late", Value::Str(late)));
    }
    members
}

fn aggregates(rng: &mut Rng, plan: &Plan) -> Value {
    let texts = matches!(plan.values, Values::Texts | Values::Anything);
    let mut members: Vec<(String, Value)> = Vec::new();
    for place in 0..rng.within(1, 5) {
        let functions: &[&str] = if texts && rng.chance(85) {
            &["count", "min", "max", "first", "last", "count_distinct", "approx_count_distinct", "top_k"]
        } else {
            &["count", "sum", "sum", "min", "max", "avg", "first", "last", "count_distinct", "top_k"]
        };
        let function = *rng.pick(functions);
        if function != "top_k" && rng.chance(20) {
            // A bare name: that function of the field of this name.
            members.push((rng.pick(&["v", "w"]).to_string(), Value::from(function)));
            continue;
        }
        let mut spec: Members = vec![("fn", Value::from(function))];
        if function != "count" || rng.chance(50) {
            spec.push((
                "field",
                Value::from(*rng.pick(&["v", "v", "v", "v", "w", "kind", "id", "absent", "k", "ts", "at", "mark"])),
            ));
        }
        if function == "top_k" {
            spec.push(("k", Value::Int(rng.within(1, 4))));
        }
        if rng.chance(25) {
            let equals = [
                ("kind", Value::from("click")),
                ("w", Value::Int(1)),
                ("w", Value::Float(1.0)),
                ("flag", Value::Bool(true)),
            ];
            let equals = rng.pick(&equals);
            spec.push(("where", Value::obj([("field", Value::from(equals.0)), ("equals", equals.1.clone())])));
        }
        members.push((format!("a{place}"), Value::obj(spec)));
    }
    Value::obj(members)
}

fn sink(rng: &mut Rng, mut key: Vec<Value>, upsert: bool) -> Value {
    if upsert && rng.chance(40) {
        key.extend([Value::from("window_start"), Value::from("window_end")]);
        return Value::obj([
            ("type", Value::from("upsert_store")),
            ("table", Value::from("t")),
            ("key", Value::Arr(key)),
        ]);
    }
    let kind = *rng.pick(&["transactional_log", "log"]);
    Value::obj([("type", Value::from(kind)), ("log", Value::from("out"))])
}
