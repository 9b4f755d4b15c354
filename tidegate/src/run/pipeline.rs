//! Reads the pipeline file and says what its author should know.

use std::path::Path;

use tidegate_pipeline::{Parsed, parse};

use crate::bounded;
use crate::console::Console;
use crate::failure::{Failure, one_line};

/// A pipeline file that is larger is none.
const LARGEST: u64 = 1 << 20;

/// Reads and checks a pipeline file, and shows its warnings.
///
/// # Errors
/// If it cannot be read, is wrong, or asks for what this release does not run.
pub(crate) fn load(path: &Path, console: &Console) -> Result<Parsed, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| Failure::invalid(format!("{}: {reason}", path.display()));
    let text = bounded::read(path, "a pipeline file", LARGEST).map_err(|error| wrong(&error))?;
    let text = String::from_utf8(text).map_err(|_| wrong(&"is not UTF-8 text"))?;
    let parsed = parse(&text).map_err(|error| wrong(&error))?;
    parsed.check_supported().map_err(|error| wrong(&error))?;
    for warning in &parsed.warnings {
        console.line(&one_line(&format!("warning: {}: {warning}", path.display())));
    }
    Ok(parsed)
}
