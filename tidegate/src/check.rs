//! `tidegate check`: whether a pipeline file is sound, and what it means, in words.

mod words;

use std::fmt::Write;

use tidegate_pipeline::{Form, Pipeline, Source, guarantee, operator_ids};

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
    let mut text = format!("{}, version {}: sound\n", pipeline.job, pipeline.version);
    for (place, source) in pipeline.sources.iter().enumerate() {
        let lines = lines_of_source(source);
        part(&mut text, pipeline.form, &format!("Source {}", source.name), place == 0, lines);
    }
    for (place, operator) in pipeline.operators.iter().enumerate() {
        let reads: Vec<&str> = operator.inputs.iter().map(|input| words::called(pipeline, *input)).collect();
        let heading = format!("Operator {}, of {}", operator.name, reads.join(" and "));
        part(&mut text, pipeline.form, &heading, false, words::operator(pipeline, place));
    }
    for sink in &pipeline.sinks {
        let heading = format!("Sink {}, of {}", sink.name, pipeline.operators[sink.input].name);
        part(&mut text, pipeline.form, &heading, false, vec![("sink", words::sink(&sink.sink))]);
    }
    text.push_str("\nOperators and the ids that their state belongs to:\n");
    for operator in operator_ids(pipeline) {
        writeln!(text, "  {:<12}{}", operator.kind.name(), one_line(&operator.id)).expect("a String takes everything");
    }
    text.push_str("\nWhat it guarantees once it is deployed (`tidegate run` takes no checkpoints):\n");
    for sentence in guarantee(pipeline).sentences() {
        writeln!(text, "  {}", one_line(&sentence)).expect("a String takes everything");
    }
    text
}

fn lines_of_source(source: &Source) -> Vec<(&'static str, String)> {
    let mut lines = vec![("source", words::source(source)), ("watermark", words::watermark(&source.watermark))];
    lines.extend(source.map.iter().map(|hook| ("map", words::hook(hook))));
    lines
}

/// A part's lines, below its heading where the file names its parts.
fn part(text: &mut String, form: Form, heading: &str, first: bool, lines: Vec<(&'static str, String)>) {
    if form == Form::Long {
        writeln!(text, "\n{}", one_line(heading)).expect("a String takes everything");
    } else if first {
        text.push('\n');
    }
    for (name, meaning) in lines {
        writeln!(text, "  {name:<12}{}", one_line(&meaning)).expect("a String takes everything");
    }
}

#[cfg(test)]
mod tests;
