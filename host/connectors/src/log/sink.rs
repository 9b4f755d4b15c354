//! Writes panes into a stream, as JSON objects.
//!
//! A pane's partition is its key's hash modulo the number of partitions, so that a reader sees a key's panes in their order.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_formats::PaneEncoder;
use tidegate_log::{Log, StreamId};
use tidegate_types::key::encode_value;
use tidegate_types::{Clock, PaneBatch, PaneFields, key_hash};

use super::writer::Writer;
use crate::sink::{PaneSink, SinkError};

/// Panes into a stream. `flush` returns once they are durable.
pub struct LogPaneSink {
    writer: Writer,
    encoder: PaneEncoder,
}

impl LogPaneSink {
    /// Opens a stream for panes with these fields; `producer` is the name that the records bear.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn open(
        log: Arc<dyn Log>,
        stream: StreamId,
        producer: String,
        clock: Arc<dyn Clock>,
        fields: &PaneFields,
    ) -> Result<Self, SinkError> {
        Ok(Self { writer: Writer::open(log, stream, producer, clock)?, encoder: PaneEncoder::new(fields) })
    }

    /// Appends only as long as all streams of the tenant keep at most `room` bytes. What does not fit ends the run with
    /// [`LogError::NoRoom`](tidegate_log::LogError::NoRoom) in a [`SinkError::Log`].
    #[must_use]
    pub fn within(mut self, room: u64) -> Self {
        self.writer.bound(room);
        self
    }
}

impl PaneSink for LogPaneSink {
    fn write(&mut self, panes: &PaneBatch) -> Result<(), SinkError> {
        let mut lines = Vec::new();
        self.encoder.encode(panes, &mut lines);
        let mut lines = Bytes::from(lines);
        let mut key = Vec::new();
        for row in 0..panes.infos.len() {
            key.clear();
            panes.keys.iter().for_each(|column| encode_value(&mut key, column.value(row)));
            let end = memchr::memchr(b'\n', &lines).expect("the encoder writes one line for each pane");
            let line = lines.split_to(end);
            lines = lines.slice(1..);
            self.writer.put(self.writer.partition(key_hash(&key)), line)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.writer.flush()
    }
}
