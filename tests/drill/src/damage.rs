//! Damages checkpoints where the platform keeps them, while no platform runs.
//!
//! Each checkpoint has a manifest, `manifests/<number>-<epoch>.json`, and files of its own, `files/<epoch>-<number>-…`. Only the
//! newest is damaged, and only where there are three, so that one that the platform can use is left.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::plan::Damage;

/// Damages the newest checkpoint of every job that has three; how many that were.
///
/// # Errors
/// If there is nothing where checkpoints are kept.
pub(crate) fn damage(data: &Path, kind: Damage) -> Result<u64, String> {
    let mut damaged = 0;
    for job in entries(&data.join("checkpoints/tenants/acme/jobs"))? {
        let folder = job.join("v1/checkpoints");
        let manifests = entries(&folder.join("manifests")).unwrap_or_default();
        let Some(newest) = manifests.last().filter(|_| manifests.len() >= 3) else { continue };
        let file = match kind {
            Damage::CutManifest | Damage::NoManifest | Damage::OtherByteInManifest => Some(newest.clone()),
            Damage::NoFile | Damage::OtherByteInFile => file_of(newest, &entries(&folder.join("files"))?),
        };
        if kind == Damage::OtherByteInFile {
            lose(data)?;
        }
        if let Some(file) = file {
            spoil(&file, kind).map_err(|error| format!("{}: {error}", file.display()))?;
            damaged += 1;
        }
    }
    Ok(damaged)
}

/// Removes the local files of all jobs' state.
///
/// # Errors
/// If they cannot be removed.
pub(crate) fn lose(data: &Path) -> Result<(), String> {
    match fs::remove_dir_all(data.join("state")) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("the local state: {error}")),
        _ => Ok(()),
    }
}

/// The largest file that belongs to a manifest alone.
fn file_of(manifest: &Path, files: &[PathBuf]) -> Option<PathBuf> {
    let (number, epoch) = manifest.file_stem()?.to_str()?.split_once('-')?;
    let prefix = format!("{epoch}-{}-", number.trim_start_matches('0'));
    let its =
        files.iter().filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)));
    its.max_by_key(|file| fs::metadata(file).map_or(0, |about| about.len())).cloned()
}

fn spoil(file: &Path, kind: Damage) -> std::io::Result<()> {
    let mut bytes = fs::read(file)?;
    let middle = bytes.len() / 2;
    match kind {
        Damage::NoManifest | Damage::NoFile => return fs::remove_file(file),
        Damage::CutManifest => bytes.truncate(middle),
        Damage::OtherByteInManifest | Damage::OtherByteInFile => {
            if let Some(byte) = bytes.get_mut(middle) {
                *byte ^= 1;
            }
        }
    }
    fs::write(file, bytes)
}

/// What is in a folder, ascending by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}
