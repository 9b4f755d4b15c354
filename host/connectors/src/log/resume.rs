//! Reading on from where a checkpoint says.
//!
//! Invariant: what is left of the turn that was under way is given out first, and is the same: it is read again by its offsets.

use std::sync::Arc;

use tidegate_log::{Log, LogError, PartitionInfo, Stored, StreamId, Watch};

use super::source::{LogSource, TURN_BYTES, at};
use crate::position::{PartitionPosition, SourcePosition, StreamPosition, Turn};
use crate::source::SourceError;
use crate::stop::StopFlag;

/// More records than any release's turns had.
const MOST_LEFT: u64 = 1 << 16;

impl LogSource {
    /// Opens streams where a position says; `streams` MUST be those it was read from, in their order. Partitions that a stream
    /// has beyond those of the position begin at the oldest records that are kept.
    ///
    /// # Errors
    /// [`SourceError::Position`] and [`SourceError::Malformed`] if the position does not fit; [`SourceError::Overtaken`] if what
    /// comes next is not kept any more; if a stream is not there.
    pub fn resume(
        log: Arc<dyn Log>,
        streams: Vec<StreamId>,
        position: &SourcePosition,
        stop: Arc<StopFlag>,
    ) -> Result<Self, SourceError> {
        let (turn, read) = position.read()?;
        fits(&streams, &read)?;
        let watch = Arc::new(Watch::new());
        let mut places = Vec::with_capacity(streams.len());
        for (stream, of_stream) in streams.into_iter().zip(read) {
            let failed = |source| SourceError::Log { stream: stream.clone(), source };
            log.watch(&stream).map_err(failed)?.is_followed_by(&watch);
            let infos = log.describe(&stream).map_err(failed)?.partitions;
            places.push((stream, of_partitions(of_stream, &infos)?));
        }
        let mut source = Self::assemble(log, places, watch, stop);
        source.restore_turn(turn)?;
        Ok(source)
    }

    fn restore_turn(&mut self, turn: Turn) -> Result<(), SourceError> {
        let is = |stream, number| stream == turn.stream && number == turn.partition;
        let place = self.partitions.iter().position(|partition| is(partition.stream, partition.number));
        self.turn = place.expect("the position names one of its partitions, and all of them are there");
        let partition = &mut self.partitions[self.turn];
        let stream = &self.streams[partition.stream];
        let rest = rest(&*self.log, stream, turn, partition.next)?;
        partition.next += rest.len() as u64;
        partition.pending = rest.into_iter();
        Ok(())
    }
}

/// Whether these are the streams of the position.
fn fits(streams: &[StreamId], read: &[StreamPosition]) -> Result<(), SourceError> {
    if streams.iter().eq(read.iter().map(|of| &of.stream)) {
        return Ok(());
    }
    let list = |streams: Vec<String>| streams.join(", ");
    let (now, then) = (streams.iter().map(ToString::to_string), read.iter().map(|of| of.stream.to_string()));
    let reason = format!("it is of {}, and the job reads {}", list(then.collect()), list(now.collect()));
    Err(SourceError::Position { reason })
}

/// Where each partition of a stream goes on.
fn of_partitions(of: StreamPosition, infos: &[PartitionInfo]) -> Result<Vec<PartitionPosition>, SourceError> {
    let StreamPosition { stream, mut partitions } = of;
    if infos.len() < partitions.len() {
        let (then, now) = (partitions.len(), infos.len());
        let reason = format!("stream {stream} had {then} partitions, and has {now}: it was made again");
        return Err(SourceError::Position { reason });
    }
    for (number, (partition, info)) in partitions.iter().zip(infos).enumerate() {
        if partition.next > info.end {
            let (next, end) = (partition.next, info.end);
            let reason = format!(
                "stream {stream}, partition {number}: was read to offset {next}, and ends at {end}: it was made again, or lost \
                 records"
            );
            return Err(SourceError::Position { reason });
        }
    }
    let added = infos.iter().skip(partitions.len()).map(|info| at(info.start, true)).collect::<Vec<_>>();
    partitions.extend(added);
    Ok(partitions)
}

/// What is left of a turn whose next record has the offset `next`.
fn rest(log: &dyn Log, stream: &StreamId, turn: Turn, next: u64) -> Result<Vec<Stored>, SourceError> {
    let Turn { partition, left, .. } = turn;
    let missing = || SourceError::Position {
        reason: format!("stream {stream}, partition {partition}: {left} records from offset {next} on are not there"),
    };
    if left > MOST_LEFT {
        return Err(missing());
    }
    let left = usize::try_from(left).expect("at most 65,536");
    let mut records: Vec<Stored> = Vec::with_capacity(left);
    while records.len() < left {
        let from = next + records.len() as u64;
        match log.read(stream, partition, from, left - records.len(), TURN_BYTES) {
            Ok(chunk) if chunk.records.is_empty() => return Err(missing()),
            Ok(chunk) => records.extend(chunk.records),
            Err(LogError::Gone { partition, from, start, .. }) => {
                return Err(SourceError::Overtaken { stream: stream.clone(), partition, from, start });
            }
            Err(source) => return Err(SourceError::Log { stream: stream.clone(), source }),
        }
    }
    Ok(records)
}
