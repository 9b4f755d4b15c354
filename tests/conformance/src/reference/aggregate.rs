//! Section 5: the built-in aggregates, computed anew from all the rows of a pane.
//!
//! Invariant: `refusal` is asked before a row is accepted, so `value` meets only what its function takes.

use std::collections::BTreeMap;

use super::Record;
use super::pipeline::Aggregate;
use crate::exact::ExactSum;
use crate::json::Value;
use crate::time::Time;

impl Aggregate {
    /// The value of a row that this aggregate counts: "`where` never matches null. Nulls are skipped, as in SQL."
    fn counted(&self, row: &Value) -> Option<Value> {
        if let Some((field, equals)) = &self.only {
            let found = row.get(field);
            if found.is_null() || found != equals {
                return None;
            }
        }
        match &self.field {
            None => Some(Value::Bool(true)), // `{fn: count}` without a field counts rows
            Some(field) => Some(row.get(field).clone()).filter(|v| !v.is_null()),
        }
    }

    /// "`min`, `max` (… like `top_k` they reject any other value …)", "`sum` and `avg` of a value that is no number".
    fn takes(&self, value: &Value) -> bool {
        let number = matches!(value, Value::Int(_) | Value::Float(_));
        match self.function.as_str() {
            "sum" | "avg" => number,
            "min" | "max" | "top_k" => number || value.as_str().is_some(),
            _ => true,
        }
    }

    /// The value of the aggregate in a pane of these records, given in order of arrival.
    pub(super) fn value(&self, records: &[&Record]) -> Value {
        let counted: Vec<(Time, Value)> =
            records.iter().filter_map(|r| Some((r.time, self.counted(&r.row)?))).collect();
        let values = || counted.iter().map(|(_, v)| v);
        let mut counts: BTreeMap<&Value, usize> = BTreeMap::new();
        values().for_each(|v| *counts.entry(v).or_default() += 1);
        match self.function.as_str() {
            "count" => return Value::int(counted.len()),
            // Compared with a tolerance: the reference counts exactly.
            "count_distinct" | "approx_count_distinct" => return Value::int(counts.len()),
            _ if counted.is_empty() => return Value::Null,
            _ => {}
        }
        let found = match self.function.as_str() {
            "sum" => return sum(values()),
            "avg" => return float(ExactSum::of(values()).rounded() / counted.len() as f64),
            "top_k" => return top_k(&counts, self.k),
            "min" => counts.keys().next().copied(),
            "max" => counts.keys().next_back().copied(),
            // "by event time; of equal times the first, the last to arrive": the sorts are stable.
            "first" => counted.iter().min_by_key(|(t, _)| *t).map(|(_, v)| v),
            "last" => counted.iter().max_by_key(|(t, _)| *t).map(|(_, v)| v),
            other => panic!("no aggregate: {other}"),
        };
        found.expect("there are values").clone()
    }
}

/// Why a row is rejected whole, if it is: looked at for each of the accumulators that would take it.
pub(super) fn refusal(aggregates: &[Aggregate], row: &Value, accumulators: &[Vec<&Record>]) -> Option<&'static str> {
    if aggregates.iter().any(|a| a.counted(row).is_some_and(|v| !a.takes(&v))) {
        return Some("type-mismatch");
    }
    let overflows = |a: &Aggregate, records: &[&Record]| {
        let old = records.iter().filter_map(|r| a.counted(&r.row));
        integer_total(old.chain(a.counted(row))).is_some_and(|total| i64::try_from(total).is_err())
    };
    let mut sums = aggregates.iter().filter(|a| a.function == "sum");
    sums.any(|a| accumulators.iter().any(|records| overflows(a, records))).then_some("arithmetic-overflow")
}

/// The total of integers; `None` once a float is among them ("a sum that meets integers and floats is a float").
fn integer_total(mut values: impl Iterator<Item = Value>) -> Option<i128> {
    values.try_fold(0, |total: i128, v| Some(total + i128::from(v.as_int()?)))
}

fn sum<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> Value {
    match integer_total(values.clone().cloned()) {
        Some(total) => Value::Int(i64::try_from(total).expect("a record that overflows is rejected")),
        None => float(ExactSum::of(values).rounded()),
    }
}

/// "In JSON output NaN and the infinities are null."
fn float(x: f64) -> Value {
    if x.is_finite() { Value::Float(if x == 0.0 { 0.0 } else { x }) } else { Value::Null }
}

/// "`[{"value": …, "count": …}, …]` by count, ties by smaller value"
fn top_k(counts: &BTreeMap<&Value, usize>, k: usize) -> Value {
    let mut ranked: Vec<_> = counts.iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(**count)); // stable: equal counts stay in order of value
    let entry = |(v, count): (&&Value, &usize)| Value::obj([("value", (*v).clone()), ("count", Value::int(*count))]);
    Value::Arr(ranked.into_iter().take(k).map(entry).collect())
}
