//! The pointer: which checkpoints of a job exist.
//!
//! It is kept outside the object store, by what can refuse a writer whose time is over.

use async_trait::async_trait;

use crate::error::CheckpointError;
use crate::place::{JobPlace, ManifestId};

/// The checkpoints that are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pointer {
    /// Ascending by checkpoint; the last is the newest.
    pub kept: Vec<ManifestId>,
}

/// Keeps pointers.
///
/// # Contract
/// 1. `claim` with an epoch lower than the highest that ever claimed the place is refused ([`CheckpointError::Fenced`]), and
///    so is `swap`. A `swap` at a place that nobody has claimed, or that was forgotten, is refused in the same way.
/// 2. What was answered with `Ok` is durable, and every later `read` sees it.
/// 3. After [`CheckpointError::Pointer`] a change may have happened. Once a later `claim` or `swap` of the place has succeeded,
///    it cannot happen any more.
#[async_trait]
pub trait Pointers: Send + Sync {
    /// The pointer of a place. None if nothing was ever saved there.
    ///
    /// # Errors
    /// If it cannot be read.
    async fn read(&self, place: &JobPlace) -> Result<Option<Pointer>, CheckpointError>;

    /// Puts a new pointer in place of the one that is there.
    ///
    /// # Errors
    /// [`CheckpointError::Fenced`] if a later epoch has claimed the place; [`CheckpointError::Pointer`] if it fails.
    async fn swap(&self, place: &JobPlace, epoch: u64, new: Pointer) -> Result<(), CheckpointError>;

    /// Refuses every lower epoch from now on.
    ///
    /// # Errors
    /// As `swap`.
    async fn claim(&self, place: &JobPlace, epoch: u64) -> Result<(), CheckpointError>;
}
