//! The copy of the repository in which faults are planted, with a target folder of its own.
//!
//! Files are written only where they differ, so that a fault costs the build of what depends on its file and no more. The
//! compiled dependencies come from the user's target folder, once.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::{Fault, Misfit};

/// Why the copy cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A command cannot be run, or fails.
    #[error("`{command}` failed: {detail}")]
    Command {
        /// Its words.
        command: String,
        /// What it or the system said.
        detail: String,
    },
    /// A fault does not fit.
    #[error(transparent)]
    Misfit(#[from] Misfit),
}

/// The copy. One process at a time.
#[derive(Debug)]
pub struct Tree {
    folder: PathBuf,
    /// The file of the fault that is planted, and its own text.
    planted: Option<(PathBuf, String)>,
}

impl Tree {
    /// Brings the copy under `cache` up to what `root` holds: its working tree, or the commit `revision`.
    ///
    /// # Errors
    /// If git or the file system fail.
    pub fn sync(root: &Path, cache: &Path, revision: Option<&str>) -> Result<Self, TreeError> {
        let folder = cache.join("tree");
        let unpacked;
        let (from, files) = match revision {
            None => (root, listed(root, &["ls-files", "-z", "-co", "--exclude-standard"])?),
            Some(revision) => {
                unpacked = cache.join("revision");
                unpack(root, revision, &unpacked)?;
                (unpacked.as_path(), listed(root, &["ls-tree", "-z", "-r", "--name-only", revision])?)
            }
        };
        for file in &files {
            let path = from.join(file);
            // Deleted in the working tree and not yet in a commit, or a link.
            if path.is_file() {
                write_if_new(&folder.join(file), &fs::read(&path).map_err(at(&path))?)?;
            }
        }
        let kept: BTreeSet<PathBuf> =
            files.iter().filter(|file| from.join(file).is_file()).map(|file| folder.join(file)).collect();
        remove_others(&folder, &kept)?;
        Ok(Self { folder, planted: None })
    }

    /// Where the copy is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Plants a fault in place of the one before.
    ///
    /// # Errors
    /// If its place is not there, or its file cannot be written.
    pub fn plant(&mut self, fault: &Fault) -> Result<(), TreeError> {
        self.restore()?;
        let path = self.folder.join(fault.file);
        let text = fs::read_to_string(&path).map_err(at(&path))?;
        let planted = fault.plant(&text)?;
        fs::write(&path, planted).map_err(at(&path))?;
        self.planted = Some((path, text));
        Ok(())
    }

    /// Takes the planted fault out.
    ///
    /// # Errors
    /// If its file cannot be written.
    pub fn restore(&mut self) -> Result<(), TreeError> {
        if let Some((path, text)) = self.planted.take() {
            fs::write(&path, text).map_err(at(&path))?;
        }
        Ok(())
    }
}

/// Copies the compiled dependencies of `from` (a target folder) into the new target folder `to`; ours stay behind.
///
/// Fingerprints go first: whatever they call finished is finished, also while another build is writing.
///
/// # Errors
/// If the copy fails.
pub(crate) fn seed_target(from: &Path, to: &Path) -> Result<(), TreeError> {
    if to.exists() {
        return Ok(());
    }
    for part in ["debug/.fingerprint", "debug/build", "debug/deps"] {
        let (source, target) = (from.join(part), to.join(part));
        fs::create_dir_all(&target).map_err(at(&target))?;
        let entries = fs::read_dir(&source).into_iter().flatten().filter_map(Result::ok);
        let theirs: Vec<PathBuf> = entries
            .filter(|entry| !entry.file_name().to_string_lossy().contains("tidegate"))
            .map(|entry| entry.path())
            .collect();
        for some in theirs.chunks(500) {
            let words = [OsString::from("-a"), "-t".into(), target.clone().into_os_string()];
            finish(Command::new("cp").args(words).args(some))?;
        }
    }
    Ok(())
}

/// Writes a file unless it has this content already.
pub(crate) fn write_if_new(path: &Path, content: &[u8]) -> Result<(), TreeError> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(at(parent))?;
    fs::write(path, content).map_err(at(path))
}

fn listed(root: &Path, words: &[&str]) -> Result<Vec<PathBuf>, TreeError> {
    let names = finish(Command::new("git").arg("-C").arg(root).args(words))?;
    let names = String::from_utf8_lossy(&names).into_owned();
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

fn unpack(root: &Path, revision: &str, folder: &Path) -> Result<(), TreeError> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(at(folder))?;
    }
    fs::create_dir_all(folder).map_err(at(folder))?;
    let archive = folder.with_extension("tar");
    finish(Command::new("git").arg("-C").arg(root).args(["archive", "-o"]).arg(&archive).arg(revision))?;
    finish(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(folder))?;
    fs::remove_file(&archive).map_err(at(&archive))
}

fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> Result<(), TreeError> {
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        if path.is_dir() {
            remove_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(&path).map_err(at(&path))?;
        }
    }
    Ok(())
}

/// Runs a command to its end and returns what it printed.
fn finish(command: &mut Command) -> Result<Vec<u8>, TreeError> {
    let failed = |detail: String, command: &Command| TreeError::Command { command: format!("{command:?}"), detail };
    let done = command.output();
    match done {
        Ok(done) if done.status.success() => Ok(done.stdout),
        Ok(done) => Err(failed(String::from_utf8_lossy(&done.stderr).into_owned(), command)),
        Err(error) => Err(failed(error.to_string(), command)),
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> TreeError {
    move |source| TreeError::File { path: path.to_owned(), source }
}
