//! What decoding a source batch gives, whatever the format.
//!
//! Invariants: each record is in `rows` or in `rejected`, never in both; both ascend; the lists per record have one entry
//! per record of the batch or, where the specification did not ask for them, none.

use tidegate_types::{Column, EventTime};

/// The longest record that is decoded, in bytes.
///
/// A source cuts longer records to one byte more than this, so that they are refused as [`codes::TOO_LARGE`] without
/// having to be held in memory whole.
pub const MAX_RECORD_BYTES: usize = 1 << 20;

/// The codes of records that are rejected at decoding.
pub mod codes {
    /// No JSON object: no JSON at all, JSON of another kind, or JSON without a value (see `json`).
    pub const MALFORMED: &str = "malformed";
    /// A missing or unreadable event time, or one outside the years 0001 to 9999.
    pub const BAD_TIME: &str = "bad-time";
    /// A declared field whose value is of another kind.
    pub const TYPE_MISMATCH: &str = "type-mismatch";
    /// Longer than [`super::MAX_RECORD_BYTES`].
    pub const TOO_LARGE: &str = "too-large";
}

/// A source batch in columns.
#[derive(Debug, Clone, Default)]
pub struct Decoded {
    /// One per field asked for, one row per record that was accepted.
    pub columns: Vec<Column>,
    /// The record of each row.
    pub rows: Vec<u32>,
    /// The event time of each row.
    pub row_times: Vec<EventTime>,
    /// Per record: its readable event time, also where the record is rejected for another reason.
    pub times: Vec<Option<EventTime>>,
    /// Per record: whether it is heard for idleness (a JSON object with a readable time, if one is asked for).
    pub heard: Vec<bool>,
    /// Per record: what it claims; a record that is not heard claims nothing.
    pub claims: Vec<Claim>,
    /// Per record: its arrival, if it is a JSON object and the arrival is readable.
    pub arrivals: Vec<Option<EventTime>>,
    /// The records that are not in `rows`.
    pub rejected: Vec<Rejected>,
}

/// What a record claims under a punctuated watermark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Claim {
    /// Nothing: the field is absent, false, null or unreadable.
    #[default]
    Nothing,
    /// The record's own time: the field is true.
    OwnTime,
    /// This time.
    At(EventTime),
}

/// A record that cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The record's place in the batch.
    pub record: u32,
    /// One of [`codes`].
    pub code: &'static str,
    /// What was wrong, in words for the tenant.
    pub detail: String,
}

impl Rejected {
    /// The rejection of a record that is longer than [`MAX_RECORD_BYTES`].
    pub(crate) fn too_large(record: u32) -> Self {
        let detail = format!("the record is longer than {MAX_RECORD_BYTES} bytes; this is its beginning");
        Self { record, code: codes::TOO_LARGE, detail }
    }
}
