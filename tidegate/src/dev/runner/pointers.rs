//! The pointers to jobs' checkpoints, in the metadata store: the coordinator's, as the host's trait wants them.

use std::sync::Arc;

use async_trait::async_trait;
use tidegate_checkpoint::{CheckpointError, JobPlace, ManifestId, Pointer, Pointers};
use tidegate_coordinator::{CheckpointPlace, CheckpointPointers, KeptCheckpoint, PointerError};
use tidegate_store::MetaStore;

/// Pointers in a metadata store.
pub(in crate::dev) struct StoredPointers(CheckpointPointers);

impl StoredPointers {
    /// Those in this store.
    pub(in crate::dev) fn new(store: Arc<dyn MetaStore>) -> Self {
        Self(CheckpointPointers::new(store))
    }
}

fn of(place: &JobPlace) -> CheckpointPlace<'_> {
    CheckpointPlace { tenant: &place.tenant, job: &place.job, version: place.version }
}

/// An error of the metadata store. `doing`: what was tried.
fn failed(doing: &'static str, place: &JobPlace, error: PointerError) -> CheckpointError {
    match error {
        PointerError::Fenced { epoch, .. } => CheckpointError::Fenced { place: place.to_string(), epoch },
        PointerError::Store(error) => CheckpointError::Pointer { doing, reason: error.to_string() },
    }
}

#[async_trait]
impl Pointers for StoredPointers {
    async fn read(&self, place: &JobPlace) -> Result<Option<Pointer>, CheckpointError> {
        let kept = self.0.read(of(place)).await.map_err(|error| failed("read", place, error.into()))?;
        let id = |kept: KeptCheckpoint| ManifestId { checkpoint: kept.checkpoint, epoch: kept.epoch };
        Ok(kept.map(|kept| Pointer { kept: kept.into_iter().map(id).collect() }))
    }

    async fn swap(&self, place: &JobPlace, epoch: u64, new: Pointer) -> Result<(), CheckpointError> {
        let kept = |id: ManifestId| KeptCheckpoint { checkpoint: id.checkpoint, epoch: id.epoch };
        let kept = new.kept.into_iter().map(kept).collect();
        self.0.swap(of(place), epoch, kept).await.map_err(|error| failed("moved", place, error))
    }

    async fn claim(&self, place: &JobPlace, epoch: u64) -> Result<(), CheckpointError> {
        self.0.claim(of(place), epoch).await.map_err(|error| failed("claimed", place, error))
    }
}
