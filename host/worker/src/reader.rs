//! The thread that reads a source, which may block, into a bounded queue.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use tidegate_connectors::{Source, SourceBatch, SourceError};
use tidegate_dataflow::channel::{Receiver, Signal, channel};

/// Batches read ahead of the source task.
const READ_AHEAD: usize = 2;

/// The most bytes of a source batch: it should stay in the second-level cache with its columns.
pub(crate) const BATCH_BYTES: usize = 256 << 10;

/// What was read, or why nothing was.
pub(crate) type Batch = Result<SourceBatch, SourceError>;
/// What the source task receives.
pub(crate) type Input = Receiver<Batch>;

/// Starts reading.
///
/// # Errors
/// If the thread cannot be started.
pub(crate) fn start(
    mut source: Box<dyn Source>,
    max_rows: usize,
    signal: &Arc<Signal>,
) -> std::io::Result<(Input, JoinHandle<()>)> {
    let (sender, receiver) = channel(READ_AHEAD, signal);
    let thread = Builder::new().name("source-reader".into()).spawn(move || {
        loop {
            let batch = source.read(max_rows, BATCH_BYTES);
            let last = batch.as_ref().map_or(true, |batch| batch.done);
            if !sender.send_waiting(batch) || last {
                return;
            }
        }
    })?;
    Ok((receiver, thread))
}
