//! Writes results into a stream, as JSON objects.
//!
//! A pane's partition is its key's hash modulo the number of partitions, so that a reader sees a key's panes in their order.
//! A row's is the same of the key that emitted it, or of its fields where its operator has no key: equal rows stay together.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_formats::ResultEncoder;
use tidegate_log::{Log, StreamId};
use tidegate_types::key::encode_value;
use tidegate_types::{Clock, Column, PaneBatch, ResultFields, RowBatch, Stamping, key_hash};

use super::transactional::Transactional;
use super::writer::Writer;
use crate::sink::{Prepared, ResultSink, SinkError};

/// An operator's results into a stream. `flush` returns once they are durable, also where they are only staged.
pub struct LogResultSink {
    writer: Writer,
    encoder: ResultEncoder,
}

impl LogResultSink {
    /// Opens a stream for results with these fields, stamped like this; `producer` is the name that the records bear.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn open(
        log: Arc<dyn Log>,
        stream: StreamId,
        producer: String,
        clock: Arc<dyn Clock>,
        fields: &ResultFields,
        stamping: Stamping,
    ) -> Result<Self, SinkError> {
        Ok(Self { writer: Writer::open(log, stream, producer, clock)?, encoder: ResultEncoder::new(fields, stamping) })
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

    /// Puts lines, each into the partition of its hash. No line holds a line feed: JSON has none within a value.
    fn put(&mut self, lines: Vec<u8>, hashes: impl Iterator<Item = u64>) -> Result<(), SinkError> {
        let mut lines = Bytes::from(lines);
        for hash in hashes {
            let end = memchr::memchr(b'\n', &lines).expect("the encoder writes one line for each result");
            let line = lines.split_to(end);
            lines = lines.slice(1..);
            self.writer.put(self.writer.partition(hash), line)?;
        }
        Ok(())
    }
}

/// The hash of each row of these columns.
fn hashes(columns: &[Column], rows: usize) -> impl Iterator<Item = u64> {
    let mut key = Vec::new();
    (0..rows).map(move |row| {
        key.clear();
        columns.iter().for_each(|column| encode_value(&mut key, column.value(row)));
        key_hash(&key)
    })
}

impl ResultSink for LogResultSink {
    fn write_panes(&mut self, panes: &PaneBatch) -> Result<(), SinkError> {
        let mut lines = Vec::new();
        self.encoder.encode_panes(panes, &mut lines);
        self.put(lines, hashes(&panes.keys, panes.infos.len()))
    }

    fn write_rows(&mut self, rows: &RowBatch) -> Result<(), SinkError> {
        let mut lines = Vec::new();
        self.encoder.encode_rows(rows, &mut lines);
        match &rows.order {
            Some(order) => self.put(lines, order.keys.iter().map(|key| key_hash(key))),
            None => self.put(lines, hashes(&rows.columns, rows.times.len())),
        }
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
