//! The job's folder of the object store, with errors that name the object.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode};

use crate::error::CheckpointError;

/// A manifest is no longer than this: it is read into memory as a whole.
const MAX_MANIFEST_BYTES: u64 = 1024 * 1024 * 1024;

/// The store.
#[derive(Clone)]
pub(crate) struct Objects(pub(crate) Arc<dyn ObjectStore>);

impl Objects {
    /// Writes an object that is not there yet; one with the same content may be. An error whose object is there nevertheless
    /// is none.
    pub(crate) async fn create(&self, path: &Path, content: &Bytes) -> Result<(), CheckpointError> {
        let put = self.0.put_opts(path, content.clone().into(), PutMode::Create.into()).await;
        let Err(error) = put else { return Ok(()) };
        match self.read(path).await {
            Ok(Some(there)) if there == *content => Ok(()),
            _ => Err(failed("writing", path)(error)),
        }
    }

    /// A small object, whole. None if there is none.
    pub(crate) async fn read(&self, path: &Path) -> Result<Option<Bytes>, CheckpointError> {
        let found = match self.0.get(path).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(failed("reading", path)(error)),
        };
        if found.meta.size > MAX_MANIFEST_BYTES {
            let reason = format!("it has {} bytes, which no manifest has", found.meta.size);
            return Err(CheckpointError::Damaged { object: path.to_string(), reason });
        }
        Ok(Some(found.bytes().await.map_err(failed("reading", path))?))
    }

    /// A range of an object.
    pub(crate) async fn range(&self, path: &Path, range: Range<u64>) -> Result<Bytes, CheckpointError> {
        let length = range.end - range.start;
        let bytes = self.0.get_range(path, range).await;
        let bytes = bytes.map_err(|error| match error {
            object_store::Error::NotFound { .. } => damaged(path, "it is missing"),
            error => failed("reading", path)(error),
        })?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(damaged(path, "it is too short")) }
    }

    /// The objects of a folder, by name, with their lengths.
    pub(crate) async fn list(&self, folder: &Path) -> Result<BTreeMap<String, u64>, CheckpointError> {
        let found = self.0.list_with_delimiter(Some(folder)).await.map_err(failed("listing", folder))?;
        let named = found.objects.into_iter().filter_map(|object| {
            let name = object.location.filename()?.to_owned();
            Some((name, object.size))
        });
        Ok(named.collect())
    }

    /// Deletes an object; one that is not there is deleted.
    pub(crate) async fn delete(&self, path: &Path) -> Result<(), CheckpointError> {
        tidegate_faults::reach("delete.file.before");
        match self.0.delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(failed("deleting", path)(error)),
        }
        tidegate_faults::reach("delete.file.after");
        Ok(())
    }
}

/// An error of the store at an object.
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(object_store::Error) -> CheckpointError {
    let object = path.to_string();
    move |source| CheckpointError::Store { doing, object, source }
}

fn damaged(path: &Path, reason: &str) -> CheckpointError {
    CheckpointError::Damaged { object: path.to_string(), reason: reason.to_owned() }
}
