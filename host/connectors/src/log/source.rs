//! Reads streams of the log as one source: all their partitions in turn, and where there is nothing it waits until something
//! happens to one of them.
//!
//! Invariant: a turn is what one look at a partition gave, up to fixed bounds, and is given out whole before the next
//! partition's turn. So the order of records does not depend on where batches are cut.

use std::sync::Arc;
use std::time::Duration;

use tidegate_formats::MAX_RECORD_BYTES;
use tidegate_log::{Log, LogError, Stored, StreamId, Watch};
use tidegate_types::batch::index32;
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

/// Streams as one source: the partitions of the first, then those of the next, and so on. Each stream's are called 0, 1, 2 …;
/// one ends when it is sealed and read to its end. A stream that stands several times is read as many times.
///
/// After [`StopFlag::stop`] `read` returns [`SourceError::Stopped`]; nothing has ended then, so no window is complete.
pub struct LogSource {
    log: Arc<dyn Log>,
    streams: Vec<StreamId>,
    /// Follows the watches of all streams.
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
    /// Its stream, by its place in the source.
    stream: usize,
    /// Its number in the stream.
    number: u32,
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
        Self::of_several(log, vec![(stream, start.clone())], stop)
    }

    /// Opens several streams, each with where to begin.
    ///
    /// # Errors
    /// If one is not there, or its start has not one offset for each of its partitions.
    pub fn of_several(
        log: Arc<dyn Log>,
        streams: Vec<(StreamId, Start)>,
        stop: Arc<StopFlag>,
    ) -> Result<Self, SourceError> {
        let watch = Arc::new(Watch::new());
        stop.wakes(&watch);
        let (mut partitions, mut names, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (stream, start)) in streams.iter().enumerate() {
            let starts = starts(&*log, stream, start, &watch)?;
            for (number, next) in (0..).zip(&starts) {
                names.push(Value::Int(number.into()));
                partitions.push(Partition {
                    id: PartitionId(index32(partitions.len())),
                    stream: place,
                    number,
                    next: *next,
                    pending: Vec::new().into_iter(),
                    begins: *start == Start::Earliest,
                    complete: false,
                    ended: false,
                });
            }
            positions.push((stream.clone(), starts));
        }
        let streams = streams.into_iter().map(|(stream, _)| stream).collect();
        let (open, positions) = (partitions.len(), Arc::new(ReadPositions::new(positions.into_iter())));
        Ok(Self { log, streams, watch, stop, names, partitions, positions, turn: 0, open })
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
                    look(&*self.log, &self.streams[partition.stream], partition)?;
                }
                let found = !partition.pending.as_slice().is_empty();
                quiet = if found { 0 } else { quiet + 1 };
            }
            give(partition, batch, &self.positions);
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

/// The offset at which each partition of a stream begins. From now on the watch moves when something happens to the stream.
fn starts(log: &dyn Log, stream: &StreamId, start: &Start, watch: &Arc<Watch>) -> Result<Vec<u64>, SourceError> {
    let failed = |source| SourceError::Log { stream: stream.clone(), source };
    log.watch(stream).map_err(failed)?.is_followed_by(watch);
    let infos = log.describe(stream).map_err(failed)?.partitions;
    let starts: Vec<u64> = match start {
        Start::Earliest => infos.iter().map(|info| info.start).collect(),
        Start::At(offsets) => offsets.clone(),
    };
    if starts.len() != infos.len() {
        let (partitions, offsets) = (infos.len(), starts.len());
        return Err(SourceError::StartOffsets { stream: stream.clone(), partitions, offsets });
    }
    Ok(starts)
}

/// Looks at a partition: its next turn, and whether that is its last.
fn look(log: &dyn Log, stream: &StreamId, partition: &mut Partition) -> Result<(), SourceError> {
    let chunk = loop {
        match log.read(stream, partition.number, partition.next, TURN_RECORDS, TURN_BYTES) {
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
fn give(partition: &mut Partition, batch: &mut BatchBuilder, positions: &ReadPositions) {
    while batch.has_room() {
        let Some(record) = partition.pending.next() else { return };
        batch.push(&record.bytes[..record.bytes.len().min(CUT)], Some(partition.id), record.offset);
        positions.read(partition.stream, partition.number, record.offset, record.ingest_time);
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
