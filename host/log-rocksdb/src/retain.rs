//! Retention: decides, on the caller's thread, where a partition begins now. The writer only carries it out.

use tidegate_log::{LogError, PartitionInfo, Retention};
use tidegate_types::EventTime;

use crate::catalog::Stream;
use crate::read::{Placed, walk};
use crate::store::Store;

/// What goes of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) partition: u32,
    /// Where it begins then.
    pub(crate) start: u64,
    /// Records that go.
    pub(crate) records: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
}

/// What goes of a stream at `now`.
pub(crate) fn cuts(store: &Store, stream: &Stream, now: EventTime) -> Result<Vec<Cut>, LogError> {
    if stream.spec.retention == Retention::default() {
        return Ok(Vec::new());
    }
    let mut cuts = Vec::new();
    for (partition, info) in (0..).zip(stream.partitions()) {
        let cut = cut(store, stream, partition, info, now)?;
        if cut.records > 0 {
            cuts.push(cut);
        }
    }
    Ok(cuts)
}

fn cut(store: &Store, stream: &Stream, partition: u32, info: PartitionInfo, now: EventTime) -> Result<Cut, LogError> {
    let retention = stream.spec.retention;
    let mut cut = Cut { partition, start: info.start, records: 0, bytes: 0 };
    if info.records() == 0 || (retention.age_ms.is_none() && retention.bytes.is_some_and(|limit| info.bytes <= limit)) {
        return Ok(cut);
    }
    walk(store, stream, partition, info.start, false, |Placed { first, chunk }| {
        for (offset, record) in (first..info.end).zip(&chunk.records) {
            if offset < cut.start {
                continue;
            }
            if !retention.drops(info.bytes - cut.bytes, chunk.ingest_time, now) {
                return false;
            }
            cut.start = offset + 1;
            cut.records += 1;
            cut.bytes += record.len() as u64;
        }
        cut.start < info.end
    })?;
    Ok(cut)
}
