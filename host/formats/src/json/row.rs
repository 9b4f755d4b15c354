//! Rows without a window to JSON lines: the fields in order, then the row's time and the watermark, then the stamps.
//!
//! Invariant: a row's line depends on the row alone, never on the batch that it came in.

use tidegate_types::{RowBatch, Stamping, Timing};

use super::label::{labels, write_fields};
use super::stamp::{write_stamps, write_time_member, write_watermark_member};

/// Writes rows.
#[derive(Debug, Clone)]
pub struct RowEncoder {
    /// `"name":`, one per field.
    fields: Vec<Vec<u8>>,
    stamping: Stamping,
}

impl RowEncoder {
    /// An encoder of rows with these fields and no stamp.
    #[must_use]
    pub fn new(fields: &[String]) -> Self {
        Self { fields: labels(fields), stamping: Stamping::default() }
    }

    /// The same, stamped like this.
    #[must_use]
    pub fn stamped(mut self, stamping: Stamping) -> Self {
        self.stamping = stamping;
        self
    }

    /// Appends one line per row: a JSON object and a line feed.
    ///
    /// # Panics
    /// If the batch's columns are not those of the encoder's fields, or not as long as its `times`.
    pub fn encode(&self, rows: &RowBatch, out: &mut Vec<u8>) {
        for row in 0..rows.times.len() {
            self.write(rows, row, out);
            out.push(b'\n');
        }
    }

    /// One row as the record of a side output, without a line feed.
    ///
    /// # Panics
    /// As `encode`, and if there is no such row.
    #[must_use]
    pub fn record(&self, rows: &RowBatch, row: usize) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(rows, row, &mut out);
        out
    }

    fn write(&self, rows: &RowBatch, row: usize, out: &mut Vec<u8>) {
        assert_eq!(rows.columns.len(), self.fields.len(), "one column per field");
        out.push(b'{');
        write_fields(out, &self.fields, &rows.columns, row);
        write_time_member(out, b"\"time\":", Some(rows.times[row]));
        out.push(b',');
        write_watermark_member(out, rows.watermarks[row]);
        // Nothing corrects a row without a window, and it has no index.
        write_stamps(out, &self.stamping, 0, Timing::OnTime, rows.emitted_at[row]);
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests;
