//! What the engine reads from: records in arrival order, each with its partition and offset.

use std::io;

use bytes::Bytes;
use tidegate_log::{LogError, StreamId};
use tidegate_types::stored::Malformed;
use tidegate_types::{PartitionId, Value};

use crate::position::SourcePosition;

/// A bounded source that one task reads.
///
/// 1. `partitions` never changes: partition `PartitionId(i)` is called `partitions()[i]` where it is shown.
/// 2. `read` returns records in arrival order. The records, their order, partitions, offsets and ends are the same for
///    every choice of `max_rows` and `max_bytes`; these only say where batches are cut.
/// 3. A batch holds at least one record unless the source has ended or an end was noticed. Ends at one position of a batch
///    are one instant. It holds at most `max_rows` records, and no further one once its bytes have reached `max_bytes`.
/// 4. Every partition ends exactly once, at its position; after a partition's end no record of it follows.
/// 5. The batch with `done` is the last, and by then every partition has ended. Later reads return an empty batch that is
///    done and ends nothing.
/// 6. `read` may block on its input. It MUST NOT be called again after an error.
pub trait Source: Send {
    /// The names of all partitions.
    fn partitions(&self) -> &[Value];

    /// The next records.
    ///
    /// # Errors
    /// If the input cannot be read; what was returned before stands.
    fn read(&mut self, max_rows: usize, max_bytes: usize) -> Result<SourceBatch, SourceError>;
}

/// Records that were read together.
#[derive(Debug, Clone, Default)]
pub struct SourceBatch {
    /// The records' bytes. A record longer than [`tidegate_formats::MAX_RECORD_BYTES`] is cut to one byte more than that.
    pub data: Bytes,
    /// Record `i` is `data[spans[i].0..spans[i].1]`.
    pub spans: Vec<(u32, u32)>,
    /// Each record's partition; none for a record that cannot be read and so is of no partition (it is shown as null).
    pub partition: Vec<Option<PartitionId>>,
    /// Each record's offset: for files, the number of its line from 0.
    pub offsets: Vec<u64>,
    /// Partitions that ended: before the record at this position, or after the last one if the position is the number of
    /// records. Ascending.
    pub ended: Vec<(u32, PartitionId)>,
    /// Whether nothing follows.
    pub done: bool,
    /// Where reading goes on after this batch; none where a source cannot start in the middle.
    pub after: Option<SourcePosition>,
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was asked for cannot be: a flag is wrong (exit status 2).
    Invalid,
    /// The world outside failed (exit status 1).
    External,
}

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There is no input.
    #[error("no --input: name at least one file, or `-` for standard input")]
    NoInput,
    /// The file cannot be opened.
    #[error("--input {input}: cannot be opened; check the path and its permissions")]
    Open {
        /// The file.
        input: String,
        /// What the system said.
        source: io::Error,
    },
    /// The path leads to a directory.
    #[error("--input {input}: is a directory; name its files, one --input for each")]
    Directory {
        /// The path.
        input: String,
    },
    /// Standard input was named twice.
    #[error("--input -: standard input can be read only once")]
    StdinTwice,
    /// `--partition-field` with several files.
    #[error(
        "--partition-field: needs a single --input (with several, each file is a partition); leave the flag out or \
         join the files"
    )]
    PartitionsOfSeveral,
    /// `--partition-field` with an input that can be read only once.
    #[error(
        "--partition-field: --input {input} cannot be read twice, and the set of partitions is found by a first pass; \
         save it to a file"
    )]
    PartitionsOfStream {
        /// The input.
        input: String,
    },
    /// Reading failed.
    #[error("--input {input}, line {line}: cannot be read")]
    Read {
        /// The file.
        input: String,
        /// The line, from 1.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// A partition turned up that the first pass did not see.
    #[error("--input {input}, line {line}: a new partition; the file was changed while it was read, so run again")]
    Changed {
        /// The file.
        input: String,
        /// The line, from 1.
        line: u64,
    },
    /// Somebody stopped the source. An end, not a failure; its partitions have not ended.
    #[error("the source was stopped")]
    Stopped,
    /// A start that does not fit the stream.
    #[error(
        "stream {stream}: has {partitions} partitions, and {offsets} offsets were given to start from; give one each"
    )]
    StartOffsets {
        /// The stream.
        stream: StreamId,
        /// Its partitions.
        partitions: usize,
        /// Offsets that were given.
        offsets: usize,
    },
    /// A position that was stored does not fit the streams as they are now.
    #[error(
        "the checkpoint's position does not fit the source: {reason}; submit the pipeline again with a higher `version`, and \
         the job begins at the oldest record that is kept"
    )]
    Position {
        /// What does not fit.
        reason: String,
    },
    /// A position that was stored cannot be read.
    #[error("the checkpoint's position cannot be read")]
    Malformed(#[from] Malformed),
    /// Records were dropped before they were read.
    #[error(
        "stream {stream}, partition {partition}: retention dropped records before this job read them: it is at offset \
         {from}, and the first that is kept is {start}; submit the pipeline again with a higher `version`, and the job begins \
         at the oldest record that is kept; give the stream a longer retention, or the job more parallelism"
    )]
    Overtaken {
        /// The stream.
        stream: StreamId,
        /// The partition.
        partition: u32,
        /// The next offset to read.
        from: u64,
        /// The first offset that is kept.
        start: u64,
    },
    /// The log cannot be read.
    #[error("stream {stream}: cannot be read")]
    Log {
        /// The stream.
        stream: StreamId,
        /// What the log said.
        source: LogError,
    },
}

impl SourceError {
    /// Whose fault it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. }
            | Self::Changed { .. }
            | Self::Stopped
            | Self::Position { .. }
            | Self::Malformed(_)
            | Self::Overtaken { .. }
            | Self::Log { .. } => ErrorKind::External,
            _ => ErrorKind::Invalid,
        }
    }

    /// Whether the source was stopped from outside, so that a run should end quietly.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped)
    }
}
