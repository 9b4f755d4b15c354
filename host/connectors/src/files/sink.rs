//! Writes results and side records as JSON lines.
//!
//! Invariant: only whole lines reach the output, so that several sinks may share one.

use std::io::{self, Write};

use tidegate_formats::{ResultEncoder, SideRecord, encode_side_record};
use tidegate_types::{PaneBatch, ResultFields, RowBatch, Stamping};

use super::output::OpenOutput;
use crate::sink::{ResultSink, SideSink, SinkError};

/// So many bytes are held back before they are written.
const HELD: usize = 64 << 10;

/// Lines on their way to an output.
struct Writer {
    output: String,
    to: Box<dyn Write + Send>,
    held: Vec<u8>,
}

impl Writer {
    fn begin(output: OpenOutput) -> Result<Self, SinkError> {
        Ok(Self { output: output.name().to_owned(), to: output.begin()?, held: Vec::new() })
    }

    fn write_if_full(&mut self) -> Result<(), SinkError> {
        if self.held.len() < HELD { Ok(()) } else { self.write_held() }
    }

    fn write_held(&mut self) -> Result<(), SinkError> {
        let result = self.to.write_all(&self.held);
        self.held.clear();
        result.map_err(|source| self.failed(source))
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.write_held()?;
        self.to.flush().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> SinkError {
        let output = self.output.clone();
        match source.kind() {
            io::ErrorKind::BrokenPipe => SinkError::Closed { output },
            _ => SinkError::Write { output, source },
        }
    }
}

/// Writes an operator's results to a file or to standard output.
pub struct FileResultSink {
    writer: Writer,
    encoder: ResultEncoder,
}

impl FileResultSink {
    /// Begins the output for results with these fields, stamped like this.
    ///
    /// # Errors
    /// If the output cannot be emptied.
    pub fn begin(output: OpenOutput, fields: &ResultFields, stamping: Stamping) -> Result<Self, SinkError> {
        Ok(Self { writer: Writer::begin(output)?, encoder: ResultEncoder::new(fields, stamping) })
    }
}

impl ResultSink for FileResultSink {
    fn write_panes(&mut self, panes: &PaneBatch) -> Result<(), SinkError> {
        self.encoder.encode_panes(panes, &mut self.writer.held);
        self.writer.write_if_full()
    }

    fn write_rows(&mut self, rows: &RowBatch) -> Result<(), SinkError> {
        self.encoder.encode_rows(rows, &mut self.writer.held);
        self.writer.write_if_full()
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.writer.flush()
    }
}

/// Writes side records to a file or to standard output.
pub struct FileSideSink {
    writer: Writer,
}

impl FileSideSink {
    /// Begins the output.
    ///
    /// # Errors
    /// If the output cannot be emptied.
    pub fn begin(output: OpenOutput) -> Result<Self, SinkError> {
        Ok(Self { writer: Writer::begin(output)? })
    }
}

impl SideSink for FileSideSink {
    fn write(&mut self, record: &SideRecord<'_>) -> Result<(), SinkError> {
        encode_side_record(record, &mut self.writer.held);
        self.writer.write_if_full()
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests;
