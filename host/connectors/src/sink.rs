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
/// 4. Where checkpoints are taken, `recover` comes first and once, then `prepare` and `commit` of one checkpoint after another:
///    what was written between two `prepare`s belongs to the later one. A checkpoint that failed is prepared and never
///    committed; the next one that is committed brings what it had.
/// 5. A sink that was opened for panes MUST be given no rows, and one for rows no panes: it may panic.
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

    /// Everything that was written so far is durable when this returns, and where the sink is transactional nobody sees it
    /// before [`commit`](Self::commit). The answer goes into the checkpoint, for [`recover`](Self::recover).
    ///
    /// # Errors
    /// As `write_panes`.
    fn prepare(&mut self, checkpoint: u64) -> Result<Option<Prepared>, SinkError> {
        let _ = checkpoint;
        self.flush()?;
        Ok(None)
    }

    /// The checkpoint is saved: shows what was prepared for it, and for those before it. Again: does nothing.
    ///
    /// # Errors
    /// As `write_panes`; [`SinkError::TransactionLost`].
    fn commit(&mut self, checkpoint: u64) -> Result<(), SinkError> {
        let _ = checkpoint;
        Ok(())
    }

    /// Before anything is written in a run: commits what the checkpoint names from which it starts, and aborts everything else
    /// that earlier runs staged. `None`: the run starts without a checkpoint.
    ///
    /// # Errors
    /// [`SinkError::TransactionLost`] if what the checkpoint names is not there any more; what failed.
    fn recover(&mut self, prepared: Option<&Prepared>) -> Result<(), SinkError> {
        let _ = prepared;
        Ok(())
    }
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

    /// Everything that was written so far is durable when this returns, and where the sink is transactional nobody sees it
    /// before [`commit`](Self::commit). The answer goes into the checkpoint, for [`recover`](Self::recover).
    ///
    /// # Errors
    /// As `write`.
    fn prepare(&mut self, checkpoint: u64) -> Result<Option<Prepared>, SinkError> {
        let _ = checkpoint;
        self.flush()?;
        Ok(None)
    }

    /// The checkpoint is saved: shows what was prepared for it, and for those before it. Again: does nothing.
    ///
    /// # Errors
    /// As `write`; [`SinkError::TransactionLost`].
    fn commit(&mut self, checkpoint: u64) -> Result<(), SinkError> {
        let _ = checkpoint;
        Ok(())
    }

    /// Before anything is written in a run: commits what the checkpoint names from which it starts, and aborts everything else
    /// that earlier runs staged. `None`: the run starts without a checkpoint.
    ///
    /// # Errors
    /// [`SinkError::TransactionLost`] if what the checkpoint names is not there any more; what failed.
    fn recover(&mut self, prepared: Option<&Prepared>) -> Result<(), SinkError> {
        let _ = prepared;
        Ok(())
    }
}

/// What a transactional sink has staged for a checkpoint, and needs to find it again: bytes of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared(pub Vec<u8>);

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
    /// What a checkpoint names was staged, and is neither staged nor committed any more.
    #[error(
        "stream {stream}: {records} records that writer `{writer}` staged under transaction {transaction} were never committed \
         and are gone: the transaction was older than `transaction_timeout`, or was aborted. Start {epoch} staged them and the \
         checkpoint counts them as written, so going on would leave them out. Submit the pipeline again with a higher \
         `version`: the job reads from the oldest record that is kept, and writes all results again"
    )]
    TransactionLost {
        /// The stream.
        stream: StreamId,
        /// Whose transaction it was.
        writer: String,
        /// The number of the start that staged it.
        epoch: u64,
        /// The transaction's number.
        transaction: u64,
        /// How many records it had.
        records: u64,
    },
    /// What the checkpoint holds of this sink is not of this sink.
    #[error(
        "{output}: what the checkpoint says of it cannot be used: {reason}; submit the pipeline again with a higher `version`, \
         and the job reads from the oldest record that is kept and writes all results again"
    )]
    Recover {
        /// The output.
        output: String,
        /// Why.
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
            Self::Closed { .. }
            | Self::Write { .. }
            | Self::Fenced { .. }
            | Self::TransactionLost { .. }
            | Self::Recover { .. }
            | Self::Log { .. } => ErrorKind::External,
        }
    }

    /// Whether the output was closed by its reader, so that a run should end quietly.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }
}
