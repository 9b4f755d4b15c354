//! What an output flag names, and the check that no output destroys an input or another output.

use std::fs::{self, File, OpenOptions};
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

    /// Opens the output and leaves what is in it; `flag` names it in messages.
    ///
    /// # Errors
    /// If the file cannot be made or written to.
    pub fn open(&self, flag: &'static str) -> Result<OpenOutput, SinkError> {
        let Self::File(path) = self else {
            return Ok(OpenOutput { name: self.name(), file: None, made: None });
        };
        if path.is_dir() {
            return Err(SinkError::Directory { flag, output: self.name() });
        }
        let wrong = |source| SinkError::Create { flag, output: self.name(), source };
        let (file, made) = match File::create_new(path) {
            Ok(file) => (file, Some(path.clone())),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // What is there may be a link to what is not.
                (OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(wrong)?, None)
            }
            Err(error) => return Err(wrong(error)),
        };
        Ok(OpenOutput { name: self.name(), file: Some(file), made })
    }

    /// Creates the output, empty; `flag` names it in messages.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(&self, flag: &'static str) -> Result<Box<dyn Write + Send>, SinkError> {
        self.open(flag)?.begin()
    }
}

/// An output that can be written to. Until it begins, what was there is there, and a new file goes again with this value:
/// where several outputs are needed, all are opened before the first begins.
#[derive(Debug)]
pub struct OpenOutput {
    name: String,
    /// None: standard output.
    file: Option<File>,
    /// The path of a file that was made for this output.
    made: Option<PathBuf>,
}

impl OpenOutput {
    /// As it is named in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Empties the output for what is to be written.
    ///
    /// # Errors
    /// If that fails.
    pub fn begin(mut self) -> Result<Box<dyn Write + Send>, SinkError> {
        self.made = None;
        let Some(file) = self.file.take() else { return Ok(Box::new(io::stdout())) };
        let failed = |source| SinkError::Write { output: self.name.clone(), source };
        // Devices and pipes have nothing to take away.
        if file.metadata().map_err(failed)?.is_file() {
            file.set_len(0).map_err(failed)?;
        }
        Ok(Box::new(file))
    }
}

impl Drop for OpenOutput {
    fn drop(&mut self) {
        if let Some(path) = &self.made {
            // It is empty, and nobody will write to it. If it cannot be removed, an empty file stays.
            let _ = fs::remove_file(path);
        }
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
