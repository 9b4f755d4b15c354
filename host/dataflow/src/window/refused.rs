//! Rows that were refused because of an integer sum, until what takes them back has come (docs/semantics.md, 9).
//!
//! A row that would take a sum out of 64 bits is rejected and leaves no trace, so the row that takes it back finds nothing
//! to take back: it is rejected with it. Invariant: a refused row is kept until its last window is gone; what takes it back
//! is too late from then on.

use std::collections::BTreeMap;

use tidegate_types::key::encode_value;
use tidegate_types::{Batch, EventTime, ValueRef, Watermark};

use super::key_of;

/// The refused rows of all keys.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// How often each row was refused; see [`encoded`].
    rows: BTreeMap<Box<[u8]>, u64>,
    /// The rows by when their last window is gone.
    due: BTreeMap<EventTime, Vec<Box<[u8]>>>,
}

impl Refused {
    /// A row was refused whose last window is gone at `gone`.
    pub(super) fn note(&mut self, batch: &Batch, row: usize, gone: EventTime) {
        let encoded = encoded(batch, row);
        self.due.entry(gone).or_default().push(encoded.clone());
        *self.rows.entry(encoded).or_default() += 1;
    }

    /// Whether the row takes back one that was refused, which is so no longer.
    pub(super) fn take(&mut self, batch: &Batch, row: usize) -> bool {
        if self.rows.is_empty() {
            return false;
        }
        let encoded = encoded(batch, row);
        let Some(times) = self.rows.get_mut(&encoded) else { return false };
        *times -= 1;
        if *times == 0 {
            self.rows.remove(&encoded);
        }
        true
    }

    /// Forgets the rows whose windows are gone.
    pub(super) fn expire(&mut self, watermark: Watermark) {
        while let Some(first) = self.due.first_entry().filter(|first| watermark.reached(*first.key())) {
            for encoded in first.remove() {
                self.rows.remove(&encoded);
            }
        }
    }
}

/// A row's key, time and fields.
fn encoded(batch: &Batch, row: usize) -> Box<[u8]> {
    let mut encoded = key_of(batch, row).1.to_vec();
    encode_value(&mut encoded, ValueRef::Int(batch.times[row]));
    for column in &batch.columns {
        encode_value(&mut encoded, column.value(row));
    }
    encoded.into()
}
