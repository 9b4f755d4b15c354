//! The producers that count, as the database has them: a stream's are read when the first of them appends, and a tenant's
//! when a new one does, because it counts against all of the tenant's.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tidegate_log::sequence::{LastBatch, MAX_PRODUCERS, MAX_TENANT_BYTES, Sequenced, producer_bytes};
use tidegate_log::{Appended, LogError};
use tidegate_types::EventTime;

use crate::catalog::{Catalog, Stream};
use crate::error::storage;
use crate::format::{keys, states};
use crate::prepare::Prepared;
use crate::store::Store;

/// What a group changes of producers, by stream number and name.
pub(super) type Staged = BTreeMap<(u64, String), LastBatch>;

/// The producers of every stream that was asked about, by the stream's number.
#[derive(Default)]
pub(super) struct Producers(BTreeMap<u64, Known>);

/// The producers of a stream.
#[derive(Default)]
struct Known {
    last: BTreeMap<String, LastBatch>,
    /// Bytes of all names.
    names: u64,
}

impl Known {
    fn insert(&mut self, name: String, last: LastBatch) {
        let bytes = name.len() as u64;
        if self.last.insert(name, last).is_none() {
            self.names += bytes;
        }
    }

    fn remove(&mut self, name: &str) {
        if self.last.remove(name).is_some() {
            self.names -= name.len() as u64;
        }
    }

    /// What they take, as [`producer_bytes`] counts.
    fn bytes(&self, partitions: u32) -> u64 {
        self.names + self.last.len() as u64 * producer_bytes("", partitions)
    }
}

impl Producers {
    /// Judges a batch: none if it is to be appended, otherwise the answer of the first time.
    pub(super) fn judge(
        &mut self,
        store: &Store,
        catalog: &Catalog,
        staged: &Staged,
        stream: &Stream,
        batch: &Prepared,
    ) -> Result<Option<Appended>, LogError> {
        let Some((sequence, digest)) = batch.sequence else { return Ok(None) };
        let known = self.of(store, stream)?;
        let key = (stream.number, batch.producer.clone());
        if let Some(last) = staged.get(&key).or_else(|| known.last.get(&batch.producer)) {
            return last.judge(&stream.id, Sequenced { producer: &batch.producer, sequence, digest });
        }
        if known.last.len() + waiting(known, staged, stream).count() >= MAX_PRODUCERS {
            return Err(LogError::TooManyProducers { stream: stream.id.clone() });
        }
        let mut bytes = producer_bytes(&batch.producer, stream.spec.partitions);
        for stream in catalog.of_tenant(&stream.id.tenant) {
            let known = self.of(store, &stream)?;
            let waiting = waiting(known, staged, &stream).map(|name| producer_bytes(name, stream.spec.partitions));
            bytes += known.bytes(stream.spec.partitions) + waiting.sum::<u64>();
        }
        if bytes > MAX_TENANT_BYTES {
            return Err(LogError::ProducersFull { stream: stream.id.clone() });
        }
        Ok(None)
    }

    /// All producers of a stream.
    fn of(&mut self, store: &Store, stream: &Stream) -> Result<&Known, LogError> {
        match self.0.entry(stream.number) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => Ok(unknown.insert(load(store, stream)?)),
        }
    }

    /// The names of those that have been idle.
    pub(super) fn idle(&mut self, store: &Store, stream: &Stream, now: EventTime) -> Result<Vec<String>, LogError> {
        let all = self.of(store, stream)?;
        Ok(all.last.iter().filter(|(_, last)| last.is_idle(now)).map(|(name, _)| name.clone()).collect())
    }

    pub(super) fn publish(&mut self, staged: Staged) {
        for ((stream, name), last) in staged {
            self.0.entry(stream).or_default().insert(name, last);
        }
    }

    pub(super) fn forget(&mut self, stream: u64, names: &[String]) {
        if let Some(all) = self.0.get_mut(&stream) {
            names.iter().for_each(|name| all.remove(name));
        }
    }

    pub(super) fn forget_stream(&mut self, stream: u64) {
        self.0.remove(&stream);
    }
}

/// Producers of a stream that are new in the group.
fn waiting<'a>(known: &'a Known, staged: &'a Staged, stream: &Stream) -> impl Iterator<Item = &'a str> {
    let of_stream = staged.range((stream.number, String::new())..(stream.number + 1, String::new()));
    of_stream.map(|((_, name), _)| name.as_str()).filter(|name| !known.last.contains_key(*name))
}

fn load(store: &Store, stream: &Stream) -> Result<Known, LogError> {
    let corrupt =
        |detail: String| LogError::CorruptMetadata { stream: stream.id.clone(), what: "its producers", detail };
    let [lower, upper] = [stream.number, stream.number + 1].map(|number| keys::producer(number, ""));
    let mut iterator = store.range(store.producers(), &lower, upper, true);
    let mut producers = Known::default();
    while let Some((key, value)) = iterator.item() {
        let name = keys::name_of_producer(key).ok_or_else(|| corrupt("a key names no producer".into()))?;
        let last = states::decode_producer(value).map_err(|error| corrupt(error.to_string()))?;
        producers.insert(name.to_owned(), last);
        iterator.next();
    }
    iterator.status().map_err(|error| storage("read", error))?;
    Ok(producers)
}
