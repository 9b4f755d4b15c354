//! The store in memory: for tests, and the plainest reading of the contract.
//!
//! Invariant: the lock is held for a whole question or a whole commit, and a commit checks everything before it changes
//! anything.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use crate::rules::{MAX_ENTRIES, check_changes, check_entries, check_list, check_name};
use crate::{Change, Document, Entry, Expect, MetaStore, StoreError};

/// A store that lives as long as its handle.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The number of the last commit.
    commits: u64,
    /// Documents by kind and path.
    documents: BTreeMap<(String, String), Document>,
    /// The entries of every trail.
    trails: BTreeMap<String, VecDeque<Entry>>,
    /// The position of the last entry.
    position: u64,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> T {
        act(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl MetaStore for MemoryStore {
    async fn get(&self, kind: &str, path: &str) -> Result<Option<Document>, StoreError> {
        check_name(kind, path)?;
        Ok(self.with(|inner| inner.documents.get(&(kind.to_owned(), path.to_owned())).cloned()))
    }

    async fn list(
        &self,
        kind: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Document>, StoreError> {
        check_list(kind, prefix, limit)?;
        Ok(self.with(|inner| inner.list(kind, prefix, after, limit)))
    }

    async fn commit(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        check_changes(&changes)?;
        self.with(|inner| inner.commit(changes))
    }

    async fn entries(&self, trail: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        check_entries(trail, limit)?;
        Ok(self.with(|inner| {
            let Some(entries) = inner.trails.get(trail) else { return Vec::new() };
            let first = entries.partition_point(|entry| entry.position <= after);
            entries.range(first..).take(limit).cloned().collect()
        }))
    }
}

impl Inner {
    fn list(&self, kind: &str, prefix: &str, after: Option<&str>, limit: usize) -> Vec<Document> {
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded((kind.to_owned(), after.to_owned())),
            _ => Bound::Included((kind.to_owned(), prefix.to_owned())),
        };
        self.documents
            .range((from, Bound::Unbounded))
            .take_while(|((its_kind, path), _)| its_kind == kind && path.starts_with(prefix))
            .take(limit)
            .map(|(_, document)| document.clone())
            .collect()
    }

    fn commit(&mut self, changes: Vec<Change>) -> Result<(), StoreError> {
        for change in &changes {
            self.check(change)?;
        }
        self.commits += 1;
        for change in changes {
            self.make(change);
        }
        Ok(())
    }

    fn check(&self, change: &Change) -> Result<(), StoreError> {
        let (kind, path, expect) = match change {
            Change::Put { kind, path, expect, .. } | Change::Delete { kind, path, expect } => (kind, path, *expect),
            Change::Append { .. } => return Ok(()),
        };
        let version = self.documents.get(&(kind.clone(), path.clone())).map(|document| document.version);
        if Expect::meets(expect, version) {
            return Ok(());
        }
        Err(StoreError::Conflict { kind: kind.clone(), path: path.clone() })
    }

    fn make(&mut self, change: Change) {
        match change {
            Change::Put { kind, path, body, .. } => {
                let document = Document { path: path.clone(), version: self.commits, body };
                self.documents.insert((kind, path), document);
            }
            Change::Delete { kind, path, .. } => {
                self.documents.remove(&(kind, path));
            }
            Change::Append { trail, body } => {
                self.position += 1;
                let entry = Entry { position: self.position, body };
                let entries = self.trails.entry(trail).or_default();
                entries.push_back(entry);
                if entries.len() > MAX_ENTRIES {
                    entries.pop_front();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::contract;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn keeps_the_contract() {
        contract::run(|| async { Arc::new(MemoryStore::new()) as Arc<dyn MetaStore> }).await;
    }
}
