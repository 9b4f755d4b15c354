//! What an operator puts out: panes of windows, or rows without one.

use crate::pane::PaneFields;

/// What an operator's results are, and what their fields are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultFields {
    /// Panes of windows.
    Panes(PaneFields),
    /// Rows without a window: their fields, in order.
    Rows(Vec<String>),
}

impl From<PaneFields> for ResultFields {
    fn from(fields: PaneFields) -> Self {
        Self::Panes(fields)
    }
}
