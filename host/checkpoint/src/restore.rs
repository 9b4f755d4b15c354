//! Fetching the files of a checkpoint: links where they are on this machine, downloads where not, checksums always.

use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidegate_state::SnapshotPart;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use xxhash_rust::xxh3::Xxh3;

use crate::error::CheckpointError;
use crate::hashing::{checksum_of, local};
use crate::local::snapshot_folder;
use crate::manifest::{Manifest, StoredFile, StoredPart};
use crate::objects::Objects;
use crate::store::CheckpointStore;
use crate::upload::aside;

/// Downloads are made in ranges of so many bytes.
const RANGE: u64 = 8 * 1024 * 1024;

impl CheckpointStore {
    /// Puts the files of an operator's state into `into`, a folder `part-<subtask>` for each subtask of the old run whose key
    /// groups overlap `groups` (what is there under that name is replaced). `folder`: this machine's snapshots of the job
    /// ([`snapshot_folder`]); files that are there with the right content are linked and not downloaded. The order is that of
    /// the subtasks.
    ///
    /// # Errors
    /// [`CheckpointError::Damaged`] if a file is not what was saved: [`CheckpointStore::set_aside`] this checkpoint and take
    /// the one before. Else if the store or the disk fails.
    pub fn fetch(
        &self,
        manifest: &Manifest,
        operator: &str,
        groups: Range<u32>,
        into: &Path,
        folder: Option<&Path>,
    ) -> Result<Vec<SnapshotPart>, CheckpointError> {
        tidegate_faults::reach("restore.fetch.before");
        let overlaps = |part: &&StoredPart| {
            part.operator == operator && part.groups.start < groups.end && groups.start < part.groups.end
        };
        let mut parts: Vec<&StoredPart> = manifest.operators.iter().filter(overlaps).collect();
        parts.retain(|part| !part.files.is_empty());
        parts.sort_by_key(|part| part.subtask);
        let mut fetches = Vec::new();
        let mut fetched = Vec::new();
        for part in parts {
            let target = into.join(format!("part-{}", part.subtask));
            fresh_folder(&target)?;
            let here = folder.map(|folder| snapshot_folder(folder, manifest.checkpoint, operator, part.subtask));
            for file in &part.files {
                fetches.push(Fetch {
                    here: here.as_ref().map(|here| here.join(&file.name)),
                    object: self.place.file(&file.object),
                    target: target.join(&file.name),
                    file: file.clone(),
                });
            }
            fetched.push(SnapshotPart { folder: target, groups: part.groups.clone() });
        }
        self.runtime.block_on(Box::pin(fetch_all(&self.objects, fetches, self.options.concurrent)))?;
        tidegate_faults::reach("restore.fetch.after");
        Ok(fetched)
    }
}

struct Fetch {
    here: Option<PathBuf>,
    object: object_store::path::Path,
    target: PathBuf,
    file: StoredFile,
}

async fn fetch_all(objects: &Objects, fetches: Vec<Fetch>, concurrent: usize) -> Result<(), CheckpointError> {
    let places = Arc::new(Semaphore::new(concurrent.max(1)));
    let mut under_way = JoinSet::new();
    for fetch in fetches {
        let (objects, places) = (objects.clone(), Arc::clone(&places));
        under_way.spawn(async move {
            let Ok(_place) = places.acquire().await else { return Ok(()) };
            let fetched = fetch.fetch(&objects).await;
            if fetched.is_err() {
                places.close();
            }
            fetched
        });
    }
    let mut outcome = Ok(());
    while let Some(fetched) = under_way.join_next().await {
        let broke_off = |error: tokio::task::JoinError| CheckpointError::BrokeOff { reason: error.to_string() };
        outcome = outcome.and(fetched.map_err(broke_off).and_then(|fetched| fetched));
    }
    outcome
}

impl Fetch {
    async fn fetch(mut self, objects: &Objects) -> Result<(), CheckpointError> {
        if let Some(here) = self.here.take() {
            let (target, bytes, checksum) = (self.target.clone(), self.file.bytes, self.file.checksum);
            if aside(move || Ok(linked(&here, &target, bytes, checksum))).await? {
                return Ok(());
            }
        }
        self.download(objects).await
    }

    async fn download(self, objects: &Objects) -> Result<(), CheckpointError> {
        let target = self.target;
        let mut to = aside(move || {
            let file = File::create_new(&target).map_err(local(&target, "can not be made"))?;
            Ok(Download { target, file, hasher: Box::new(Xxh3::new()) })
        })
        .await?;
        let mut at = 0;
        while at < self.file.bytes {
            let end = self.file.bytes.min(at + RANGE);
            let piece = objects.range(&self.object, at..end).await?;
            to = aside(move || to.append(&piece)).await?;
            at = end;
        }
        if to.hasher.digest128() == self.file.checksum {
            return Ok(());
        }
        let reason = "its content is not what its checksum says".to_owned();
        Err(CheckpointError::Damaged { object: self.object.to_string(), reason })
    }
}

struct Download {
    target: PathBuf,
    file: File,
    hasher: Box<Xxh3>,
}

impl Download {
    fn append(mut self, piece: &[u8]) -> Result<Self, CheckpointError> {
        self.file.write_all(piece).map_err(local(&self.target, "can not be written"))?;
        self.hasher.update(piece);
        Ok(self)
    }
}

/// Links a local file if it is what was saved. A run that was cut off may have left another one under its name.
fn linked(here: &Path, target: &Path, bytes: u64, checksum: u128) -> bool {
    checksum_of(here, bytes).is_ok_and(|found| found == checksum) && fs::hard_link(here, target).is_ok()
}

fn fresh_folder(folder: &Path) -> Result<(), CheckpointError> {
    match fs::remove_dir_all(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(local(folder, "can not be emptied")(error)),
    }
    fs::create_dir_all(folder).map_err(local(folder, "can not be made"))
}
