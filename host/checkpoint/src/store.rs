//! A job's checkpoints, as the run that owns them sees them: opening, the newest, deleting.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use object_store::ObjectStore;
use tokio::runtime::Handle;

use crate::decide::{Known, damage, orphan_files, orphan_manifests};
use crate::error::{CheckpointError, Skipped};
use crate::manifest::Manifest;
use crate::objects::Objects;
use crate::pace::Pace;
use crate::place::{JobPlace, ManifestId};
use crate::pointer::{Pointer, Pointers};

/// How checkpoints are saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// The most bytes that are uploaded in a second; none: as fast as it goes.
    pub bytes_per_second: Option<u64>,
    /// Files that are transferred at a time.
    pub concurrent: usize,
    /// Files of more bytes are uploaded in parts of so many. S3 wants at least 5 MiB.
    pub part_bytes: usize,
    /// Checkpoints that are kept.
    pub keep: usize,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { bytes_per_second: None, concurrent: 4, part_bytes: 8 * 1024 * 1024, keep: 3 }
    }
}

/// The checkpoints of one version of a job. One run has it: opening it takes it away from every run of a lower epoch.
pub struct CheckpointStore {
    pub(crate) objects: Objects,
    pub(crate) pointers: Arc<dyn Pointers>,
    pub(crate) runtime: Handle,
    pub(crate) place: JobPlace,
    pub(crate) epoch: u64,
    pub(crate) options: StoreOptions,
    pub(crate) pace: Arc<Pace>,
    /// What the pointer names.
    pub(crate) kept: Vec<ManifestId>,
    /// Those of them that turned out damaged. They are not kept any longer than until the next one is saved.
    pub(crate) unusable: BTreeSet<ManifestId>,
    /// Those of them that could be read but not restored, with the reason.
    set_aside: BTreeMap<ManifestId, String>,
    /// The objects of those that could be read.
    pub(crate) named: BTreeMap<ManifestId, BTreeSet<String>>,
    pub(crate) known: Known,
    pub(crate) garbage: Garbage,
    /// The highest number that a checkpoint had or was tried under.
    pub(crate) newest: u64,
    pub(crate) fenced: bool,
}

/// What may be in the store and is not needed.
#[derive(Debug, Default)]
pub(crate) struct Garbage {
    pub(crate) manifests: BTreeSet<ManifestId>,
    pub(crate) files: BTreeSet<String>,
}

/// A manifest that the pointer names, as it was found.
enum Found {
    Whole(Manifest),
    /// Its manifest could be read, but a file is not there as it should be.
    Lacking(Manifest, String),
    Unreadable(String),
}

impl CheckpointStore {
    /// Takes over a job's checkpoints: runs of lower epochs can save none any more. What they left half done is deleted.
    ///
    /// # Errors
    /// [`CheckpointError::Fenced`] if a higher epoch has taken over; [`CheckpointError::Newer`] if a newer release has written a
    /// kept checkpoint; else if the store or the pointer fails.
    pub fn open(
        store: Arc<dyn ObjectStore>,
        pointers: Arc<dyn Pointers>,
        runtime: Handle,
        place: JobPlace,
        epoch: u64,
        options: StoreOptions,
    ) -> Result<Self, CheckpointError> {
        let mut opened = Self {
            objects: Objects(store),
            pointers,
            runtime: runtime.clone(),
            place,
            epoch,
            options,
            pace: Arc::new(Pace::new(options.bytes_per_second)),
            kept: Vec::new(),
            unusable: BTreeSet::new(),
            set_aside: BTreeMap::new(),
            named: BTreeMap::new(),
            known: Known::default(),
            garbage: Garbage::default(),
            newest: 0,
            fenced: false,
        };
        runtime.block_on(Box::pin(opened.take_over()))?;
        Ok(opened)
    }

    async fn take_over(&mut self) -> Result<(), CheckpointError> {
        tidegate_faults::reach("pointer.claim.before");
        self.pointers.claim(&self.place, self.epoch).await?;
        tidegate_faults::reach("pointer.claim.after");
        self.kept = self.pointers.read(&self.place).await?.unwrap_or_default().kept;
        self.newest = self.kept.iter().map(|id| id.checkpoint).max().unwrap_or(0);
        let files = self.objects.list(&self.place.files()).await?;
        let mut all_known = true;
        for id in self.kept.clone() {
            match self.find(id, &files).await? {
                Found::Whole(manifest) => self.name(&manifest),
                Found::Lacking(manifest, _) => {
                    self.named.insert(id, objects_of(&manifest));
                    self.unusable.insert(id);
                }
                Found::Unreadable(_) => {
                    self.unusable.insert(id);
                    all_known = false;
                }
            }
        }
        // What a manifest that cannot be read is made of is not known, so nothing may go.
        if all_known {
            let named = self.named.values().flatten().cloned().collect();
            let manifests = self.objects.list(&self.place.manifests()).await?;
            self.garbage.files = orphan_files(files.keys().map(String::as_str), &named, self.epoch);
            let manifests = manifests.keys().map(String::as_str);
            self.garbage.manifests = orphan_manifests(manifests, &self.kept, self.epoch);
            self.delete_garbage().await;
        }
        Ok(())
    }

    fn name(&mut self, manifest: &Manifest) {
        self.named.insert(manifest.id(), objects_of(manifest));
        for file in manifest.files() {
            self.known.add(file, None);
        }
    }

    /// The newest checkpoint that is whole: its manifest can be read, and its files are there with their lengths. Those that
    /// are newer and damaged are in [`Manifest::skipped`], and in the log. None if nothing was ever saved.
    ///
    /// # Errors
    /// If none is whole, or the store fails.
    pub fn latest(&mut self) -> Result<Option<Manifest>, CheckpointError> {
        let runtime = self.runtime.clone();
        runtime.block_on(Box::pin(self.newest_usable()))
    }

    async fn newest_usable(&mut self) -> Result<Option<Manifest>, CheckpointError> {
        let files = self.objects.list(&self.place.files()).await?;
        let mut skipped = Vec::new();
        for id in self.kept.clone().into_iter().rev() {
            let reason = match (self.set_aside.get(&id), self.find(id, &files).await?) {
                (Some(reason), _) => reason.clone(),
                (None, Found::Whole(mut manifest)) => {
                    manifest.skipped = skipped;
                    return Ok(Some(manifest));
                }
                (None, Found::Lacking(manifest, reason)) => {
                    self.distrust(&manifest);
                    reason
                }
                (None, Found::Unreadable(reason)) => reason,
            };
            tracing::error!(place = %self.place, checkpoint = id.checkpoint, %reason, "a checkpoint is damaged; the one before it is looked at");
            self.unusable.insert(id);
            skipped.push(Skipped { id, reason });
        }
        if skipped.is_empty() {
            return Ok(None);
        }
        Err(CheckpointError::NoneUsable { place: self.place.to_string(), skipped })
    }

    /// Sets a checkpoint aside that turned out damaged while it was restored: [`CheckpointStore::latest`] gives the one
    /// before it then, and none of its files is used again for a new one.
    pub fn set_aside(&mut self, manifest: &Manifest, reason: &CheckpointError) {
        self.set_aside.insert(manifest.id(), reason.to_string());
        self.unusable.insert(manifest.id());
        self.distrust(manifest);
    }

    fn distrust(&mut self, manifest: &Manifest) {
        self.known.forget(manifest.files().map(|file| file.object.as_str()));
    }

    /// Reads a kept manifest and looks whether its files are among these.
    async fn find(&self, id: ManifestId, files: &BTreeMap<String, u64>) -> Result<Found, CheckpointError> {
        let path = self.place.manifest(id);
        let read = match self.objects.read(&path).await {
            Ok(Some(bytes)) => Manifest::from_json(&path, id, &bytes),
            Ok(None) => return Ok(Found::Unreadable(format!("manifest {path} is missing"))),
            Err(error) => Err(error),
        };
        Ok(match read {
            Ok(manifest) => match damage(&manifest, files) {
                Some(reason) => Found::Lacking(manifest, reason),
                None => Found::Whole(manifest),
            },
            Err(CheckpointError::Damaged { object, reason }) => {
                Found::Unreadable(format!("manifest {object} is damaged: {reason}"))
            }
            Err(error) => return Err(error),
        })
    }

    /// Deletes all checkpoints of the job.
    ///
    /// # Errors
    /// If a later epoch has taken over, or something cannot be deleted. It may be tried again.
    pub fn delete_all(&mut self) -> Result<(), CheckpointError> {
        let runtime = self.runtime.clone();
        runtime.block_on(Box::pin(self.delete_each()))
    }

    async fn delete_each(&mut self) -> Result<(), CheckpointError> {
        self.pointers.swap(&self.place, self.epoch, Pointer::default()).await?;
        self.kept.clear();
        self.unusable.clear();
        self.set_aside.clear();
        self.named.clear();
        self.known = Known::default();
        self.garbage = Garbage::default();
        for folder in [self.place.manifests(), self.place.files()] {
            for name in self.objects.list(&folder).await?.into_keys() {
                self.objects.delete(&folder.clone().join(name)).await?;
            }
        }
        Ok(())
    }
}

fn objects_of(manifest: &Manifest) -> BTreeSet<String> {
    manifest.files().map(|file| file.object.clone()).collect()
}
