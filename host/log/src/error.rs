//! Why a log refuses or fails. Each says which stream and where in it, and what to do.

use crate::append::{MAX_BATCH_BYTES, MAX_BATCH_RECORDS, MAX_PRODUCER_BYTES};
use crate::sequence::{MAX_PRODUCERS, MAX_TENANT_BYTES};
use crate::stream::StreamId;
use crate::transaction::{MAX_NAMES, TransactionId};

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request can never be served: change it.
    Invalid,
    /// There is no such stream or partition.
    NotFound,
    /// The request contradicts what the log holds: look, then decide.
    Conflict,
    /// What is asked for is not kept any more.
    Gone,
    /// A bound of the log is reached: wait or make room.
    Quota,
    /// Stored bytes are damaged: restore them.
    Corrupt,
    /// The machine failed, or the log has stopped: nothing about the request is wrong. It may have been carried out.
    External,
}

/// Why a log refuses or fails.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// There is no such stream.
    #[error("stream {stream}: does not exist; create it first")]
    NotFound {
        /// The stream.
        stream: StreamId,
    },
    /// A stream of this name was made with another spec.
    #[error(
        "stream {stream}: exists with another number of partitions, retention or record limit; choose another name"
    )]
    Exists {
        /// The stream.
        stream: StreamId,
    },
    /// A value of a spec is out of its bounds.
    #[error("stream {stream}, {field}: {value} is not from 1 to {limit}; change it")]
    InvalidSpec {
        /// The stream.
        stream: StreamId,
        /// The field.
        field: &'static str,
        /// What was asked for.
        value: u32,
        /// The greatest value.
        limit: u32,
    },
    /// The stream has no such partition.
    #[error("stream {stream}: has no partition {partition}, only 0 to {last}; choose one of them", last = partitions - 1)]
    NoPartition {
        /// The stream.
        stream: StreamId,
        /// What was asked for.
        partition: u32,
        /// How many there are.
        partitions: u32,
    },
    /// There is nothing to append.
    #[error("stream {stream}: the batch is empty; send at least one record")]
    EmptyBatch {
        /// The stream.
        stream: StreamId,
    },
    /// The batch is too large.
    #[error(
        "stream {stream}: the batch has {records} records of {bytes} bytes, more than {MAX_BATCH_RECORDS} records or \
         {MAX_BATCH_BYTES} bytes; send it in parts"
    )]
    BatchTooLarge {
        /// The stream.
        stream: StreamId,
        /// Its records.
        records: usize,
        /// Their bytes.
        bytes: usize,
    },
    /// A record is too long.
    #[error("stream {stream}, record {place} of the batch: has {bytes} bytes, the stream takes {limit}; shorten it")]
    RecordTooLong {
        /// The stream.
        stream: StreamId,
        /// The record's place in the batch, from 0.
        place: usize,
        /// Its bytes.
        bytes: usize,
        /// The most.
        limit: u32,
    },
    /// The producer's name is empty or too long.
    #[error("the producer's name has {bytes} bytes; give it 1 to {MAX_PRODUCER_BYTES}")]
    InvalidProducer {
        /// Its bytes.
        bytes: usize,
    },
    /// Nothing can be appended any more.
    #[error("stream {stream}, partition {partition}: is sealed; append to another stream")]
    Sealed {
        /// The stream.
        stream: StreamId,
        /// The partition.
        partition: u32,
    },
    /// A writer's or holder's name is empty or too long.
    #[error("the {what}'s name has {bytes} bytes; give it 1 to {MAX_PRODUCER_BYTES}")]
    InvalidName {
        /// Writer or holder.
        what: &'static str,
        /// Its bytes.
        bytes: usize,
    },
    /// A hold has not one offset for each partition.
    #[error("stream {stream}: has {partitions} partitions, and {offsets} offsets are to be held; give one for each")]
    InvalidHold {
        /// The stream.
        stream: StreamId,
        /// Its partitions.
        partitions: u32,
        /// Offsets that were given.
        offsets: usize,
    },
    /// Too many writers or holders are known.
    #[error("stream {stream}: knows {MAX_NAMES} {what}s already; use names again, or make another stream")]
    TooManyNames {
        /// The stream.
        stream: StreamId,
        /// Writer or holder.
        what: &'static str,
    },
    /// A newer start of the writer has begun.
    #[error(
        "stream {stream}, writer {writer}: start {newer} writes it now, and this is start {epoch}; nothing of this one is taken \
         any more"
    )]
    Fenced {
        /// The stream.
        stream: StreamId,
        /// The writer.
        writer: String,
        /// The start that asked.
        epoch: u64,
        /// The newest one.
        newer: u64,
    },
    /// The writer's start has not begun.
    #[error("stream {stream}, writer {writer}: start {epoch} has not begun; begin before anything is staged")]
    NotBegun {
        /// The stream.
        stream: StreamId,
        /// The writer.
        writer: String,
        /// The start that asked.
        epoch: u64,
    },
    /// Something was to be staged under a number that is committed, or below one.
    #[error(
        "stream {stream}, writer {writer}: transaction {number} is not above {committed}, which is committed; go on above it"
    )]
    TransactionDone {
        /// The stream.
        stream: StreamId,
        /// The writer.
        writer: String,
        /// What was asked for.
        number: u64,
        /// The greatest that is committed.
        committed: u64,
    },
    /// A transaction is neither staged nor committed.
    #[error(
        "stream {stream}, writer {writer}: transaction {number} of start {epoch} is neither staged nor committed: it was \
         aborted, or was staged for longer than its timeout; its records have to be written again",
        writer = transaction.writer, number = transaction.number, epoch = transaction.epoch
    )]
    TransactionLost {
        /// The stream.
        stream: StreamId,
        /// Which.
        transaction: TransactionId,
    },
    /// A partition cannot be sealed while records wait in it for their commit.
    #[error(
        "stream {stream}, partition {partition}: cannot be sealed while writer {writer} has records staged in it; wait until \
         they are committed or aborted"
    )]
    StillStaged {
        /// The stream.
        stream: StreamId,
        /// The partition.
        partition: u32,
        /// The writer.
        writer: String,
    },
    /// The producer has gone past this sequence.
    #[error(
        "stream {stream}, producer {producer}: sequence {sequence} is below {last}, the last one; only the last batch can \
         be repeated, so go on above it"
    )]
    StaleSequence {
        /// The stream.
        stream: StreamId,
        /// The producer.
        producer: String,
        /// What was sent.
        sequence: u64,
        /// The last one.
        last: u64,
    },
    /// The sequence belongs to other records.
    #[error(
        "stream {stream}, producer {producer}: sequence {sequence} was used for other records; if this is another \
         producer, give it a name of its own, otherwise go on above {sequence}"
    )]
    SequenceReused {
        /// The stream.
        stream: StreamId,
        /// The producer.
        producer: String,
        /// The sequence.
        sequence: u64,
    },
    /// Too many producers count sequences in this stream.
    #[error(
        "stream {stream}: {MAX_PRODUCERS} producers count sequences already; use names again, or leave sequences out"
    )]
    TooManyProducers {
        /// The stream.
        stream: StreamId,
    },
    /// The producers that count in all of the tenant's streams take as much memory as they may.
    #[error(
        "stream {stream}: the producers that count sequences in the tenant's streams take {MAX_TENANT_BYTES} bytes, as many \
         as they may; use names again, leave sequences out, or delete streams"
    )]
    ProducersFull {
        /// The stream.
        stream: StreamId,
    },
    /// The tenant's streams have no room for the batch.
    #[error(
        "stream {stream}: the tenant's streams keep {kept} of at most {room} bytes (its limit `log_bytes`), and this adds \
         {more}; delete streams, give them a retention, or ask a platform admin for a higher limit"
    )]
    NoRoom {
        /// The stream.
        stream: StreamId,
        /// Bytes that all of the tenant's streams keep.
        kept: u64,
        /// Bytes of the batch.
        more: u64,
        /// The most that they may keep.
        room: u64,
    },
    /// Records that were asked for are not kept any more.
    #[error(
        "stream {stream}, partition {partition}: offset {from} is no longer kept, the first is {start}; read from there, \
         and give the stream a longer retention if nothing may be missed"
    )]
    Gone {
        /// The stream.
        stream: StreamId,
        /// The partition.
        partition: u32,
        /// What was asked for.
        from: u64,
        /// The first offset that is kept.
        start: u64,
    },
    /// Records that were asked for do not exist yet.
    #[error("stream {stream}, partition {partition}: offset {from} is beyond the end {end}; read from {end} at most")]
    BeyondEnd {
        /// The stream.
        stream: StreamId,
        /// The partition.
        partition: u32,
        /// What was asked for.
        from: u64,
        /// The next record's offset.
        end: u64,
    },
    /// Stored records are damaged.
    #[error(
        "stream {stream}, partition {partition}, offset {offset}: stored bytes are damaged ({detail}); restore a copy"
    )]
    Corrupt {
        /// The stream.
        stream: StreamId,
        /// The partition.
        partition: u32,
        /// Where reading stopped.
        offset: u64,
        /// What is wrong.
        detail: String,
    },
    /// What the log keeps about a stream is damaged.
    #[error("stream {stream}, {what}: stored bytes are damaged ({detail}); restore a copy")]
    CorruptMetadata {
        /// The stream.
        stream: StreamId,
        /// What of it.
        what: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// Reading or writing failed.
    #[error("the log cannot {action}: {detail}; check the disk, then start again")]
    Storage {
        /// What was being done.
        action: &'static str,
        /// What the storage said.
        detail: String,
    },
    /// An earlier write failed, so that what is on the disk is not known. Nothing more is written until a restart.
    #[error("the log takes nothing since a write failed ({detail}); check the disk, then start again and send again")]
    Stopped {
        /// What failed.
        detail: String,
    },
}

impl LogError {
    /// What to do about it.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidSpec { .. }
            | Self::EmptyBatch { .. }
            | Self::BatchTooLarge { .. }
            | Self::RecordTooLong { .. }
            | Self::InvalidProducer { .. }
            | Self::InvalidName { .. }
            | Self::InvalidHold { .. }
            | Self::BeyondEnd { .. } => ErrorKind::Invalid,
            Self::NotFound { .. } | Self::NoPartition { .. } => ErrorKind::NotFound,
            Self::Exists { .. }
            | Self::Sealed { .. }
            | Self::StillStaged { .. }
            | Self::Fenced { .. }
            | Self::NotBegun { .. }
            | Self::TransactionDone { .. }
            | Self::StaleSequence { .. }
            | Self::SequenceReused { .. } => ErrorKind::Conflict,
            Self::Gone { .. } | Self::TransactionLost { .. } => ErrorKind::Gone,
            Self::TooManyNames { .. }
            | Self::TooManyProducers { .. }
            | Self::ProducersFull { .. }
            | Self::NoRoom { .. } => ErrorKind::Quota,
            Self::Corrupt { .. } | Self::CorruptMetadata { .. } => ErrorKind::Corrupt,
            Self::Storage { .. } | Self::Stopped { .. } => ErrorKind::External,
        }
    }
}
