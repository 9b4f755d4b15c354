//! The producers that count, as the database has them: a stream's are read when the first of them appends.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tidegate_log::sequence::{LastBatch, MAX_PRODUCERS, Sequenced};
use tidegate_log::{Appended, LogError};
use tidegate_types::EventTime;

use crate::catalog::Stream;
use crate::error::storage;
use crate::format::{keys, states};
use crate::prepare::Prepared;
use crate::store::Store;

/// What a group changes of producers, by stream number and name.
pub(super) type Staged = BTreeMap<(u64, String), LastBatch>;

/// The producers of every stream that was asked about.
#[derive(Default)]
pub(super) struct Producers(BTreeMap<u64, BTreeMap<String, LastBatch>>);

impl Producers {
    /// Judges a batch: none if it is to be appended, otherwise the answer of the first time.
    pub(super) fn judge(
        &mut self,
        store: &Store,
        staged: &Staged,
        stream: &Stream,
        batch: &Prepared,
    ) -> Result<Option<Appended>, LogError> {
        let Some((sequence, digest)) = batch.sequence else { return Ok(None) };
        let known = self.of(store, stream)?;
        let key = (stream.number, batch.producer.clone());
        let Some(last) = staged.get(&key).or_else(|| known.get(&batch.producer)) else {
            let waiting = staged.range((stream.number, String::new())..(stream.number + 1, String::new()));
            let new = waiting.filter(|((_, name), _)| !known.contains_key(name)).count();
            return if known.len() + new < MAX_PRODUCERS {
                Ok(None)
            } else {
                Err(LogError::TooManyProducers { stream: stream.id.clone() })
            };
        };
        last.judge(&stream.id, Sequenced { producer: &batch.producer, sequence, digest })
    }

    /// All producers of a stream.
    fn of(&mut self, store: &Store, stream: &Stream) -> Result<&BTreeMap<String, LastBatch>, LogError> {
        match self.0.entry(stream.number) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => Ok(unknown.insert(load(store, stream)?)),
        }
    }

    /// The names of those that have been idle.
    pub(super) fn idle(&mut self, store: &Store, stream: &Stream, now: EventTime) -> Result<Vec<String>, LogError> {
        let all = self.of(store, stream)?;
        Ok(all.iter().filter(|(_, last)| last.is_idle(now)).map(|(name, _)| name.clone()).collect())
    }

    pub(super) fn publish(&mut self, staged: Staged) {
        for ((stream, name), last) in staged {
            self.0.entry(stream).or_default().insert(name, last);
        }
    }

    pub(super) fn forget(&mut self, stream: u64, names: &[String]) {
        if let Some(all) = self.0.get_mut(&stream) {
            all.retain(|name, _| !names.contains(name));
        }
    }

    pub(super) fn forget_stream(&mut self, stream: u64) {
        self.0.remove(&stream);
    }
}

fn load(store: &Store, stream: &Stream) -> Result<BTreeMap<String, LastBatch>, LogError> {
    let corrupt =
        |detail: String| LogError::CorruptMetadata { stream: stream.id.clone(), what: "its producers", detail };
    let [lower, upper] = [stream.number, stream.number + 1].map(|number| keys::producer(number, ""));
    let mut iterator = store.range(store.producers(), &lower, upper, true);
    let mut producers = BTreeMap::new();
    while let Some((key, value)) = iterator.item() {
        let name = keys::name_of_producer(key).ok_or_else(|| corrupt("a key names no producer".into()))?;
        let last = states::decode_producer(value).map_err(|error| corrupt(error.to_string()))?;
        producers.insert(name.to_owned(), last);
        iterator.next();
    }
    iterator.status().map_err(|error| storage("read", error))?;
    Ok(producers)
}
