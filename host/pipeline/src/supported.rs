//! What the file may say and this release does not run yet. Delete a rule when its feature lands.

use crate::error::PipelineError;
use crate::model::{Format, Pipeline};

/// A feature that is not run yet: whether the pipeline uses it, where, and what to do instead.
struct Later {
    used: fn(&Pipeline) -> bool,
    path: &'static str,
    reason: &'static str,
}

const LATER: [Later; 1] = [Later {
    used: |pipeline| pipeline.source.format == Format::Avro,
    path: "source.format",
    reason: "`avro` is not read yet by this release; use `json`, or `raw` with a map hook that decodes it",
}];

/// Refuses by name what this release does not run yet.
///
/// # Errors
/// The first such thing, with code `unsupported`, its path, and no line ([`crate::Parsed::check_supported`] adds it).
pub fn check_supported(pipeline: &Pipeline) -> Result<(), PipelineError> {
    match LATER.iter().find(|later| (later.used)(pipeline)) {
        Some(later) => Err(PipelineError::unsupported(later.path, None, later.reason)),
        None => Ok(()),
    }
}
