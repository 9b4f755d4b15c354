//! Compares what a run put out with what the reference says, and finds the first difference.
//!
//! "Output order is fixed per key": the lines of a sink are compared as one sequence per key, lines of side outputs as a
//! set, the summary exactly. Invariant: only `approx_count_distinct` has a tolerance; all else is equal by type and value.

use std::collections::BTreeMap;

use crate::json::Value;
use crate::reference::Outcome;
use crate::run::Finished;
use crate::scenario::Scenario;

/// The members of side-output lines that the pages fix; the last one in the long form of a pipeline only.
const SIDE_FIELDS: [&str; 5] = ["partition", "offset", "reason", "record", "operator"];

/// A difference, of one kind, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where: `exit`, `unreadable`, an output's flag, or `summary`.
    pub kind: &'static str,
    /// Expected against got, for the first differing key or line.
    pub text: String,
}

/// The first difference, if there is one.
pub fn difference(scenario: &Scenario, expected: &Outcome, got: &Finished) -> Option<Difference> {
    let found = |kind, text| Some(Difference { kind, text });
    if got.status != Some(0) {
        return found("exit", format!("exit status {:?} instead of 0:\n{}", got.status, got.stderr));
    }
    if let Some((flag, line)) = got.unreadable.first() {
        return found("unreadable", format!("no JSON object in {flag}: {line}"));
    }
    for sink in sinks(scenario) {
        if let Some(text) = rows(&sink, lines(expected, &sink.output), lines(&got.outcome, &sink.output)) {
            return found("output", format!("{}: {text}", sink.output));
        }
    }
    let long = usize::from(!scenario.pipeline.get("sources").is_null());
    for flag in ["too-late", "duplicates", "dead-letter"] {
        let fields = &SIDE_FIELDS[..4 + long];
        let [want, have] = [expected, &got.outcome].map(|o| side(lines(o, flag), fields));
        if want != have {
            return found(flag, format!("{flag}: {}", first_difference(&want, &have)));
        }
    }
    let (want, have) = (&expected.summary, &got.outcome.summary);
    (want != have)
        .then(|| Difference { kind: "summary", text: format!("summary\n  expected {want}\n  got      {have}") })
}

fn lines<'a>(outcome: &'a Outcome, flag: &str) -> &'a [Value] {
    outcome.lines.get(flag).map_or(&[], Vec::as_slice)
}

/// What is known of a sink: its output, the operator whose rows it takes, and that operator's fields.
struct SinkLines<'a> {
    output: String,
    operator: &'a Value,
}

/// The sinks; the short form is one window operator with one sink.
fn sinks(scenario: &Scenario) -> Vec<SinkLines<'_>> {
    let operators = scenario.pipeline.get("operators").items();
    let operator = |name: &Value| operators.iter().find(|o| o.get("name") == name).unwrap_or(&Value::Null);
    let all = scenario.pipeline.get("sinks").items();
    let outputs = scenario.outputs().into_iter().filter(|output| output.flag == "output").map(|output| output.key);
    match all {
        [] => outputs.map(|output| SinkLines { output, operator: &scenario.pipeline }).collect(),
        _ => {
            outputs.zip(all).map(|(output, sink)| SinkLines { output, operator: operator(sink.get("input")) }).collect()
        }
    }
}

impl SinkLines<'_> {
    /// The key of a line as far as the line shows it; of an operator whose lines show no key the whole line, so that
    /// lines are compared as a set.
    fn key(&self, line: &Value) -> Vec<Value> {
        let names = |at: &str| self.operator.at(at).items().iter().filter_map(Value::as_str).collect::<Vec<_>>();
        if self.operator.get("join").is_null() {
            return names("key_by").into_iter().map(|field| line.get(field).clone()).collect();
        }
        // A join's: of either side, by the name under which it was selected.
        let (left, right) = (names("join.left.key_by"), names("join.right.key_by"));
        let selected = |from: String| {
            let is = |(_, field): &(&str, &Value)| field.as_str() == Some(&from);
            self.operator.at("join.select").members().find(is).map(|(name, _)| line.get(name).clone())
        };
        let fields = left.iter().zip(right).map(|(l, r)| {
            let (l, r) = (selected(format!("left.{l}"))?, selected(format!("right.{r}"))?);
            Some(if l.is_null() { r } else { l })
        });
        fields.collect::<Option<Vec<Value>>>().unwrap_or_else(|| vec![line.clone()])
    }

    fn approximate(&self) -> Vec<&str> {
        let approximate = |spec: &Value| spec.as_str().or(spec.get("fn").as_str()) == Some("approx_count_distinct");
        self.operator.get("aggregate").members().filter(|(_, spec)| approximate(spec)).map(|(name, _)| name).collect()
    }
}

fn side(lines: &[Value], fields: &[&str]) -> Vec<Value> {
    let fixed = |line: &Value| Value::obj(fields.iter().map(|field| (*field, line.get(field).clone())));
    let mut lines: Vec<Value> = lines.iter().map(fixed).collect();
    lines.sort_by_cached_key(|l| (l.get("partition").clone(), l.get("offset").clone(), l.clone()));
    lines
}

fn first_difference(want: &[Value], have: &[Value]) -> String {
    let place = want.iter().zip(have).take_while(|(w, h)| w == h).count();
    let line = |lines: &[Value]| lines.get(place).map_or("(no line)".to_owned(), Value::to_string);
    format!("{} lines expected, {} got\n  expected {}\n  got      {}", want.len(), have.len(), line(want), line(have))
}

/// Lines by key, keys in order.
fn by_key<'a>(sink: &SinkLines, lines: &'a [Value]) -> BTreeMap<Vec<Value>, Vec<&'a Value>> {
    let mut keys: BTreeMap<Vec<Value>, Vec<&Value>> = BTreeMap::new();
    lines.iter().for_each(|line| keys.entry(sink.key(line)).or_default().push(line));
    keys
}

fn rows(sink: &SinkLines, want: &[Value], have: &[Value]) -> Option<String> {
    let approximate = sink.approximate();
    let (want, have) = (by_key(sink, want), by_key(sink, have));
    for key in want.keys().chain(have.keys()) {
        let none = Vec::new();
        let (w, h) = (want.get(key).unwrap_or(&none), have.get(key).unwrap_or(&none));
        let same = |(w, h): (&&Value, &&Value)| same_line(w, h, &approximate);
        let place = w.iter().zip(h).take_while(|(w, h)| same((w, h))).count();
        if place < w.len().max(h.len()) {
            let name = Value::Arr(key.clone());
            return Some(format!("lines of key {name} from place {place}{}", beside(&w[place..], &h[place..])));
        }
        if let Some(line) = h.iter().find(|line| !line.get("op").is_null() && !retracts_an_earlier(line, h)) {
            return Some(format!("a retraction that repeats no earlier pane: {line}"));
        }
    }
    None
}

fn beside(want: &[&Value], have: &[&Value]) -> String {
    let block = |title: &str, lines: &[&Value]| {
        let shown: String = lines.iter().take(8).map(|l| format!("\n    {l}")).collect();
        format!("\n  {title} ({} more lines){shown}", lines.len())
    };
    block("expected", want) + &block("got", have)
}

/// Whole lines are equal, but for approximate counts: within 6 standard errors of 1.6 %, at least 1 from two values on.
fn same_line(want: &Value, have: &Value, approximate: &[&str]) -> bool {
    let (Value::Obj(w), Value::Obj(h)) = (want, have) else { return false };
    let close = |w: &Value, h: &Value| match (w, h) {
        (Value::Int(w), Value::Int(h)) => (w - h).abs() <= (w * 96 / 1000).max(i64::from(*w > 1)),
        _ => false,
    };
    w.len() == h.len()
        && w.iter().all(|(name, value)| {
            h.get(name).is_some_and(|h| h == value || approximate.contains(&name.as_str()) && close(value, h))
        })
}

/// "the earlier record unchanged, field for field, with `"op": "retract"` added"
fn retracts_an_earlier(retraction: &Value, lines: &[&Value]) -> bool {
    let Value::Obj(mut earlier) = retraction.clone() else { return false };
    let op = earlier.remove("op");
    let earlier = Value::Obj(earlier);
    op == Some(Value::from("retract")) && lines.iter().take_while(|l| **l != retraction).any(|l| **l == earlier)
}
