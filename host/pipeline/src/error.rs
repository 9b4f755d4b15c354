//! What is said about a file that is refused, and about one that is accepted with a remark.
//!
//! Every refusal names the path, the line where there is one, the reason and the way out; the API and the command show
//! the same text.

use std::fmt;

/// Why a file is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The file is malformed, holds a bad value or contradicts itself (422 on the API, exit status 2 of the command).
    InvalidPipeline,
    /// The file is sound, but names what this release does not run yet.
    Unsupported,
}

impl ErrorCode {
    /// The code as the API writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidPipeline => "invalid-pipeline",
            Self::Unsupported => "unsupported",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PipelineError {
    /// What kind of refusal it is.
    pub code: ErrorCode,
    /// The place in the file: `window.slide`, `key_by[1]`; empty for the file as a whole.
    pub path: String,
    /// The line, from 1; of a key that is missing, the line of what needs it.
    pub line: Option<usize>,
    /// What is wrong and the way out.
    pub reason: String,
}

impl PipelineError {
    /// A refusal of a bad value or a contradiction.
    pub(crate) fn invalid(path: impl Into<String>, line: Option<usize>, reason: impl Into<String>) -> Self {
        Self { code: ErrorCode::InvalidPipeline, path: path.into(), line, reason: reason.into() }
    }

    /// A refusal of what this release does not run yet.
    pub(crate) fn unsupported(path: impl Into<String>, line: Option<usize>, reason: impl Into<String>) -> Self {
        Self { code: ErrorCode::Unsupported, path: path.into(), line, reason: reason.into() }
    }
}

impl fmt::Display for PipelineError {
    /// `invalid-pipeline: window.slide (line 12): …`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "pipeline file" } else { &self.path };
        write!(f, "{}: {place}", self.code)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// A remark about a file that is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The place in the file.
    pub path: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// What the author should know.
    pub reason: String,
}

impl fmt::Display for Warning {
    /// `dedup.horizon (line 9): …`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        write!(f, ": {}", self.reason)
    }
}
