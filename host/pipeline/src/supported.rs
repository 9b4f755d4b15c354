//! What the file may say and this release does not run yet. Delete a rule when its feature lands.

use crate::error::PipelineError;
use crate::model::{Format, Pipeline};
use crate::path::key;

/// Refuses by name what this release does not run yet.
///
/// # Errors
/// The first such thing, with code `unsupported`, its path, and no line ([`crate::Parsed::check_supported`] adds it).
pub fn check_supported(pipeline: &Pipeline) -> Result<(), PipelineError> {
    let Some(source) = pipeline.sources.iter().position(|source| source.format == Format::Avro) else { return Ok(()) };
    let reason = "`avro` is not read yet by this release; use `json`, or `raw` with a map hook that decodes it";
    Err(PipelineError::unsupported(key(&pipeline.source_path(source), "format"), None, reason))
}
