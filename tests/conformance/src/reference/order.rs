//! The order in which the rows that an operator emits at one event reach the next one: by key.
//!
//! Unlike the order of values (`json`), integers stand before all floats, and lists and objects compare as they are written.

use std::cmp::Ordering;

use crate::json::Value;

/// Field by field: null, false, true, integers, floats, texts, lists and objects.
pub(super) fn by_key(a: &[Value], b: &[Value]) -> Ordering {
    let fields = a.iter().zip(b).map(|(a, b)| kind(a).cmp(&kind(b)).then_with(|| within(a, b)));
    fields.fold(Ordering::Equal, Ordering::then)
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) => 2,
        Value::Float(_) => 3,
        Value::Str(_) => 4,
        Value::Arr(_) | Value::Obj(_) => 5,
    }
}

fn within(a: &Value, b: &Value) -> Ordering {
    if kind(a) == 5 { a.to_string().cmp(&b.to_string()) } else { a.cmp(b) }
}
