//! Text in, pipeline out: read, decode, check, in this order; the first fault ends it.

use crate::error::{PipelineError, Warning};
use crate::model::Pipeline;
use crate::node::Node;
use crate::{check, decode, path, reader, supported};

/// A pipeline and what its author should know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Remarks that refuse nothing, in the order of the file's keys.
    pub warnings: Vec<Warning>,
    /// The file, for lines.
    root: Node,
}

impl Parsed {
    /// The line of the value at `path` (`window.slide`), from 1, if the file has one.
    #[must_use]
    pub fn line_of(&self, path: &str) -> Option<usize> {
        path::line_at(&self.root, path)
    }

    /// [`crate::check_supported`] with the line.
    ///
    /// # Errors
    /// The first thing that this release does not run yet, with code `unsupported`.
    pub fn check_supported(&self) -> Result<(), PipelineError> {
        supported::check_supported(&self.pipeline).map_err(|error| self.locate(error))
    }

    /// Adds the line to an error that has none.
    #[must_use]
    pub fn locate(&self, mut error: PipelineError) -> PipelineError {
        error.line = error.line.or_else(|| self.line_of(&error.path));
        error
    }
}

/// Reads a pipeline file, YAML 1.2 or JSON, of at most 1 MiB.
///
/// # Errors
/// The first thing that is wrong, with its path and line and the code `invalid-pipeline`: text that is not well-formed, an
/// unknown key, a bad value or a contradiction.
pub fn parse(text: &str) -> Result<Parsed, PipelineError> {
    let root = reader::read(text)?;
    let pipeline = decode::pipeline(&root)?;
    check::contradictions(&pipeline, &root)?;
    let warnings = check::remarks(&pipeline, &root);
    Ok(Parsed { pipeline, warnings, root })
}

#[cfg(test)]
pub(crate) mod tests;
