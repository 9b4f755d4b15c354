//! Operators that feed operators: what a window may emit so that those behind it count nothing
//! twice.
//!
//! A window that fires once says its result once, and one that discards says each record once. One that says results again
//! must retract the earlier ones, and whoever reads it must be able to undo them.

use super::{Fault, Scene};
use crate::error::PipelineError;
use crate::model::{
    Accumulation, Aggregate, Function, Operator, OperatorSpec, Pipeline, Upstream, WindowKind, Windowed,
};
use crate::path::{key, quoted};

/// The first window that may not feed what it feeds.
pub(super) fn check(pipeline: &Pipeline) -> Result<(), Fault> {
    Scene::all(pipeline).try_for_each(|scene| {
        a_global_window_feeds_sinks_only(scene)?;
        results_are_said_once_or_undone(scene)
    })
}

/// Checks what a custom window feeds, once its hook has said what it does. For all other operators there is nothing to check.
///
/// `operator`: its place in [`Pipeline::operators`]. `decides`: the hook says when windows fire. `emits`: the hook makes a
/// firing's records.
///
/// # Errors
/// `invalid-pipeline` at `window.component` if the windows may fire more than once and their hook emits, or say results again
/// that an operator behind them would count twice. Lines are not known here.
pub fn check_custom_chain(
    pipeline: &Pipeline,
    operator: usize,
    decides: bool,
    emits: bool,
) -> Result<(), PipelineError> {
    let Some(scene) = Scene::of(pipeline, operator) else { return Ok(()) };
    let custom = matches!(scene.windowed.window.kind, WindowKind::Custom { .. });
    if !custom || !(decides || scene.fires_more_than_once()) {
        return Ok(());
    }
    let Some(consumer) = stateful_behind(pipeline, operator) else { return Ok(()) };
    let consumer = quoted(&consumer.name);
    let reason = if emits {
        format!(
            "this hook emits records of its own, and its windows may fire more than once, so {consumer} could not tell a \
             new result from an earlier one; let the windows fire once (no decisions, no early trigger, no \
             `allowed_lateness`), or feed sinks only"
        )
    } else if decides && scene.windowed.accumulation == Accumulation::Accumulating {
        format!(
            "this hook decides when windows fire, so a window may fire more than once, and {consumer} would count earlier \
             records again; use `accumulation: discarding` or `accumulating_and_retracting`, or feed sinks only"
        )
    } else {
        match undone(scene, decides) {
            Ok(()) => return Ok(()),
            Err(fault) => return Err(PipelineError::invalid(fault.path, None, fault.reason)),
        }
    };
    let path = key(&scene.path("window"), "component");
    Err(PipelineError::invalid(path, None, reason))
}

/// The watermark says nothing about the time of a global window's results.
fn a_global_window_feeds_sinks_only(scene: Scene<'_>) -> Result<(), Fault> {
    let reader = scene.pipeline.consumers(Upstream::Operator(scene.place)).next();
    let (WindowKind::Global, Some((reader, _))) = (&scene.windowed.window.kind, reader) else { return Ok(()) };
    let reason = format!(
        "a global window never ends, so its results have no event time and {} cannot read them; use windows of another type, \
         or feed sinks only",
        quoted(&scene.pipeline.operators[reader].name)
    );
    Err(Fault::new(scene.below("window", "type"), scene.path("window"), reason))
}

fn results_are_said_once_or_undone(scene: Scene<'_>) -> Result<(), Fault> {
    if !scene.fires_more_than_once() {
        return Ok(());
    }
    if scene.windowed.accumulation == Accumulation::Accumulating {
        let Some(consumer) = stateful_behind(scene.pipeline, scene.place) else { return Ok(()) };
        let reason = format!(
            "these windows fire more than once (an early trigger or allowed lateness), each time with all records so far, so \
             {} would count records again; fire once, or use `discarding` or `accumulating_and_retracting`",
            quoted(&consumer.name)
        );
        return Err(Fault::new(scene.path("accumulation"), scene.path("window"), reason));
    }
    undone(scene, false)
}

/// Whether whoever reads a retracting window can undo what it said. `again`: it may fire more than once, whatever the file
/// says.
fn undone(scene: Scene<'_>, again: bool) -> Result<(), Fault> {
    let retracts = scene.windowed.accumulation == Accumulation::AccumulatingAndRetracting;
    if !retracts || !(again || scene.fires_more_than_once()) {
        return Ok(());
    }
    let refuse = |reader: &Operator, why: &str| {
        let reason = format!(
            "these windows retract earlier results, and {} {why}; fire once, or use `discarding`, or change that operator",
            quoted(&reader.name)
        );
        Err(Fault::new(scene.path("accumulation"), scene.path("window"), reason))
    };
    for (reader, _) in scene.pipeline.consumers(Upstream::Operator(scene.place)) {
        let reader = &scene.pipeline.operators[reader];
        match &reader.kind {
            OperatorSpec::Map(_) => return refuse(reader, "is a map hook, which would take retractions for results"),
            OperatorSpec::Join(_) => return refuse(reader, "is a join, which cannot undo pairs"),
            OperatorSpec::Process(_) => return refuse(reader, "is a process hook, which cannot undo what it has done"),
            OperatorSpec::Window(windowed) => {
                if let Some(why) = cannot_undo(windowed) {
                    return refuse(reader, &why);
                }
            }
        }
    }
    Ok(())
}

/// Why a window operator cannot undo a row, as the rest of a sentence.
fn cannot_undo(windowed: &Windowed) -> Option<String> {
    match &windowed.window.kind {
        WindowKind::Session { .. } => return Some("has session windows, which a retraction cannot part again".into()),
        WindowKind::Custom { .. } => return Some("has custom windows, whose hook cannot undo a row".into()),
        WindowKind::Tumbling { .. } | WindowKind::Sliding { .. } | WindowKind::Global => {}
    }
    if windowed.dedup.is_some() {
        return Some("drops duplicates (`dedup`), which cannot undo an identity".into());
    }
    let undoes = |aggregate: &Aggregate| match aggregate {
        Aggregate::Builtin { function, .. } => matches!(
            function,
            Function::Count | Function::Sum | Function::Avg | Function::CountDistinct | Function::TopK { .. }
        ),
        Aggregate::Hook { .. } => false,
    };
    let aggregate = windowed.aggregates.iter().find(|aggregate| !undoes(aggregate))?;
    Some(format!(
        "has the aggregate {}, which cannot undo a row (`count`, `sum`, `avg`, `count_distinct` and `top_k` can)",
        quoted(aggregate.name())
    ))
}

/// The first stateful operator that reads another one, straight or through map hooks.
fn stateful_behind(pipeline: &Pipeline, operator: usize) -> Option<&Operator> {
    let mut reached = vec![false; pipeline.operators.len()];
    // Each operator stands after those that it reads, so one pass sees all.
    for (place, of) in pipeline.operators.iter().enumerate() {
        let reads = |input: &Upstream| match input {
            Upstream::Operator(read) => *read == operator || reached[*read],
            Upstream::Source(_) => false,
        };
        if of.inputs.iter().any(reads) {
            if of.is_stateful() {
                return Some(of);
            }
            reached[place] = true;
        }
    }
    None
}
