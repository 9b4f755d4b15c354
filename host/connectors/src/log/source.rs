//! Reads streams of the log as one source: all their partitions in turn, and where there is nothing it waits until something
//! happens to one of them.
//!
//! Invariant: a turn is what one look at a partition gave, up to fixed bounds, and is given out whole before the next
//! partition's turn. So the order of records does not depend on where batches are cut, nor on where reading is broken off and
//! resumed.

use std::sync::Arc;
use std::time::Duration;

use tidegate_formats::MAX_RECORD_BYTES;
use tidegate_log::{Log, LogError, Stored, StreamId, Watch};
use tidegate_types::batch::index32;
use tidegate_types::{PartitionId, Value};

use super::positions::ReadPositions;
use crate::batch::BatchBuilder;
use crate::position::{self, PartitionPosition, SourcePosition, Turn};
use crate::source::{Source, SourceBatch, SourceError};
use crate::stop::StopFlag;

/// The most records of a turn: one partition should not run far ahead of the others.
const TURN_RECORDS: usize = 256;
/// The most bytes of a turn.
pub(super) const TURN_BYTES: usize = 64 << 10;
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
    pub(super) log: Arc<dyn Log>,
    pub(super) streams: Vec<StreamId>,
    /// Follows the watches of all streams.
    watch: Arc<Watch>,
    stop: Arc<StopFlag>,
    names: Vec<Value>,
    pub(super) partitions: Vec<Partition>,
    positions: Arc<ReadPositions>,
    /// Whose turn it is.
    pub(super) turn: usize,
    /// Partitions that have not ended.
    open: usize,
}

pub(super) struct Partition {
    id: PartitionId,
    /// Its stream, by its place in the source.
    pub(super) stream: usize,
    /// Its number in the stream.
    pub(super) number: u32,
    /// The next offset to look for.
    pub(super) next: u64,
    /// What is left of its turn.
    pub(super) pending: std::vec::IntoIter<Stored>,
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
        let mut places = Vec::with_capacity(streams.len());
        for (stream, start) in streams {
            let starts = starts(&*log, &stream, &start, &watch)?;
            let begins = start == Start::Earliest;
            places.push((stream, starts.into_iter().map(|next| at(next, begins)).collect()));
        }
        Ok(Self::assemble(log, places, watch, stop))
    }

    /// The source with each stream's partitions where they are, the first one's turn.
    pub(super) fn assemble(
        log: Arc<dyn Log>,
        streams: Vec<(StreamId, Vec<PartitionPosition>)>,
        watch: Arc<Watch>,
        stop: Arc<StopFlag>,
    ) -> Self {
        stop.wakes(&watch);
        let (mut partitions, mut names) = (Vec::new(), Vec::new());
        for (place, (_, of_stream)) in streams.iter().enumerate() {
            for (number, partition) in (0..).zip(of_stream) {
                names.push(Value::Int(number.into()));
                partitions.push(Partition::new(index32(partitions.len()), place, number, *partition));
            }
        }
        let offsets = |partitions: &[PartitionPosition]| partitions.iter().map(|partition| partition.next).collect();
        let positions = streams.iter().map(|(stream, of_stream)| (stream.clone(), offsets(of_stream)));
        let positions = Arc::new(ReadPositions::new(positions));
        let open = partitions.iter().filter(|partition| !partition.ended).count();
        let streams = streams.into_iter().map(|(stream, _)| stream).collect();
        Self { log, streams, watch, stop, names, partitions, positions, turn: 0, open }
    }

    /// Where reading goes on.
    fn position(&self) -> SourcePosition {
        let mut out = Vec::with_capacity(16 + 32 * self.streams.len() + 6 * self.partitions.len());
        let turn = self.partitions.get(self.turn).map_or_else(Turn::default, |partition| Turn {
            stream: partition.stream,
            partition: partition.number,
            left: partition.left(),
        });
        position::put_head(&mut out, turn, self.streams.len());
        let mut partitions = self.partitions.as_slice();
        for (place, stream) in self.streams.iter().enumerate() {
            let (of_stream, rest) = partitions.split_at(partitions.partition_point(|of| of.stream == place));
            position::put_stream(&mut out, stream, of_stream.len());
            of_stream.iter().for_each(|partition| position::put_partition(&mut out, partition.position()));
            partitions = rest;
        }
        SourcePosition(out)
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

impl Partition {
    fn new(id: u32, stream: usize, number: u32, position: PartitionPosition) -> Self {
        let PartitionPosition { next, begins, complete, ended } = position;
        let pending = Vec::new().into_iter();
        Self { id: PartitionId(id), stream, number, next, pending, begins, complete, ended }
    }

    /// Records that are left of its turn.
    fn left(&self) -> u64 {
        self.pending.as_slice().len() as u64
    }

    fn position(&self) -> PartitionPosition {
        let Self { begins, complete, ended, .. } = *self;
        PartitionPosition { next: self.next - self.left(), begins, complete, ended }
    }
}

/// A partition of which nothing was read.
pub(super) fn at(next: u64, begins: bool) -> PartitionPosition {
    PartitionPosition { next, begins, complete: false, ended: false }
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
                return Ok(SourceBatch { after: Some(self.position()), ..batch.finish(self.open == 0) });
            }
            self.watch.wait_past(seen, LONG);
        }
    }
}
