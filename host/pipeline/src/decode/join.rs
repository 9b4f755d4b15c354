//! `join`: two inputs, which of their rows meet, and what a pair becomes.

use tidegate_types::Millis;

use super::{component, log, window};
use crate::error::PipelineError;
use crate::model::{Join, JoinKind, JoinOutput, JoinSide, Matching, Selected, WindowKind};
use crate::path::quoted;
use crate::place::{Object, Place};

/// The keys of `join`.
pub(crate) const KEYS: [&str; 13] = [
    "type",
    "left",
    "right",
    "matching",
    "lower",
    "upper",
    "window",
    "allowed_lateness",
    "select",
    "component",
    "uid",
    "config",
    "late_side_output",
];
/// The keys of `join.left` and `join.right`.
pub(crate) const SIDE: [&str; 2] = ["input", "key_by"];
/// The words of `join.type`.
pub(crate) const TYPES: [(&str, JoinType); 2] = [("interval", JoinType::Interval), ("window", JoinType::Window)];
/// The words of `join.matching`.
pub(crate) const MATCHINGS: [(&str, Matching); 4] =
    [("inner", Matching::Inner), ("left", Matching::Left), ("right", Matching::Right), ("full", Matching::Full)];
/// The most fields of a projection.
pub(crate) const MAX_SELECTED: usize = 1_000;

/// A type without what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JoinType {
    Interval,
    Window,
}

/// Decodes the object. Gives the join and where its inputs are named, left and right. `name`: the operator's.
pub(super) fn decode<'a>(place: &Place<'a>, name: &str) -> Result<(Join, Vec<Place<'a>>), PipelineError> {
    let object = place.object("`join`", &KEYS)?;
    let join_type = object.require("type", "choose `type: interval` or `type: window`")?;
    let join_type = join_type.choice("a join", &TYPES)?;
    let left = Side::decode(&object, "left")?;
    let right = Side::decode(&object, "right")?;
    if left.key_by.len() != right.key_by.len() {
        let reason = format!(
            "the left key has {} fields and the right one {}, so no keys could be equal; name as many on both sides, in \
             the same order",
            left.key_by.len(),
            right.key_by.len()
        );
        return Err(right.key_place.refuse(reason));
    }
    let lateness = object.get("allowed_lateness").map(|place| place.duration()).transpose()?;
    let join = Join {
        kind: kind(&object, join_type)?,
        matching: matching(&object, join_type)?,
        left_key: left.key_by,
        right_key: right.key_by,
        allowed_lateness: lateness.unwrap_or(Millis(0)),
        output: output(&object, name)?,
        late_side_output: log(&object, "late_side_output")?,
    };
    Ok((join, vec![left.input, right.input]))
}

/// An input of a join.
struct Side<'a> {
    input: Place<'a>,
    key_place: Place<'a>,
    key_by: Vec<String>,
}

impl<'a> Side<'a> {
    fn decode(join: &Object<'a>, side: &str) -> Result<Self, PipelineError> {
        let mend = format!("name an input and its key, such as `{side}: {{input: clicks, key_by: [id]}}`");
        let object = join.require(side, &mend)?.object("a join's input", &SIDE)?;
        let input = object.require("input", "name the source or the operator that is joined")?;
        let key_place = object.require("key_by", "list the key's fields, or write `key_by: []` for one key")?;
        // One field may meet two of the other side, so it may stand twice.
        let key_by = key_place.repeated_fields("`key_by`")?;
        Ok(Self { input, key_place, key_by })
    }
}

fn kind(object: &Object<'_>, join_type: JoinType) -> Result<JoinKind, PipelineError> {
    let foreign: &[&str] = match join_type {
        JoinType::Interval => &["window"],
        JoinType::Window => &["lower", "upper"],
    };
    if let Some(key) = foreign.iter().find(|key| object.has(key)) {
        let reason = match join_type {
            JoinType::Interval => "an interval join has no windows; remove it, or use `type: window`",
            JoinType::Window => "a window join has no interval; remove it, or use `type: interval`",
        };
        return Err(object.refuse_at(key, reason));
    }
    match join_type {
        JoinType::Interval => interval(object),
        JoinType::Window => Ok(JoinKind::Window(windows(object)?)),
    }
}

fn interval(object: &Object<'_>) -> Result<JoinKind, PipelineError> {
    let bound = |key: &str, mend: &str| object.require(key, mend)?.signed_duration();
    let lower = bound("lower", "say from which distance on rows meet (right's time less left's), such as `lower: 0s`")?;
    let upper = bound("upper", "say up to which distance rows meet (right's time less left's), such as `upper: 10m`")?;
    if lower > upper {
        let reason = "the interval is empty, since `lower` is above `upper`; exchange them (a lower bound may be negative, \
                      such as `-10s`)";
        return Err(object.refuse_at("lower", reason));
    }
    Ok(JoinKind::Interval { lower, upper })
}

/// The windows of a window join.
fn windows(object: &Object<'_>) -> Result<WindowKind, PipelineError> {
    let place = object.require("window", "choose windows, such as `window: {type: tumbling, size: 1m}`")?;
    let known = place.object("`window`", &window::KEYS)?;
    if known.has("allowed_lateness") {
        let reason = "a join's `allowed_lateness` stands beside its `window`; move it there";
        return Err(known.refuse_at("allowed_lateness", reason));
    }
    match window::decode(&place, "window")?.kind {
        kind @ (WindowKind::Tumbling { .. } | WindowKind::Sliding { .. }) => Ok(kind),
        WindowKind::Session { .. } | WindowKind::Global | WindowKind::Custom { .. } => {
            Err(known.refuse_at("type", "a window join takes windows of fixed places; use `tumbling` or `sliding`"))
        }
    }
}

fn matching(object: &Object<'_>, join_type: JoinType) -> Result<Matching, PipelineError> {
    let Some(place) = object.get("matching") else { return Ok(Matching::Inner) };
    let matching = place.choice("a matching", &MATCHINGS)?;
    if join_type == JoinType::Window && matching != Matching::Inner {
        return Err(place.refuse("a window join gives pairs only; use `matching: inner`, or an interval join"));
    }
    Ok(matching)
}

/// The projection, or the hook that stands in its place.
fn output(object: &Object<'_>, name: &str) -> Result<JoinOutput, PipelineError> {
    match (object.get("select"), object.has("component")) {
        (Some(_), true) => {
            let reason = "this join has a projection (`select`) and a hook (`component`); keep one of them";
            Err(object.refuse_at("component", reason))
        }
        (Some(place), false) => {
            if let Some(key) = ["uid", "config"].into_iter().find(|key| object.has(key)) {
                let reason = format!("`{key}` belongs to a hook (`component`); remove it");
                return Err(object.refuse_at(key, reason));
            }
            Ok(JoinOutput::Select(selected(&place)?))
        }
        (None, true) => Ok(JoinOutput::Hook(component::from_object(object, &format!("{name}.pairs"))?)),
        (None, false) => {
            let reason = "`select` is missing; name the fields of a pair, such as `select: {id: left.id}`, or a hook \
                          (`component`)";
            Err(object.refuse_at("select", reason))
        }
    }
}

/// `{id: left.id, at: right.time}`.
fn selected(place: &Place<'_>) -> Result<Vec<Selected>, PipelineError> {
    let entries = place.entries("`select`")?;
    if entries.is_empty() {
        return Err(place.refuse("nothing is selected; name at least one field, such as `id: left.id`"));
    }
    if entries.len() > MAX_SELECTED {
        return Err(place.refuse(format!("{} fields are too many; use at most {MAX_SELECTED}", entries.len())));
    }
    let one = |name: &str, place: Place<'_>| {
        if name.is_empty() {
            return Err(place.refuse("a field's name is empty; it becomes the name of the output field"));
        }
        let (side, field) = side_and_field(&place)?;
        Ok(Selected { name: name.to_owned(), side, field })
    };
    entries.into_iter().map(|(entry, place)| one(&entry.key, place)).collect()
}

fn side_and_field(place: &Place<'_>) -> Result<(JoinSide, String), PipelineError> {
    let text = place.field()?;
    let split = text.split_once('.').filter(|(_, field)| !field.is_empty());
    match split {
        Some(("left", field)) => Ok((JoinSide::Left, field.to_owned())),
        Some(("right", field)) => Ok((JoinSide::Right, field.to_owned())),
        _ => Err(place.refuse(format!(
            "{} names no side; write `left.` or `right.` and the name of a field, such as `left.id`",
            quoted(&text)
        ))),
    }
}
