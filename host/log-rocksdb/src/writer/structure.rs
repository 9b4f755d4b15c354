//! Commands that change which streams and producers there are: rare, so each is written alone.

use std::sync::Arc;

use rocksdb::WriteBatch;
use tidegate_log::{Created, LogError, PartitionInfo, StreamId, StreamSpec};
use tidegate_types::EventTime;

use super::{StructureCommand, Writer};
use crate::catalog::Stream;
use crate::error::storage;
use crate::format::{keys, states};

impl Writer {
    pub(super) fn structure(&mut self, command: StructureCommand) {
        // As in `answer`: whoever asked may have gone.
        match command {
            StructureCommand::Create { id, spec, reply } => drop(reply.send(self.create(id, spec))),
            StructureCommand::Delete { stream, reply } => drop(reply.send(self.delete(&stream))),
            StructureCommand::Forget { stream, now, reply } => drop(reply.send(self.forget(&stream, now))),
        }
    }

    fn create(&mut self, id: StreamId, spec: StreamSpec) -> Result<Created, LogError> {
        if let Some(existing) = self.catalog.find(&id) {
            return if existing.spec == spec { Ok(Created::Existing) } else { Err(LogError::Exists { stream: id }) };
        }
        let number = self.next_number(&id)?;
        let partitions = vec![PartitionInfo::default(); usize::try_from(spec.partitions).expect("at most 1,024")];
        let mut batch = WriteBatch::default();
        let metadata = self.store.metadata();
        batch.put_cf(metadata, keys::NEXT_NUMBER, (number + 1).to_be_bytes());
        batch.put_cf(metadata, keys::stream(&id), states::encode_stream(number, &spec));
        for (partition, info) in (0..).zip(&partitions) {
            batch.put_cf(metadata, keys::partition(number, partition), states::encode_partition(info));
        }
        self.write(batch)?;
        self.catalog.insert(Stream::new(id, number, spec, partitions));
        Ok(Created::New)
    }

    fn next_number(&self, stream: &StreamId) -> Result<u64, LogError> {
        let value = self.store.get_metadata(keys::NEXT_NUMBER).map_err(|error| storage("read", error))?;
        let Some(value) = value else { return Ok(1) };
        let number = value.as_slice().try_into().map(u64::from_be_bytes);
        number.map_err(|_| LogError::CorruptMetadata {
            stream: stream.clone(),
            what: "the number of the next stream",
            detail: "it has not 8 bytes".into(),
        })
    }

    fn delete(&mut self, stream: &Arc<Stream>) -> Result<(), LogError> {
        self.catalog.check(stream)?;
        let number = stream.number;
        let mut batch = WriteBatch::default();
        let (first, beyond) = (keys::record(number, 0, 0), keys::record(number + 1, 0, 0));
        batch.delete_range_cf(self.store.records(), first, beyond);
        batch.delete_range_cf(self.store.producers(), keys::producer(number, ""), keys::producer(number + 1, ""));
        batch.delete_range_cf(self.store.metadata(), keys::partition(number, 0), keys::partition(number + 1, 0));
        let (first, beyond) = (keys::staged(number, 0, 0, 0), keys::staged(number + 1, 0, 0, 0));
        batch.delete_range_cf(self.store.staged(), first, beyond);
        for prefix in [keys::WRITERS, keys::TRANSACTIONS, keys::HOLDS] {
            let [first, beyond] = [number, number + 1].map(|number| keys::of_stream(prefix, number, b""));
            batch.delete_range_cf(self.store.metadata(), first, beyond);
        }
        batch.delete_cf(self.store.metadata(), keys::next_place(number));
        batch.delete_cf(self.store.metadata(), keys::stream(&stream.id));
        self.write(batch)?;
        self.catalog.remove(&stream.id);
        self.producers.forget_stream(number);
        stream.watch.wake();
        Ok(())
    }

    fn forget(&mut self, stream: &Arc<Stream>, now: EventTime) -> Result<(), LogError> {
        self.catalog.check(stream)?;
        let names = self.producers.idle(&self.store, stream, now)?;
        let mut batch = WriteBatch::default();
        for name in &names {
            batch.delete_cf(self.store.producers(), keys::producer(stream.number, name));
        }
        self.write(batch)?;
        self.producers.forget(stream.number, &names);
        Ok(())
    }
}
