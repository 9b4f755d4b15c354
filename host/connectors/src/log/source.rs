//! Reads a stream of the log: its partitions in turn, and where there is nothing it waits until something happens.
//!
//! Invariant: a turn is what one look at a partition gave, up to fixed bounds, and is given out whole before the next
//! partition's turn. So the order of records does not depend on where batches are cut.

use std::sync::Arc;
use std::time::Duration;

use tidegate_formats::MAX_RECORD_BYTES;
use tidegate_log::{Log, LogError, Stored, StreamId, Watch};
use tidegate_types::{PartitionId, Value};

use super::positions::ReadPositions;
use crate::batch::BatchBuilder;
use crate::source::{Source, SourceBatch, SourceError};
use crate::stop::StopFlag;

/// The most records of a turn: one partition should not run far ahead of the others.
const TURN_RECORDS: usize = 256;
/// The most bytes of a turn.
const TURN_BYTES: usize = 64 << 10;
/// A record is cut to so many bytes, as [`SourceBatch`] has it.
const CUT: usize = MAX_RECORD_BYTES + 1;
/// However long nothing happens: the watch wakes whoever waits, this only has to be some number.
const LONG: Duration = Duration::from_secs(3600);

/// Where reading begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Start {
    /// At the oldest records that are kept when a partition's first record is read: what retention drops before that is
    /// not missed.
    #[default]
    Earliest,
    /// At these offsets, one for each partition.
    At(Vec<u64>),
}

/// A stream as a source. Its partitions are called 0, 1, 2 …; one ends when it is sealed and read to its end.
///
/// After [`StopFlag::stop`] `read` returns [`SourceError::Stopped`]; nothing has ended then, so no window is complete.
pub struct LogSource {
    log: Arc<dyn Log>,
    stream: StreamId,
    watch: Arc<Watch>,
    stop: Arc<StopFlag>,
    names: Vec<Value>,
    partitions: Vec<Partition>,
    positions: Arc<ReadPositions>,
    /// Whose turn it is.
    turn: usize,
    /// Partitions that have not ended.
    open: usize,
}

struct Partition {
    id: PartitionId,
    /// The next offset to look for.
    next: u64,
    /// What is left of its turn.
    pending: std::vec::IntoIter<Stored>,
    /// Whether it begins with whatever is kept: nothing of it was read, and nobody said where to begin.
    begins: bool,
    /// Whether the last look saw its final end, at `next`.
    complete: bool,
    ended: bool,
}

impl LogSource {
    /// Opens a stream.
    ///
    /// # Errors
    /// If there is no such stream, or `start` has not one offset for each partition.
    pub fn open(log: Arc<dyn Log>, stream: StreamId, start: &Start, stop: Arc<StopFlag>) -> Result<Self, SourceError> {
        let failed = |source| SourceError::Log { stream: stream.clone(), source };
        let watch = log.watch(&stream).map_err(failed)?;
        let infos = log.describe(&stream).map_err(failed)?.partitions;
        let starts: Vec<u64> = match start {
            Start::Earliest => infos.iter().map(|info| info.start).collect(),
            Start::At(offsets) => offsets.clone(),
        };
        if starts.len() != infos.len() {
            let (partitions, offsets) = (infos.len(), starts.len());
            return Err(SourceError::StartOffsets { stream, partitions, offsets });
        }
        stop.wakes(&watch);
        let partition = |(id, next): (u32, &u64)| Partition {
            id: PartitionId(id),
            next: *next,
            pending: Vec::new().into_iter(),
            begins: *start == Start::Earliest,
            complete: false,
            ended: false,
        };
        let partitions: Vec<Partition> = (0..).zip(&starts).map(partition).collect();
        let names = partitions.iter().map(|partition| Value::Int(partition.id.0.into())).collect();
        let positions = Arc::new(ReadPositions::new(stream.clone(), starts.into_iter()));
        let open = partitions.len();
        Ok(Self { log, stream, watch, stop, names, partitions, positions, turn: 0, open })
    }

    /// How far it has read; shared, so that it can be looked at while the source reads.
    #[must_use]
    pub fn positions(&self) -> Arc<ReadPositions> {
        Arc::clone(&self.positions)
    }

    /// Goes round the partitions until the batch is full or a whole round gave nothing. Whether something ended.
    fn gather(&mut self, batch: &mut BatchBuilder) -> Result<bool, SourceError> {
        let (mut quiet, mut ended) = (0, false);
        while batch.has_room() && self.open > 0 && quiet < self.partitions.len() {
            let place = self.turn;
            let partition = &mut self.partitions[place];
            if partition.pending.as_slice().is_empty() {
                if !partition.ended {
                    look(&*self.log, &self.stream, partition)?;
                }
                let found = !partition.pending.as_slice().is_empty();
                quiet = if found { 0 } else { quiet + 1 };
            }
            give(partition, place, batch, &self.positions);
            if !partition.pending.as_slice().is_empty() {
                break;
            }
            if partition.complete && !partition.ended {
                partition.ended = true;
                self.open -= 1;
                batch.end(partition.id);
                ended = true;
            }
            self.turn = (place + 1) % self.partitions.len();
        }
        Ok(ended)
    }
}

/// Looks at a partition: its next turn, and whether that is its last.
fn look(log: &dyn Log, stream: &StreamId, partition: &mut Partition) -> Result<(), SourceError> {
    let chunk = loop {
        match log.read(stream, partition.id.0, partition.next, TURN_RECORDS, TURN_BYTES) {
            Ok(chunk) => break chunk,
            Err(LogError::Gone { start, .. }) if partition.begins => partition.next = start,
            Err(LogError::Gone { partition, from, start, .. }) => {
                return Err(SourceError::Overtaken { stream: stream.clone(), partition, from, start });
            }
            Err(source) => return Err(SourceError::Log { stream: stream.clone(), source }),
        }
    };
    partition.begins &= chunk.records.is_empty();
    partition.next += chunk.records.len() as u64;
    partition.complete = chunk.sealed && partition.next == chunk.end;
    partition.pending = chunk.records.into_iter();
    Ok(())
}

/// Gives out what is left of a partition's turn, as far as the batch has room.
fn give(partition: &mut Partition, place: usize, batch: &mut BatchBuilder, positions: &ReadPositions) {
    while batch.has_room() {
        let Some(record) = partition.pending.next() else { return };
        batch.push(&record.bytes[..record.bytes.len().min(CUT)], Some(partition.id), record.offset);
        positions.read(place, record.offset, record.ingest_time);
    }
}

impl Source for LogSource {
    fn partitions(&self) -> &[Value] {
        &self.names
    }

    fn read(&mut self, max_rows: usize, max_bytes: usize) -> Result<SourceBatch, SourceError> {
        loop {
            // Before looking: what happens after it moves the version.
            let seen = self.watch.version();
            if self.stop.is_stopped() {
                return Err(SourceError::Stopped);
            }
            let mut batch = BatchBuilder::new(max_rows, max_bytes);
            let ended = self.gather(&mut batch)?;
            if ended || self.open == 0 || !batch.is_empty() {
                return Ok(batch.finish(self.open == 0));
            }
            self.watch.wait_past(seen, LONG);
        }
    }
}
