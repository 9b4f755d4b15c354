//! `top_k`: the most frequent values, exactly, with their counts.

use tidegate_formats::write_value;
use tidegate_types::batch::index;
use tidegate_types::column::ColumnBuilder;
use tidegate_types::key::decode_value;
use tidegate_types::{Column, Value, ValueRef};

use super::counts::count_to_int;
use super::store::{Rows, Store};
use super::tally::{Tallies, Tally};

/// A count per value and slot.
#[derive(Debug)]
pub(super) struct TopK {
    counts: Tallies<u64>,
    k: usize,
}

impl TopK {
    pub(super) fn new(k: usize) -> Self {
        Self { counts: Tallies::default(), k }
    }

    /// The `k` most frequent values with their counts; of equal counts the smaller value first.
    fn top(&self, tally: &Tally<u64>) -> Vec<(u64, Value)> {
        let least = self.least_count(tally);
        let ints = tally.ints.iter().map(|(value, count)| (*count, Value::Int(*value)));
        let others = tally.others.iter().filter(|(_, count)| **count >= least);
        let others = others.map(|(encoded, count)| {
            let value = decode_value(&mut encoded.as_ref()).expect("encoded by Tallies");
            (*count, value)
        });
        let mut top: Vec<(u64, Value)> = ints.filter(|(count, _)| *count >= least).chain(others).collect();
        top.sort_unstable_by(|(count, value), (other_count, other)| other_count.cmp(count).then(value.cmp(other)));
        top.truncate(self.k);
        top
    }

    /// The count of the `k`-th most frequent value: rarer values need no look.
    fn least_count(&self, tally: &Tally<u64>) -> u64 {
        if tally.len() <= self.k {
            return 0;
        }
        let mut counts: Vec<u64> = tally.ints.values().chain(tally.others.values()).copied().collect();
        let (_, least, _) = counts.select_nth_unstable_by(self.k - 1, |count, other| other.cmp(count));
        *least
    }
}

impl Store for TopK {
    fn reserve(&mut self, slots: usize) {
        self.counts.reserve(slots);
    }

    fn reset(&mut self, slot: usize) {
        self.counts.reset(slot);
    }

    fn add(&mut self, rows: &Rows<'_>) {
        rows.each_value(|_, slot, value| self.counts.change(slot, value, |count| *count += 1));
    }

    fn merge(&mut self, into: usize, from: usize) {
        self.counts.merge(into, from, |count, more| *count += more);
    }

    fn finish(&self, slots: &[u32]) -> Column {
        let mut column = ColumnBuilder::new();
        for slot in slots {
            match self.counts.get(index(*slot)).filter(|tally| tally.len() > 0) {
                Some(tally) => column.push(ValueRef::Json(&json(&self.top(tally)))),
                None => column.push(ValueRef::Null),
            }
        }
        column.finish()
    }

    fn bytes(&self) -> u64 {
        self.counts.bytes()
    }
}

/// `[{"count":…,"value":…},…]`: canonical JSON, its keys sorted.
fn json(top: &[(u64, Value)]) -> String {
    let mut out = vec![b'['];
    for (place, (count, value)) in top.iter().enumerate() {
        out.extend_from_slice(if place == 0 { b"{\"count\":" } else { b",{\"count\":" });
        write_value(&mut out, ValueRef::Int(count_to_int(*count)));
        out.extend_from_slice(b",\"value\":");
        write_value(&mut out, value.as_ref());
        out.push(b'}');
    }
    out.push(b']');
    String::from_utf8(out).expect("JSON is UTF-8")
}
