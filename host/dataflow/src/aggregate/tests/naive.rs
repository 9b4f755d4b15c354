//! Every function in a few lines over a list of all values: what the vectorised ones must agree with.

use std::collections::BTreeMap;

use num_bigint::BigInt;

use super::super::superaccumulator::tests::{nearest, scaled};
use super::*;

/// A present value, its event time and its arrival number.
pub(super) type Item = (EventTime, u64, Value);

/// What a pane of these values shows, given in any order.
pub(super) fn pane(function: Function, items: &[Item]) -> Value {
    let mut items = items.to_vec();
    items.sort_by_key(|(time, arrival, _)| (*time, *arrival));
    let values: Vec<&Value> = items.iter().map(|(_, _, value)| value).collect();
    let mut counts: BTreeMap<&Value, i64> = BTreeMap::new();
    values.iter().for_each(|value| *counts.entry(value).or_default() += 1);
    let of = |value: Option<&&Value>| value.map_or(Value::Null, |value| (*value).clone());
    let count = |count: usize| Value::Int(i64::try_from(count).unwrap());
    match function {
        Function::Count => count(values.len()),
        Function::Sum if values.iter().all(|value| matches!(value, Value::Int(_))) => int_sum(&values),
        Function::Sum => Value::Float(exact_sum(&values)),
        Function::Avg if values.is_empty() => Value::Null,
        Function::Avg => Value::Float(exact_sum(&values) / f64::from(u32::try_from(values.len()).unwrap())),
        Function::Min => of(values.iter().min()),
        Function::Max => of(values.iter().max()),
        Function::First => of(values.first()),
        Function::Last => of(values.last()),
        Function::CountDistinct | Function::ApproxCountDistinct => count(counts.len()),
        Function::TopK { .. } if values.is_empty() => Value::Null,
        Function::TopK { k } => {
            let mut ranked: Vec<(&Value, i64)> = counts.into_iter().collect();
            ranked.sort_by_key(|(_, count)| -count);
            ranked.truncate(index(k));
            let entry = |(value, count): &(&Value, i64)| format!("{{\"count\":{count},\"value\":{}}}", text(value));
            json(&format!("[{}]", ranked.iter().map(entry).collect::<Vec<_>>().join(",")))
        }
    }
}

fn int_sum(values: &[&Value]) -> Value {
    let ints = values.iter().map(|value| if let Value::Int(value) = value { i128::from(*value) } else { 0 });
    if values.is_empty() { Value::Null } else { Value::Int(i64::try_from(ints.sum::<i128>()).unwrap()) }
}

fn exact_sum(values: &[&Value]) -> f64 {
    let exact: BigInt = values
        .iter()
        .map(|value| match value {
            Value::Int(value) => BigInt::from(*value) << 1074,
            Value::Float(value) => scaled(*value),
            other => panic!("{other:?} is no number"),
        })
        .sum();
    nearest(&exact)
}

fn text(value: &Value) -> String {
    let mut out = Vec::new();
    tidegate_formats::write_value(&mut out, value.as_ref());
    String::from_utf8(out).unwrap()
}
