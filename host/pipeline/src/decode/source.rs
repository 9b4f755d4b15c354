//! `source`: the log, the format, declared fields, and how the watermark is made.

use tidegate_types::{Field, FieldType, Kind};

use crate::error::PipelineError;
use crate::model::{Format, Source, Strategy, WatermarkSpec};
use crate::nearest::suggestion;
use crate::path::quoted;
use crate::place::{Object, Place};

/// The keys of `source`.
pub(crate) const KEYS: [&str; 5] = ["log", "format", "timestamp_field", "schema", "watermark"];
/// The keys that an entry of `sources` has besides.
pub(crate) const ENTRY: [&str; 2] = ["name", "map"];
/// The keys of `source.watermark`.
pub(crate) const WATERMARK: [&str; 5] = ["strategy", "max_delay", "field", "idle_partition_timeout", "max_drift"];
/// The words of `source.format`.
pub(crate) const FORMATS: [(&str, Format); 3] = [("json", Format::Json), ("avro", Format::Avro), ("raw", Format::Raw)];
/// The words of `source.watermark.strategy`.
pub(crate) const STRATEGIES: [(&str, StrategyName); 4] = [
    ("bounded_out_of_orderness", StrategyName::Bounded),
    ("ascending", StrategyName::Ascending),
    ("punctuated", StrategyName::Punctuated),
    ("none", StrategyName::None),
];
/// The kinds of declared fields.
pub(crate) const KINDS: [Kind; 5] = [Kind::Bool, Kind::Int, Kind::Float, Kind::Text, Kind::Bytes];

/// What other notations call the kinds.
const OTHER_NAMES: [(&str, Kind); 14] = [
    ("boolean", Kind::Bool),
    ("integer", Kind::Int),
    ("long", Kind::Int),
    ("int64", Kind::Int),
    ("i64", Kind::Int),
    ("bigint", Kind::Int),
    ("double", Kind::Float),
    ("number", Kind::Float),
    ("float64", Kind::Float),
    ("f64", Kind::Float),
    ("string", Kind::Text),
    ("str", Kind::Text),
    ("varchar", Kind::Text),
    ("binary", Kind::Bytes),
];

/// A strategy without what belongs to it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StrategyName {
    Bounded,
    Ascending,
    Punctuated,
    None,
}

/// Decodes the object, all of whose keys are known; the short form's map hook stands elsewhere.
pub(crate) fn decode(object: &Object<'_>, name: &str) -> Result<Source, PipelineError> {
    let log = object.require("log", "name the log that is read")?.name("the log's name")?;
    let format = object.get("format").map(|place| place.choice("a format", &FORMATS)).transpose()?;
    let timestamp_field = object.get("timestamp_field").map(|place| place.field()).transpose()?;
    let schema = object.get("schema").map(|place| schema(&place)).transpose()?.unwrap_or_default();
    let watermark = object.require("watermark", "say what records claim, such as `{strategy: ascending}`")?;
    let watermark = watermark_spec(&watermark)?;
    let format = format.unwrap_or(Format::Json);
    if format == Format::Raw {
        refuse_fields_of_raw(object)?;
    }
    Ok(Source { name: name.to_owned(), log, format, timestamp_field, schema, watermark, map: None })
}

/// Raw records have no fields before the map hook.
fn refuse_fields_of_raw(object: &Object<'_>) -> Result<(), PipelineError> {
    for key in ["timestamp_field", "schema"] {
        if object.get(key).is_some() {
            let reason = "raw records have no fields before the map hook makes them; remove it, or use `format: json`";
            return Err(object.refuse_at(key, reason));
        }
    }
    Ok(())
}

fn schema(place: &Place<'_>) -> Result<Vec<Field>, PipelineError> {
    place.entries("`schema`")?.into_iter().map(|(entry, place)| field(&entry.key, &place)).collect()
}

/// `name: kind` or `name: kind?`.
fn field(name: &str, place: &Place<'_>) -> Result<Field, PipelineError> {
    if name.is_empty() {
        return Err(place.refuse("a field's name is empty; name a field of the records"));
    }
    let text = place.text("a field's kind")?;
    let (word, nullable) = match text.strip_suffix('?') {
        Some(word) => (word, true),
        None => (text, false),
    };
    if let Some(kind) = KINDS.into_iter().find(|kind| kind.name() == word) {
        return Ok(Field { name: name.to_owned(), field_type: FieldType::Typed { kind, nullable } });
    }
    let lower = word.to_lowercase();
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == lower).map(|(_, kind)| kind.name());
    let reason = match other {
        Some(kind) => {
            format!("{} is not known as a kind; write `{kind}{}`", quoted(text), if nullable { "?" } else { "" })
        }
        None => {
            let help = suggestion(word, &KINDS.map(Kind::name));
            format!("{} is not known as a kind; {help}, each with `?` where null is allowed", quoted(text))
        }
    };
    Err(place.refuse(reason))
}

fn watermark_spec(place: &Place<'_>) -> Result<WatermarkSpec, PipelineError> {
    let object = place.object("`watermark`", &WATERMARK)?;
    let strategy = object.require("strategy", "choose one, such as `strategy: bounded_out_of_orderness`")?;
    let strategy = strategy_of(strategy.choice("a watermark strategy", &STRATEGIES)?, &object)?;
    let idle = object.get("idle_partition_timeout");
    let drift = object.get("max_drift");
    Ok(WatermarkSpec {
        strategy,
        idle_partition_timeout: idle.map(|place| place.positive_duration("`idle_partition_timeout`")).transpose()?,
        max_drift: drift.map(|place| place.positive_duration("`max_drift`")).transpose()?,
    })
}

fn strategy_of(name: StrategyName, object: &Object<'_>) -> Result<Strategy, PipelineError> {
    const ALWAYS: [&str; 3] = ["strategy", "idle_partition_timeout", "max_drift"];
    let only = |own: &[&str], to: &str| {
        let keys: Vec<&str> = ALWAYS.iter().chain(own).copied().collect();
        object.only(&keys, to, |key| match key {
            "max_delay" => "`strategy: bounded_out_of_orderness`",
            _ => "`strategy: punctuated`",
        })
    };
    match name {
        StrategyName::Bounded => {
            only(&["max_delay"], "`bounded_out_of_orderness`")?;
            let max_delay = object.require("max_delay", "say how late records may come, such as `max_delay: 30s`")?;
            Ok(Strategy::BoundedOutOfOrderness { max_delay: max_delay.duration()? })
        }
        StrategyName::Punctuated => {
            only(&["field"], "`punctuated`")?;
            let field = object.require("field", "name the field that claims (`true` or a time)")?.field()?;
            Ok(Strategy::Punctuated { field })
        }
        StrategyName::Ascending => only(&[], "`ascending`").map(|()| Strategy::Ascending),
        StrategyName::None => only(&[], "`none`").map(|()| Strategy::None),
    }
}
