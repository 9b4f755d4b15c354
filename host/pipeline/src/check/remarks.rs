//! Remarks: files that are sound and may still not mean what their author thinks.

use tidegate_types::{Field, FieldType, Kind, Millis};

use super::{Fault, Scene, joins, kinds};
use crate::checkpointing;
use crate::model::{Aggregate, Format, Pipeline, Source, WindowKind};
use crate::path::{key, quoted};
use crate::sharing::{kept_apart_by, windows_of_a_record};

/// All remarks, in the order of the file's keys.
pub(super) fn all(pipeline: &Pipeline) -> Vec<Fault> {
    let mut remarks = Vec::new();
    for (place, source) in pipeline.sources.iter().enumerate() {
        let path = pipeline.source_path(place);
        remarks.extend(bytes_are_never_read(source, &path));
        remarks.extend(drift_waits_for_the_silent(source, &path));
    }
    for place in 0..pipeline.operators.len() {
        remarks.extend(Scene::of(pipeline, place).into_iter().flat_map(of_a_window));
        remarks.extend(joins::remarks(pipeline, place));
    }
    remarks.extend(checkpointing::remarks(pipeline));
    remarks
}

/// The remarks on a window operator and its sinks.
fn of_a_window(scene: Scene<'_>) -> Vec<Fault> {
    let mut remarks = Vec::new();
    remarks.extend(identity_forgotten_before_its_window(scene));
    remarks.extend(kinds::never_taken(scene));
    remarks.extend(scene.windowed.aggregates.iter().filter_map(|aggregate| condition_never_holds(scene, aggregate)));
    remarks.extend(scene.upserts().flat_map(|(sink, key)| rows_overwrite_each_other(scene, &sink, key)));
    remarks.extend(panes_are_not_shared(scene));
    remarks
}

/// JSON has no bytes.
fn bytes_are_never_read(source: &Source, path: &str) -> Vec<Fault> {
    if source.format != Format::Json {
        return Vec::new();
    }
    let schema = key(path, "schema");
    let is_bytes = |field: &&Field| matches!(field.field_type, FieldType::Typed { kind: Kind::Bytes, .. });
    let remark = |field: &Field| {
        let reason = "JSON has no value of this kind, so every record with a value here is rejected as `type-mismatch`; \
                      declare `text`, and let a hook decode it";
        Fault::new(key(&schema, &field.name), schema.clone(), reason)
    };
    source.schema.iter().filter(is_bytes).map(remark).collect()
}

fn drift_waits_for_the_silent(source: &Source, path: &str) -> Option<Fault> {
    let watermark = &source.watermark;
    if watermark.max_drift.is_none() || watermark.idle_partition_timeout.is_some() {
        return None;
    }
    let reason = "a partition that falls silent is never idle without `idle_partition_timeout`, so in time it stops the \
                  reading of all others, for as long as it is silent; add a timeout";
    let path = key(path, "watermark");
    Some(Fault::new(key(&path, "max_drift"), path, reason))
}

fn identity_forgotten_before_its_window(scene: Scene<'_>) -> Option<Fault> {
    let horizon = scene.windowed.dedup.as_ref()?.horizon;
    let (size, called) = match &scene.windowed.window.kind {
        WindowKind::Tumbling { size, .. } | WindowKind::Sliding { size, .. } => (*size, "size"),
        WindowKind::Session { gap, .. } => (*gap, "gap"),
        WindowKind::Global | WindowKind::Custom { .. } => return None,
    };
    let kept = Millis(size.0 + scene.windowed.window.allowed_lateness.0);
    if horizon >= kept {
        return None;
    }
    let reason = format!(
        "identities are remembered for {horizon}, and a window takes records for {kept} ({called} and allowed lateness): an \
         identity can be forgotten up to one window before its window is, and its duplicate then counts; {kept} excludes that"
    );
    Some(Fault::new(scene.below("dedup", "horizon"), scene.path("dedup"), reason))
}

/// Sliding windows that are kept one by one: each record costs as much as it has windows.
fn panes_are_not_shared(scene: Scene<'_>) -> Option<Fault> {
    let WindowKind::Sliding { size, slide, .. } = scene.windowed.window.kind else { return None };
    let why = kept_apart_by(scene.windowed).filter(|_| slide < size)?;
    let reason = format!(
        "each record updates up to {} windows one by one, since {why} keeps them from sharing panes",
        windows_of_a_record(size, slide)
    );
    Some(Fault::new(scene.below("window", "slide"), scene.path("window"), reason))
}

fn condition_never_holds(scene: Scene<'_>, aggregate: &Aggregate) -> Option<Fault> {
    let Aggregate::Builtin { name, condition: Some(condition), .. } = aggregate else { return None };
    let path = key(&key(&scene.below("aggregate", name), "where"), "equals");
    if condition.equals.is_null() {
        let reason = "`where` never matches null, so nothing is counted; give a value";
        return Some(Fault::new(path, scene.path("aggregate"), reason));
    }
    let (given, declared) = kinds::never_equal(scene, condition)?;
    let reason = format!(
        "this is {given}, and {} is declared as {declared}: values of different kinds are never equal, so nothing is counted",
        quoted(&condition.field)
    );
    Some(Fault::new(path, scene.path("aggregate"), reason))
}

fn rows_overwrite_each_other(scene: Scene<'_>, sink: &str, fields: &[String]) -> Vec<Fault> {
    let mut remarks = Vec::new();
    let mut remark = |reason: String| remarks.push(Fault::new(key(sink, "key"), sink, reason));
    let has = |name: &str| fields.iter().any(|field| field == name);
    let global = matches!(scene.windowed.window.kind, WindowKind::Global);
    if !global && !has("window_start") && !has("window_end") {
        remark("without `window_start` rows of different windows of a key overwrite each other; add it".into());
    }
    if let Some(aggregate) = scene.windowed.aggregates.iter().find(|aggregate| has(aggregate.name())) {
        remark(format!(
            "{} is an aggregate, which may change from pane to pane and then leaves the earlier row behind; remove it",
            quoted(aggregate.name())
        ));
    }
    remarks
}
