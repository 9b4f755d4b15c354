//! Retention: decides, on the caller's thread, where a partition begins now. The writer only carries it out.

use tidegate_log::{LogError, PartitionInfo, Retention};
use tidegate_types::EventTime;

use crate::catalog::Stream;
use crate::read::{Placed, walk};
use crate::store::Store;

/// What goes of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) partition: u32,
    /// Where it begins then.
    pub(crate) start: u64,
    /// Records that go.
    pub(crate) records: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Of each transaction that lies in the cut: its place, and the number of its first record that stays.
    pub(crate) staged: Vec<(u64, u64)>,
}

/// What goes of a stream at `now`.
pub(crate) fn cuts(store: &Store, stream: &Stream, now: EventTime) -> Result<Vec<Cut>, LogError> {
    if stream.spec.retention == Retention::default() {
        return Ok(Vec::new());
    }
    let mut cuts = Vec::new();
    let staging = stream.staging();
    for (partition, info) in (0..).zip(stream.partitions()) {
        let cut = cut(store, stream, partition, info, staging.held(partition), now)?;
        if cut.records > 0 {
            cuts.push(cut);
        }
    }
    Ok(cuts)
}

/// What goes of a partition, of which nothing goes from the offset `held` on.
fn cut(
    store: &Store,
    stream: &Stream,
    partition: u32,
    info: PartitionInfo,
    held: u64,
    now: EventTime,
) -> Result<Cut, LogError> {
    let retention = stream.spec.retention;
    let mut cut = Cut { partition, start: info.start, records: 0, bytes: 0, staged: Vec::new() };
    if info.records() == 0
        || held <= info.start
        || (retention.age_ms.is_none() && retention.bytes.is_some_and(|limit| info.bytes <= limit))
    {
        return Ok(cut);
    }
    walk(store, stream, partition, info.start, false, |Placed { first, chunk, transaction }| {
        for (offset, record) in (first..info.end).zip(&chunk.records) {
            if offset < cut.start {
                continue;
            }
            if offset >= held || !retention.drops(info.bytes - cut.bytes, chunk.ingest_time, now) {
                return false;
            }
            cut.start = offset + 1;
            cut.records += 1;
            cut.bytes += record.len() as u64;
            if let Some((place, first)) = transaction {
                note(&mut cut.staged, place, offset + 1 - first);
            }
        }
        cut.start < info.end
    })?;
    Ok(cut)
}

/// Notes how much of a transaction goes.
fn note(staged: &mut Vec<(u64, u64)>, place: u64, below: u64) {
    match staged.last_mut() {
        Some(last) if last.0 == place => last.1 = below,
        _ => staged.push((place, below)),
    }
}
