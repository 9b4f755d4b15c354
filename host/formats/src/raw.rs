//! `format: raw`: the field `raw` holds the record's bytes, and the map hook makes sense of them.
//!
//! A raw record has no event time of its own (the map hook gives it) and is always heard. It has no other field: one that
//! is asked for is null.

use tidegate_types::batch::index;
use tidegate_types::{Column, ColumnBuilder, Field, Kind, ValueRef};

use crate::decoded::{Decoded, MAX_RECORD_BYTES, Rejected};

/// The field that holds a record's bytes.
pub const RAW_FIELD: &str = "raw";

/// Gives records as bytes.
#[derive(Debug)]
pub struct RawDecoder {
    fields: Vec<Field>,
}

impl RawDecoder {
    /// A decoder into these fields.
    #[must_use]
    pub fn new(fields: Vec<Field>) -> Self {
        Self { fields }
    }

    /// See [`crate::Decoder::decode`].
    ///
    /// # Panics
    /// If a span is not within `data`.
    pub fn decode(&mut self, data: &[u8], spans: &[(u32, u32)]) -> Decoded {
        let mut decoded = Decoded { heard: vec![true; spans.len()], ..Decoded::default() };
        let mut bytes = ColumnBuilder::of_kind(Kind::Bytes);
        for (record, (start, end)) in (0..).zip(spans) {
            let span = index(*start)..index(*end);
            if span.len() > MAX_RECORD_BYTES {
                decoded.heard[index(record)] = false;
                decoded.rejected.push(Rejected::too_large(record));
            } else {
                bytes.push(ValueRef::Bytes(&data[span]));
                decoded.rows.push(record);
            }
        }
        let raw = bytes.finish();
        let column = |field: &Field| if field.name == RAW_FIELD { raw.clone() } else { Column::Null(raw.len()) };
        decoded.columns = self.fields.iter().map(column).collect();
        decoded
    }
}

#[cfg(test)]
mod tests;
