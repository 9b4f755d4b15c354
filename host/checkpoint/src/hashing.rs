//! A local file, read in pieces, with its length checked and its checksum computed on the way.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use xxhash_rust::xxh3::Xxh3;

use crate::error::CheckpointError;

/// Reads at a time where nothing else bounds it.
const PIECE: usize = 1024 * 1024;

/// A file that is being read.
pub(crate) struct Reader {
    path: PathBuf,
    file: File,
    hasher: Box<Xxh3>,
    expected: u64,
    read: u64,
}

impl Reader {
    /// Opens a file that has `expected` bytes.
    pub(crate) fn open(path: &Path, expected: u64) -> Result<Self, CheckpointError> {
        let file = File::open(path).map_err(local(path, "can not be opened"))?;
        let found = file.metadata().map_err(local(path, "can not be looked at"))?.len();
        let reader = Self { path: path.to_owned(), file, hasher: Box::new(Xxh3::new()), expected, read: 0 };
        if found == expected { Ok(reader) } else { Err(reader.changed(found)) }
    }

    /// The next bytes, at most so many; none at the end.
    pub(crate) fn next(&mut self, most: usize) -> Result<Bytes, CheckpointError> {
        let left = usize::try_from(self.expected - self.read).unwrap_or(usize::MAX);
        let mut piece = vec![0; left.min(most)];
        match self.file.read_exact(&mut piece) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(self.changed(self.read)),
            Err(error) => return Err(local(&self.path, "can not be read")(error)),
        }
        self.hasher.update(&piece);
        self.read += piece.len() as u64;
        Ok(piece.into())
    }

    /// The checksum of what was read.
    pub(crate) fn checksum(&self) -> u128 {
        self.hasher.digest128()
    }

    fn changed(&self, found: u64) -> CheckpointError {
        CheckpointError::Changed { path: self.path.clone(), expected: self.expected, found }
    }
}

/// The checksum of a file that has `expected` bytes.
pub(crate) fn checksum_of(path: &Path, expected: u64) -> Result<u128, CheckpointError> {
    let mut reader = Reader::open(path, expected)?;
    while !reader.next(PIECE)?.is_empty() {}
    Ok(reader.checksum())
}

/// An error at a local file.
pub(crate) fn local(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> CheckpointError {
    let path = path.to_owned();
    move |source| CheckpointError::Local { path, doing, source }
}
