//! Lines of input: disorder, equal and boundary times, silence, odd values, and lines that are no records.
//!
//! Events are drawn around the pipeline's unit of time, so that most comparisons of the page meet their equality.

use super::{Plan, Rng};
use crate::json::Value;
use crate::time::write_time;

/// Which values the field `v` takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Small,
    /// Integers near the ends of 64 bits.
    Huge,
    /// Floats of all sizes, among them integers.
    Floats,
    /// Integers and floats.
    Numbers,
    /// Integers that are seldom the same.
    Many,
    /// Floats that add up to floats, and integers.
    Moderate,
    Texts,
    Anything,
}

impl Values {
    pub(super) const ALL: [Values; 7] =
        [Values::Small, Values::Huge, Values::Floats, Values::Numbers, Values::Many, Values::Texts, Values::Anything];
}

const SMALL: &[&str] = &["0", "1", "2", "3", "-1", "7"];
const HUGE: &[&str] = &[
    "9223372036854775807",
    "-9223372036854775808",
    "4611686018427387904",
    "-4611686018427387905",
    "1",
    "-1",
    "0",
    "9007199254740993",
];
const FLOATS: &[&str] = &[
    "0.1",
    "0.2",
    "0.30000000000000004",
    "1e308",
    "-1e308",
    "1.7976931348623157e308",
    "5e-324",
    "-0.0",
    "1.0",
    "1e0",
    "2.5",
    "-1e-7",
    "123456789.125",
    "1E2",
    "9007199254740993",
    "3",
    "1e-400",
    "0.1000000000000000055511151231257827021181583404541015625",
    "2.2250738585072011e-308",
    "123456789012345678901234567890",
    "8.41e21",
    "9007199254740993.0",
];
const MODERATE: &[&str] = &["0.1", "0.2", "2.5", "1.0", "1", "-0.3", "2", "1e16", "-1e16"];
const TEXTS: &[&str] =
    &[r#""a""#, r#""b""#, r#""""#, r#""é""#, r#""\u00e9""#, r#""Z""#, r#""\ud83d\ude00""#, r#""￿""#, r#""1""#];
const OTHERS: &[&str] =
    &["true", "false", "[1,2]", "[]", r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#, "{}", "[1,2.0]", "-0"];
/// Keys that are more than a few short texts.
const ODD_KEYS: &[&str] = &[
    "1",
    "1.0",
    "\"1\"",
    "null",
    "{\"a\":1}",
    "{ \"a\" : 1 }",
    "[1]",
    "true",
    "\"a text that is longer than any short form of texts\"",
    "\"\\u0000\"",
    "\"\"",
    "1e0",
    "\"\\/\"",
    "-1",
];
/// Lines that are no JSON objects.
const BROKEN: &[&str] = &[
    "oops",
    "{",
    r#"{"ts":1,"k":"a""#,
    "[1,2]",
    "42",
    "null",
    "\"text\"",
    r#"{"ts":1,"x":tru}"#,
    r#"{"ts":1,}"#,
    r#"{"ts":1} {"ts":2}"#,
    r#"{'ts':1}"#,
    r#"{"ts":01}"#,
    r#"{"ts":1,"x":.5}"#,
    r#"{"ts":1,"x":NaN}"#,
    "{\"ts\":1,\"x\":\"\t\"}",
    r#"{"ts":1,"x":"\x"}"#,
    r#"{"ts" 1}"#,
    r#"{ts:1}"#,
    r#"{"ts":1,"x":[1 2]}"#,
    r#"{"ts":1,"x":+1}"#,
    r#"{"ts":1,"x":1.}"#,
];
/// Values of the time field that are no times.
const BAD_TIMES: &[&str] = &[
    "null",
    "true",
    "1.0",
    "1e3",
    r#""yesterday""#,
    r#""2026-10-22""#,
    r#""2026-10-22T09:41:00""#,
    r#""2026-02-30T00:00:00Z""#,
    "253402300800000",
    "9223372036854775807",
    "9223372036854775808",
    r#""0001-01-01T00:00:00+00:01""#,
    "[]",
    r#""""#,
    r#""2026-10-22T09:41:00+0100""#,
    r#""2026-10-22T09:41Z""#,
];

/// The lines of each file.
pub(super) fn draw(rng: &mut Rng, plan: &Plan, pipeline: &Value) -> Vec<Vec<String>> {
    let mut lines: Vec<Vec<String>> = vec![Vec::new(); plan.files];
    let count = match plan.sessions || plan.shared {
        true => *rng.pick(&[20, 40, 80]),
        false if plan.wide || !rng.chance(2) => *rng.pick(&[0, 3, 8, 20, 40, 60, 120]),
        false => 1500,
    };
    let disorder = if plan.sessions || plan.shared { 15 } else { *rng.pick(&[0, 3, 8, 15]) };
    let skew: Vec<i64> = (0..4).map(|_| *rng.pick(&[0, 0, 0, 3, -4, 15])).collect();
    let parts = rng.within(1, 4);
    let (mut now, mut quiet) = (0, None);
    for _ in 0..count {
        now += *rng.pick(&[0, 0, 0, 1, 1, 1, 2, 3]);
        if rng.chance(4) {
            now += rng.within(5, 40);
        }
        // Now and then one partition falls silent for a while.
        if rng.chance(5) {
            quiet = if rng.chance(60) { Some(rng.within(0, 3)) } else { None };
        }
        let part = match rng.within(0, parts - 1) {
            p if Some(p) == quiet => (p + 1) % parts,
            p => p,
        };
        let file = if plan.files == 1 { 0 } else { usize::try_from(part).expect("from zero") % plan.files };
        if plan.broken && rng.chance(12) {
            let broken = if rng.chance(40) { *rng.pick(&["", "", "  ", "\r"]) } else { *rng.pick(BROKEN) };
            lines[file].push(broken.to_owned());
            continue;
        }
        let late = if rng.chance(60) { 0 } else { rng.within(0, disorder) };
        let at = now + skew[usize::try_from(part).expect("0 to 3")] - late;
        let line = event(rng, plan, punctuated(pipeline.get("source")), (now, part, at));
        lines[file].push(line);
    }
    lines
}

fn punctuated(source: &Value) -> bool {
    source.at("watermark.strategy").as_str() == Some("punctuated")
}

/// The lines of each file of a graph, whose sources are named beside them.
pub(super) fn draw_graph(rng: &mut Rng, plan: &Plan, sources: &[&Value]) -> Vec<Vec<String>> {
    let mut lines: Vec<Vec<String>> = vec![Vec::new(); sources.len()];
    let (disorder, skew) = (*rng.pick(&[0, 3, 8, 15]), *rng.pick(&[0, 0, 3, -6]));
    let count = *rng.pick(&[4, 8, 20, 40, 60, 100]);
    let mut now = 0;
    for _ in 0..count {
        now += *rng.pick(&[0, 0, 0, 1, 1, 1, 2, 3]);
        if rng.chance(4) {
            now += rng.within(5, 40);
        }
        let file = *rng.pick(&(0..lines.len()).collect::<Vec<_>>());
        if plan.broken && rng.chance(12) {
            lines[file].push((*rng.pick(BROKEN)).to_owned());
            continue;
        }
        let late = if rng.chance(60) { 0 } else { rng.within(0, disorder) };
        let part = rng.within(0, 3);
        let at = now + if file == 0 { skew } else { 0 } - late;
        let line = event(rng, plan, punctuated(sources[file]), (now, part, at));
        lines[file].push(line);
    }
    lines
}

/// One line; `place` is its arrival, its partition and its event time, in units.
fn event(rng: &mut Rng, plan: &Plan, punctuated: bool, place: (i64, i64, i64)) -> String {
    let (now, part, at) = place;
    let mut t = plan.base + at * plan.unit;
    if rng.chance(10) {
        t += *rng.pick(&[-1, 1]);
    }
    let mut members: Vec<(&str, String)> = Vec::new();
    let bad = if plan.broken { 10 } else { 1 };
    members.push(("ts", if rng.chance(bad) { (*rng.pick(BAD_TIMES)).to_owned() } else { time(rng, t) }));
    if plan.arrivals {
        let arrival = plan.base + now * plan.unit;
        match rng.within(0, 99) {
            0..=3 => {}
            4 => members.push(("at", (*rng.pick(BAD_TIMES)).to_owned())),
            5..=7 => {
                let earlier = arrival - rng.within(0, 5) * plan.unit;
                members.push(("at", time(rng, earlier)));
            }
            _ => members.push(("at", time(rng, arrival))),
        }
    }
    if plan.partition_field {
        let names = ["0", "\"0\"", "0.0", "\"b\""];
        if part > 0 || rng.chance(80) {
            members.push(("p", names[usize::try_from(part).expect("0 to 3")].to_owned()));
        }
    }
    members.extend(fields(rng, plan));
    if punctuated && rng.chance(45) {
        let mark = match rng.within(0, 9) {
            0 => "false".to_owned(),
            1 => (*rng.pick(&["null", "\"soon\"", "1.5", "[]"])).to_owned(),
            2..=5 => "true".to_owned(),
            _ => {
                let claim = t - rng.within(-2, 5) * plan.unit;
                time(rng, claim)
            }
        };
        members.push(("mark", mark));
    }
    write(rng, &mut members)
}

/// Key, identity and values.
fn fields(rng: &mut Rng, plan: &Plan) -> Vec<(&'static str, String)> {
    let mut members = Vec::new();
    let key = if plan.odd_keys {
        *rng.pick(ODD_KEYS)
    } else if plan.sessions {
        "\"a\""
    } else {
        *rng.pick(&["\"a\"", "\"b\"", "\"c\""])
    };
    if !(plan.odd_keys && rng.chance(10)) {
        members.push(("k", key.to_owned()));
    }
    if rng.chance(70) {
        members.push(("j", (*rng.pick(if plan.odd_keys { OTHERS } else { &["1", "2"] })).to_owned()));
    }
    let pools: &[&[&str]] = match plan.values {
        Values::Small | Values::Many => &[SMALL],
        Values::Huge => &[HUGE],
        Values::Moderate => &[MODERATE],
        Values::Floats => &[FLOATS],
        Values::Numbers => &[SMALL, FLOATS, HUGE],
        Values::Texts => &[TEXTS],
        Values::Anything => &[SMALL, FLOATS, TEXTS, OTHERS],
    };
    let pool = *rng.pick(pools);
    if plan.values == Values::Many {
        members.push(("v", rng.within(-100_000, 100_000).to_string()));
    } else if rng.chance(88) {
        members.push(("v", (*rng.pick(pool)).to_owned()));
    } else if rng.chance(50) {
        members.push(("v", "null".to_owned()));
    }
    if rng.chance(60) {
        members.push(("w", (*rng.pick(&["1", "1.0", "2", "0.5", "null", "\"1\""])).to_owned()));
    }
    if rng.chance(70) {
        members.push(("kind", (*rng.pick(&["\"click\"", "\"view\"", "\"click \"", "null"])).to_owned()));
    }
    if rng.chance(85) {
        members.push(("id", (*rng.pick(&["1", "2", "3", "4", "5", "6", "7", "1.0", "\"1\"", "null"])).to_owned()));
    }
    if rng.chance(30) {
        members.push(("flag", (*rng.pick(&["true", "false", "null", "1"])).to_owned()));
    }
    members
}

/// A time as an integer, or as RFC 3339 in one of the forms that mean the same millisecond.
fn time(rng: &mut Rng, t: i64) -> String {
    if rng.chance(60) {
        return t.to_string();
    }
    let write = |shift: i64| {
        let Value::Str(text) = write_time(i128::from(t + shift)) else { unreachable!("times are written as text") };
        text.trim_end_matches('Z').to_owned()
    };
    let text = match rng.within(0, 5) {
        0 => format!("{}+02:00", write(7_200_000)),
        1 => format!("{}-05:30", write(-19_800_000)),
        // Floored.
        2 if t % 1000 != 0 => format!("{}9999Z", write(0)),
        2 => format!("{}.0009999999999Z", write(0)),
        3 => format!("{}-00:00", write(0)),
        4 => format!("{}z", write(0).to_lowercase()),
        _ => format!("{}Z", write(0)),
    };
    format!("\"{text}\"")
}

/// The members as one line, at times in another order, with white space or with a key twice.
fn write(rng: &mut Rng, members: &mut Vec<(&str, String)>) -> String {
    if rng.chance(20) {
        members.reverse();
    }
    if rng.chance(3) {
        members.insert(0, ("v", "\"the last of equal keys counts\"".to_owned()));
    }
    let (space, tail) = if rng.chance(10) { (" ", *rng.pick(&[" ", "\t", "\r"])) } else { ("", "") };
    let escaped = rng.chance(3);
    let name = |k: &str| if escaped { k.replace('k', "\\u006b").replace('v', "\\u0076") } else { k.to_owned() };
    let body: Vec<String> = members.iter().map(|(k, v)| format!("\"{}\":{space}{v}", name(k))).collect();
    format!("{space}{{{}}}{tail}", body.join(","))
}
