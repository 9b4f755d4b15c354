//! Transactions: records that are durable before anybody sees them, and then are seen together.
//!
//! A **writer** (a job's sink) **begins** with the number of its start, its epoch, which fences its older starts. It **stages**
//! records in transactions that it numbers, and **commits** each. The log keeps of each writer its epoch and the greatest number
//! that was committed.
//!
//! Invariant: a transaction is committed once, whole, however often that is asked for and over any crash; what was neither
//! staged nor committed is said to be lost, never passed over.

use tidegate_types::EventTime;

use crate::append::MAX_PRODUCER_BYTES;
use crate::{LogError, StreamId};

/// The most writers, and the most holders, of a stream.
pub const MAX_NAMES: usize = 1_000;

/// Which transaction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransactionId {
    /// Who stages: 1 to [`MAX_PRODUCER_BYTES`] bytes, unique within the stream.
    pub writer: String,
    /// The number of the writer's start.
    pub epoch: u64,
    /// The transaction's number: from 1, growing, over all of the writer's starts.
    pub number: u64,
}

/// A writer's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin {
    /// Who.
    pub writer: String,
    /// The number of its start.
    pub epoch: u64,
    /// From this age on, in ms since its first batch was taken in, `retain` may drop a staged transaction; none: never.
    pub timeout_ms: Option<u64>,
}

/// A transaction that is staged and not committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedTransaction {
    /// Which.
    pub id: TransactionId,
    /// Its records.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When its first batch was taken in, ms.
    pub since: EventTime,
}

/// What the log keeps of a writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterState {
    /// Its newest start.
    pub epoch: u64,
    /// The greatest number that was committed; 0: none.
    pub committed: u64,
    /// See [`Begin::timeout_ms`].
    pub timeout_ms: Option<u64>,
}

/// Whether a writer's or holder's name can be one; `what` it is.
///
/// # Errors
/// [`LogError::InvalidName`].
pub const fn check_name(what: &'static str, name: &str) -> Result<(), LogError> {
    match name.len() {
        1..=MAX_PRODUCER_BYTES => Ok(()),
        bytes => Err(LogError::InvalidName { what, bytes }),
    }
}

/// Whether one more writer or holder can be known.
///
/// # Errors
/// [`LogError::TooManyNames`].
pub fn have_name(stream: &StreamId, what: &'static str, known: usize, is_new: bool) -> Result<(), LogError> {
    if is_new && known >= MAX_NAMES {
        return Err(LogError::TooManyNames { stream: stream.clone(), what });
    }
    Ok(())
}

impl WriterState {
    /// The writer after a start.
    ///
    /// # Errors
    /// [`LogError::Fenced`].
    pub fn begin(known: Option<&Self>, stream: &StreamId, begin: &Begin) -> Result<Self, LogError> {
        let Begin { writer, epoch, timeout_ms } = begin;
        if let Some(known) = known {
            known.is_current(stream, writer, *epoch)?;
        }
        let committed = known.map_or(0, |known| known.committed);
        Ok(Self { epoch: *epoch, committed, timeout_ms: *timeout_ms })
    }

    fn is_current(&self, stream: &StreamId, writer: &str, epoch: u64) -> Result<(), LogError> {
        if epoch < self.epoch {
            let (stream, writer) = (stream.clone(), writer.to_owned());
            return Err(LogError::Fenced { stream, writer, epoch, newer: self.epoch });
        }
        Ok(())
    }

    /// Whether a batch can be staged.
    ///
    /// # Errors
    /// [`LogError::NotBegun`], [`LogError::Fenced`], [`LogError::TransactionDone`].
    pub fn check_stage(known: Option<&Self>, stream: &StreamId, id: &TransactionId) -> Result<(), LogError> {
        let TransactionId { writer, epoch, number } = id;
        let not_begun = || LogError::NotBegun { stream: stream.clone(), writer: writer.clone(), epoch: *epoch };
        let known = known.ok_or_else(not_begun)?;
        known.is_current(stream, writer, *epoch)?;
        if *epoch > known.epoch {
            return Err(not_begun());
        }
        if *number <= known.committed {
            let (stream, writer, committed) = (stream.clone(), writer.clone(), known.committed);
            return Err(LogError::TransactionDone { stream, writer, number: *number, committed });
        }
        Ok(())
    }

    /// Whether there is something to commit; not if it was committed before.
    ///
    /// # Errors
    /// [`LogError::Fenced`], [`LogError::TransactionLost`].
    pub fn check_commit(
        known: Option<&Self>,
        stream: &StreamId,
        id: &TransactionId,
        is_staged: bool,
    ) -> Result<bool, LogError> {
        let lost = || LogError::TransactionLost { stream: stream.clone(), transaction: id.clone() };
        let known = known.ok_or_else(lost)?;
        if is_staged {
            return Ok(true);
        }
        if id.number <= known.committed {
            return Ok(false);
        }
        known.is_current(stream, &id.writer, id.epoch)?;
        Err(lost())
    }

    /// Whether `retain` at `now` drops a transaction whose first batch was taken in at `since`.
    #[must_use]
    pub fn is_overdue(&self, since: EventTime, now: EventTime) -> bool {
        let age = u64::try_from(now.saturating_sub(since)).unwrap_or(0);
        self.timeout_ms.is_some_and(|timeout| age >= timeout)
    }
}

/// Whether a hold has an offset for each partition.
///
/// # Errors
/// [`LogError::InvalidHold`].
pub fn check_hold(stream: &StreamId, partitions: u32, offsets: &[u64]) -> Result<(), LogError> {
    if usize::try_from(partitions).is_ok_and(|partitions| partitions == offsets.len()) {
        return Ok(());
    }
    Err(LogError::InvalidHold { stream: stream.clone(), partitions, offsets: offsets.len() })
}
