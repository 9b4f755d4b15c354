//! The contradictions of docs/pipeline-file.md between sources, windows, triggers, accumulation, deduplication and sinks.

use tidegate_types::{FieldType, Kind};

use super::{Fault, Scene};
use crate::model::{Accumulation, Early, Format, Pipeline, Source, WindowKind};
use crate::path::{key, quoted};
use crate::sharing::{MOST_APART, MOST_SHARED, kept_apart_by, least_slide, windows_of_a_record};

/// The first contradiction.
pub(super) fn check(pipeline: &Pipeline) -> Result<(), Fault> {
    for (place, source) in pipeline.sources.iter().enumerate() {
        let path = pipeline.source_path(place);
        raw_needs_a_map_hook(source, &path)?;
        event_time_needs_an_origin(source, &path)?;
        event_time_must_be_readable(source, &path)?;
    }
    Scene::all(pipeline).try_for_each(window)
}

/// The first contradiction of a window operator.
fn window(scene: Scene<'_>) -> Result<(), Fault> {
    a_record_has_not_too_many_windows(scene)?;
    global_windows_need_an_early_trigger(scene)?;
    sessions_must_retract(scene)?;
    discarding_needs_a_sink_that_adds(scene)?;
    a_session_row_needs_both_bounds(scene)?;
    identities_must_outlast_lateness(scene)
}

fn raw_needs_a_map_hook(source: &Source, path: &str) -> Result<(), Fault> {
    if source.format == Format::Raw && source.map.is_none() {
        let reason = "raw records have no fields until a map hook makes them; add `map` with a hook that reads `raw`, or use \
                      `format: json`";
        return Err(Fault::new(key(path, "format"), path, reason));
    }
    Ok(())
}

fn event_time_needs_an_origin(source: &Source, path: &str) -> Result<(), Fault> {
    if source.timestamp_field.is_none() && source.map.is_none() {
        let reason = "nothing says when a record happened; name the field that holds its time, or add a `map` hook that \
                      gives it";
        return Err(Fault::new(key(path, "timestamp_field"), path, reason));
    }
    Ok(())
}

fn event_time_must_be_readable(source: &Source, path: &str) -> Result<(), Fault> {
    let Some(name) = &source.timestamp_field else { return Ok(()) };
    let declared = source.schema.iter().find(|field| field.name == *name);
    match declared.map(|field| field.field_type) {
        Some(FieldType::Typed { kind, .. }) if !matches!(kind, Kind::Int | Kind::Text) => {
            let reason = format!(
                "the event time {} is declared as {kind}, and a time is an integer (milliseconds) or RFC 3339 text; declare \
                 it `int` or `text`, or not at all",
                quoted(name)
            );
            let schema = key(path, "schema");
            Err(Fault::new(key(&schema, name), schema, reason))
        }
        _ => Ok(()),
    }
}

fn a_record_has_not_too_many_windows(scene: Scene<'_>) -> Result<(), Fault> {
    let WindowKind::Sliding { size, slide, .. } = scene.windowed.window.kind else { return Ok(()) };
    let windows = windows_of_a_record(size, slide);
    let reason = match kept_apart_by(scene.windowed) {
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
    Err(Fault::new(scene.below("window", "slide"), scene.path("window"), reason))
}

fn global_windows_need_an_early_trigger(scene: Scene<'_>) -> Result<(), Fault> {
    if matches!(scene.windowed.window.kind, WindowKind::Global) && scene.windowed.trigger.early == Early::None {
        let reason = "a global window has no end at which to fire; add an early trigger, such as \
                      `early: every 10s processing_time` or `early: every 100 elements`";
        return Err(Fault::new(scene.below("trigger", "early"), scene.below("window", "type"), reason));
    }
    Ok(())
}

fn sessions_must_retract(scene: Scene<'_>) -> Result<(), Fault> {
    let retracts = scene.windowed.accumulation == Accumulation::AccumulatingAndRetracting;
    if scene.is_session() && scene.fires_more_than_once() && !retracts && scene.upserts().next().is_some() {
        let reason = "sessions that fire more than once (an early trigger or allowed lateness) merge after rows of their parts \
                      were written, and only retractions remove these rows from an upsert sink; use \
                      `accumulating_and_retracting`, or fire once, or write to a log";
        return Err(Fault::new(scene.path("accumulation"), scene.below("window", "type"), reason));
    }
    Ok(())
}

fn discarding_needs_a_sink_that_adds(scene: Scene<'_>) -> Result<(), Fault> {
    let discards = scene.windowed.accumulation == Accumulation::Discarding;
    let upsert = scene.upserts().next().filter(|_| discards && scene.fires_more_than_once());
    let Some((sink, _)) = upsert else { return Ok(()) };
    let reason = "each pane holds only the records since the one before and an upsert sink keeps only the last, so results \
                  would be lost when a window fires more than once (an early trigger or allowed lateness); use \
                  `accumulating`, or fire once, or write to a log";
    Err(Fault::new(scene.path("accumulation"), key(&sink, "type"), reason))
}

fn a_session_row_needs_both_bounds(scene: Scene<'_>) -> Result<(), Fault> {
    for (sink, fields) in scene.upserts().filter(|_| scene.is_session()) {
        let has = |name: &str| fields.iter().any(|field| field == name);
        if !(has("window_start") && has("window_end")) {
            let reason =
                "a session's row is identified by both its bounds; add `window_start` and `window_end` to the key";
            return Err(Fault::new(key(&sink, "key"), sink, reason));
        }
    }
    Ok(())
}

fn identities_must_outlast_lateness(scene: Scene<'_>) -> Result<(), Fault> {
    let lateness = scene.windowed.window.allowed_lateness;
    match &scene.windowed.dedup {
        Some(dedup) if dedup.horizon < lateness => {
            let reason = format!(
                "identities are forgotten after {}, while records are taken up to {lateness} late (`window.allowed_lateness`), \
                 so a late duplicate would count again; use at least {lateness}",
                dedup.horizon
            );
            Err(Fault::new(scene.below("dedup", "horizon"), scene.path("dedup"), reason))
        }
        _ => Ok(()),
    }
}
