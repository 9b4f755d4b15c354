//! `tidegate check`: whether a pipeline file is sound, and what it means, in words.

mod words;

use std::fmt::Write;

use tidegate_pipeline::{OperatorKind, Pipeline, operator_ids};

use crate::cli::CheckArgs;
use crate::console::Console;
use crate::failure::{Failure, one_line};
use crate::run::load_pipeline;

/// Checks the file; warnings go to the console, and what the pipeline means is returned.
///
/// # Errors
/// As `tidegate run` has them: status 2, one line with the field's path.
pub(crate) fn check(args: &CheckArgs, console: &Console) -> Result<String, Failure> {
    let parsed = load_pipeline(&args.pipeline, console)?;
    Ok(explain(&parsed.pipeline))
}

/// What a pipeline means, a line for each part.
fn explain(pipeline: &Pipeline) -> String {
    let mut text = format!("{}, version {}: sound\n\n", pipeline.job, pipeline.version);
    let mut part = |name: &str, meaning: &str| {
        writeln!(text, "  {name:<12}{}", one_line(meaning)).expect("a String takes everything");
    };
    part("source", &words::source(&pipeline.source));
    part("watermark", &words::watermark(&pipeline.source.watermark));
    if let Some(hook) = &pipeline.map {
        part("map", &words::hook(hook));
    }
    part("key", &words::key(&pipeline.key_by));
    if let Some(dedup) = &pipeline.dedup {
        part("dedup", &format!("`{}`, remembered for {} of event time", dedup.field, dedup.horizon));
    }
    part("window", &words::window(&pipeline.window));
    part("panes", &words::panes(pipeline));
    for (place, aggregate) in pipeline.aggregates.iter().enumerate() {
        part(if place == 0 { "aggregate" } else { "" }, &words::aggregate(aggregate));
    }
    part("sink", &words::sink(&pipeline.sink));
    text.push_str("\nOperators and the ids that their state belongs to:\n");
    for operator in operator_ids(pipeline) {
        let kind = match operator.kind {
            OperatorKind::Map => "map",
            OperatorKind::Dedup => "dedup",
            OperatorKind::Window => "window",
            OperatorKind::Aggregate => "aggregate",
        };
        writeln!(text, "  {kind:<12}{}", one_line(&operator.id)).expect("a String takes everything");
    }
    text
}

#[cfg(test)]
mod tests;
