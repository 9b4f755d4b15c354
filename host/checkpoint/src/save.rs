//! Saving a checkpoint: files, manifest, pointer, and then what is not needed any more.
//!
//! Invariant: until the pointer has moved, nothing that an earlier checkpoint needs has changed. Whatever a save has written and
//! no kept manifest names is remembered until it is deleted.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tidegate_state::StateFile;
use tidegate_types::EventTime;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::decide::{deletable, has_moved, keep};
use crate::error::CheckpointError;
use crate::local::Identity;
use crate::manifest::{Manifest, SinkPart, StoredFile, StoredPart};
use crate::place::{ManifestId, check_local_name, file_name};
use crate::pointer::Pointer;
use crate::store::CheckpointStore;
use crate::upload::{Upload, Uploaded, Uploads};

/// A checkpoint to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCheckpoint {
    /// Its number, higher than every one before.
    pub checkpoint: u64,
    /// When it was taken, ms since the epoch.
    pub taken_at: EventTime,
    /// The job's key groups.
    pub max_parallelism: u32,
    /// Whether the input has ended and everything has fired.
    pub finished: bool,
    /// Where the source goes on.
    pub source: Vec<u8>,
    /// The sinks.
    pub sinks: Vec<SinkPart>,
    /// The account.
    pub account: Vec<u8>,
    /// All subtasks of all operators; none if it is finished.
    pub operators: Vec<OperatorPart>,
}

/// A subtask's part of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorPart {
    /// The operator: any text.
    pub operator: String,
    /// The subtask, from 0.
    pub subtask: u32,
    /// Its key groups.
    pub groups: Range<u32>,
    /// What is not keyed.
    pub head: Vec<u8>,
    /// The folder of its snapshot. Its files MUST NOT change while they are saved.
    pub folder: PathBuf,
    /// The files of its snapshot.
    pub files: Vec<StateFile>,
}

/// What a checkpoint that was saved took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// The checkpoint's number.
    pub checkpoint: u64,
    /// The bytes of all its files.
    pub full_bytes: u64,
    /// The bytes of the files that were uploaded for it.
    pub transferred_bytes: u64,
    /// The bytes of the files that were in the store already.
    pub referenced_bytes: u64,
    /// Its files.
    pub files: u64,
    /// Those of them that were uploaded for it.
    pub transferred_files: u64,
    /// Objects that were deleted after it, manifests among them.
    pub deleted: u64,
    /// How long its files took to be stored, those compared with what is in the store among them.
    pub upload_time: Duration,
    /// How long the manifest and the pointer took.
    pub commit_time: Duration,
}

impl Kept {
    /// What the store took, bytes per second; none if nothing was uploaded.
    #[must_use]
    pub fn throughput(&self) -> Option<f64> {
        let seconds = self.upload_time.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate that is shown")]
        let rate = (self.transferred_bytes > 0 && seconds > 0.0).then(|| self.transferred_bytes as f64 / seconds);
        rate
    }
}

/// A file's entry, and its place in the checkpoint: the part, and the file of the part.
type Placed = ((usize, usize), StoredFile);

impl CheckpointStore {
    /// Saves a checkpoint. Once this has answered, a start of the job goes on from it. After an error the earlier
    /// checkpoints are as they were, and the next save uses what this one has uploaded. (After [`CheckpointError::Pointer`]
    /// it may have been saved nevertheless; the next one that is saved takes its place.)
    ///
    /// # Errors
    /// If it cannot be saved. After [`CheckpointError::Fenced`] the run MUST end.
    pub fn save(&mut self, new: NewCheckpoint) -> Result<Kept, CheckpointError> {
        let runtime = self.runtime.clone();
        let saved = runtime.block_on(Box::pin(self.save_all(new)));
        if matches!(saved, Err(CheckpointError::Fenced { .. })) {
            self.fenced = true;
        }
        saved
    }

    async fn save_all(&mut self, new: NewCheckpoint) -> Result<Kept, CheckpointError> {
        self.check(&new)?;
        let id = ManifestId { checkpoint: new.checkpoint, epoch: self.epoch };
        self.newest = new.checkpoint;
        let mut kept = Kept { checkpoint: new.checkpoint, ..Kept::default() };
        let begun = Instant::now();
        let files = self.store_files(id, &new.operators, &mut kept).await?;
        kept.upload_time = begun.elapsed();
        let manifest = manifest_of(id, new, files);
        let begun = Instant::now();
        self.put_manifest(id, &manifest).await?;
        self.move_pointer(id, &manifest).await?;
        kept.commit_time = begun.elapsed();
        kept.deleted = self.delete_garbage().await;
        Ok(kept)
    }

    fn check(&self, new: &NewCheckpoint) -> Result<(), CheckpointError> {
        if self.fenced {
            return Err(CheckpointError::Fenced { place: self.place.to_string(), epoch: self.epoch });
        }
        if new.checkpoint <= self.newest {
            return Err(CheckpointError::NotNewer { checkpoint: new.checkpoint, newest: self.newest });
        }
        new.operators.iter().flat_map(|part| &part.files).try_for_each(|file| check_local_name(&file.name))
    }

    /// Uploads what is new. Gives the entries of all files, by part and file. All uploads have ended when this returns.
    async fn store_files(
        &mut self,
        id: ManifestId,
        parts: &[OperatorPart],
        kept: &mut Kept,
    ) -> Result<Vec<Vec<StoredFile>>, CheckpointError> {
        let uploads = Arc::new(Uploads {
            objects: self.objects.clone(),
            pace: Arc::clone(&self.pace),
            part_bytes: self.options.part_bytes.max(1),
            places: Semaphore::new(self.options.concurrent.max(1)),
        });
        let mut under_way = JoinSet::new();
        for upload in self.planned(id, parts)? {
            under_way.spawn(Arc::clone(&uploads).store(upload));
        }
        let mut stored: Vec<Vec<Option<StoredFile>>> = parts.iter().map(|part| vec![None; part.files.len()]).collect();
        let mut failure = None;
        while let Some(uploaded) = under_way.join_next().await {
            let broke_off = |error: tokio::task::JoinError| CheckpointError::BrokeOff { reason: error.to_string() };
            match uploaded.map_err(broke_off).and_then(|uploaded| self.note(uploaded, kept)) {
                Ok(Some((at, file))) => stored[at.0][at.1] = Some(file),
                Ok(None) => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(stored.into_iter().map(|files| files.into_iter().flatten().collect()).collect()),
        }
    }

    /// What is to be done with every file.
    fn planned(&self, id: ManifestId, parts: &[OperatorPart]) -> Result<Vec<Upload>, CheckpointError> {
        let mut files = Vec::new();
        for file in parts.iter().flat_map(|part| part.files.iter().map(|file| (part.folder.join(&file.name), file))) {
            files.push((file.1, Identity::of(&file.0)?));
        }
        let mut plans = self.known.plan(&files).into_iter().zip(files.iter().map(|file| file.1));
        let mut uploads = Vec::new();
        for (part_at, part) in parts.iter().enumerate() {
            for (file_at, file) in part.files.iter().enumerate() {
                let (plan, identity) = plans.next().expect("a plan for every file");
                let object = file_name(id, &part.operator, part.subtask, &file.name);
                let (local, path) = (part.folder.join(&file.name), self.place.file(&object));
                let at = (part_at, file_at);
                uploads.push(Upload { at, file: file.clone(), local, identity, plan, object, path });
            }
        }
        Ok(uploads)
    }

    /// Remembers what an upload has left in the store, and counts it.
    fn note(&mut self, uploaded: Uploaded, kept: &mut Kept) -> Result<Option<Placed>, CheckpointError> {
        self.garbage.files.extend(uploaded.attempted.clone());
        let Some(stored) = uploaded.stored.transpose()? else { return Ok(None) };
        self.known.add(&stored, Some(uploaded.identity));
        kept.files += 1;
        kept.full_bytes += stored.bytes;
        if uploaded.attempted.is_some() {
            kept.transferred_files += 1;
            kept.transferred_bytes += stored.bytes;
        } else {
            kept.referenced_bytes += stored.bytes;
        }
        Ok(Some((uploaded.at, stored)))
    }

    async fn put_manifest(&mut self, id: ManifestId, manifest: &Manifest) -> Result<(), CheckpointError> {
        self.garbage.manifests.insert(id);
        tidegate_faults::reach("manifest.put.before");
        self.objects.create(&self.place.manifest(id), &Bytes::from(manifest.to_json())).await?;
        tidegate_faults::reach("manifest.put.after");
        Ok(())
    }

    /// Moves the pointer. If the answer is lost, what is read afterwards decides.
    async fn move_pointer(&mut self, id: ManifestId, manifest: &Manifest) -> Result<(), CheckpointError> {
        let new = Pointer { kept: keep(&self.kept, &self.unusable, id, self.options.keep) };
        tidegate_faults::reach("pointer.swap.before");
        if let Err(error) = self.pointers.swap(&self.place, self.epoch, new.clone()).await {
            if matches!(error, CheckpointError::Fenced { .. }) {
                return Err(error);
            }
            let read = self.pointers.read(&self.place).await;
            if !read.is_ok_and(|read| has_moved(read.as_ref(), &new)) {
                return Err(error);
            }
        }
        tidegate_faults::reach("pointer.swap.after");
        self.named.insert(id, manifest.files().map(|file| file.object.clone()).collect());
        self.has_moved_to(new);
        Ok(())
    }

    /// The pointer names these: what others named may go.
    fn has_moved_to(&mut self, new: Pointer) {
        for dropped in self.kept.iter().filter(|id| !new.kept.contains(id)) {
            self.garbage.manifests.insert(*dropped);
            self.garbage.files.extend(self.named.remove(dropped).unwrap_or_default());
            self.unusable.remove(dropped);
        }
        for kept in &new.kept {
            self.garbage.manifests.remove(kept);
        }
        self.kept = new.kept;
        let named: BTreeSet<String> = self.named.values().flatten().cloned().collect();
        self.garbage.files = deletable(&self.garbage.files, &named);
        self.known.forget(self.garbage.files.iter().map(String::as_str));
    }

    /// Deletes what is not needed: manifests first, so that none names what is gone. What cannot be deleted now is tried again
    /// after the next checkpoint. Gives how many objects went.
    pub(crate) async fn delete_garbage(&mut self) -> u64 {
        let mut deleted = 0;
        for id in self.garbage.manifests.clone() {
            match self.objects.delete(&self.place.manifest(id)).await {
                Ok(()) => {
                    deleted += u64::from(self.garbage.manifests.remove(&id));
                }
                // Its files stay as well.
                Err(error) => {
                    tracing::warn!(place = %self.place, %error, "a manifest that is not needed stays for now");
                    return deleted;
                }
            }
        }
        for object in self.garbage.files.clone() {
            match self.objects.delete(&self.place.file(&object)).await {
                Ok(()) => {
                    deleted += u64::from(self.garbage.files.remove(&object));
                }
                Err(error) => {
                    tracing::warn!(place = %self.place, %error, "a file that is not needed stays for now");
                    return deleted;
                }
            }
        }
        deleted
    }
}

fn manifest_of(id: ManifestId, new: NewCheckpoint, files: Vec<Vec<StoredFile>>) -> Manifest {
    let mut manifest = Manifest::new(id, new.taken_at, new.max_parallelism, new.finished);
    manifest.source = new.source;
    manifest.sinks = new.sinks;
    manifest.account = new.account;
    let parts = new.operators.into_iter().zip(files);
    let stored = parts.map(|(part, files)| {
        let OperatorPart { operator, subtask, groups, head, .. } = part;
        StoredPart { operator, subtask, groups, head, files }
    });
    manifest.operators = stored.collect();
    manifest
}
