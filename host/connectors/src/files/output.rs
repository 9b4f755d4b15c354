//! What an output flag names, and the check that no output destroys an input or another output.

use std::fs::{self, File};
use std::io::{self, Write};
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
        Input::Stdin => None,
        Input::File(path) => Some(("an --input", identity(path)?)),
    });
    let mut taken: Vec<(&'static str, PathBuf)> = files.collect();
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

/// The one name of a regular file, also of one that is not there yet.
fn identity(path: &Path) -> Option<PathBuf> {
    match fs::metadata(path) {
        Ok(metadata) => metadata.is_file().then(|| fs::canonicalize(path).ok())?,
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
        }
    }
}

#[cfg(test)]
mod tests;
