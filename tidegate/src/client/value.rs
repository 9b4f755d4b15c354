//! Reading what the API answered, leniently: a field that an older or newer platform does not have shows as `-`.

use serde_json::Value;
use tidegate_formats::format_time;

use crate::live::count;

/// A text, a number or a truth at a JSON pointer, as people read it.
pub(super) fn text(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.as_u64().map_or_else(|| number.to_string(), count),
        Some(other) => other.to_string(),
    }
}

/// A count; 0 where there is none.
pub(super) fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// A time in ms, or a text that is one.
pub(super) fn time(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer).and_then(Value::as_i64) {
        // To the second: milliseconds say nothing to a person here.
        Some(time) => format_time(time - time.rem_euclid(1000)),
        None => text(value, pointer),
    }
}

/// Whether something is so.
pub(super) fn yes(value: &Value, pointer: &str) -> String {
    let so = match value.pointer(pointer) {
        None | Some(Value::Null | Value::Bool(false)) => "no",
        Some(_) => "yes",
    };
    so.to_owned()
}

/// A list of texts, with commas.
pub(super) fn texts(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer) {
        Some(Value::Array(items)) if !items.is_empty() => {
            let items = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
            items.collect::<Vec<_>>().join(", ")
        }
        _ => "-".to_owned(),
    }
}

/// A member of each object of a list, with commas; those that have none are left out.
pub(super) fn each(value: &Value, list: &str, member: &str) -> String {
    let items = value.pointer(list).and_then(Value::as_array).into_iter().flatten();
    let found: Vec<&str> = items.filter_map(|item| item.get(member)?.as_str()).collect();
    if found.is_empty() { "-".to_owned() } else { found.join(", ") }
}

/// The first so many characters of a digest or an id: enough to tell two apart.
pub(super) fn short(value: &Value, pointer: &str) -> String {
    text(value, pointer).chars().take(12).collect()
}

/// Two columns: what it is, and what it holds.
pub(super) fn facts(facts: &[(&str, String)]) -> String {
    let widest = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, fact): &(&str, String)| format!("{name:<widest$}  {}\n", crate::live::clean(fact));
    facts.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_there_is_a_dash() {
        let job = json!({"lag": null, "version": 14, "state": "running", "at": 1_792_662_060_999_i64});
        assert_eq!(text(&job, "/lag/records"), "-");
        assert_eq!((text(&job, "/version"), text(&job, "/state")), ("14".into(), "running".into()));
        assert_eq!(time(&job, "/at"), "2026-10-22T09:41:00Z");
        assert_eq!(texts(&json!({"a": ["x", "y"]}), "/a"), "x, y");
        let job = json!({"sinks": [{"stream": null, "table": "t"}, {"stream": "s", "table": null}, {"table": "u"}]});
        assert_eq!((each(&job, "/sinks", "table"), each(&job, "/sinks", "stream")), ("t, u".into(), "s".into()));
        assert_eq!((each(&job, "/sinks", "name"), each(&job, "/sources", "name")), ("-".into(), "-".into()));
    }

    #[test]
    fn facts_stand_below_each_other() {
        assert_eq!(facts(&[("job", "a".into()), ("version", "1".into())]), "job      a\nversion  1\n");
    }
}
