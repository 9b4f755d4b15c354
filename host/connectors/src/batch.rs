//! Collects records into one source batch, up to its limits.

use bytes::Bytes;
use tidegate_types::PartitionId;
use tidegate_types::batch::index32;

use crate::source::SourceBatch;

/// A batch in the making.
#[derive(Debug)]
pub(crate) struct BatchBuilder {
    max_rows: usize,
    max_bytes: usize,
    data: Vec<u8>,
    batch: SourceBatch,
}

impl BatchBuilder {
    pub(crate) fn new(max_rows: usize, max_bytes: usize) -> Self {
        // A limit of zero would never end; one record is the least that a batch is for.
        Self { max_rows: max_rows.max(1), max_bytes: max_bytes.max(1), data: Vec::new(), batch: SourceBatch::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batch.spans.is_empty()
    }

    /// Whether another record may be added.
    pub(crate) fn has_room(&self) -> bool {
        self.batch.spans.len() < self.max_rows && self.data.len() < self.max_bytes
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, record: &[u8], partition: Option<PartitionId>, offset: u64) {
        let start = index32(self.data.len());
        self.data.extend_from_slice(record);
        self.batch.spans.push((start, index32(self.data.len())));
        self.batch.partition.push(partition);
        self.batch.offsets.push(offset);
    }

    /// Notes that a partition ends here.
    pub(crate) fn end(&mut self, partition: PartitionId) {
        self.batch.ended.push((index32(self.batch.spans.len()), partition));
    }

    /// Whether a partition has ended since the last record.
    pub(crate) fn ends_here(&self) -> bool {
        self.batch.ended.last().is_some_and(|(place, _)| *place == index32(self.batch.spans.len()))
    }

    pub(crate) fn finish(mut self, done: bool) -> SourceBatch {
        self.batch.data = Bytes::from(self.data);
        self.batch.done = done;
        self.batch
    }
}
