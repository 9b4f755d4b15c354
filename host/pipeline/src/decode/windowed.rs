//! A window operator's keys, which stand at the top of the short form and in an entry of `operators`.

use super::{aggregate, log, trigger, window};
use crate::error::PipelineError;
use crate::model::{Accumulation, Dedup, WindowKind, Windowed};
use crate::place::{Object, Place};

/// The keys of a window operator.
pub(crate) const KEYS: [&str; 7] =
    ["key_by", "dedup", "window", "trigger", "accumulation", "aggregate", "late_side_output"];
/// The keys of `dedup`.
pub(crate) const DEDUP: [&str; 2] = ["field", "horizon"];
/// The words of `accumulation`.
pub(crate) const ACCUMULATIONS: [(&str, Accumulation); 3] = [
    ("accumulating", Accumulation::Accumulating),
    ("discarding", Accumulation::Discarding),
    ("accumulating_and_retracting", Accumulation::AccumulatingAndRetracting),
];

/// Decodes the keys. `name`: the operator's, which its hooks' ids begin with; none in the short form.
pub(crate) fn decode(object: &Object<'_>, name: Option<&str>) -> Result<Windowed, PipelineError> {
    let key_by = key_by(object)?;
    let dedup = object.get("dedup").map(|place| dedup(&place)).transpose()?;
    let place = object.require("window", "choose windows, such as `window: {type: tumbling, size: 1m}`")?;
    let window = window::decode(&place, name.unwrap_or("window"))?;
    let global = matches!(window.kind, WindowKind::Global);
    let trigger = trigger::decode(object.get("trigger").as_ref(), global)?;
    let accumulation =
        object.get("accumulation").map(|place| place.choice("an accumulation", &ACCUMULATIONS)).transpose()?;
    let place = object.require("aggregate", "say what is computed, such as `aggregate: {clicks: count}`")?;
    let aggregates = aggregate::decode(&place, name)?;
    Ok(Windowed {
        key_by,
        dedup,
        window,
        trigger,
        accumulation: accumulation.unwrap_or(Accumulation::Accumulating),
        aggregates,
        late_side_output: log(object, "late_side_output")?,
    })
}

/// The key's fields, which must be there.
pub(super) fn key_by(object: &Object<'_>) -> Result<Vec<String>, PipelineError> {
    object.require("key_by", "list the key's fields, or write `key_by: []` for one key")?.fields("`key_by`")
}

fn dedup(place: &Place<'_>) -> Result<Dedup, PipelineError> {
    let object = place.object("`dedup`", &DEDUP)?;
    let field = object.require("field", "name the field that identifies a record")?.field()?;
    let horizon = object.require("horizon", "say how long identities are remembered, such as `10m`")?.duration()?;
    Ok(Dedup { field, horizon })
}
