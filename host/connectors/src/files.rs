//! Files and standard streams as sources and sinks, as `tidegate run` wants them (docs/local-run.md).
//!
//! One line is one record. A file ends right after its last line; a last line without a line feed is a line, and a carriage
//! return before a line feed does not belong to the record. A line of nothing but white space is a line (it is counted, and
//! takes its turn) but no record. Memory does not grow with the input, nor with the length of a line.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use crate::source::{Source, SourceError};

mod lines;
mod merged;
mod output;
mod single;
mod sink;

use lines::Lines;
use merged::MergedFiles;
use single::SingleFile;

pub use output::{OpenOutput, Output, refuse_overlaps};
pub use sink::{FileResultSink, FileSideSink};

/// What an `--input` flag names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// `-`
    Stdin,
    /// A path.
    File(PathBuf),
}

/// What `tidegate run` is to read.
#[derive(Debug, Clone, Default)]
pub struct FileSourceConfig {
    /// In the order of the command line.
    pub inputs: Vec<Input>,
    /// Deals the records of a single file to partitions by this field's value.
    pub partition_field: Option<String>,
    /// Orders the lines of several files.
    pub arrival_field: Option<String>,
}

impl Input {
    /// The input that a flag's value names.
    #[must_use]
    pub fn from_flag(value: &str) -> Self {
        if value == "-" { Self::Stdin } else { Self::File(value.into()) }
    }

    /// As it is named in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    fn open(&self) -> Result<Lines, SourceError> {
        let Self::File(path) = self else {
            return Ok(Lines::new(self.name(), Box::new(io::stdin()), true));
        };
        let wrong = |source| SourceError::Open { input: self.name(), source };
        let file = File::open(path).map_err(wrong)?;
        let metadata = file.metadata().map_err(wrong)?;
        if metadata.is_dir() {
            return Err(SourceError::Directory { input: self.name() });
        }
        Ok(Lines::new(self.name(), Box::new(file), !metadata.is_file()))
    }
}

/// Opens the inputs as one source.
///
/// With a partition field the file is read twice: here once, to find the set of partitions.
///
/// # Errors
/// If the flags contradict each other or an input cannot be read.
pub fn open_files(config: &FileSourceConfig) -> Result<Box<dyn Source>, SourceError> {
    if config.inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
        return Err(SourceError::StdinTwice);
    }
    match (config.inputs.as_slice(), &config.partition_field) {
        ([], _) => Err(SourceError::NoInput),
        ([input], None) => Ok(Box::new(SingleFile::whole(input.open()?))),
        ([input], Some(field)) => {
            let first_pass = input.open()?;
            if first_pass.waits() {
                return Err(SourceError::PartitionsOfStream { input: input.name() });
            }
            Ok(Box::new(SingleFile::by_field(first_pass, input.open()?, field)?))
        }
        (_, Some(_)) => Err(SourceError::PartitionsOfSeveral),
        (inputs, None) => {
            let files = inputs.iter().map(Input::open).collect::<Result<_, _>>()?;
            Ok(Box::new(MergedFiles::new(files, config.arrival_field.as_deref())))
        }
    }
}

#[cfg(test)]
mod tests;
