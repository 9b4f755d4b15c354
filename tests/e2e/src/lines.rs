//! Output lines as values, in the only order that is fixed: that of each key.

use std::collections::BTreeMap;

use serde_json::Value;

/// The lines as JSON objects.
///
/// # Panics
/// If one is none.
pub fn parsed(text: &str) -> Vec<Value> {
    let parse = |line: &str| match serde_json::from_str(line) {
        Ok(value @ Value::Object(_)) => value,
        other => panic!("{line}: {other:?}"),
    };
    text.lines().map(parse).collect()
}

/// The lines of each key, in their order.
///
/// # Panics
/// If one is no JSON object.
pub fn by_key(text: &str, key: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (line, value) in text.lines().zip(parsed(text)) {
        lines.entry(fields(&value, key)).or_default().push(line.to_owned());
    }
    lines
}

/// The last pane of each key and window.
///
/// # Panics
/// If a line is no JSON object.
pub fn last_per_window(text: &str, key: &[&str]) -> BTreeMap<String, Value> {
    let with_window: Vec<&str> = key.iter().copied().chain(["window_start", "window_end"]).collect();
    parsed(text).into_iter().map(|pane| (fields(&pane, &with_window), pane)).collect()
}

/// The values of these fields as one text.
fn fields(value: &Value, names: &[&str]) -> String {
    Value::Array(names.iter().map(|name| value[*name].clone()).collect()).to_string()
}
