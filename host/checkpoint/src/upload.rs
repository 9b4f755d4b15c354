//! A snapshot's file on its way into the store.
//!
//! Several at a time, large ones in parts, all at the pace that is set. Invariant: what is given as stored was written under a
//! name of its own, with the length and the checksum that stand in its entry.

use std::path::PathBuf;
use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStoreExt, WriteMultipart};
use tidegate_state::StateFile;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::decide::Plan;
use crate::error::CheckpointError;
use crate::hashing::{Reader, checksum_of};
use crate::local::Identity;
use crate::manifest::StoredFile;
use crate::objects::{Objects, failed};
use crate::pace::Pace;

/// Parts of one file that are under way at a time.
const PARTS_UNDER_WAY: usize = 2;
/// An object has at most so many parts (S3 allows 10,000).
const MOST_PARTS: u64 = 9_000;

/// What uploads share.
pub(crate) struct Uploads {
    pub(crate) objects: Objects,
    pub(crate) pace: Arc<Pace>,
    pub(crate) part_bytes: usize,
    /// Files at a time. Closed once one has failed: those that have not begun do not.
    pub(crate) places: Semaphore,
}

/// A file to be stored.
pub(crate) struct Upload {
    /// Its place in the checkpoint: the part, and the file of the part.
    pub(crate) at: (usize, usize),
    pub(crate) file: StateFile,
    pub(crate) local: PathBuf,
    pub(crate) identity: Identity,
    pub(crate) plan: Plan,
    /// The object's name and path, if it is uploaded.
    pub(crate) object: String,
    pub(crate) path: Path,
}

/// What became of it.
pub(crate) struct Uploaded {
    pub(crate) at: (usize, usize),
    /// An object of this name was written, or may have been.
    pub(crate) attempted: Option<String>,
    pub(crate) identity: Identity,
    /// None: an upload before it had failed, so that this one did not begin.
    pub(crate) stored: Option<Result<StoredFile, CheckpointError>>,
}

impl Uploads {
    /// Stores a file, by reference where it is in the store already.
    pub(crate) async fn store(self: Arc<Self>, upload: Upload) -> Uploaded {
        let (at, identity) = (upload.at, upload.identity);
        let Ok(_place) = self.places.acquire().await else {
            return Uploaded { at, attempted: None, identity, stored: None };
        };
        let mut attempted = None;
        let stored = self.store_now(upload, &mut attempted).await;
        if stored.is_err() {
            self.places.close();
        }
        Uploaded { at, attempted, identity, stored: Some(stored) }
    }

    async fn store_now(&self, upload: Upload, attempted: &mut Option<String>) -> Result<StoredFile, CheckpointError> {
        let Upload { file, local, plan, object, path, .. } = upload;
        match plan {
            Plan::Reference(stored) => return Ok(StoredFile { name: file.name, ..stored }),
            Plan::Compare(candidates) => {
                let (local, bytes) = (local.clone(), file.bytes);
                let checksum = aside(move || checksum_of(&local, bytes)).await?;
                if let Some(same) = candidates.into_iter().find(|stored| stored.checksum == checksum) {
                    return Ok(StoredFile { name: file.name, ..same });
                }
            }
            Plan::Upload => {}
        }
        *attempted = Some(object.clone());
        tidegate_faults::reach("upload.file.before");
        let checksum = self.send(local, file.bytes, &path).await?;
        tidegate_faults::reach("upload.file.after");
        Ok(StoredFile { name: file.name, object, bytes: file.bytes, checksum, shared: file.shared })
    }

    /// Sends a file, and gives its checksum.
    async fn send(&self, local: PathBuf, bytes: u64, path: &Path) -> Result<u128, CheckpointError> {
        let part = self.part_bytes.max(usize::try_from(bytes / MOST_PARTS).unwrap_or(usize::MAX));
        let reader = aside(move || Reader::open(&local, bytes)).await?;
        if bytes <= part as u64 {
            let (reader, content) = next(reader, part).await?;
            self.pace.take(bytes).await;
            self.objects.0.put(path, content.into()).await.map_err(failed("writing", path))?;
            return Ok(reader.checksum());
        }
        let parts = self.objects.0.put_multipart(path).await.map_err(failed("writing", path))?;
        let mut parts = WriteMultipart::new_with_chunk_size(parts, part);
        match self.send_parts(reader, part, &mut parts, path).await {
            Ok(checksum) => {
                parts.finish().await.map_err(failed("writing", path))?;
                Ok(checksum)
            }
            Err(error) => {
                // What is left of the parts goes by the store's own rules, if this fails too.
                let _ = parts.abort().await;
                Err(error)
            }
        }
    }

    async fn send_parts(
        &self,
        mut reader: Reader,
        part: usize,
        parts: &mut WriteMultipart,
        path: &Path,
    ) -> Result<u128, CheckpointError> {
        loop {
            let (again, content) = next(reader, part).await?;
            reader = again;
            if content.is_empty() {
                return Ok(reader.checksum());
            }
            self.pace.take(content.len() as u64).await;
            parts.wait_for_capacity(PARTS_UNDER_WAY).await.map_err(failed("writing", path))?;
            parts.put(content);
        }
    }
}

async fn next(mut reader: Reader, most: usize) -> Result<(Reader, bytes::Bytes), CheckpointError> {
    aside(move || {
        let content = reader.next(most)?;
        Ok((reader, content))
    })
    .await
}

/// Does what blocks on a thread that may.
pub(crate) async fn aside<T: Send + 'static>(
    what: impl FnOnce() -> Result<T, CheckpointError> + Send + 'static,
) -> Result<T, CheckpointError> {
    spawn_blocking(what).await.map_err(|error| CheckpointError::BrokeOff { reason: error.to_string() })?
}
