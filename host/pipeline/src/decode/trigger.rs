//! `trigger`: when panes are emitted before and after the one on time.

use crate::duration;
use crate::error::PipelineError;
use crate::model::{Early, Late, Trigger};
use crate::path::{quoted, shown};
use crate::place::Place;

/// The keys of `trigger`.
pub(crate) const KEYS: [&str; 3] = ["early", "on_time", "late"];

const EARLY_FORMS: &str = "write `every 10s processing_time`, `every 3 elements` or `none`";
const LATE_FORMS: &str = "write `every_element`, `every 10s processing_time` or `none`";

/// Decodes the object, which may be absent; `global`: whether the windows are global, which have no late panes.
pub(crate) fn decode(place: Option<&Place<'_>>, global: bool) -> Result<Trigger, PipelineError> {
    let default_late = if global { Late::None } else { Late::EveryElement };
    let Some(place) = place else { return Ok(Trigger { early: Early::None, late: default_late }) };
    let object = place.object("`trigger`", &KEYS)?;
    let early = object.get("early").map(|place| early(&place)).transpose()?;
    if let Some(place) = object.get("on_time") {
        place.choice("an on-time trigger", &[("at_watermark", ())])?;
    }
    let late = object.get("late").map(|place| late(&place)).transpose()?;
    if global && late.is_some() {
        let reason = "a global window has no end, so it has no late panes; remove `late`";
        return Err(object.refuse_at("late", reason));
    }
    Ok(Trigger { early: early.unwrap_or(Early::None), late: late.unwrap_or(default_late) })
}

fn early(place: &Place<'_>) -> Result<Early, PipelineError> {
    let text = place.text("an early trigger")?;
    match words(text).as_slice() {
        ["none"] => Ok(Early::None),
        ["every", period, "processing_time"] => Ok(Early::EveryProcessingTime(self::period(place, period)?)),
        ["every", count, "elements"] => Ok(Early::EveryElements(self::count(place, count)?)),
        ["every_element"] => Err(place.refuse("early triggers write it `every 1 elements`")),
        ["every", count, "element"] => {
            Err(place.refuse(format!("{} is no early trigger; write `every {} elements`", quoted(text), shown(count))))
        }
        _ => Err(place.refuse(format!("{} is no early trigger; {EARLY_FORMS}", quoted(text)))),
    }
}

fn late(place: &Place<'_>) -> Result<Late, PipelineError> {
    let text = place.text("a late trigger")?;
    match words(text).as_slice() {
        ["none"] => Ok(Late::None),
        ["every_element"] => Ok(Late::EveryElement),
        ["every", period, "processing_time"] => Ok(Late::EveryProcessingTime(self::period(place, period)?)),
        ["every", _, "element" | "elements"] => {
            Err(place.refuse(format!("{} is no late trigger, which counts no elements; {LATE_FORMS}", quoted(text))))
        }
        _ => Err(place.refuse(format!("{} is no late trigger; {LATE_FORMS}", quoted(text)))),
    }
}

/// The words of a trigger; of longer text only so many that no form matches.
fn words(text: &str) -> Vec<&str> {
    text.split(' ').filter(|word| !word.is_empty()).take(4).collect()
}

fn period(place: &Place<'_>, text: &str) -> Result<tidegate_types::Millis, PipelineError> {
    let period = duration::from_text(text).map_err(|reason| place.refuse(reason))?;
    if period.0 == 0 {
        return Err(place.refuse("the period is zero; it must be longer, such as `every 10s processing_time`"));
    }
    Ok(period)
}

fn count(place: &Place<'_>, text: &str) -> Result<u64, PipelineError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(count) if digits && count > 0 => Ok(count),
        _ => Err(place.refuse(format!(
            "{} is no number of elements; write one above zero, such as `every 3 elements`",
            quoted(text)
        ))),
    }
}
