//! Where results go: panes, rows, and records that were late, repeated or refused.

use std::io;

use tidegate_formats::SideRecord;
use tidegate_log::{LogError, StreamId};
use tidegate_types::{PaneBatch, RowBatch};

use crate::source::ErrorKind;

/// Takes the results of one operator: panes, if it is one of windows, otherwise rows. The sink is opened for its fields.
///
/// 1. Results are put out in the order in which they were written.
/// 2. What was written is out for good only once `flush` has returned.
/// 3. After an error nothing more MUST be written.
/// 4. A sink that was opened for panes MUST be given no rows, and one for rows no panes: it may panic.
pub trait ResultSink: Send {
    /// Takes a batch of panes.
    ///
    /// # Errors
    /// [`SinkError::Closed`] if the reader wants no more, otherwise what failed.
    fn write_panes(&mut self, panes: &PaneBatch) -> Result<(), SinkError>;

    /// Takes a batch of rows without a window.
    ///
    /// # Errors
    /// As `write_panes`.
    fn write_rows(&mut self, rows: &RowBatch) -> Result<(), SinkError>;

    /// Puts out everything that was written.
    ///
    /// # Errors
    /// As `write_panes`.
    fn flush(&mut self) -> Result<(), SinkError>;
}

/// Takes records that went to a side output. The guarantees are those of [`ResultSink`].
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
    /// The job was started again, and its newer run writes here now.
    #[error(
        "{output}: start {newer} of job `{job}` writes it now, and this is start {epoch}; nothing of this one is written any \
         more. If the job's count of starts was lost, name another output"
    )]
    Fenced {
        /// The output.
        output: String,
        /// The job.
        job: String,
        /// The number of this start.
        epoch: u64,
        /// The number of the newest start that opened the output.
        newer: u64,
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
            Self::Closed { .. } | Self::Write { .. } | Self::Fenced { .. } | Self::Log { .. } => ErrorKind::External,
        }
    }

    /// Whether the output was closed by its reader, so that a run should end quietly.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }
}
