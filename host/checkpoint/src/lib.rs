//! Checkpoints in an object store: layout, manifest, decisions, upload and restore.
//!
//! A job's checkpoints stand below `tenants/<tenant>/jobs/<job>/v<version>/checkpoints/`:
//!
//! ```text
//! files/<epoch>-<checkpoint>-<operator>-<subtask>-<local name>   a file of a subtask's state, written once
//! manifests/<checkpoint, 20 digits>-<epoch>.json                 what a checkpoint is made of, written once
//! ```
//!
//! What counts is the *pointer*, a document outside the object store ([`Pointers`]): it names the manifests that are kept.
//! A checkpoint exists from the moment at which the pointer names it. Invariants:
//! 1. Everything that a manifest names is in the store before the manifest, and the manifest before the pointer names it.
//! 2. Nothing that a manifest which the pointer names is made of is ever deleted or written again.
//! 3. Of two runs of a job only the later one can move the pointer: it has claimed the place with its epoch.
//!
//! The calls block, and do their work on a runtime that is given: they MUST NOT be made on a thread of a runtime.

mod decide;
mod error;
mod hashing;
mod local;
mod manifest;
mod objects;
mod pace;
mod place;
mod pointer;
mod restore;
mod save;
mod staged;
mod store;
mod upload;

pub use error::{CheckpointError, Skipped};
pub use local::{checkpoint_folder, snapshot_folder};
pub use manifest::{Manifest, SinkPart, StoredFile, StoredPart};
pub use place::{JobPlace, ManifestId};
pub use pointer::{Pointer, Pointers};
pub use save::{Kept, NewCheckpoint, OperatorPart};
pub use staged::clear_staged;
pub use store::{CheckpointStore, StoreOptions};
