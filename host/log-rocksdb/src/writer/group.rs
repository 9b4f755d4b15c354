//! A group: commands on partitions that are written together.
//!
//! Invariant: commands see the ones before them in the group as if they were done; the catalog sees none of it until the
//! group is published.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rocksdb::WriteBatch;
use tidegate_log::append::have_room;
use tidegate_log::sequence::LastBatch;
use tidegate_log::{Appended, LogError, OffsetRange, PartitionInfo};
use tidegate_types::TenantId;

use super::producers::{Producers, Staged};
use super::{Answer, PartitionCommand, answer};
use crate::catalog::{Catalog, Stream};
use crate::format::{keys, states};
use crate::prepare::{Part, Prepared};
use crate::retain::Cut;
use crate::staging::Staging;
use crate::store::Store;

/// A group in the making.
pub(super) struct Group<'a> {
    pub(super) store: &'a Store,
    pub(super) catalog: &'a Catalog,
    producers: &'a mut Producers,
    pub(super) batch: WriteBatch,
    pub(super) changed: Changed,
    /// Bytes that tenants' streams keep after the commands so far, of those that were asked for.
    kept: BTreeMap<TenantId, u64>,
}

/// What a group changes.
#[derive(Default)]
pub(super) struct Changed {
    /// By number.
    streams: BTreeMap<u64, ChangedStream>,
    producers: Staged,
    /// The fault points before and after the write.
    pub(super) points: BTreeSet<(&'static str, &'static str)>,
}

pub(super) struct ChangedStream {
    stream: Arc<Stream>,
    partitions: Vec<PartitionInfo>,
    /// Writers, transactions and holds, if they change.
    staging: Option<Staging>,
    /// Whether readers have something to look at.
    pub(super) wakes: bool,
}

impl<'a> Group<'a> {
    pub(super) fn new(store: &'a Store, catalog: &'a Catalog, producers: &'a mut Producers) -> Self {
        Self {
            store,
            catalog,
            producers,
            batch: WriteBatch::default(),
            changed: Changed::default(),
            kept: BTreeMap::new(),
        }
    }

    /// Adds a command; its answer waits for the write.
    pub(super) fn add(&mut self, command: PartitionCommand) -> Answer {
        match command {
            PartitionCommand::Append { stream, batch, reply } => answer(reply, self.append(&stream, batch)),
            PartitionCommand::Seal { stream, partition, reply } => answer(reply, self.seal(&stream, partition)),
            PartitionCommand::Trim { stream, cuts, reply } => answer(reply, self.trim(&stream, cuts)),
            PartitionCommand::Transact { stream, act, reply } => answer(reply, self.transact(&stream, act)),
        }
    }

    /// What to write, and what to show after it: each partition that changed is written once.
    pub(super) fn finish(mut self) -> (WriteBatch, Changed) {
        for changed in self.changed.streams.values() {
            let before = changed.stream.partitions();
            for (partition, (info, before)) in (0..).zip(changed.partitions.iter().zip(&before)) {
                if info != before {
                    let key = keys::partition(changed.stream.number, partition);
                    self.batch.put_cf(self.store.metadata(), key, states::encode_partition(info));
                }
            }
        }
        (self.batch, self.changed)
    }

    pub(super) fn changed(&mut self, stream: &Arc<Stream>) -> Result<&mut ChangedStream, LogError> {
        // It may have been deleted since the command was sent.
        self.catalog.check(stream)?;
        Ok(self.changed.streams.entry(stream.number).or_insert_with(|| ChangedStream {
            stream: Arc::clone(stream),
            partitions: stream.partitions(),
            staging: None,
            wakes: false,
        }))
    }

    fn append(&mut self, stream: &Arc<Stream>, batch: Prepared) -> Result<Appended, LogError> {
        self.catalog.check(stream)?;
        if let Some(again) = self.judge(stream, &batch)? {
            return Ok(again);
        }
        self.check_open(stream, &batch)?;
        self.take_room(stream, &batch)?;
        self.changed(stream)?.wakes = true;
        let mut ranges = Vec::with_capacity(batch.parts.len());
        for part in &batch.parts {
            let first = self.put(stream, part, &batch)?;
            ranges.push(OffsetRange { partition: part.partition, first, count: part.count });
        }
        let appended = Appended { ranges, ingest_time: batch.ingest_time, repeated: false };
        if let Some((sequence, digest)) = batch.sequence {
            let last = LastBatch { sequence, digest, appended: appended.clone() };
            let key = keys::producer(stream.number, &batch.producer);
            self.batch.put_cf(self.store.producers(), key, states::encode_producer(&last));
            self.changed.producers.insert((stream.number, batch.producer), last);
        }
        Ok(appended)
    }

    /// Whether none of a batch's partitions is sealed.
    pub(super) fn check_open(&mut self, stream: &Arc<Stream>, batch: &Prepared) -> Result<(), LogError> {
        let changed = self.changed(stream)?;
        for part in &batch.parts {
            if changed.info(part.partition).sealed {
                return Err(LogError::Sealed { stream: stream.id.clone(), partition: part.partition });
            }
        }
        Ok(())
    }

    /// The answer of the first time, if the batch was appended before.
    fn judge(&mut self, stream: &Arc<Stream>, batch: &Prepared) -> Result<Option<Appended>, LogError> {
        self.producers.judge(self.store, self.catalog, &self.changed.producers, stream, batch)
    }

    /// Counts the batch among what its tenant's streams keep, if it has room there.
    pub(super) fn take_room(&mut self, stream: &Stream, batch: &Prepared) -> Result<(), LogError> {
        let tenant = &stream.id.tenant;
        if batch.room.is_some() && !self.kept.contains_key(tenant) {
            self.kept.insert(tenant.clone(), self.kept(tenant));
        }
        let Some(kept) = self.kept.get_mut(tenant) else { return Ok(()) };
        have_room(batch.room, &stream.id, *kept, batch.bytes())?;
        *kept += batch.bytes();
        Ok(())
    }

    /// Bytes that a tenant's streams keep after the commands so far.
    fn kept(&self, tenant: &TenantId) -> u64 {
        let of_stream = |stream: &Arc<Stream>| match self.changed.streams.get(&stream.number) {
            Some(changed) => changed.bytes(),
            None => stream.bytes(),
        };
        self.catalog.of_tenant(tenant).iter().map(of_stream).sum()
    }

    /// Puts one partition's records: the first one's offset.
    fn put(&mut self, stream: &Arc<Stream>, part: &Part, batch: &Prepared) -> Result<u64, LogError> {
        let info = self.changed(stream)?.info(part.partition);
        let first = info.end;
        info.end += part.count;
        info.bytes += part.bytes;
        info.last_ingest = Some(batch.ingest_time);
        let mut next = first;
        for chunk in &part.chunks {
            next += chunk.count;
            let key = keys::record(stream.number, part.partition, next - 1);
            self.batch.put_cf(self.store.records(), key, &chunk.value);
        }
        Ok(first)
    }

    fn seal(&mut self, stream: &Arc<Stream>, partition: Option<u32>) -> Result<(), LogError> {
        if let Some(partition) = partition {
            stream.partition(partition)?;
        }
        let changed = self.changed(stream)?;
        changed.staging().check_seal(&stream.id, partition)?;
        changed.wakes = true;
        for (place, info) in (0..).zip(&mut changed.partitions) {
            info.sealed |= partition.is_none_or(|partition| partition == place);
        }
        Ok(())
    }

    fn trim(&mut self, stream: &Arc<Stream>, mut cuts: Vec<Cut>) -> Result<Vec<Cut>, LogError> {
        let staging = self.changed(stream)?.staging();
        cuts.retain(|cut| cut.start <= staging.held(cut.partition));
        for cut in &cuts {
            let info = self.changed(stream)?.info(cut.partition);
            info.start = cut.start;
            info.bytes -= cut.bytes;
            self.give_room(stream, cut.bytes);
            // From the very first on: a file that was given back may have hidden older ones.
            let [lower, upper] = [0, cut.start].map(|last| keys::record(stream.number, cut.partition, last));
            self.batch.delete_range_cf(self.store.records(), lower, upper);
            for (place, below) in &cut.staged {
                let [lower, upper] = [0, *below].map(|last| keys::staged(stream.number, *place, cut.partition, last));
                self.batch.delete_range_cf(self.store.staged(), lower, upper);
            }
        }
        Ok(cuts)
    }

    /// Bytes are not kept any more.
    pub(super) fn give_room(&mut self, stream: &Stream, bytes: u64) {
        if let Some(kept) = self.kept.get_mut(&stream.id.tenant) {
            *kept -= bytes;
        }
    }
}

impl ChangedStream {
    pub(super) fn info(&mut self, partition: u32) -> &mut PartitionInfo {
        let place = usize::try_from(partition).expect("a partition that was checked");
        &mut self.partitions[place]
    }

    /// Writers, transactions and holds, to look at or to change.
    pub(super) fn staging(&mut self) -> &mut Staging {
        self.staging.get_or_insert_with(|| Staging::clone(&self.stream.staging()))
    }

    fn bytes(&self) -> u64 {
        let staged = self.staging.as_ref().map_or_else(|| self.stream.staging().bytes(), Staging::bytes);
        self.partitions.iter().map(|info| info.bytes).sum::<u64>() + staged
    }
}

impl Changed {
    /// The fault points before and after the write.
    pub(super) fn points(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.points.iter().copied()
    }

    /// The group is durable: shows it, and wakes readers.
    pub(super) fn publish(self, producers: &mut Producers) {
        producers.publish(self.producers);
        for changed in self.streams.into_values() {
            if let Some(staging) = changed.staging {
                changed.stream.publish_staging(staging);
            }
            changed.stream.publish(changed.partitions);
            if changed.wakes {
                changed.stream.watch.wake();
            }
        }
    }
}
