//! How far a job has read, for whoever shows its lag.
//!
//! Invariant: a partition's `next` is one beyond the last record that the source gave out; what is on its way through the
//! job counts as read.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use tidegate_log::{ErrorKind, Log, LogError, StreamId};
use tidegate_types::EventTime;
use tidegate_types::batch::index;

/// Each partition's place in each stream, shared between the source that moves it and those that look.
#[derive(Debug)]
pub struct ReadPositions {
    /// In the order of the source's partitions.
    streams: Vec<OfStream>,
}

/// A stream's places. A stream that is read twice has them twice.
#[derive(Debug)]
struct OfStream {
    stream: StreamId,
    partitions: Vec<Position>,
}

#[derive(Debug)]
struct Position {
    next: AtomicU64,
    last_ingest: AtomicI64,
}

/// How much a job has not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lag {
    /// Records, over all partitions.
    pub records: u64,
    /// How long ago the oldest of them was taken in, ms; 0 if there is none.
    pub age_ms: u64,
}

/// Stands for "nothing was read".
const NEVER: EventTime = EventTime::MIN;

impl ReadPositions {
    /// Of each stream, the next offset of each of its partitions.
    pub(super) fn new(streams: impl Iterator<Item = (StreamId, Vec<u64>)>) -> Self {
        let position = |next| Position { next: AtomicU64::new(next), last_ingest: AtomicI64::new(NEVER) };
        let of =
            |(stream, next): (_, Vec<u64>)| OfStream { stream, partitions: next.into_iter().map(position).collect() };
        Self { streams: streams.map(of).collect() }
    }

    /// A record of a stream's partition was given out. `stream`: its place among the streams.
    pub(super) fn read(&self, stream: usize, partition: u32, offset: u64, ingest_time: EventTime) {
        let position = &self.streams[stream].partitions[index(partition)];
        position.last_ingest.store(ingest_time, Ordering::Relaxed);
        position.next.store(offset + 1, Ordering::Release);
    }

    /// Each partition's next offset.
    #[must_use]
    pub fn next(&self) -> Vec<u64> {
        self.positions().map(|position| position.next.load(Ordering::Acquire)).collect()
    }

    fn positions(&self) -> impl Iterator<Item = &Position> {
        self.streams.iter().flat_map(|of| &of.partitions)
    }

    /// When the record was taken in that was read last, for each partition; none if none was.
    #[must_use]
    pub fn last_ingest(&self) -> Vec<Option<EventTime>> {
        let times = self.positions().map(|position| position.last_ingest.load(Ordering::Relaxed));
        times.map(|time| (time != NEVER).then_some(time)).collect()
    }

    /// What the log has of each stream that was not read, at `now`. It looks at one record of each partition that has some.
    ///
    /// # Errors
    /// If a stream is gone or cannot be read.
    pub fn lags(&self, log: &dyn Log, now: EventTime) -> Result<Vec<Lag>, LogError> {
        self.streams.iter().map(|of| of.lag(log, now)).collect()
    }
}

impl Lag {
    /// That of all these together.
    #[must_use]
    pub fn total(lags: &[Self]) -> Self {
        let age_ms = lags.iter().map(|lag| lag.age_ms).max().unwrap_or(0);
        Self { records: lags.iter().map(|lag| lag.records).sum(), age_ms }
    }
}

impl OfStream {
    fn lag(&self, log: &dyn Log, now: EventTime) -> Result<Lag, LogError> {
        let mut lag = Lag::default();
        let infos = log.describe(&self.stream)?.partitions;
        for ((partition, info), position) in (0..).zip(&infos).zip(&self.partitions) {
            let next = position.next.load(Ordering::Acquire).max(info.start);
            let records = info.end.saturating_sub(next);
            if records == 0 {
                continue;
            }
            lag.records += records;
            match log.read(&self.stream, partition, next, 1, 0) {
                Ok(chunk) => {
                    let oldest = chunk.records.first().map_or(now, |record| record.ingest_time);
                    lag.age_ms = lag.age_ms.max(u64::try_from(now.saturating_sub(oldest)).unwrap_or(0));
                }
                // Retention was quicker; the next look sees where the partition begins now.
                Err(error) if error.kind() == ErrorKind::Gone => {}
                Err(error) => return Err(error),
            }
        }
        Ok(lag)
    }
}
