//! Rows that were refused because of an integer sum, until what takes them back has come (docs/semantics.md, 9).
//!
//! A row that would take a sum out of 64 bits is rejected and leaves no trace, so the row that takes it back finds nothing
//! to take back: it is rejected with it. Invariant: a refused row is kept until its last window is gone; what takes it back
//! is too late from then on.

use std::collections::BTreeMap;

use tidegate_types::key::encode_value;
use tidegate_types::stored::{Malformed, Read, Stored, put_i64, put_u64};
use tidegate_types::{Batch, EventTime, ValueRef, Watermark};

use super::key_of;
use super::stored::{REFUSED, VERSION};
use super::tracked::Tracker;

/// The refused rows of all keys.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// Each row that was refused; see [`encoded`].
    rows: BTreeMap<Box<[u8]>, Row>,
    /// The rows by when their last window is gone.
    due: BTreeMap<EventTime, Vec<Box<[u8]>>>,
}

/// A refused row.
#[derive(Debug)]
struct Row {
    /// How often it was refused.
    times: u64,
    /// When its last window is gone.
    gone: EventTime,
    /// The hash of its key.
    hash: u64,
}

impl Refused {
    /// A row was refused whose last window is gone at `gone`.
    pub(super) fn note(&mut self, tracker: &mut Tracker, batch: &Batch, row: usize, gone: EventTime) {
        let encoded = encoded(batch, row);
        self.due.entry(gone).or_default().push(encoded.clone());
        let hash = key_of(batch, row).0;
        let row = self.rows.entry(encoded.clone()).or_insert(Row { times: 0, gone, hash });
        row.times += 1;
        row.put(tracker, &encoded);
    }

    /// Remembers a refused row that was stored: what follows the version of its value.
    pub(super) fn read(&mut self, hash: u64, encoded: &[u8], mut value: Stored<'_>) -> Read<()> {
        let (times, gone) = (value.u64()?, value.i64()?);
        value.end()?;
        if times == 0 {
            return Err(Malformed::new("a row that was refused"));
        }
        self.due.entry(gone).or_default().push(encoded.into());
        self.rows.insert(encoded.into(), Row { times, gone, hash });
        Ok(())
    }

    /// Whether the row takes back one that was refused, which is so no longer.
    pub(super) fn take(&mut self, tracker: &mut Tracker, batch: &Batch, row: usize) -> bool {
        if self.rows.is_empty() {
            return false;
        }
        let encoded = encoded(batch, row);
        let Some(row) = self.rows.get_mut(&encoded) else { return false };
        row.times -= 1;
        if row.times > 0 {
            row.put(tracker, &encoded);
        } else {
            row.delete(tracker, &encoded);
            self.rows.remove(&encoded);
        }
        true
    }

    /// Forgets the rows whose windows are gone.
    pub(super) fn expire(&mut self, tracker: &mut Tracker, watermark: Watermark) {
        while let Some(first) = self.due.first_entry().filter(|first| watermark.reached(*first.key())) {
            for encoded in first.remove() {
                if let Some(row) = self.rows.remove(&encoded) {
                    row.delete(tracker, &encoded);
                }
            }
        }
    }
}

impl Row {
    /// They are few: each change is in bytes at once.
    fn put(&self, tracker: &mut Tracker, encoded: &[u8]) {
        let value = |out: &mut Vec<u8>| {
            out.push(VERSION);
            put_u64(out, self.times);
            put_i64(out, self.gone);
        };
        tracker.now(|tracker, changes| changes.put(|key| self.put_key(tracker, encoded, key), value));
    }

    fn delete(&self, tracker: &mut Tracker, encoded: &[u8]) {
        tracker.now(|tracker, changes| changes.delete(|key| self.put_key(tracker, encoded, key)));
    }

    fn put_key(&self, tracker: &Tracker, encoded: &[u8], out: &mut Vec<u8>) {
        tracker.put_prefix(out, REFUSED, self.hash);
        out.extend_from_slice(encoded);
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
