//! Section 5: the built-in aggregates, computed anew from all the rows of a pane.
//!
//! Invariant: `check` is asked before a row is accepted, so `value` meets only what its function takes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Record;
use super::pipeline::Pipeline;
use crate::exact::ExactSum;
use crate::json::Value;

/// One member of `aggregate`.
pub(super) struct Aggregate<'a> {
    pub(super) name: &'a str,
    spec: &'a Value,
}

pub(super) fn aggregates(pipeline: &Pipeline) -> Vec<Aggregate<'_>> {
    pipeline.0.get("aggregate").members().map(|(name, spec)| Aggregate { name, spec }).collect()
}

impl Aggregate<'_> {
    fn function(&self) -> &str {
        self.spec.as_str().or(self.spec.get("fn").as_str()).expect("an aggregate has a function")
    }

    /// The value of a row that this aggregate counts: "`where` never matches null"; "Nulls are skipped, as in SQL."
    fn counted(&self, row: &Value) -> Option<Value> {
        let (only, equals) = (self.spec.at("where.field").as_str(), self.spec.at("where.equals"));
        let included = only.is_none_or(|field| !row.get(field).is_null() && row.get(field) == equals);
        // "A function other than `count` takes the field of its own name if none is given", a bare `count` too.
        let own_name = (self.spec.as_str().is_some() || self.function() != "count").then_some(self.name);
        let field = self.spec.get("field").as_str().or(own_name);
        let value = field.map_or(Value::Bool(true), |field| row.get(field).clone()); // "without a field: records"
        Some(value).filter(|v| included && !v.is_null())
    }

    /// The column "takes" of the table of functions.
    fn takes(&self, value: &Value) -> bool {
        let number = matches!(value, Value::Int(_) | Value::Float(_));
        match self.function() {
            "sum" | "avg" => number,
            "min" | "max" | "top_k" => number || value.as_str().is_some(),
            _ => true,
        }
    }

    /// The value of the aggregate in a pane of these records, given in order of arrival.
    pub(super) fn value(&self, records: &[&Record]) -> Value {
        let counted: Vec<_> = records.iter().filter_map(|r| Some((r.time, self.counted(&r.row)?))).collect();
        let values = || counted.iter().map(|(_, v)| v);
        let mut counts: BTreeMap<&Value, usize> = BTreeMap::new();
        values().for_each(|v| *counts.entry(v).or_default() += 1);
        let found = match self.function() {
            "count" => return Value::int(counted.len()),
            // `approx_count_distinct` is compared with a tolerance: the reference counts exactly.
            "count_distinct" | "approx_count_distinct" => return Value::int(counts.len()),
            _ if counted.is_empty() => return Value::Null,
            "sum" => match integer_total(values().cloned()) {
                Some(total) => return Value::Int(i64::try_from(total).expect("a record that overflows is rejected")),
                None => return float(ExactSum::of(values()).rounded()),
            },
            "avg" => return float(ExactSum::of(values()).rounded() / counted.len() as f64),
            "top_k" => return top_k(&counts, self.spec.get("k")),
            "min" => counts.keys().next().copied(),
            "max" => counts.keys().next_back().copied(),
            // "Of equal times the first, the last to arrive", as `min_by_key` and `max_by_key` have it.
            "first" => counted.iter().min_by_key(|(t, _)| *t).map(|(_, v)| v),
            "last" => counted.iter().max_by_key(|(t, _)| *t).map(|(_, v)| v),
            other => panic!("no aggregate: {other}"),
        };
        found.expect("there are values").clone()
    }
}

/// Why a row is rejected whole, if it is: looked at for each of the accumulators that would take it.
pub(super) fn check(all: &[Aggregate], row: &Value, accumulators: &[Vec<&Record>]) -> Result<(), &'static str> {
    if all.iter().any(|a| a.counted(row).is_some_and(|v| !a.takes(&v))) {
        return Err("type-mismatch");
    }
    let overflows = |a: &Aggregate, records: &[&Record]| {
        let old = records.iter().filter_map(|r| a.counted(&r.row));
        integer_total(old.chain(a.counted(row))).is_some_and(|total| i64::try_from(total).is_err())
    };
    let mut sums = all.iter().filter(|a| a.function() == "sum");
    let some = sums.any(|a| accumulators.iter().any(|records| overflows(a, records)));
    if some { Err("arithmetic-overflow") } else { Ok(()) }
}

/// The total of integers; `None` "With any float among them".
fn integer_total(mut values: impl Iterator<Item = Value>) -> Option<i128> {
    values.try_fold(0, |total: i128, v| Some(total + i128::from(v.as_int()?)))
}

/// "In JSON output NaN and the infinities are null."
fn float(x: f64) -> Value {
    if x.is_finite() { Value::Float(if x == 0.0 { 0.0 } else { x }) } else { Value::Null }
}

/// "most frequent first, of equal counts the smaller value first"
fn top_k(counts: &BTreeMap<&Value, usize>, k: &Value) -> Value {
    let k = usize::try_from(k.as_int().expect("top_k has a k")).expect("k is positive");
    let mut ranked: Vec<_> = counts.iter().collect();
    ranked.sort_by_key(|(value, count)| (Reverse(**count), **value));
    let entry = |(v, count): (&&Value, &usize)| Value::obj([("value", (*v).clone()), ("count", Value::int(*count))]);
    Value::Arr(ranked.into_iter().take(k).map(entry).collect())
}
