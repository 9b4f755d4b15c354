//! A manifest: what a checkpoint is made of, as it is stored.
//!
//! A JSON object whose first field is a checksum over every byte behind it, so that damage is told apart from a format that a
//! newer release wrote. Format 1. Invariant: what is read is what was written, or an error that names the object; no name in it
//! leads out of the job's folder.

mod text;

use std::ops::Range;

use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tidegate_types::EventTime;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{CheckpointError, Skipped};
use crate::place::{ManifestId, check_local_name};
use text::{checksum, hex, hex_or_none};

const FORMAT: u64 = 1;
/// What stands before the checksum and behind it.
const BEFORE: &str = "{\"checksum\":\"";
const BEHIND: &str = "\",";

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: u64,
    /// The checkpoint's number.
    pub checkpoint: u64,
    /// The epoch of the run that made it.
    pub epoch: u64,
    /// When it was taken, ms since the epoch.
    pub taken_at: EventTime,
    /// The job's key groups.
    pub max_parallelism: u32,
    /// Whether the input had ended and everything had fired: there is nothing to go on with.
    pub finished: bool,
    /// Where the source goes on, with its watermarks: its own bytes.
    #[serde(with = "hex")]
    pub source: Vec<u8>,
    /// The sinks.
    pub sinks: Vec<SinkPart>,
    /// The account: its own bytes.
    #[serde(with = "hex")]
    pub account: Vec<u8>,
    /// The subtasks of all operators.
    pub operators: Vec<StoredPart>,
    /// Newer checkpoints that cannot be used, the newest first. Not stored.
    #[serde(skip)]
    pub skipped: Vec<Skipped>,
}

/// A sink's part of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SinkPart {
    /// The sink.
    pub name: String,
    /// The name of its prepared transaction: its own bytes. None if there is nothing to commit.
    #[serde(with = "hex_or_none")]
    pub prepared: Option<Vec<u8>>,
}

/// A subtask's part of a checkpoint, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredPart {
    /// The operator.
    pub operator: String,
    /// The subtask, from 0.
    pub subtask: u32,
    /// Its key groups.
    pub groups: Range<u32>,
    /// What is not keyed: its own bytes.
    #[serde(with = "hex")]
    pub head: Vec<u8>,
    /// The files of its state.
    pub files: Vec<StoredFile>,
}

/// A state file in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredFile {
    /// Its name in the snapshot's folder.
    pub name: String,
    /// Its name in the job's folder `files`.
    pub object: String,
    /// Its length.
    pub bytes: u64,
    /// The xxh3-128 of its content.
    #[serde(with = "checksum")]
    pub checksum: u128,
    /// Whether later checkpoints may name it too.
    pub shared: bool,
}

impl Manifest {
    /// Of a checkpoint that was just taken.
    pub(crate) fn new(id: ManifestId, taken_at: EventTime, max_parallelism: u32, finished: bool) -> Self {
        Self {
            format: FORMAT,
            checkpoint: id.checkpoint,
            epoch: id.epoch,
            taken_at,
            max_parallelism,
            finished,
            source: Vec::new(),
            sinks: Vec::new(),
            account: Vec::new(),
            operators: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> ManifestId {
        ManifestId { checkpoint: self.checkpoint, epoch: self.epoch }
    }

    /// The lowest number that a checkpoint of a run may have that is restored from this one. Numbers of checkpoints that were
    /// skipped are not given again: what their sinks committed was committed under those numbers.
    #[must_use]
    pub fn next_checkpoint(&self) -> u64 {
        let skipped = self.skipped.iter().map(|skipped| skipped.id.checkpoint);
        skipped.chain([self.checkpoint]).max().unwrap_or(0) + 1
    }

    /// The bytes of all its files.
    #[must_use]
    pub fn full_bytes(&self) -> u64 {
        self.files().map(|file| file.bytes).sum()
    }

    /// All its files.
    pub fn files(&self) -> impl Iterator<Item = &StoredFile> {
        self.operators.iter().flat_map(|part| &part.files)
    }

    /// As it is stored.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let content = serde_json::to_string(self).expect("texts, numbers and lists are JSON");
        let content = content.strip_prefix('{').expect("a struct is an object");
        format!("{BEFORE}{:032x}{BEHIND}{content}", xxh3_128(content.as_bytes())).into_bytes()
    }

    /// Reads what is stored as `object`, strictly.
    ///
    /// # Errors
    /// If it is damaged, or of a format that this release does not know.
    pub(crate) fn from_json(object: &Path, id: ManifestId, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let damaged = |reason: &str| CheckpointError::Damaged { object: object.to_string(), reason: reason.to_owned() };
        let content = checked(bytes).ok_or_else(|| damaged("its checksum is not that of its content"))?;
        let content = format!("{{{content}");
        let Format { format } =
            serde_json::from_str(&content).map_err(|error| damaged(&format!("it has no format: {error}")))?;
        if format != FORMAT {
            return Err(CheckpointError::Newer { object: object.to_string(), format });
        }
        let manifest: Self = serde_json::from_str(&content).map_err(|error| damaged(&error.to_string()))?;
        if manifest.id() != id {
            return Err(damaged("it is the manifest of another checkpoint"));
        }
        manifest.check().map_err(|reason| damaged(&reason))?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        for part in &self.operators {
            if part.groups.start > part.groups.end || part.groups.end > self.max_parallelism {
                return Err(format!("operator `{}` has key groups {:?}", part.operator, part.groups));
            }
        }
        for file in self.files() {
            check_local_name(&file.name).and_then(|()| check_local_name(&file.object)).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

/// Only this of any format.
#[derive(Deserialize)]
struct Format {
    format: u64,
}

/// What stands behind the checksum, if it is what the checksum was computed of.
fn checked(bytes: &[u8]) -> Option<&str> {
    let rest = std::str::from_utf8(bytes).ok()?.strip_prefix(BEFORE)?;
    let (checksum, rest) = rest.split_at_checked(32)?;
    let content = rest.strip_prefix(BEHIND)?;
    (checksum == format!("{:032x}", xxh3_128(content.as_bytes()))).then_some(content)
}

#[cfg(test)]
mod tests;
