//! What a pipeline says about its window operator.

use std::sync::Arc;

use tidegate_pipeline::{Accumulation, Aggregate, Dedup, Early, Late, WindowKind};
use tidegate_types::{Millis, Schema};

/// The operator's settings.
#[derive(Debug, Clone)]
pub(crate) struct WindowConfig {
    pub(crate) kind: WindowKind,
    pub(crate) lateness: Millis,
    /// Whether sliding windows are merged from slices that they share.
    pub(crate) shares_panes: bool,
    pub(crate) early: Early,
    pub(crate) late: Late,
    pub(crate) accumulation: Accumulation,
    pub(crate) dedup: Option<Dedup>,
    /// All aggregates in the order of the file, hooks included.
    pub(crate) aggregates: Vec<Aggregate>,
    /// The fields of the rows that arrive.
    pub(crate) schema: Arc<Schema>,
    pub(crate) key_by: Vec<String>,
    /// Whether another operator reads the panes: they come with their order then.
    pub(crate) feeds: bool,
    /// Whether rows may take earlier ones back.
    pub(crate) undoes: bool,
    /// The number of key groups.
    pub(crate) max_parallelism: u32,
    /// The operator's id in dead letters.
    pub(crate) operator: Arc<str>,
}
