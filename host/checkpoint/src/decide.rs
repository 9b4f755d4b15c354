//! What to upload, to keep and to delete: decisions without effects.
//!
//! Invariant: nothing that a kept manifest names is ever given for deletion, and a file is referenced only if its content is
//! known to be that of the object.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_state::StateFile;

use crate::local::Identity;
use crate::manifest::{Manifest, StoredFile};
use crate::place::{ManifestId, epoch_of, manifest_of};
use crate::pointer::Pointer;

/// What is done with a snapshot's file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// It is new.
    Upload,
    /// It is in the store: this is the same file.
    Reference(StoredFile),
    /// It may be one of these, which have its length: their checksums tell.
    Compare(Vec<StoredFile>),
}

/// Files that are in the store and may be referenced.
#[derive(Debug, Default)]
pub(crate) struct Known {
    files: BTreeMap<String, (StoredFile, Option<Identity>)>,
}

impl Known {
    /// A file that is in the store now. `identity`: the local file that it was uploaded from, if it was one of this run.
    pub(crate) fn add(&mut self, file: &StoredFile, identity: Option<Identity>) {
        if !file.shared {
            return;
        }
        let entry = self.files.entry(file.object.clone()).or_insert_with(|| (file.clone(), None));
        entry.1 = identity.or(entry.1);
    }

    /// These are not in the store any more, or not whole.
    pub(crate) fn forget<'a>(&mut self, objects: impl IntoIterator<Item = &'a str>) {
        for object in objects {
            self.files.remove(object);
        }
    }

    /// The plans for these files, in their order.
    pub(crate) fn plan(&self, files: &[(&StateFile, Identity)]) -> Vec<Plan> {
        let mut by_identity: BTreeMap<Identity, &StoredFile> = BTreeMap::new();
        let mut by_length: BTreeMap<u64, Vec<&StoredFile>> = BTreeMap::new();
        for (file, identity) in self.files.values() {
            by_identity.extend(identity.map(|identity| (identity, file)));
            by_length.entry(file.bytes).or_default().push(file);
        }
        let plan = |(file, identity): &(&StateFile, Identity)| {
            if !file.shared {
                return Plan::Upload;
            }
            match (by_identity.get(identity), by_length.get(&file.bytes)) {
                (Some(same), _) => Plan::Reference((*same).clone()),
                (None, Some(candidates)) => Plan::Compare(candidates.iter().map(|file| (*file).clone()).collect()),
                (None, None) => Plan::Upload,
            }
        };
        files.iter().map(plan).collect()
    }
}

/// The manifests that are kept once `new` is saved: it and the newest before it that are not damaged, `most` in all.
pub(crate) fn keep(
    kept: &[ManifestId],
    unusable: &BTreeSet<ManifestId>,
    new: ManifestId,
    most: usize,
) -> Vec<ManifestId> {
    let older = kept.iter().filter(|id| id.checkpoint < new.checkpoint && !unusable.contains(id));
    let all: Vec<ManifestId> = older.copied().chain([new]).collect();
    all[all.len().saturating_sub(most.max(1))..].to_vec()
}

/// Those of the candidates that no kept manifest names.
pub(crate) fn deletable(candidates: &BTreeSet<String>, named: &BTreeSet<String>) -> BTreeSet<String> {
    candidates.difference(named).cloned().collect()
}

/// The state files that runs before `epoch` left behind: those that no kept manifest names.
pub(crate) fn orphan_files<'a>(
    listed: impl IntoIterator<Item = &'a str>,
    named: &BTreeSet<String>,
    epoch: u64,
) -> BTreeSet<String> {
    let old = |object: &&str| epoch_of(object).is_some_and(|of| of < epoch);
    listed.into_iter().filter(old).filter(|object| !named.contains(*object)).map(str::to_owned).collect()
}

/// The manifests that runs before `epoch` left behind.
pub(crate) fn orphan_manifests<'a>(
    listed: impl IntoIterator<Item = &'a str>,
    kept: &[ManifestId],
    epoch: u64,
) -> BTreeSet<ManifestId> {
    let listed = listed.into_iter().filter_map(manifest_of);
    listed.filter(|id| id.epoch < epoch && !kept.contains(id)).collect()
}

/// What is wrong with the files of a manifest, of which these are there with these lengths.
pub(crate) fn damage(manifest: &Manifest, there: &BTreeMap<String, u64>) -> Option<String> {
    manifest.files().find_map(|file| match there.get(&file.object) {
        Some(bytes) if *bytes == file.bytes => None,
        Some(bytes) => Some(format!("file {} has {bytes} bytes, not {}", file.object, file.bytes)),
        None => Some(format!("file {} is missing", file.object)),
    })
}

/// Whether a move of the pointer whose answer was lost has happened, by what was read afterwards.
pub(crate) fn has_moved(read: Option<&Pointer>, to: &Pointer) -> bool {
    read == Some(to)
}

#[cfg(test)]
mod tests;
