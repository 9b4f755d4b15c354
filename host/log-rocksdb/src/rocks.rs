//! The log on RocksDB, as others see it.
//!
//! Every change goes through the writer; this only prepares, waits, and reads.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use tidegate_log::read::Allowance;
use tidegate_log::{
    AppendBatch, Appended, Begin, Chunk, Created, ErrorKind, Log, LogError, Retained, StagedTransaction, StreamId,
    StreamInfo, StreamSpec, TransactionId, Watch,
};
use tidegate_types::{EventTime, TenantId};

use crate::catalog::{Catalog, Stream};
use crate::error::OpenError;
use crate::format::keys;
use crate::options::RocksOptions;
use crate::prepare::Prepared;
use crate::queue::Queue;
use crate::read::read;
use crate::retain::{Cut, cuts};
use crate::store::Store;
use crate::writer::{Act, Command, PartitionCommand, ReplyTo, StructureCommand, Writer};

/// What a command takes in the queue beside its records.
const COMMAND_BYTES: usize = 256;
/// When so much was dropped, files that hold nothing else are given back at once.
const WORTH_FREEING: u64 = 1 << 20;

/// A [`Log`] in a folder. One process at a time may have it open.
///
/// Dropping it ends its writer after what was sent; nothing is lost by ending the process in any other way.
pub struct RocksLog {
    store: Arc<Store>,
    catalog: Arc<Catalog>,
    queue: Arc<Queue<Command>>,
    writer: Option<JoinHandle<()>>,
    /// Only one `retain` at a time: it decides on what it has read.
    retaining: Mutex<()>,
}

impl std::fmt::Debug for RocksLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RocksLog").field("catalog", &self.catalog).finish_non_exhaustive()
    }
}

impl RocksLog {
    /// Opens the log in a folder, or makes an empty one there. It takes as long as replaying the newest writes; records in
    /// files are not read.
    ///
    /// # Errors
    /// If another process has it, if it has another format, if it is damaged, or if the disk fails.
    pub fn open(path: &Path, options: &RocksOptions) -> Result<Self, OpenError> {
        let store = Arc::new(Store::open(path, options)?);
        let catalog = Arc::new(Catalog::load(&store)?);
        let queue = Arc::new(Queue::new(options.queue_bytes));
        let writer = Writer::new(Arc::clone(&store), Arc::clone(&catalog));
        let commands = Arc::clone(&queue);
        let thread = Builder::new().name("log-writer".into()).spawn(move || writer.run(&commands));
        let thread = thread.map_err(|source| OpenError::Thread { path: path.to_owned(), source })?;
        Ok(Self { store, catalog, queue, writer: Some(thread), retaining: Mutex::new(()) })
    }

    /// Sends a command and waits for its answer.
    fn ask<T>(&self, bytes: usize, command: impl FnOnce(ReplyTo<T>) -> Command) -> Result<T, LogError> {
        let (reply, answer) = sync_channel(1);
        self.queue.put(command(reply), COMMAND_BYTES + bytes);
        let gone = |_| LogError::Stopped { detail: "its writer has ended".into() };
        answer.recv().map_err(gone).flatten()
    }

    fn ask_partition<T>(
        &self,
        bytes: usize,
        command: impl FnOnce(ReplyTo<T>) -> PartitionCommand,
    ) -> Result<T, LogError> {
        self.ask(bytes, |reply| Command::Partition(command(reply)))
    }

    fn ask_structure<T>(&self, command: impl FnOnce(ReplyTo<T>) -> StructureCommand) -> Result<T, LogError> {
        self.ask(0, |reply| Command::Structure(command(reply)))
    }

    fn transact(&self, stream: &Arc<Stream>, bytes: usize, act: Act) -> Result<u64, LogError> {
        let stream = Arc::clone(stream);
        self.ask_partition(bytes, |reply| PartitionCommand::Transact { stream, act, reply })
    }

    fn retain_stream(&self, stream: &Arc<Stream>, now: EventTime) -> Result<Retained, LogError> {
        self.ask_structure(|reply| StructureCommand::Forget { stream: Arc::clone(stream), now, reply })?;
        self.transact(stream, 0, Act::Expire(now))?;
        let cuts = cuts(&self.store, stream, now)?;
        if cuts.is_empty() {
            return Ok(Retained::default());
        }
        let of = Arc::clone(stream);
        let cuts = self.ask_partition(0, |reply| PartitionCommand::Trim { stream: of, cuts, reply })?;
        self.free(stream, &cuts);
        let count = |of: fn(&Cut) -> u64| cuts.iter().map(of).sum();
        Ok(Retained { records: count(|cut| cut.records), bytes: count(|cut| cut.bytes) })
    }

    /// Gives files back that hold dropped records only. The rest goes with the database's own compaction.
    fn free(&self, stream: &Stream, cuts: &[Cut]) {
        for cut in cuts.iter().filter(|cut| cut.bytes >= WORTH_FREEING) {
            let [lower, upper] = [0, cut.start - 1].map(|last| keys::record(stream.number, cut.partition, last));
            if let Err(error) = self.store.free_records(&lower, &upper) {
                tracing::warn!(stream = %stream.id, %error, "files of dropped records stay until compaction");
            }
        }
    }
}

impl Drop for RocksLog {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the log's writer panicked; this is a defect of Tidegate");
        }
    }
}

impl Log for RocksLog {
    fn create(&self, stream: &StreamId, spec: &StreamSpec) -> Result<Created, LogError> {
        spec.check(stream)?;
        self.ask_structure(|reply| StructureCommand::Create { id: stream.clone(), spec: spec.clone(), reply })
    }

    fn describe(&self, stream: &StreamId) -> Result<StreamInfo, LogError> {
        Ok(self.catalog.get(stream)?.info())
    }

    fn list(&self, tenant: &TenantId) -> Result<Vec<StreamInfo>, LogError> {
        Ok(self.catalog.of_tenant(tenant).iter().map(|stream| stream.info()).collect())
    }

    fn append(&self, stream: &StreamId, batch: AppendBatch) -> Result<Appended, LogError> {
        let stream = self.catalog.get(stream)?;
        let batch = Prepared::of(&stream, batch)?;
        self.ask_partition(batch.size(), |reply| PartitionCommand::Append { stream, batch, reply })
    }

    fn read(
        &self,
        stream: &StreamId,
        partition: u32,
        from: u64,
        max_records: usize,
        max_bytes: usize,
    ) -> Result<Chunk, LogError> {
        let stream = self.catalog.get(stream)?;
        read(&self.store, &self.catalog, &stream, partition, from, Allowance::new(max_records, max_bytes))
    }

    fn seal(&self, stream: &StreamId, partition: Option<u32>) -> Result<(), LogError> {
        let stream = self.catalog.get(stream)?;
        self.ask_partition(0, |reply| PartitionCommand::Seal { stream, partition, reply })
    }

    fn retain(&self, now: EventTime) -> Result<Retained, LogError> {
        let _alone = self.retaining.lock().unwrap_or_else(PoisonError::into_inner);
        let mut retained = Retained::default();
        let mut damaged = None;
        let mut last: Option<Arc<Stream>> = None;
        while let Some(stream) = self.catalog.after(last.as_ref().map(|stream| &stream.id)) {
            match self.retain_stream(&stream, now) {
                Ok(of_stream) => {
                    retained.records += of_stream.records;
                    retained.bytes += of_stream.bytes;
                }
                // Deleted in between.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                // The streams after it, other tenants' among them, are not damaged.
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    tracing::error!(stream = %stream.id, %error, "a damaged stream keeps its records");
                    damaged.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
            last = Some(stream);
        }
        damaged.map_or(Ok(retained), Err)
    }

    fn delete(&self, stream: &StreamId) -> Result<(), LogError> {
        let stream = self.catalog.get(stream)?;
        self.ask_structure(|reply| StructureCommand::Delete { stream, reply })
    }

    fn begin(&self, stream: &StreamId, begin: &Begin) -> Result<u64, LogError> {
        self.transact(&self.catalog.get(stream)?, 0, Act::Begin(begin.clone()))
    }

    fn stage(&self, stream: &StreamId, transaction: &TransactionId, batch: AppendBatch) -> Result<(), LogError> {
        let stream = self.catalog.get(stream)?;
        let batch = Prepared::of(&stream, batch)?;
        self.transact(&stream, batch.size(), Act::Stage(transaction.clone(), batch)).map(drop)
    }

    fn commit_transaction(&self, stream: &StreamId, transaction: &TransactionId) -> Result<(), LogError> {
        self.transact(&self.catalog.get(stream)?, 0, Act::Commit(transaction.clone())).map(drop)
    }

    fn abort_transaction(&self, stream: &StreamId, transaction: &TransactionId) -> Result<(), LogError> {
        self.transact(&self.catalog.get(stream)?, 0, Act::Abort(transaction.clone())).map(drop)
    }

    fn transactions(&self, stream: &StreamId) -> Result<Vec<StagedTransaction>, LogError> {
        Ok(self.catalog.get(stream)?.staging().transactions())
    }

    fn hold(&self, stream: &StreamId, holder: &str, offsets: Option<&[u64]>) -> Result<(), LogError> {
        let stream = self.catalog.get(stream)?;
        self.transact(&stream, 0, Act::Hold(holder.to_owned(), offsets.map(<[u64]>::to_vec))).map(drop)
    }

    fn holds(&self, stream: &StreamId) -> Result<Vec<(String, Vec<u64>)>, LogError> {
        let staging = self.catalog.get(stream)?.staging();
        Ok(staging.holds.iter().map(|(holder, offsets)| (holder.clone(), offsets.to_vec())).collect())
    }

    fn watch(&self, stream: &StreamId) -> Result<Arc<Watch>, LogError> {
        Ok(Arc::clone(&self.catalog.get(stream)?.watch))
    }
}
