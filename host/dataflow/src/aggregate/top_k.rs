//! `top_k`: the most frequent values, exactly, with their counts.

use tidegate_formats::write_value;
use tidegate_types::batch::index;
use tidegate_types::column::ColumnBuilder;
use tidegate_types::key::decode_value;
use tidegate_types::stored::{Read, Stored, put_i64};
use tidegate_types::{Column, Value, ValueRef};

use super::store::{Rows, Store, bytes, bytes_of};
use super::tally::{Tallies, Tally};

/// A count per value and slot.
#[derive(Debug)]
pub(super) struct TopK {
    /// Rows added less rows taken back. A value below zero is not there.
    counts: Tallies<i64>,
    k: usize,
    /// By slot, where a pane has shown it.
    shown: Vec<Option<Box<Shown>>>,
    shown_bytes: u64,
}

/// What the last pane of a slot showed, and what was counted since: the next pane shows only values of these two, since
/// no other count has grown. So a window that fires for each record does not look at all its values each time.
#[derive(Debug, Default)]
struct Shown {
    values: Vec<Value>,
    since: Vec<Value>,
    /// The bytes that are counted as held.
    charged: u64,
}

impl TopK {
    /// `undoes`: whether rows may be taken back.
    pub(super) fn new(k: usize, undoes: bool) -> Self {
        let counts = if undoes { Tallies::dropping() } else { Tallies::default() };
        Self { counts, k, shown: Vec::new(), shown_bytes: 0 }
    }

    /// Forgets what a slot has shown: all its values are looked at for the next pane.
    fn forget(&mut self, slot: usize) {
        if let Some(shown) = self.shown[slot].take() {
            self.shown_bytes -= shown.charged;
        }
    }

    /// The values of a slot that its next pane may show; none: all of them.
    fn candidates(&mut self, slot: usize) -> Option<Vec<Value>> {
        let shown = self.shown[slot].take()?;
        self.shown_bytes -= shown.charged;
        let mut values = shown.values;
        values.extend(shown.since);
        values.sort_unstable();
        values.dedup();
        Some(values)
    }

    /// The `k` most frequent values of a slot with their counts; of equal counts the smaller value first.
    fn top(&mut self, slot: usize) -> Vec<(i64, Value)> {
        let candidates = self.candidates(slot);
        let Some(tally) = self.counts.get(slot) else { return Vec::new() };
        let mut top: Vec<(i64, Value)> = match candidates {
            Some(values) => {
                let mut scratch = Vec::new();
                values.into_iter().filter_map(|value| Some((tally.of(&value, &mut scratch)?, value))).collect()
            }
            None => frequent(tally, self.k),
        };
        top.retain(|(count, _)| *count > 0);
        top.sort_unstable_by(|(count, value), (other_count, other)| other_count.cmp(count).then(value.cmp(other)));
        top.truncate(self.k);
        let mut shown = Shown { values: top.iter().map(|(_, value)| value.clone()).collect(), ..Shown::default() };
        shown.charged = bytes_of::<Shown>(1) + shown.values.iter().map(|value| size(value.as_ref())).sum::<u64>();
        self.shown_bytes += shown.charged;
        self.shown[slot] = Some(Box::new(shown));
        top
    }
}

/// The values that are at least as frequent as the `k`-th most frequent one, with their counts.
fn frequent(tally: &Tally<i64>, k: usize) -> Vec<(i64, Value)> {
    let least = least_count(tally, k);
    let ints = tally.ints.iter().map(|(value, count)| (*count, Value::Int(*value)));
    let others = tally.others.iter().filter(|(_, count)| **count >= least);
    let others = others.map(|(encoded, count)| {
        let value = decode_value(&mut encoded.as_ref()).expect("encoded by Tallies");
        (*count, value)
    });
    ints.filter(|(count, _)| *count >= least).chain(others).collect()
}

/// The count of the `k`-th most frequent value: rarer values need no look.
fn least_count(tally: &Tally<i64>, k: usize) -> i64 {
    if tally.len() <= k {
        return 1;
    }
    let mut counts: Vec<i64> = tally.ints.values().chain(tally.others.values()).copied().collect();
    let (_, least, _) = counts.select_nth_unstable_by(k - 1, |count, other| other.cmp(count));
    (*least).max(1)
}

impl Store for TopK {
    fn reserve(&mut self, slots: usize) {
        self.counts.reserve(slots);
        self.shown.resize_with(slots, || None);
    }

    fn reset(&mut self, slot: usize) {
        self.counts.reset(slot);
        self.forget(slot);
    }

    fn add(&mut self, rows: &Rows<'_>) {
        rows.each_value(|_, slot, value| {
            self.counts.change(slot, value, |count| *count += 1);
            let distinct = self.counts.get(slot).map_or(0, Tally::len);
            let Some(shown) = &mut self.shown[slot] else { return };
            if shown.since.len() < distinct / 8 + 8 {
                shown.since.push(value.to_value());
                let more = size(value);
                shown.charged += more;
                self.shown_bytes += more;
            } else {
                // So many that to look at all values costs little more.
                self.forget(slot);
            }
        });
    }

    fn undo(&mut self, rows: &Rows<'_>) {
        rows.each_value(|_, slot, value| {
            self.counts.change(slot, value, |count| *count -= 1);
            // What was rarer than the values shown may be as frequent now.
            self.forget(slot);
        });
    }

    fn merge(&mut self, into: usize, from: usize) {
        self.counts.merge(into, from, |count, more| *count += more);
        self.forget(into);
    }

    fn finish(&mut self, slots: &[u32]) -> Column {
        let mut column = ColumnBuilder::new();
        for slot in slots {
            match self.top(index(*slot)).as_slice() {
                [] => column.push(ValueRef::Null),
                top => column.push(ValueRef::Json(&json(top))),
            }
        }
        column.finish()
    }

    /// What a pane has shown only says where to look first, and is not stored.
    fn write(&self, slot: usize, out: &mut Vec<u8>) {
        self.counts.write(slot, out, put_i64);
    }

    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        self.counts.read(slot, stored, |stored| stored.i64())
    }

    fn bytes(&self) -> u64 {
        self.counts.bytes() + bytes_of::<Option<Box<Shown>>>(self.shown.len()) + self.shown_bytes
    }
}

/// The bytes of a value in a list, about.
fn size(value: ValueRef<'_>) -> u64 {
    bytes_of::<Value>(1)
        + match value {
            ValueRef::Text(text) | ValueRef::Json(text) => bytes(text.len()),
            ValueRef::Bytes(content) => bytes(content.len()),
            _ => 0,
        }
}

/// `[{"count":…,"value":…},…]`: canonical JSON, its keys sorted.
fn json(top: &[(i64, Value)]) -> String {
    let mut out = vec![b'['];
    for (place, (count, value)) in top.iter().enumerate() {
        out.extend_from_slice(if place == 0 { b"{\"count\":" } else { b",{\"count\":" });
        write_value(&mut out, ValueRef::Int(*count));
        out.extend_from_slice(b",\"value\":");
        write_value(&mut out, value.as_ref());
        out.push(b'}');
    }
    out.push(b']');
    String::from_utf8(out).expect("JSON is UTF-8")
}
