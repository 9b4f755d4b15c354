//! Compares what a run put out with what the reference says, and finds the first difference.
//!
//! "Output order is fixed per key": panes are compared as one sequence per key, lines of side outputs as a set, the
//! summary exactly. Invariant: only `approx_count_distinct` has a tolerance; all else is equal by type and value.

use std::collections::BTreeMap;

use crate::json::Value;
use crate::reference::Outcome;
use crate::run::Finished;
use crate::scenario::Scenario;

/// The members of side-output lines that the pages fix.
const SIDE_FIELDS: [&str; 4] = ["partition", "offset", "reason", "record"];

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
    if let Some(text) = panes(scenario, lines(expected, "output"), lines(&got.outcome, "output")) {
        return found("output", text);
    }
    for flag in ["too-late", "duplicates", "dead-letter"] {
        let [want, have] = [expected, &got.outcome].map(|o| side(lines(o, flag)));
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

fn side(lines: &[Value]) -> Vec<Value> {
    let fixed = |line: &Value| Value::obj(SIDE_FIELDS.map(|field| (field, line.get(field).clone())));
    let mut lines: Vec<Value> = lines.iter().map(fixed).collect();
    lines.sort_by_cached_key(|l| (l.get("partition").clone(), l.get("offset").clone(), l.clone()));
    lines
}

fn first_difference(want: &[Value], have: &[Value]) -> String {
    let place = want.iter().zip(have).take_while(|(w, h)| w == h).count();
    let line = |lines: &[Value]| lines.get(place).map_or("(no line)".to_owned(), Value::to_string);
    format!("{} lines expected, {} got\n  expected {}\n  got      {}", want.len(), have.len(), line(want), line(have))
}

/// Panes by key, keys in order.
fn by_key<'a>(scenario: &Scenario, lines: &'a [Value]) -> BTreeMap<Vec<Value>, Vec<&'a Value>> {
    let mut keys: BTreeMap<Vec<Value>, Vec<&Value>> = BTreeMap::new();
    for line in lines {
        let fields = scenario.pipeline.get("key_by").items();
        let key = fields.iter().filter_map(Value::as_str).map(|field| line.get(field).clone()).collect();
        keys.entry(key).or_default().push(line);
    }
    keys
}

fn panes(scenario: &Scenario, want: &[Value], have: &[Value]) -> Option<String> {
    let approximate: Vec<&str> = approximate_fields(scenario);
    let (want, have) = (by_key(scenario, want), by_key(scenario, have));
    for key in want.keys().chain(have.keys()) {
        let none = Vec::new();
        let (w, h) = (want.get(key).unwrap_or(&none), have.get(key).unwrap_or(&none));
        let same = |(w, h): (&&Value, &&Value)| same_line(w, h, &approximate);
        let place = w.iter().zip(h).take_while(|(w, h)| same((w, h))).count();
        if place < w.len().max(h.len()) {
            let name = Value::Arr(key.clone());
            return Some(format!("panes of key {name} from place {place}{}", beside(&w[place..], &h[place..])));
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

fn approximate_fields(scenario: &Scenario) -> Vec<&str> {
    let approximate = |spec: &Value| spec.as_str().or(spec.get("fn").as_str()) == Some("approx_count_distinct");
    scenario.pipeline.get("aggregate").members().filter(|(_, spec)| approximate(spec)).map(|(name, _)| name).collect()
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
