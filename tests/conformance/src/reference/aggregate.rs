//! Section 5: the built-in aggregates, computed anew from all the rows of a pane.
//!
//! Invariant: `check` is asked before a row is accepted, so `value` meets only what its function takes. Each aggregate
//! first takes out, with each retraction, the row that it retracts; `discarding` may leave retractions, which count less
//! than nothing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::spec::Spec;
use super::windows::Record;
use crate::exact::ExactSum;
use crate::json::Value;
use crate::time::Time;

/// One member of `aggregate`.
pub(super) struct Aggregate<'a> {
    pub(super) name: &'a str,
    spec: &'a Value,
}

pub(super) fn aggregates(spec: &Spec) -> Vec<Aggregate<'_>> {
    spec.0.get("aggregate").members().map(|(name, spec)| Aggregate { name, spec }).collect()
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

    /// "what the rows that are left make, as if the others had never come": a value and the retraction of an equal one take
    /// each other out. Retractions of what a discarding pane has shown are left over.
    fn left(&self, records: &[&Record]) -> Vec<Counted> {
        let mut left: Vec<Counted> = Vec::new();
        for record in records {
            let Some(value) = self.counted(&record.row) else { continue };
            match left.iter().position(|c| c.retracts != record.retracts && c.value == value) {
                Some(place) => drop(left.remove(place)),
                None => left.push(Counted { time: record.time, retracts: record.retracts, value }),
            }
        }
        left
    }

    /// The value of the aggregate in a pane of these records, given in order of arrival.
    pub(super) fn value(&self, records: &[&Record]) -> Value {
        let counted = self.left(records);
        let mut counts: BTreeMap<&Value, i64> = BTreeMap::new();
        counted.iter().for_each(|c| *counts.entry(&c.value).or_default() += c.sign());
        counts.retain(|_, n| *n > 0); // "neither among the distinct nor among the most frequent"
        let n: i64 = counted.iter().map(Counted::sign).sum();
        let found = match self.function() {
            "count" => return n.into(),
            // `approx_count_distinct` is compared with a tolerance: the reference counts exactly.
            "count_distinct" | "approx_count_distinct" => return Value::int(counts.len()),
            "top_k" if counts.is_empty() => return Value::Null,
            _ if counted.is_empty() => return Value::Null,
            // "a sum is null where neither a count nor a sum is left"
            "sum" if n == 0 && exact_sum(&counted) == 0.0 => return Value::Null,
            "sum" => match integer_total(&counted) {
                Some(0) if n == 0 => return Value::Null, // "null where neither a count nor a sum is left"
                Some(total) => return Value::Int(i64::try_from(total).expect("a record that overflows is rejected")),
                None => return float(exact_sum(&counted)),
            },
            "avg" => return float(exact_sum(&counted) / n as f64),
            "top_k" => return top_k(&counts, self.spec.get("k")),
            "min" => counts.keys().next().copied(),
            "max" => counts.keys().next_back().copied(),
            // "Of equal times the first, the last to arrive", as `min_by_key` and `max_by_key` have it.
            "first" => counted.iter().min_by_key(|c| c.time).map(|c| &c.value),
            "last" => counted.iter().max_by_key(|c| c.time).map(|c| &c.value),
            other => panic!("no aggregate: {other}"),
        };
        found.expect("there are values").clone()
    }
}

/// A value that an aggregate counts, or takes back.
struct Counted {
    time: Time,
    retracts: bool,
    value: Value,
}

impl Counted {
    fn sign(&self) -> i64 {
        if self.retracts { -1 } else { 1 }
    }
}

/// Why a record is rejected whole, if it is: looked at for each of the accumulators that would take it.
pub(super) fn check(all: &[Aggregate], record: &Record, accumulators: &[Vec<&Record>]) -> Result<(), &'static str> {
    if all.iter().any(|a| a.counted(&record.row).is_some_and(|v| !a.takes(&v))) {
        return Err("type-mismatch");
    }
    let overflows = |a: &Aggregate, records: &[&Record]| {
        let all: Vec<&Record> = records.iter().copied().chain([record]).collect();
        integer_total(&a.left(&all)).is_some_and(|total| i64::try_from(total).is_err())
    };
    let mut sums = all.iter().filter(|a| a.function() == "sum");
    let some = sums.any(|a| accumulators.iter().any(|records| overflows(a, records)));
    if some { Err("arithmetic-overflow") } else { Ok(()) }
}

/// The total of integers; `None` "With any float among them". Of a difference, floats that leave neither a count nor a sum
/// are not among them.
fn integer_total(counted: &[Counted]) -> Option<i128> {
    let (ints, floats): (Vec<_>, Vec<_>) = counted.iter().partition(|c| c.value.as_int().is_some());
    let no_float = floats.iter().map(|c| c.sign()).sum::<i64>() == 0 && exact_sum(floats) == 0.0;
    let int = |c: &Counted| i128::from(c.sign()) * i128::from(c.value.as_int().unwrap_or(0));
    no_float.then(|| ints.into_iter().map(int).sum())
}

fn exact_sum<'a>(counted: impl IntoIterator<Item = &'a Counted>) -> f64 {
    ExactSum::of(counted.into_iter().map(|c| (c.retracts, &c.value))).rounded()
}

/// "In JSON output NaN and the infinities are null."
fn float(x: f64) -> Value {
    if x.is_finite() { Value::Float(if x == 0.0 { 0.0 } else { x }) } else { Value::Null }
}

/// "most frequent first, of equal counts the smaller value first"
fn top_k(counts: &BTreeMap<&Value, i64>, k: &Value) -> Value {
    let k = usize::try_from(k.as_int().expect("top_k has a k")).expect("k is positive");
    let mut ranked: Vec<_> = counts.iter().collect();
    ranked.sort_by_key(|(value, count)| (Reverse(**count), **value));
    let entry = |(v, count): (&&Value, &i64)| Value::obj([("value", (*v).clone()), ("count", (*count).into())]);
    Value::Arr(ranked.into_iter().take(k).map(entry).collect())
}
