//! Writes side records (too late, duplicate, dead letter) into a stream, as the JSON objects of docs/local-run.md.
//!
//! A side record's partition is the hash of its source partition, so that those of one source partition stay in order.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_formats::{SideRecord, encode_side_record};
use tidegate_log::{Log, StreamId};
use tidegate_types::key::encode_value;
use tidegate_types::{Clock, key_hash};

use super::transactional::Transactional;
use super::writer::Writer;
use crate::sink::{Prepared, SideSink, SinkError};

/// Side records into a stream. `flush` returns once they are durable, also where they are only staged.
///
/// What says of a record that it was too long must not stop the job for being too long itself: where the stream does not
/// take the record, `record` is null and `detail` says how long it was.
pub struct LogSideSink {
    writer: Writer,
}

impl LogSideSink {
    /// Opens a stream; `producer` is the name that the records bear.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn open(
        log: Arc<dyn Log>,
        stream: StreamId,
        producer: String,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SinkError> {
        Ok(Self { writer: Writer::open(log, stream, producer, clock)? })
    }

    /// Appends only as long as all streams of the tenant keep at most `room` bytes. What does not fit ends the run with
    /// [`LogError::NoRoom`](tidegate_log::LogError::NoRoom) in a [`SinkError::Log`].
    #[must_use]
    pub fn within(mut self, room: u64) -> Self {
        self.writer.bound(room);
        self
    }

    /// Stages what is written, as this writer: it is seen once the checkpoint is committed that it was prepared for. `recover`
    /// MUST come before the first write. A sink that is dropped leaves what is staged to the writer's next start, which aborts
    /// it.
    #[must_use]
    pub fn transactional(mut self, writer: Transactional) -> Self {
        self.writer.stage_as(writer);
        self
    }
}

impl SideSink for LogSideSink {
    fn write(&mut self, record: &SideRecord<'_>) -> Result<(), SinkError> {
        let mut key = Vec::new();
        encode_value(&mut key, record.partition);
        let mut line = encode(record);
        if line.len() > self.writer.max_record_bytes() {
            let bytes = record.record.map_or(0, <[u8]>::len);
            let detail = record.detail.unwrap_or(record.reason);
            let detail =
                format!("{detail} (the record of {bytes} bytes is left out: this stream takes no longer ones)");
            line = encode(&SideRecord { record: None, detail: Some(&detail), ..*record });
        }
        self.writer.put(self.writer.partition(key_hash(&key)), line)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.writer.flush()
    }

    fn prepare(&mut self, checkpoint: u64) -> Result<Option<Prepared>, SinkError> {
        self.writer.prepare(checkpoint)
    }

    fn commit(&mut self, checkpoint: u64) -> Result<(), SinkError> {
        self.writer.commit(checkpoint)
    }

    fn recover(&mut self, prepared: Option<&Prepared>) -> Result<(), SinkError> {
        self.writer.recover(prepared)
    }
}

/// One JSON object, without a line feed.
fn encode(record: &SideRecord<'_>) -> Bytes {
    let mut line = Vec::new();
    encode_side_record(record, &mut line);
    line.pop();
    line.into()
}
