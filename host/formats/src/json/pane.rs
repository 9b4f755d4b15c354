//! Panes to JSON lines, as docs/semantics.md section 4 shows them.
//!
//! Everything that is the same for all rows (names, punctuation) is prepared once. Invariant: a retraction is its earlier
//! record, field for field, with `"op":"retract"` at the end.

use tidegate_types::{PaneBatch, PaneFields, PaneInfo, PaneOp, Stamping};

use super::label::{labels, write_fields};
use super::stamp::{write_stamps, write_watermark_member};
use super::write::write_unsigned;
use crate::time::write_time;

/// Writes panes.
#[derive(Debug, Clone)]
pub struct PaneEncoder {
    /// `"name":`, one per key field.
    keys: Vec<Vec<u8>>,
    /// `"name":`, one per value field.
    values: Vec<Vec<u8>>,
    stamping: Stamping,
}

impl PaneEncoder {
    /// An encoder of panes with these fields and no stamp.
    #[must_use]
    pub fn new(fields: &PaneFields) -> Self {
        Self { keys: labels(&fields.keys), values: labels(&fields.values), stamping: Stamping::default() }
    }

    /// The same, stamped like this.
    #[must_use]
    pub fn stamped(mut self, stamping: Stamping) -> Self {
        self.stamping = stamping;
        self
    }

    /// Appends one line per pane: a JSON object and a line feed.
    ///
    /// # Panics
    /// If the batch's columns are not those of the encoder's fields, or not as long as its `infos`.
    pub fn encode(&self, panes: &PaneBatch, out: &mut Vec<u8>) {
        for row in 0..panes.infos.len() {
            self.write(panes, row, out);
            out.push(b'\n');
        }
    }

    /// One pane as the record of a side output, without a line feed.
    ///
    /// # Panics
    /// As `encode`, and if there is no such row.
    #[must_use]
    pub fn record(&self, panes: &PaneBatch, row: usize) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(panes, row, &mut out);
        out
    }

    fn write(&self, panes: &PaneBatch, row: usize, out: &mut Vec<u8>) {
        assert_eq!(
            (panes.keys.len(), panes.values.len()),
            (self.keys.len(), self.values.len()),
            "one column per field"
        );
        let info = &panes.infos[row];
        out.push(b'{');
        write_fields(out, &self.keys, &panes.keys, row);
        write_window(out, info);
        write_fields(out, &self.values, &panes.values, row);
        write_firing(out, info);
        write_stamps(out, &self.stamping, info.index, info.timing, info.fired_at);
        out.extend_from_slice(match info.op {
            PaneOp::Insert => b"}",
            PaneOp::Retract => b",\"op\":\"retract\"}",
        });
    }
}

fn write_window(out: &mut Vec<u8>, info: &PaneInfo) {
    if let Some((start, end)) = info.window {
        out.extend_from_slice(b"\"window_start\":\"");
        write_time(out, start);
        out.extend_from_slice(b"\",\"window_end\":\"");
        write_time(out, end);
        out.extend_from_slice(b"\",");
    } else {
        out.extend_from_slice(b"\"window_start\":null,\"window_end\":null,");
    }
}

/// Writes which firing the pane is, and the watermark at it.
fn write_firing(out: &mut Vec<u8>, info: &PaneInfo) {
    out.extend_from_slice(b"\"pane\":{\"timing\":\"");
    out.extend_from_slice(info.timing.name().as_bytes());
    out.extend_from_slice(b"\",\"index\":");
    write_unsigned(out, info.index);
    out.extend_from_slice(if info.is_last { b",\"is_last\":true" } else { b",\"is_last\":false" });
    out.extend_from_slice(b"},");
    write_watermark_member(out, info.watermark);
}

#[cfg(test)]
mod tests;
