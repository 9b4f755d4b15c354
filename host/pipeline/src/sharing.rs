//! Which sliding windows share panes: a record is added to one slice of time, and windows are merged from slices.

use crate::model::{Aggregate, Early, Late, Pipeline, WindowKind};

/// Whether the pipeline's windows are merged from slices that they share, so that a record's cost does not depend on how
/// many windows hold it: sliding windows that fire on time and at most for every late element, of built-in aggregates.
/// A hook's `merge` need not equal adding records one by one, so hooks keep windows of their own.
#[must_use]
pub fn shares_panes(pipeline: &Pipeline) -> bool {
    let WindowKind::Sliding { size, slide, .. } = pipeline.window.kind else { return false };
    slide < size
        && pipeline.trigger.early == Early::None
        && matches!(pipeline.trigger.late, Late::EveryElement | Late::None)
        && pipeline.aggregates.iter().all(|aggregate| matches!(aggregate, Aggregate::Builtin { .. }))
}
