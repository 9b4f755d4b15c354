//! The streams and how far their partitions are, in memory, as the database has them.
//!
//! Invariant: what stands here is durable. Only the writer changes it, after a write; readers take what they need and let go.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tidegate_log::{LogError, PartitionInfo, StreamId, StreamInfo, StreamSpec, Watch};
use tidegate_types::TenantId;

use crate::error::OpenError;
use crate::format::{keys, states};
use crate::staging::Staging;
use crate::store::Store;

/// All streams.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    streams: RwLock<BTreeMap<StreamId, Arc<Stream>>>,
}

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) id: StreamId,
    /// What its keys begin with; never used again.
    pub(crate) number: u64,
    pub(crate) spec: StreamSpec,
    pub(crate) watch: Arc<Watch>,
    state: RwLock<State>,
}

/// What changes of a stream.
#[derive(Debug)]
struct State {
    partitions: Vec<PartitionInfo>,
    staging: Arc<Staging>,
}

impl Catalog {
    /// Reads the metadata: one value per stream and partition, and no record.
    pub(crate) fn load(store: &Store) -> Result<Self, OpenError> {
        let mut streams = BTreeMap::new();
        let mut iterator = store.range(store.metadata(), keys::STREAMS, b"t".to_vec(), true);
        while let Some((key, value)) = iterator.item() {
            let id = keys::id_of_stream(key);
            let id = id.ok_or_else(|| store.corrupt("the list of streams", "a key names no stream"))?;
            let what = || format!("stream {id}");
            let (number, spec) = states::decode_stream(value).map_err(|error| store.corrupt(what(), error))?;
            let load = |partition| {
                let what = || format!("stream {id}, partition {partition}");
                let value = store.get_metadata(&keys::partition(number, partition)).map_err(|e| store.failed(e))?;
                let value = value.ok_or_else(|| store.corrupt(what(), "its end is missing"))?;
                states::decode_partition(&value).map_err(|error| store.corrupt(what(), error))
            };
            let partitions = (0..spec.partitions).map(load).collect::<Result<_, _>>()?;
            let stream = Stream::new(id.clone(), number, spec, partitions);
            stream.publish_staging(Staging::load(store, &id, number)?);
            streams.insert(id, Arc::new(stream));
            iterator.next();
        }
        iterator.status().map_err(|error| store.failed(error))?;
        Ok(Self { streams: RwLock::new(streams) })
    }

    pub(crate) fn find(&self, id: &StreamId) -> Option<Arc<Stream>> {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    pub(crate) fn get(&self, id: &StreamId) -> Result<Arc<Stream>, LogError> {
        self.find(id).ok_or_else(|| LogError::NotFound { stream: id.clone() })
    }

    /// Whether a stream that was found before is still there.
    pub(crate) fn check(&self, stream: &Stream) -> Result<(), LogError> {
        match self.find(&stream.id) {
            Some(found) if found.number == stream.number => Ok(()),
            _ => Err(LogError::NotFound { stream: stream.id.clone() }),
        }
    }

    pub(crate) fn of_tenant(&self, tenant: &TenantId) -> Vec<Arc<Stream>> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        streams.values().filter(|stream| stream.id.tenant == *tenant).cloned().collect()
    }

    /// The stream after one, in order; with none the first.
    pub(crate) fn after(&self, id: Option<&StreamId>) -> Option<Arc<Stream>> {
        let from = id.map_or(Bound::Unbounded, Bound::Excluded);
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        streams.range((from, Bound::Unbounded)).next().map(|(_, stream)| Arc::clone(stream))
    }

    pub(crate) fn insert(&self, stream: Stream) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.insert(stream.id.clone(), Arc::new(stream));
    }

    pub(crate) fn remove(&self, id: &StreamId) {
        self.streams.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

impl Stream {
    pub(crate) fn new(id: StreamId, number: u64, spec: StreamSpec, partitions: Vec<PartitionInfo>) -> Self {
        let state = RwLock::new(State { partitions, staging: Arc::default() });
        Self { id, number, spec, watch: Arc::default(), state }
    }

    pub(crate) fn info(&self) -> StreamInfo {
        StreamInfo { id: self.id.clone(), spec: self.spec.clone(), partitions: self.partitions() }
    }

    pub(crate) fn partitions(&self) -> Vec<PartitionInfo> {
        self.state().partitions.clone()
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its writers, transactions and holds.
    pub(crate) fn staging(&self) -> Arc<Staging> {
        Arc::clone(&self.state().staging)
    }

    /// Bytes of the records that it keeps, staged ones too.
    pub(crate) fn bytes(&self) -> u64 {
        let state = self.state();
        state.partitions.iter().map(|info| info.bytes).sum::<u64>() + state.staging.bytes()
    }

    pub(crate) fn partition(&self, partition: u32) -> Result<PartitionInfo, LogError> {
        let state = self.state();
        let found = usize::try_from(partition).ok().and_then(|place| state.partitions.get(place).copied());
        found.ok_or_else(|| LogError::NoPartition {
            stream: self.id.clone(),
            partition,
            partitions: self.spec.partitions,
        })
    }

    /// What was written is durable: shows it.
    pub(crate) fn publish(&self, infos: Vec<PartitionInfo>) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).partitions = infos;
    }

    /// As `publish`.
    pub(crate) fn publish_staging(&self, staging: Staging) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).staging = Arc::new(staging);
    }
}
