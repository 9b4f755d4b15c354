//! Panes to JSON lines, as docs/semantics.md section 4 shows them.
//!
//! Everything that is the same for all rows (names, punctuation) is prepared once. Invariant: a retraction is its earlier
//! record, field for field, with `"op":"retract"` at the end.

use tidegate_types::{PaneBatch, PaneFields, PaneInfo, PaneOp, Watermark};

use super::write::{write_string, write_unsigned, write_value};
use crate::time::write_time;

/// Writes panes.
#[derive(Debug, Clone)]
pub struct PaneEncoder {
    /// `"name":`, one per key field.
    keys: Vec<Vec<u8>>,
    /// `"name":`, one per value field.
    values: Vec<Vec<u8>>,
}

impl PaneEncoder {
    /// An encoder of panes with these fields.
    #[must_use]
    pub fn new(fields: &PaneFields) -> Self {
        Self { keys: labels(&fields.keys), values: labels(&fields.values) }
    }

    /// Appends one line per pane: a JSON object and a line feed.
    ///
    /// # Panics
    /// If the batch's columns are not those of the encoder's fields, or not as long as its `infos`.
    pub fn encode(&self, panes: &PaneBatch, out: &mut Vec<u8>) {
        assert_eq!(
            (panes.keys.len(), panes.values.len()),
            (self.keys.len(), self.values.len()),
            "one column per field"
        );
        for (row, info) in panes.infos.iter().enumerate() {
            out.push(b'{');
            for (label, column) in self.keys.iter().zip(&panes.keys) {
                out.extend_from_slice(label);
                write_value(out, column.value(row));
                out.push(b',');
            }
            write_window(out, info);
            for (label, column) in self.values.iter().zip(&panes.values) {
                out.extend_from_slice(label);
                write_value(out, column.value(row));
                out.push(b',');
            }
            write_firing(out, info);
        }
    }
}

fn labels(names: &[String]) -> Vec<Vec<u8>> {
    let label = |name: &String| {
        let mut label = Vec::new();
        write_string(&mut label, name);
        label.push(b':');
        label
    };
    names.iter().map(label).collect()
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

/// Writes which firing the pane is, and the end of its line.
fn write_firing(out: &mut Vec<u8>, info: &PaneInfo) {
    out.extend_from_slice(b"\"pane\":{\"timing\":\"");
    out.extend_from_slice(info.timing.name().as_bytes());
    out.extend_from_slice(b"\",\"index\":");
    write_unsigned(out, info.index);
    out.extend_from_slice(if info.is_last { b",\"is_last\":true" } else { b",\"is_last\":false" });
    out.extend_from_slice(b"},\"watermark\":");
    write_watermark(out, info.watermark);
    out.extend_from_slice(match info.op {
        PaneOp::Insert => b"}\n",
        PaneOp::Retract => b",\"op\":\"retract\"}\n",
    });
}

fn write_watermark(out: &mut Vec<u8>, watermark: Watermark) {
    if let Some(time) = watermark.finite() {
        out.push(b'"');
        write_time(out, time);
        out.push(b'"');
    } else {
        out.extend_from_slice(b"null");
    }
}

#[cfg(test)]
mod tests;
