//! Graphs: chains of windows, interval joins and window joins over one to three sources, with several sinks.
//!
//! Invariant: every pipeline drawn is one that the pages accept: what feeds a stateful operator may feed it.

use super::pipeline::{duration, source, trigger, window};
use super::{Plan, Rng};
use crate::json::Value;

type Members = Vec<(&'static str, Value)>;

/// Whom the rows of a source or operator may feed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeds {
    Anything,
    /// Windows whose aggregates can undo.
    Undoing,
    SinksOnly,
}

/// What the values of a field mostly are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    Other,
}

/// A source or an operator, as those behind it see it.
#[derive(Clone)]
struct Upstream {
    name: String,
    fields: Vec<(String, Kind)>,
    keys: Vec<String>,
    feeds: Feeds,
}

/// A drawn graph: the pipeline, and how many files each source has.
pub(super) struct Drawn {
    pub(super) pipeline: Value,
    pub(super) files: Vec<(String, usize)>,
}

pub(super) fn draw(rng: &mut Rng, plan: &Plan) -> Drawn {
    let count = if plan.partition_field { 1 } else { *rng.pick(&[1, 2, 2, 2, 3]) };
    let mut upstreams: Vec<Upstream> = (0..count).map(source_upstream).collect();
    let mut operators: Vec<Value> = Vec::new();
    for place in 0..*rng.pick(&[1, 2, 2, 3, 3, 4, 5]) {
        let name = format!("o{place}");
        let (operator, upstream) = if plan.processors && rng.chance(40) {
            process(rng, plan, &name, &upstreams)
        } else if rng.chance(if count == 1 { 15 } else { 45 }) {
            join(rng, plan, &name, &upstreams)
        } else {
            windows(rng, plan, &name, &upstreams)
        };
        operators.push(operator);
        upstreams.push(upstream);
    }
    let read = |name: &str| operators.iter().any(|o| inputs(o).contains(&name));
    let mut outputs = Vec::new();
    for operator in &upstreams[count..] {
        if !read(&operator.name) || rng.chance(30) {
            sinks(rng, plan, &operator.name, &mut outputs);
        }
    }
    let named: Vec<(String, Value)> =
        (0..count).map(|i| (format!("s{i}"), source(rng, plan))).filter(|(name, _)| read(name)).collect();
    let files =
        named.iter().map(|(name, _)| (name.clone(), if rng.chance(25) && !plan.partition_field { 2 } else { 1 }));
    let files = files.collect();
    // The order of the file means nothing: operators may stand before their inputs.
    if rng.chance(30) {
        operators.reverse();
    }
    let sources = named.iter().map(|(name, spec)| {
        Value::obj(spec.members().map(|(k, v)| (k, v.clone())).chain([("name", Value::str(name.as_str()))]))
    });
    let mut members: Members = vec![
        ("job", "drawn".into()),
        ("version", 1.into()),
        ("sources", Value::Arr(sources.collect())),
        ("operators", Value::Arr(operators.clone())),
        ("sinks", Value::Arr(outputs)),
    ];
    if rng.chance(20) {
        members.push(("precedence", rng.within(-3, 3).into()));
    }
    Drawn { pipeline: Value::obj(members), files }
}

/// The names of an operator's inputs.
pub(crate) fn inputs(operator: &Value) -> Vec<&str> {
    ["input", "join.left.input", "join.right.input"].iter().filter_map(|path| operator.at(path).as_str()).collect()
}

fn source_upstream(place: usize) -> Upstream {
    let fields =
        [("k", Kind::Text), ("j", Kind::Number), ("v", Kind::Number), ("v", Kind::Number), ("id", Kind::Number)];
    let more = [("w", Kind::Other), ("kind", Kind::Text), ("absent", Kind::Other), ("ts", Kind::Other)];
    let fields = fields.into_iter().chain(more).map(|(name, kind)| (name.to_owned(), kind)).collect();
    let keys = ["k", "k", "k", "j"].map(str::to_owned).to_vec();
    Upstream { name: format!("s{place}"), fields, keys, feeds: Feeds::Anything }
}

/// One of the upstreams that may feed the reader, more often one of the last.
fn input<'a>(rng: &mut Rng, upstreams: &'a [Upstream], undoing: bool) -> &'a Upstream {
    let may = |u: &&Upstream| u.feeds == Feeds::Anything || undoing && u.feeds == Feeds::Undoing;
    let all: Vec<&Upstream> = upstreams.iter().filter(may).collect();
    let late = if rng.chance(60) { all.len().saturating_sub(2) } else { 0 };
    let one: &&Upstream = rng.pick(&all[late..]);
    one
}

fn windows(rng: &mut Rng, plan: &Plan, name: &str, upstreams: &[Upstream]) -> (Value, Upstream) {
    let from = input(rng, upstreams, true).clone();
    let undo = from.feeds == Feeds::Undoing;
    let key = rng.pick(&from.keys).clone();
    let lateness = if rng.chance(50) { 0 } else { *rng.pick(&[1, 2, 3, 8, 20]) };
    let (window, kind, size) = loop {
        let drawn = window(rng, plan, lateness);
        // Retractions cannot be undone in sessions; wide windows over few rows are many equal panes.
        if !(undo && drawn.1 == "session") && (drawn.1 != "global" || rng.chance(40)) {
            break drawn;
        }
    };
    let trigger = trigger(rng, plan, kind);
    let early = trigger.iter().any(|(name, value)| *name == "early" && *value != Value::from("none"));
    let accumulation =
        *rng.pick(&["", "accumulating", "discarding", "accumulating_and_retracting", "accumulating_and_retracting"]);
    let feeds = match accumulation {
        _ if kind == "global" => Feeds::SinksOnly,
        _ if !early && lateness == 0 => {
            if accumulation == "accumulating_and_retracting" {
                Feeds::Undoing
            } else {
                Feeds::Anything
            }
        }
        "discarding" => Feeds::Anything,
        "accumulating_and_retracting" => Feeds::Undoing,
        _ => Feeds::SinksOnly,
    };
    let (aggregate, mut fields) = aggregates(rng, &from, undo, &key);
    let mut members: Members = vec![
        ("name", name.into()),
        ("input", from.name.as_str().into()),
        ("key_by", Value::Arr(vec![key.as_str().into()])),
        ("window", window),
        ("aggregate", aggregate),
    ];
    if !trigger.is_empty() {
        members.push(("trigger", Value::obj(trigger)));
    }
    if !accumulation.is_empty() {
        members.push(("accumulation", accumulation.into()));
    }
    if !undo && rng.chance(15) {
        let field = rng.pick(&from.fields).0.clone();
        let horizon = duration(plan, lateness + rng.within(1, size));
        members.push(("dedup", Value::obj([("field", Value::Str(field)), ("horizon", Value::Str(horizon))])));
    }
    if rng.chance(20) {
        members.push(("late_side_output", "late".into()));
    }
    fields.extend([(key.clone(), Kind::Other), ("window_start".to_owned(), Kind::Text)]);
    (Value::obj(members), Upstream { name: name.to_owned(), fields, keys: vec![key], feeds })
}

/// The aggregates of a window and the fields that they make. `undo`: those that can take a row back.
fn aggregates(rng: &mut Rng, from: &Upstream, undo: bool, key: &str) -> (Value, Vec<(String, Kind)>) {
    let (mut members, mut fields) = (Vec::new(), Vec::new());
    for place in 0..rng.within(1, 4) {
        let functions: &[&str] = if undo {
            &["count", "sum", "sum", "avg", "count_distinct", "top_k"]
        } else {
            &["count", "sum", "sum", "min", "max", "avg", "first", "last", "count_distinct", "top_k"]
        };
        let function = *rng.pick(functions);
        let numbers: Vec<&(String, Kind)> = from.fields.iter().filter(|(_, kind)| *kind == Kind::Number).collect();
        let (field, kind) = match function {
            "sum" | "avg" if rng.chance(90) && !numbers.is_empty() => (*rng.pick(&numbers)).clone(),
            _ => rng.pick(&from.fields).clone(),
        };
        let name = format!("{}{place}", function.chars().next().unwrap_or('a'));
        let mut spec: Members = vec![("fn", function.into())];
        if function != "count" || rng.chance(50) {
            spec.push(("field", Value::Str(field)));
        }
        if function == "top_k" {
            spec.push(("k", rng.within(1, 4).into()));
        }
        if rng.chance(10) && from.fields.iter().any(|(field, _)| field == "kind") {
            spec.push(("where", Value::obj([("field", Value::from("kind")), ("equals", "click".into())])));
        }
        let made = match function {
            "min" | "max" | "first" | "last" => kind,
            "top_k" => Kind::Other,
            _ => Kind::Number,
        };
        if name != key {
            members.push((name.clone(), Value::obj(spec)));
            fields.push((name, made));
        }
    }
    if members.is_empty() {
        members.push(("n".to_owned(), Value::obj([("fn", Value::from("count"))])));
        fields.push(("n".to_owned(), Kind::Number));
    }
    (Value::obj(members), fields)
}

fn join(rng: &mut Rng, plan: &Plan, name: &str, upstreams: &[Upstream]) -> (Value, Upstream) {
    let (left, right) = (input(rng, upstreams, false).clone(), input(rng, upstreams, false).clone());
    let width = if rng.chance(15) { 2 } else { 1 };
    let key = |rng: &mut Rng, of: &Upstream| (0..width).map(|_| rng.pick(&of.keys).clone()).collect::<Vec<_>>();
    let (left_key, right_key) = (key(rng, &left), key(rng, &right));
    let (mut select, mut fields, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for (place, (l, r)) in left_key.iter().zip(&right_key).enumerate() {
        select.extend([(format!("l{place}"), format!("left.{l}")), (format!("r{place}"), format!("right.{r}"))]);
        keys.extend([format!("l{place}"), format!("r{place}")]);
    }
    for (name, side, of) in [("x", "left", &left), ("y", "right", &right), ("z", *rng.pick(&["left", "right"]), &left)]
    {
        let of = if side == "left" { of } else { &right };
        if rng.chance(60) {
            let (field, kind) = rng.pick(&of.fields).clone();
            select.push((name.to_owned(), format!("{side}.{field}")));
            fields.push((name.to_owned(), kind));
        }
    }
    fields.extend(keys.iter().map(|key| (key.clone(), Kind::Other)));
    let side = |of: &Upstream, key: &[String]| {
        let key = key.iter().map(|k| Value::str(k.as_str())).collect();
        Value::obj([("input", Value::str(of.name.as_str())), ("key_by", Value::Arr(key))])
    };
    let mut members: Members = vec![
        ("left", side(&left, &left_key)),
        ("right", side(&right, &right_key)),
        ("select", Value::obj(select.into_iter().map(|(name, from)| (name, Value::Str(from))))),
    ];
    members.extend(if rng.chance(65) { interval(rng, plan) } else { window_join(rng, plan) });
    if rng.chance(40) {
        let units = rng.within(0, 8);
        members.push(("allowed_lateness", Value::Str(duration(plan, units))));
    }
    if rng.chance(20) {
        members.push(("late_side_output", "late".into()));
    }
    let operator = Value::obj([("name", Value::from(name)), ("join", Value::obj(members))]);
    (operator, Upstream { name: name.to_owned(), fields, keys, feeds: Feeds::Anything })
}

fn interval(rng: &mut Rng, plan: &Plan) -> Members {
    let lower = *rng.pick(&[0, 0, 0, -1, -3, -8, 1, 3]);
    let upper = lower + *rng.pick(&[0, 1, 2, 5, 10]);
    let mut members: Members = vec![
        ("type", "interval".into()),
        ("lower", Value::Str(duration(plan, lower))),
        ("upper", Value::Str(duration(plan, upper))),
    ];
    let matching = *rng.pick(&["", "inner", "left", "right", "full", "full"]);
    if !matching.is_empty() {
        members.push(("matching", matching.into()));
    }
    members
}

fn window_join(rng: &mut Rng, plan: &Plan) -> Members {
    let size = rng.within(1, 10);
    let mut window: Members = vec![("size", Value::Str(duration(plan, size)))];
    if rng.chance(50) {
        window.extend([("type", "sliding".into()), ("slide", Value::Str(duration(plan, rng.within(1, size))))]);
    } else {
        window.push(("type", "tumbling".into()));
    }
    if rng.chance(30) {
        window.push(("offset", Value::Str(duration(plan, rng.within(0, 2 * size)))));
    }
    let mut members: Members = vec![("type", "window".into()), ("window", Value::obj(window))];
    if rng.chance(20) {
        members.push(("matching", "inner".into()));
    }
    members
}

/// A processor by the script of the test guest, which reads `k` and `v`.
fn process(rng: &mut Rng, plan: &Plan, name: &str, upstreams: &[Upstream]) -> (Value, Upstream) {
    let keyed: Vec<Upstream> = upstreams.iter().filter(|u| u.keys.iter().any(|key| key == "k")).cloned().collect();
    let from = input(rng, &keyed, false).name.clone();
    let mut script: Vec<(&str, i64)> = Vec::new();
    let timers = rng.chance(75);
    let mut set = |rng: &mut Rng, percent: i64, name, least, most| {
        if rng.chance(percent) {
            script.push((name, rng.within(least, most)));
        }
    };
    // Rows of a key whose name is forgotten cannot be told from those of another one: then there are no timers.
    set(rng, if timers { 0 } else { 50 }, "seen_ttl", plan.unit, 10 * plan.unit);
    set(rng, 50, "ttl", plan.unit, 10 * plan.unit);
    set(rng, if timers { 80 } else { 0 }, "event", -2 * plan.unit, 8 * plan.unit);
    set(rng, if timers && plan.arrivals { 50 } else { 0 }, "processing", -2 * plan.unit, 8 * plan.unit);
    set(rng, 50, "again", 1, 3);
    set(rng, 30, "shift", -3 * plan.unit, 3 * plan.unit);
    for name in ["reject", "forget", "silent"] {
        set(rng, 40, name, 0, 3);
    }
    // On the unit of time, so that what falls due together is met.
    let on_unit = |(name, n): (&str, i64)| match name {
        "seen_ttl" | "ttl" | "event" | "processing" | "shift" => (name.to_owned(), (n / plan.unit * plan.unit).into()),
        _ => (name.to_owned(), n.into()),
    };
    let config = Value::obj(script.into_iter().map(on_unit));
    let hook = Value::obj([("component", Value::from("scripted-processor@1.0.0")), ("config", config)]);
    let operator = Value::obj([
        ("name", Value::from(name)),
        ("input", Value::Str(from)),
        ("key_by", Value::Arr(vec!["k".into()])),
        ("process", hook),
    ]);
    let numbers = ["rows", "total", "like", "distinct"].map(|name| (name.to_owned(), Kind::Number));
    let texts = ["k", "what"].map(|name| (name.to_owned(), Kind::Text));
    let fields = numbers.into_iter().chain(texts).collect();
    (operator, Upstream { name: name.to_owned(), fields, keys: vec!["k".to_owned()], feeds: Feeds::Anything })
}

/// One sink of an operator, now and then two.
fn sinks(rng: &mut Rng, plan: &Plan, input: &str, all: &mut Vec<Value>) {
    let names = if rng.chance(10) { vec![None, Some(format!("{input}-too"))] } else { vec![None] };
    for name in names {
        let kind = *rng.pick(&["transactional_log", "log"]);
        let log = Value::str(format!("out-{}", name.as_deref().unwrap_or(input)));
        let mut members: Members = vec![("input", input.into()), ("type", kind.into()), ("log", log)];
        members.extend(name.map(|name| ("name", Value::Str(name))));
        if rng.chance(25) {
            let stamps = ["version", "completeness", "generated_at"];
            let possible = &stamps[..if plan.arrivals { 3 } else { 2 }];
            let chosen: Vec<Value> = possible.iter().filter(|_| rng.chance(60)).map(|s| (*s).into()).collect();
            if !chosen.is_empty() {
                members.push(("stamp", Value::Arr(chosen)));
            }
        }
        all.push(Value::obj(members));
    }
}
