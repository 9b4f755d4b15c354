//! The contradictions of docs/pipeline-file.md between sources, windows, triggers, accumulation, deduplication and sinks.

use tidegate_types::{FieldType, Kind};

use super::{Fault, fires_more_than_once, upsert_key};
use crate::model::{Accumulation, Early, Format, Pipeline, WindowKind};
use crate::path::{key, quoted};
use crate::sharing::{MOST_APART, MOST_SHARED, kept_apart_by, least_slide, windows_of_a_record};

/// The first contradiction.
pub(super) fn check(pipeline: &Pipeline) -> Result<(), Fault> {
    raw_needs_a_map_hook(pipeline)?;
    event_time_needs_an_origin(pipeline)?;
    event_time_must_be_readable(pipeline)?;
    a_record_has_not_too_many_windows(pipeline)?;
    global_windows_need_an_early_trigger(pipeline)?;
    sessions_must_retract(pipeline)?;
    discarding_needs_a_sink_that_adds(pipeline)?;
    a_session_row_needs_both_bounds(pipeline)?;
    identities_must_outlast_lateness(pipeline)
}

fn raw_needs_a_map_hook(pipeline: &Pipeline) -> Result<(), Fault> {
    if pipeline.source.format == Format::Raw && pipeline.map.is_none() {
        let reason = "raw records have no fields until a map hook makes them; add `map` with a hook that reads `raw`, or use \
                      `format: json`";
        return Err(Fault::new("source.format", "source", reason));
    }
    Ok(())
}

fn event_time_needs_an_origin(pipeline: &Pipeline) -> Result<(), Fault> {
    if pipeline.source.timestamp_field.is_none() && pipeline.map.is_none() {
        let reason = "nothing says when a record happened; name the field that holds its time, or add a `map` hook that \
                      gives it";
        return Err(Fault::new("source.timestamp_field", "source", reason));
    }
    Ok(())
}

fn event_time_must_be_readable(pipeline: &Pipeline) -> Result<(), Fault> {
    let Some(name) = &pipeline.source.timestamp_field else { return Ok(()) };
    let declared = pipeline.source.schema.iter().find(|field| field.name == *name);
    match declared.map(|field| field.field_type) {
        Some(FieldType::Typed { kind, .. }) if !matches!(kind, Kind::Int | Kind::Text) => {
            let reason = format!(
                "the event time {} is declared as {kind}, and a time is an integer (milliseconds) or RFC 3339 text; declare \
                 it `int` or `text`, or not at all",
                quoted(name)
            );
            Err(Fault::new(key("source.schema", name), "source.schema", reason))
        }
        _ => Ok(()),
    }
}

fn a_record_has_not_too_many_windows(pipeline: &Pipeline) -> Result<(), Fault> {
    let WindowKind::Sliding { size, slide, .. } = pipeline.window.kind else { return Ok(()) };
    let windows = windows_of_a_record(size, slide);
    let reason = match kept_apart_by(pipeline) {
        Some(why) if windows > MOST_APART => format!(
            "a record would be in up to {windows} windows, and where windows are kept one by one ({why} keeps them from \
             sharing panes) at most {MOST_APART} may hold it; use a slide of at least {}, or let them share panes: no early \
             trigger, `late` every_element or none, and built-in aggregates only, which allows {MOST_SHARED}",
            least_slide(size, MOST_APART)
        ),
        None if windows > MOST_SHARED => format!(
            "a record would be in up to {windows} windows, each of which fires, and at most {MOST_SHARED} may hold it; use \
             a slide of at least {}",
            least_slide(size, MOST_SHARED)
        ),
        _ => return Ok(()),
    };
    Err(Fault::new("window.slide", "window", reason))
}

fn global_windows_need_an_early_trigger(pipeline: &Pipeline) -> Result<(), Fault> {
    if matches!(pipeline.window.kind, WindowKind::Global) && pipeline.trigger.early == Early::None {
        let reason = "a global window has no end at which to fire; add an early trigger, such as \
                      `early: every 10s processing_time` or `early: every 100 elements`";
        return Err(Fault::new("trigger.early", "window.type", reason));
    }
    Ok(())
}

fn sessions_must_retract(pipeline: &Pipeline) -> Result<(), Fault> {
    let session = matches!(pipeline.window.kind, WindowKind::Session { .. });
    let retracts = pipeline.accumulation == Accumulation::AccumulatingAndRetracting;
    if session && fires_more_than_once(pipeline) && !retracts && upsert_key(pipeline).is_some() {
        let reason = "sessions that fire more than once (an early trigger or allowed lateness) merge after rows of their parts \
                      were written, and only retractions remove these rows from an upsert sink; use \
                      `accumulating_and_retracting`, or fire once, or write to a log";
        return Err(Fault::new("accumulation", "window.type", reason));
    }
    Ok(())
}

fn discarding_needs_a_sink_that_adds(pipeline: &Pipeline) -> Result<(), Fault> {
    let discards = pipeline.accumulation == Accumulation::Discarding;
    if discards && fires_more_than_once(pipeline) && upsert_key(pipeline).is_some() {
        let reason = "each pane holds only the records since the one before and an upsert sink keeps only the last, so results \
                      would be lost when a window fires more than once (an early trigger or allowed lateness); use \
                      `accumulating`, or fire once, or write to a log";
        return Err(Fault::new("accumulation", "sink.type", reason));
    }
    Ok(())
}

fn a_session_row_needs_both_bounds(pipeline: &Pipeline) -> Result<(), Fault> {
    let Some(key) = upsert_key(pipeline) else { return Ok(()) };
    let has = |name: &str| key.iter().any(|field| field == name);
    if matches!(pipeline.window.kind, WindowKind::Session { .. }) && !(has("window_start") && has("window_end")) {
        let reason = "a session's row is identified by both its bounds; add `window_start` and `window_end` to the key";
        return Err(Fault::new("sink.key", "sink", reason));
    }
    Ok(())
}

fn identities_must_outlast_lateness(pipeline: &Pipeline) -> Result<(), Fault> {
    let lateness = pipeline.window.allowed_lateness;
    match &pipeline.dedup {
        Some(dedup) if dedup.horizon < lateness => {
            let reason = format!(
                "identities are forgotten after {}, while records are taken up to {lateness} late (`window.allowed_lateness`), \
                 so a late duplicate would count again; use at least {lateness}",
                dedup.horizon
            );
            Err(Fault::new("dedup.horizon", "dedup", reason))
        }
        _ => Ok(()),
    }
}
