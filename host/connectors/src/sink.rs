//! Where results go: panes, and records that were late, repeated or refused.

use std::io;

use tidegate_formats::SideRecord;
use tidegate_log::{LogError, StreamId};
use tidegate_types::PaneBatch;

use crate::source::ErrorKind;

/// Takes panes.
///
/// 1. Panes are put out in the order in which they were written.
/// 2. What was written is out for good only once `flush` has returned.
/// 3. After an error nothing more MUST be written.
pub trait PaneSink: Send {
    /// Takes a batch of panes.
    ///
    /// # Errors
    /// [`SinkError::Closed`] if the reader wants no more, otherwise what failed.
    fn write(&mut self, panes: &PaneBatch) -> Result<(), SinkError>;

    /// Puts out everything that was written.
    ///
    /// # Errors
    /// As `write`.
    fn flush(&mut self) -> Result<(), SinkError>;
}

/// Takes records that went to a side output. The guarantees are those of [`PaneSink`].
pub trait SideSink: Send {
    /// Takes one record.
    ///
    /// # Errors
    /// [`SinkError::Closed`] if the reader wants no more, otherwise what failed.
    fn write(&mut self, record: &SideRecord<'_>) -> Result<(), SinkError>;

    /// Puts out everything that was written.
    ///
    /// # Errors
    /// As `write`.
    fn flush(&mut self) -> Result<(), SinkError>;
}

/// Why a sink cannot take more.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The file cannot be made.
    #[error("{flag} {output}: cannot be written to; check the path and its permissions")]
    Create {
        /// The flag that named it.
        flag: &'static str,
        /// The file.
        output: String,
        /// What the system said.
        source: io::Error,
    },
    /// The path leads to a directory.
    #[error("{flag} {output}: is a directory; name a file in it")]
    Directory {
        /// The flag that named it.
        flag: &'static str,
        /// The path.
        output: String,
    },
    /// The file is also an input or another output.
    #[error("{flag} {output}: is also {other}; writing would destroy it, so name another file")]
    Overlap {
        /// The flag that named it.
        flag: &'static str,
        /// The file.
        output: String,
        /// The other flag that names it.
        other: &'static str,
    },
    /// Whoever read the output has closed it (as `head` does). An end, not a failure.
    #[error("{output}: closed by its reader")]
    Closed {
        /// The output.
        output: String,
    },
    /// Writing failed.
    #[error("{output}: cannot be written to; what is there is not complete")]
    Write {
        /// The output.
        output: String,
        /// What the system said.
        source: io::Error,
    },
    /// The tenant has used up a limit.
    #[error("{output}: {reason}")]
    Full {
        /// The output.
        output: String,
        /// Which limit, and the way out.
        reason: String,
    },
    /// A stream does not take what is written to it.
    #[error("stream {stream}: does not take what the job writes to it")]
    Log {
        /// The stream.
        stream: StreamId,
        /// What the log said.
        source: LogError,
    },
}

impl SinkError {
    /// Whose fault it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Create { .. } | Self::Directory { .. } | Self::Overlap { .. } | Self::Full { .. } => {
                ErrorKind::Invalid
            }
            Self::Closed { .. } | Self::Write { .. } | Self::Log { .. } => ErrorKind::External,
        }
    }

    /// Whether the output was closed by its reader, so that a run should end quietly.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }
}
