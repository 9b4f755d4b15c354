//! The pipeline file: parse, validate, describe.
//!
//! [`parse`] turns YAML or JSON text into a [`Pipeline`] without contradictions, or says what is wrong, where (path and
//! line) and what to do. [`check_supported`] refuses by name what this release does not run yet. Pure: no I/O, no clock.

mod error;
mod model;

pub use error::{ErrorCode, PipelineError, Warning};
pub use model::{
    Accumulation, Aggregate, Checkpoint, CheckpointMode, ComponentRef, Condition, Dedup, Early, Format, Function, Hook,
    Late, Pipeline, Sink, Source, Strategy, Trigger, WatermarkSpec, Window, WindowKind,
};

/// A pipeline and what its author should know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Remarks that refuse nothing.
    pub warnings: Vec<Warning>,
}

/// Reads a pipeline file, YAML or JSON.
///
/// # Errors
/// The first thing that is wrong, with its path and line.
pub fn parse(_text: &str) -> Result<Parsed, PipelineError> {
    Err(PipelineError { code: ErrorCode::Unsupported, path: String::new(), line: None, reason: "being written".into() })
}

/// Refuses by name what this release does not run yet.
///
/// # Errors
/// The first such thing, with code `unsupported`.
pub fn check_supported(_pipeline: &Pipeline) -> Result<(), PipelineError> {
    Ok(())
}
