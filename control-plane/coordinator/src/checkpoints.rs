//! The pointers to jobs' checkpoints, in the metadata store.
//!
//! A document for each version of a job says which checkpoints are kept and which start of the job may change that. Invariants:
//! a start's number never goes down; every change is made under compare-and-set, so that a change whose answer was lost cannot
//! happen after a later one; a document goes with its job's record, and without one nobody can move the pointer.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tidegate_store::{Change, Document, Expect, MetaStore, StoreError};

const KIND: &str = "checkpoints";

/// Changes are tried again as often if others come between: two starts of a job at most.
const TRIES: u32 = 16;

/// How many documents are read at a time where all of a job's are sought.
const PAGE: usize = 200;

/// A version of a job of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointPlace<'a> {
    /// The tenant.
    pub tenant: &'a str,
    /// The job's name.
    pub job: &'a str,
    /// The pipeline's version.
    pub version: u64,
}

/// A checkpoint that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptCheckpoint {
    /// Its number.
    pub checkpoint: u64,
    /// The start of the job that made it.
    pub epoch: u64,
}

/// Why a pointer is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// A later start owns the checkpoints, or the job was forgotten.
    #[error("start {epoch} of job `{job}` does not own its checkpoints any more; this run must end")]
    Fenced {
        /// The job.
        job: String,
        /// The number of the start that is refused.
        epoch: u64,
    },
    /// The metadata store failed. After `Unavailable` the change may have happened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is kept of a version of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pointed {
    /// The highest start that has claimed the checkpoints.
    epoch: u64,
    /// Ascending by checkpoint.
    kept: Vec<KeptCheckpoint>,
}

/// Reads and moves the pointers.
#[derive(Clone)]
pub struct CheckpointPointers {
    store: Arc<dyn MetaStore>,
}

impl CheckpointPointers {
    /// The pointers in this store.
    #[must_use]
    pub fn new(store: Arc<dyn MetaStore>) -> Self {
        Self { store }
    }

    /// The kept checkpoints of a job, ascending. None if no start has claimed them.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn read(&self, place: CheckpointPlace<'_>) -> Result<Option<Vec<KeptCheckpoint>>, StoreError> {
        Ok(self.get(place).await?.map(|(_, pointed)| pointed.kept))
    }

    /// Lets `kept` (ascending) be the kept checkpoints.
    ///
    /// # Errors
    /// [`PointerError::Fenced`] if a later start has claimed them, or nobody has; else if the store fails.
    pub async fn swap(
        &self,
        place: CheckpointPlace<'_>,
        epoch: u64,
        kept: Vec<KeptCheckpoint>,
    ) -> Result<(), PointerError> {
        self.change(place, epoch, &|now| now.map(|_| Pointed { epoch, kept: kept.clone() })).await
    }

    /// Gives the checkpoints to this start: every earlier one is refused from now on.
    ///
    /// # Errors
    /// [`PointerError::Fenced`] if a later start has claimed them; else if the store fails.
    pub async fn claim(&self, place: CheckpointPlace<'_>, epoch: u64) -> Result<(), PointerError> {
        let claimed = |now: Option<Pointed>| Some(Pointed { epoch, kept: now.map(|now| now.kept).unwrap_or_default() });
        self.change(place, epoch, &claimed).await
    }

    /// Writes what `to` makes of what is there; none of it: refused. A change that failed in an unknown way is not repeated.
    async fn change(
        &self,
        place: CheckpointPlace<'_>,
        epoch: u64,
        to: &(dyn Fn(Option<Pointed>) -> Option<Pointed> + Sync),
    ) -> Result<(), PointerError> {
        let path = path(place);
        for _ in 0..TRIES {
            let found = self.get(place).await?;
            let (expect, now) = match found {
                Some((version, now)) => (Expect::Version(version), Some(now)),
                None => (Expect::Absent, None),
            };
            let fenced = now.as_ref().is_some_and(|now| now.epoch > epoch);
            let Some(new) = (if fenced { None } else { to(now) }) else {
                return Err(PointerError::Fenced { job: place.job.to_owned(), epoch });
            };
            let body = serde_json::to_value(new).expect("numbers and lists are JSON");
            let put = Change::Put { kind: KIND.to_owned(), path: path.clone(), body, expect };
            match self.store.commit(vec![put]).await {
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
                Ok(()) => return Ok(()),
            }
        }
        Err(StoreError::Conflict { kind: KIND.to_owned(), path }.into())
    }

    async fn get(&self, place: CheckpointPlace<'_>) -> Result<Option<(u64, Pointed)>, StoreError> {
        let Some(Document { path, version, body }) = self.store.get(KIND, &path(place)).await? else { return Ok(None) };
        let pointed = serde_json::from_value(body)
            .map_err(|error| StoreError::Corrupt { reason: format!("the {KIND} `{path}`: {error}") })?;
        Ok(Some((version, pointed)))
    }
}

/// The changes that forget all pointers of an ended job, whatever they are by now. If there are more than fit beside other
/// changes, most are forgotten at once: nothing starts from them any more.
pub(crate) async fn forget(store: &dyn MetaStore, tenant: &str, job: &str) -> Result<Vec<Change>, StoreError> {
    let prefix = format!("{tenant}/{job}/");
    loop {
        let page = store.list(KIND, &prefix, None, PAGE).await?;
        let full = page.len() == PAGE;
        let delete =
            |document: Document| Change::Delete { kind: KIND.to_owned(), path: document.path, expect: Expect::Any };
        let changes: Vec<Change> = page.into_iter().map(delete).collect();
        if !full {
            return Ok(changes);
        }
        store.commit(changes).await?;
    }
}

fn path(place: CheckpointPlace<'_>) -> String {
    format!("{}/{}/v{}", place.tenant, place.job, place.version)
}

#[cfg(test)]
mod tests;
