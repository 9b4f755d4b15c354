//! Results to JSON lines, whichever they are: what every sink of lines opens.

use tidegate_types::{PaneBatch, ResultFields, RowBatch, Stamping};

use super::pane::PaneEncoder;
use super::row::RowEncoder;

/// Writes the results of one operator for one sink.
#[derive(Debug, Clone)]
pub struct ResultEncoder {
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Panes(PaneEncoder),
    Rows(RowEncoder),
}

impl ResultEncoder {
    /// An encoder of results with these fields, stamped like this.
    #[must_use]
    pub fn new(fields: &ResultFields, stamping: Stamping) -> Self {
        let kind = match fields {
            ResultFields::Panes(fields) => Kind::Panes(PaneEncoder::new(fields).stamped(stamping)),
            ResultFields::Rows(fields) => Kind::Rows(RowEncoder::new(fields).stamped(stamping)),
        };
        Self { kind }
    }

    /// Appends one line per pane.
    ///
    /// # Panics
    /// If the results are rows, or the batch does not fit the fields.
    pub fn encode_panes(&self, panes: &PaneBatch, out: &mut Vec<u8>) {
        match &self.kind {
            Kind::Panes(encoder) => encoder.encode(panes, out),
            Kind::Rows(_) => panic!("an operator's results are panes or rows, and this one's are rows"),
        }
    }

    /// Appends one line per row.
    ///
    /// # Panics
    /// If the results are panes, or the batch does not fit the fields.
    pub fn encode_rows(&self, rows: &RowBatch, out: &mut Vec<u8>) {
        match &self.kind {
            Kind::Rows(encoder) => encoder.encode(rows, out),
            Kind::Panes(_) => panic!("an operator's results are panes or rows, and this one's are panes"),
        }
    }
}
