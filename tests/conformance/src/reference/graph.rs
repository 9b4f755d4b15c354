//! Sources, operators and sinks as a graph: which rows reach which operator, and when.
//!
//! Invariant: at each event every operator first takes the rows that its inputs emitted at this event, and only then sees
//! where their watermarks and the clock stand now. So what an operator emits reaches the next before its watermark does.

use std::collections::BTreeMap;

use super::join::Join;
use super::order::by_key;
use super::process::Process;
use super::spec::Spec;
use super::windows::Windows;
use super::{MINUS_INFINITY, Outcome, PLUS_INFINITY};
use crate::json::Value;
use crate::time::{Time, write_time};

/// A row on its way.
#[derive(Clone, Default)]
pub(super) struct Row {
    pub(super) time: Time,
    pub(super) fields: Value,
    pub(super) line: Value, // as it is put out: by a source the record, by an operator what a sink writes
    pub(super) place: Option<(Value, usize)>, // partition and offset; an operator's rows have none
    pub(super) clock: Option<Time>, // at which an operator emitted it
}

impl Row {
    /// Whether this takes back an earlier row of the same fields.
    pub(super) fn retracts(&self) -> bool {
        self.place.is_none() && !self.line.get("op").is_null()
    }
}

/// Why a row was not accepted, and the id of the operator that says so.
pub(super) struct Refusal {
    pub(super) reason: &'static str,
    pub(super) operator: String,
}

/// What operators of every kind have.
pub(super) struct Desk {
    pub(super) spec: Spec,
    pub(super) name: String,
    pub(super) watermark: Time,
    pub(super) clock: Option<Time>,
    pub(super) counts: BTreeMap<&'static str, usize>,
    pub(super) emitted: Vec<(Vec<Value>, Row)>, // at this event, each with the key that emitted it
}

impl Desk {
    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub(super) fn refusal(&self, reason: &'static str) -> Refusal {
        Refusal { reason, operator: self.name.clone() }
    }
}

/// What the kinds of operators have in common.
pub(super) trait Operator {
    fn desk(&mut self) -> &mut Desk;
    /// A row of the input at that place, judged against the watermark that stands.
    fn take(&mut self, input: usize, row: Row) -> Result<(), Refusal>;
    /// The watermark and the clock reach new places; what falls due on the way is done.
    fn advance(&mut self, watermark: Time, clock: Option<Time>);
    /// The watermark that the operators behind this one see.
    fn claim(&self) -> Time;
    /// Accepted rows that no pane has shown.
    fn unshown(&self) -> usize;
}

struct Node {
    inputs: Vec<String>,
    operator: Box<dyn Operator>,
}

/// Where an operator's rows go.
struct Sink {
    output: String,
    input: String,
    stamp: Vec<String>,
}

pub(super) struct Graph {
    long: bool,
    precedence: Value,
    pub(super) sources: Vec<Value>,
    nodes: Vec<Node>, // each after its inputs
    sinks: Vec<Sink>,
    counts: BTreeMap<&'static str, usize>,
    lines: BTreeMap<String, Vec<Value>>,
}

impl Graph {
    pub(super) fn new(pipeline: &Value) -> Self {
        let long = !pipeline.get("sources").is_null();
        let named = |name: &str, spec: &Value, more: &[(&str, Value)]| {
            let own = spec.members().map(|(key, value)| (key, value.clone()));
            Value::obj(own.chain([("name", name.into())]).chain(more.iter().cloned()))
        };
        let list = |key: &str, short: Value| if long { pipeline.get(key).items().to_vec() } else { vec![short] };
        // The short form: one source, one window operator, one sink.
        let sources = list("sources", named("source", pipeline.get("source"), &[]));
        let operators = list("operators", named("window", pipeline, &[("input", "source".into())]));
        let sinks = list("sinks", named("sink", pipeline.get("sink"), &[("input", "window".into())]));
        let one = sinks.len() == 1;
        let sink = |spec: &Value| {
            let spec = Spec(spec.clone());
            let name = if spec.0.get("name").is_null() { spec.text("input") } else { spec.text("name") };
            let output = if one { "output".to_owned() } else { format!("output {name}") };
            let stamp = spec.names("stamp").into_iter().map(str::to_owned).collect();
            Sink { output, input: spec.text("input").to_owned(), stamp }
        };
        let precedence =
            if pipeline.get("precedence").is_null() { 0.into() } else { pipeline.get("precedence").clone() };
        let sinks = sinks.iter().map(sink).collect();
        let nodes = in_order(&sources, operators.iter().map(node).collect());
        Graph { long, precedence, sources, nodes, sinks, counts: BTreeMap::new(), lines: BTreeMap::new() }
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// One event: `from` has the rows and the watermark of each source, then of each operator.
    pub(super) fn event(&mut self, mut from: BTreeMap<String, (Vec<Row>, Time)>, clock: Option<Time>) {
        let mut read =
            self.sources.iter().map(|s| (s.get("name").as_str().unwrap_or(""), false)).collect::<BTreeMap<_, _>>();
        for Node { inputs, operator } in &mut self.nodes {
            for (place, input) in inputs.iter().enumerate() {
                for row in from[input].0.clone() {
                    // Each row is counted once where it ends; what is handed on, or read once more, is `forwarded`.
                    let first = read.get_mut(input.as_str()).is_some_and(|read| !*read);
                    *self.counts.entry("forwarded").or_default() += usize::from(!first);
                    if let Err(refusal) = operator.take(place, row.clone()) {
                        refuse((&mut self.counts, &mut self.lines), &refusal, &row, self.long);
                    }
                }
                read.insert(input, true);
            }
            // The watermark of an operator is the least of its inputs'.
            let least = inputs.iter().map(|input| from[input].1).min().expect("an operator has an input");
            operator.advance(least, clock);
            // Rows of one event go on in the order of their keys, those of one key as they were emitted.
            let mut rows = std::mem::take(&mut operator.desk().emitted);
            rows.sort_by(|(a, _), (b, _)| by_key(a, b));
            let rows = rows.into_iter().map(|(_, row)| row).collect();
            from.insert(operator.desk().name.clone(), (rows, operator.claim()));
        }
        for sink in &self.sinks {
            for row in &from[&sink.input].0 {
                if row.line.get("pane").is_null() {
                    *self.counts.entry("emitted").or_default() += 1;
                }
                let line = sink.stamped(row, &self.precedence);
                self.lines.entry(sink.output.clone()).or_default().push(line);
            }
        }
    }

    pub(super) fn refuse(&mut self, refusal: &Refusal, row: &Row) {
        refuse((&mut self.counts, &mut self.lines), refusal, row, self.long);
    }

    /// "read + expanded = accepted + filtered + too_late + duplicate + rejected"
    pub(super) fn finish(mut self) -> Outcome {
        for node in &mut self.nodes {
            // "accepted, but no pane of any of their windows showed them"
            let unshown = node.operator.unshown();
            let own = std::mem::take(&mut node.operator.desk().counts);
            own.into_iter()
                .chain([("unshown", unshown)])
                .for_each(|(what, n)| *self.counts.entry(what).or_default() += n);
        }
        let count = |what| (what, Value::int(self.counts.get(what).copied().unwrap_or(0)));
        let names = "read expanded accepted filtered too_late duplicate rejected partly_late unshown retractions";
        let more = if self.long { "forwarded emitted" } else { "" };
        let panes = Value::obj(["EARLY", "ON_TIME", "LATE"].map(count));
        let names = names.split(' ').chain(more.split_whitespace());
        Outcome { lines: self.lines, summary: Value::obj(names.map(count).chain([("panes", panes)])) }
    }
}

fn node(spec: &Value) -> Node {
    let name = spec.get("name").as_str().expect("an operator has a name").to_owned();
    let desk = |spec: &Value| Desk {
        spec: Spec(spec.clone()),
        name,
        watermark: MINUS_INFINITY,
        clock: None,
        counts: BTreeMap::new(),
        emitted: Vec::new(),
    };
    let input = |path: &str| spec.at(path).as_str().expect("an operator has an input").to_owned();
    if !spec.get("join").is_null() {
        let inputs = vec![input("join.left.input"), input("join.right.input")];
        return Node { inputs, operator: Box::new(Join::new(desk(spec.get("join")))) };
    }
    let processes = !spec.get("process").is_null();
    let operator: Box<dyn Operator> =
        if processes { Box::new(Process::new(desk(spec))) } else { Box::new(Windows::new(desk(spec))) };
    Node { inputs: vec![input("input")], operator }
}

/// The operators, each after its inputs.
fn in_order(sources: &[Value], mut left: Vec<Node>) -> Vec<Node> {
    let mut known: Vec<String> = sources.iter().filter_map(|s| s.get("name").as_str()).map(str::to_owned).collect();
    let mut nodes = Vec::new();
    while !left.is_empty() {
        let ready = left.iter().position(|node| node.inputs.iter().all(|input| known.contains(input)));
        let mut node = left.remove(ready.expect("a graph has no cycle"));
        known.push(node.operator.desk().name.clone());
        nodes.push(node);
    }
    nodes
}

type Books<'a> = (&'a mut BTreeMap<&'static str, usize>, &'a mut BTreeMap<String, Vec<Value>>);

fn refuse((counts, lines): Books<'_>, refusal: &Refusal, row: &Row, long: bool) {
    let (partition, offset) = row.place.clone().map_or((Value::Null, Value::Null), |(p, o)| (p, Value::int(o)));
    let members = [("partition", partition), ("offset", offset), ("record", row.line.clone())];
    let operator = long.then(|| ("operator", Value::str(&*refusal.operator)));
    let line = Value::obj(members.into_iter().chain([("reason", refusal.reason.into())]).chain(operator));
    let (output, count) = match refusal.reason {
        "too-late" => ("too-late", "too_late"),
        "duplicate" => ("duplicates", "duplicate"),
        _ => ("dead-letter", "rejected"),
    };
    lines.entry(output.to_owned()).or_default().push(line);
    *counts.entry(count).or_default() += 1;
}

impl Sink {
    /// The line with what `stamp` asks for.
    fn stamped(&self, row: &Row, precedence: &Value) -> Value {
        let stamp = |name: &String| match (name.as_str(), row.line.at("pane.timing").as_str()) {
            ("version", _) => {
                let index = row.line.at("pane.index").as_int().unwrap_or(0);
                let version =
                    [("precedence", precedence.clone()), ("restore_epoch", 0.into()), ("pane_index", index.into())];
                ("version", Value::obj(version))
            }
            ("completeness", Some("EARLY")) => ("completeness", "provisional".into()),
            ("completeness", Some("LATE")) => ("completeness", "corrected".into()),
            ("completeness", _) => ("completeness", "on_time".into()),
            ("generated_at", _) => ("generated_at", row.clock.map_or(Value::Null, write_time)),
            (other, _) => panic!("no stamp: {other}"),
        };
        let own = row.line.members().map(|(key, value)| (key, value.clone()));
        Value::obj(own.chain(self.stamp.iter().map(stamp)))
    }
}

/// A time of an output line; "null where it is infinite".
pub(super) fn instant(t: Time) -> Value {
    if t == MINUS_INFINITY || t == PLUS_INFINITY { Value::Null } else { write_time(t) }
}
