//! Where a job's checkpoints stand, and how the objects are called.
//!
//! Invariant: different (epoch, checkpoint, operator, subtask, file) have different names, whatever text an operator's id is;
//! the epoch can be read off a name.

use std::fmt;

use object_store::path::Path;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::CheckpointError;

/// An encoded operator or file name is no longer than this; a file system allows 255 bytes for the whole name.
const MAX_ENCODED: usize = 80;

/// A version of a job of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobPlace {
    /// The tenant.
    pub tenant: String,
    /// The job's name.
    pub job: String,
    /// The pipeline's version.
    pub version: u64,
}

/// A checkpoint of a job, and the start of the job that made it: the name of its manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManifestId {
    /// The checkpoint's number.
    pub checkpoint: u64,
    /// The epoch of the run that made it.
    pub epoch: u64,
}

impl fmt::Display for JobPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} v{}", self.tenant, self.job, self.version)
    }
}

impl JobPlace {
    /// The folder of the files.
    pub(crate) fn files(&self) -> Path {
        self.folder("files")
    }

    /// The folder of the manifests.
    pub(crate) fn manifests(&self) -> Path {
        self.folder("manifests")
    }

    /// A state file by its object name.
    pub(crate) fn file(&self, object: &str) -> Path {
        self.files().join(object)
    }

    /// A checkpoint's manifest.
    pub(crate) fn manifest(&self, id: ManifestId) -> Path {
        self.manifests().join(manifest_name(id))
    }

    fn folder(&self, last: &str) -> Path {
        let version = format!("v{}", self.version);
        Path::from_iter(["tenants", &self.tenant, "jobs", &self.job, &version, "checkpoints", last])
    }
}

/// The name of a checkpoint's manifest in its folder.
pub(crate) fn manifest_name(id: ManifestId) -> String {
    format!("{:020}-{}.json", id.checkpoint, id.epoch)
}

/// What a manifest's name says. None: no manifest's name.
pub(crate) fn manifest_of(name: &str) -> Option<ManifestId> {
    let (checkpoint, epoch) = name.strip_suffix(".json")?.split_once('-')?;
    let id = ManifestId { checkpoint: checkpoint.parse().ok()?, epoch: epoch.parse().ok()? };
    (manifest_name(id) == name).then_some(id)
}

/// The object name of a state file that a checkpoint uploads.
pub(crate) fn file_name(id: ManifestId, operator: &str, subtask: u32, local: &str) -> String {
    format!("{}-{}-{}-{subtask}-{}", id.epoch, id.checkpoint, encoded(operator), encoded(local))
}

/// The epoch that uploaded a state file. None: no state file's name.
pub(crate) fn epoch_of(object: &str) -> Option<u64> {
    object.split_once('-')?.0.parse().ok()
}

/// Letters, digits and dots stay; every other byte becomes `_` and two hex digits. What gets too long is cut and ends in its
/// hash, behind an `_` that no two hex digits follow. The answer is never empty.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(char::from(byte)),
            // A name of dots only has a meaning of its own.
            b'.' if !out.is_empty() => out.push('.'),
            _ => out.push_str(&format!("_{byte:02x}")),
        }
    }
    if out.is_empty() {
        out.push_str("_-");
    }
    if out.len() > MAX_ENCODED {
        out.truncate(MAX_ENCODED - 34);
        out.push_str(&format!("_x{:032x}", xxh3_128(text.as_bytes())));
    }
    out
}

/// A file's name in a folder, and nothing that leads out of it.
pub(crate) fn check_local_name(name: &str) -> Result<(), CheckpointError> {
    let plain = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0']);
    if plain { Ok(()) } else { Err(CheckpointError::Name(name.to_owned())) }
}

#[cfg(test)]
mod tests;
