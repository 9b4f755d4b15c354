//! Remarks: files that are sound and may still not mean what their author thinks.

use tidegate_types::{Field, FieldType, Kind, Millis};

use super::{Fault, kinds, upsert_key};
use crate::model::{Aggregate, Format, Pipeline, WindowKind};
use crate::path::{key, quoted};
use crate::sharing::{kept_apart_by, windows_of_a_record};

/// All remarks, in the order of the file's keys.
pub(super) fn all(pipeline: &Pipeline) -> Vec<Fault> {
    let mut remarks = Vec::new();
    remarks.extend(bytes_are_never_read(pipeline));
    remarks.extend(drift_waits_for_the_silent(pipeline));
    remarks.extend(identity_forgotten_before_its_window(pipeline));
    remarks.extend(kinds::never_taken(pipeline));
    remarks.extend(pipeline.aggregates.iter().filter_map(|aggregate| condition_never_holds(pipeline, aggregate)));
    remarks.extend(rows_overwrite_each_other(pipeline));
    remarks.extend(panes_are_not_shared(pipeline));
    remarks.extend(nothing_is_kept(pipeline));
    remarks
}

/// JSON has no bytes.
fn bytes_are_never_read(pipeline: &Pipeline) -> Vec<Fault> {
    if pipeline.source.format != Format::Json {
        return Vec::new();
    }
    let is_bytes = |field: &&Field| matches!(field.field_type, FieldType::Typed { kind: Kind::Bytes, .. });
    let remark = |field: &Field| {
        let reason = "JSON has no value of this kind, so every record with a value here is rejected as `type-mismatch`; \
                      declare `text`, and let a hook decode it";
        Fault::new(key("source.schema", &field.name), "source.schema", reason)
    };
    pipeline.source.schema.iter().filter(is_bytes).map(remark).collect()
}

fn drift_waits_for_the_silent(pipeline: &Pipeline) -> Option<Fault> {
    let watermark = &pipeline.source.watermark;
    if watermark.max_drift.is_none() || watermark.idle_partition_timeout.is_some() {
        return None;
    }
    let reason = "a partition that falls silent is never idle without `idle_partition_timeout`, so in time it stops the \
                  reading of all others, for as long as it is silent; add a timeout";
    Some(Fault::new("source.watermark.max_drift", "source.watermark", reason))
}

fn identity_forgotten_before_its_window(pipeline: &Pipeline) -> Option<Fault> {
    let horizon = pipeline.dedup.as_ref()?.horizon;
    let (size, called) = match &pipeline.window.kind {
        WindowKind::Tumbling { size, .. } | WindowKind::Sliding { size, .. } => (*size, "size"),
        WindowKind::Session { gap, .. } => (*gap, "gap"),
        WindowKind::Global | WindowKind::Custom { .. } => return None,
    };
    let kept = Millis(size.0 + pipeline.window.allowed_lateness.0);
    if horizon >= kept {
        return None;
    }
    let reason = format!(
        "identities are remembered for {horizon}, and a window takes records for {kept} ({called} and allowed lateness): an \
         identity can be forgotten up to one window before its window is, and its duplicate then counts; {kept} excludes that"
    );
    Some(Fault::new("dedup.horizon", "dedup", reason))
}

/// Sliding windows that are kept one by one: each record costs as much as it has windows.
fn panes_are_not_shared(pipeline: &Pipeline) -> Option<Fault> {
    let WindowKind::Sliding { size, slide, .. } = pipeline.window.kind else { return None };
    let why = kept_apart_by(pipeline).filter(|_| slide < size)?;
    let reason = format!(
        "each record updates up to {} windows one by one, since {why} keeps them from sharing panes",
        windows_of_a_record(size, slide)
    );
    Some(Fault::new("window.slide", "window", reason))
}

fn condition_never_holds(pipeline: &Pipeline, aggregate: &Aggregate) -> Option<Fault> {
    let Aggregate::Builtin { name, condition: Some(condition), .. } = aggregate else { return None };
    let path = key(&key(&key("aggregate", name), "where"), "equals");
    if condition.equals.is_null() {
        let reason = "`where` never matches null, so nothing is counted; give a value";
        return Some(Fault::new(path, "aggregate", reason));
    }
    let (given, declared) = kinds::never_equal(pipeline, condition)?;
    let reason = format!(
        "this is {given}, and {} is declared as {declared}: values of different kinds are never equal, so nothing is counted",
        quoted(&condition.field)
    );
    Some(Fault::new(path, "aggregate", reason))
}

fn rows_overwrite_each_other(pipeline: &Pipeline) -> Vec<Fault> {
    let Some(key) = upsert_key(pipeline) else { return Vec::new() };
    let mut remarks = Vec::new();
    let has = |name: &str| key.iter().any(|field| field == name);
    if let Some(missing) = pipeline.key_by.iter().find(|name| !has(name)) {
        let reason = format!("without {} rows of different keys overwrite each other; add it", quoted(missing));
        remarks.push(Fault::new("sink.key", "sink", reason));
    }
    let global = matches!(pipeline.window.kind, WindowKind::Global);
    if !global && !has("window_start") && !has("window_end") {
        let reason = "without `window_start` rows of different windows of a key overwrite each other; add it";
        remarks.push(Fault::new("sink.key", "sink", reason));
    }
    if let Some(aggregate) = pipeline.aggregates.iter().find(|aggregate| has(aggregate.name())) {
        let reason = format!(
            "{} is an aggregate, which may change from pane to pane and then leaves the earlier row behind; remove it",
            quoted(aggregate.name())
        );
        remarks.push(Fault::new("sink.key", "sink", reason));
    }
    remarks
}

fn nothing_is_kept(pipeline: &Pipeline) -> Option<Fault> {
    pipeline.checkpoint.as_ref()?;
    let reason =
        "accepted, but this release takes no checkpoints yet: a run that ends early starts again from the beginning";
    Some(Fault::new("checkpoint", "checkpoint", reason))
}
