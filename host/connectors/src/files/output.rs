//! What an output flag names, and the check that no output destroys an input or another output.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Input;
use crate::sink::SinkError;

/// What an output flag names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// `-`
    Stdout,
    /// A path. A file that is there is overwritten.
    File(PathBuf),
}

impl Output {
    /// The output that a flag's value names.
    #[must_use]
    pub fn from_flag(value: &str) -> Self {
        if value == "-" { Self::Stdout } else { Self::File(value.into()) }
    }

    /// As it is named in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Stdout => "standard output".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Creates the output; `flag` names it in messages.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(&self, flag: &'static str) -> Result<Box<dyn Write + Send>, SinkError> {
        let Self::File(path) = self else {
            return Ok(Box::new(io::stdout()));
        };
        if path.is_dir() {
            return Err(SinkError::Directory { flag, output: self.name() });
        }
        let file = File::create(path).map_err(|source| SinkError::Create { flag, output: self.name(), source })?;
        Ok(Box::new(file))
    }
}

/// Refuses outputs that are an input or each other, before anything is overwritten. Each output stands with its flag.
///
/// Devices and pipes (`/dev/null`) may be named as often as one likes.
///
/// # Errors
/// [`SinkError::Overlap`] for the first one found.
pub fn refuse_overlaps(inputs: &[Input], outputs: &[(&'static str, &Output)]) -> Result<(), SinkError> {
    let files = inputs.iter().filter_map(|input| match input {
        Input::Stdin => Some(("standard input", redirected()?)),
        Input::File(path) => Some(("an --input", identity(path)?)),
    });
    let mut taken: Vec<(&'static str, Identity)> = files.collect();
    for (flag, output) in outputs {
        let Output::File(path) = output else { continue };
        let Some(identity) = identity(path) else { continue };
        if let Some((other, _)) = taken.iter().find(|(_, other)| *other == identity) {
            return Err(SinkError::Overlap { flag, output: output.name(), other });
        }
        taken.push((flag, identity));
    }
    Ok(())
}

/// What makes two paths the same regular file, however it is linked.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// The file system and the file's number on it.
    There(u64, u64),
    /// Where it will be.
    NotYet(PathBuf),
}

/// The file of a path; none for a device, a pipe or a folder.
fn identity(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        Ok(metadata) => of_regular_file(&metadata),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(Identity::NotYet(fs::canonicalize(folder).ok()?.join(path.file_name()?)))
        }
    }
}

/// The file that standard input was redirected from.
fn redirected() -> Option<Identity> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    of_regular_file(&input.metadata().ok()?)
}

fn of_regular_file(metadata: &fs::Metadata) -> Option<Identity> {
    metadata.is_file().then(|| Identity::There(metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests;
