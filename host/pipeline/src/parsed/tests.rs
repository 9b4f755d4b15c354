//! Tests of reading whole files. Every case is a file as a user would write it, most of them one edit away from `BASE`.

mod accepted;
mod chains;
mod contradictions;
mod documented;
mod json;
mod long;
mod long_refused;
mod random;
mod random_graphs;
mod refused;
mod remarks;

use crate::{ErrorCode, Parsed, PipelineError, parse};

/// Section 4.2 of the specification, as it stands there.
pub(crate) const SPECIFICATION: &str = include_str!("tests/specification.yaml");

/// A small sound file; tests count on its line numbers.
pub(crate) const BASE: &str = include_str!("tests/base.yaml");

/// A small sound file of the long form; tests count on its line numbers.
pub(crate) const GRAPH: &str = include_str!("tests/graph.yaml");

/// `BASE` with one edit.
fn edited(old: &str, new: &str) -> String {
    assert_eq!(BASE.matches(old).count(), 1, "{old:?} must stand in the base file once");
    BASE.replace(old, new)
}

/// `BASE` with several edits.
fn edited_all(edits: &[(&str, &str)]) -> String {
    edit(BASE, edits)
}

/// `GRAPH` with one edit.
fn graph(old: &str, new: &str) -> String {
    edit(GRAPH, &[(old, new)])
}

/// `GRAPH` with several edits.
fn graph_all(edits: &[(&str, &str)]) -> String {
    edit(GRAPH, edits)
}

fn edit(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old:?} must stand in the file once");
        text.replace(old, new)
    })
}

/// The only window operator of a pipeline.
fn windowed(text: &str) -> crate::Windowed {
    let pipeline = accept(text).pipeline;
    assert_eq!(pipeline.operators.len(), 1, "{text}");
    pipeline.operators[0].windowed().expect("a window operator").clone()
}

fn accept(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refuse(text: &str) -> PipelineError {
    match parse(text) {
        Ok(parsed) => panic!("accepted: {parsed:?}\n{text}"),
        Err(error) => error,
    }
}

/// Checks a refusal: its path, its line and a phrase of its reason.
fn refused(text: &str, path: &str, line: usize, phrase: &str) {
    let error = refuse(text);
    let found = (error.code, error.path.as_str(), error.line);
    assert_eq!(found, (ErrorCode::InvalidPipeline, path, Some(line)), "{error}\n{text}");
    assert!(error.reason.contains(phrase), "{phrase:?} is not in: {error}\n{text}");
}
