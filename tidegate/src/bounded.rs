//! Reading a file of a bounded size: whatever a path leads to, so much is read and no more.
//!
//! A device or a pipe has no size to ask for beforehand. Invariant: at most one byte beyond the limit is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use thiserror::Error;

/// Why a file was not read.
#[derive(Debug, Error)]
pub(crate) enum BoundedError {
    /// It cannot be read. The message is the system's: there is nothing to add.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It is larger.
    #[error("has more than {limit} bytes, and that is the most for {what}; is it the right file?")]
    TooLarge {
        /// What it should be.
        what: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
}

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// If it cannot be read or is larger. `what` says what it should be.
pub(crate) fn read(path: &Path, what: &'static str, limit: u64) -> Result<Vec<u8>, BoundedError> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let length = u64::try_from(bytes.len()).expect("a length fits 64 bits");
    if length > limit { Err(BoundedError::TooLarge { what, limit }) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_limit_is_read_and_one_byte_more_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"12345").unwrap();
        assert_eq!(read(&path, "a test", 5).unwrap(), b"12345");
        let error = read(&path, "a test", 4).unwrap_err();
        assert_eq!(error.to_string(), "has more than 4 bytes, and that is the most for a test; is it the right file?");
        assert!(matches!(read(&folder.path().join("none"), "a test", 5), Err(BoundedError::Read(_))));
    }

    #[test]
    fn a_device_without_an_end_is_read_to_the_limit() {
        let error = read(Path::new("/dev/zero"), "a test", 1 << 16).unwrap_err();
        assert!(matches!(error, BoundedError::TooLarge { limit: 65_536, .. }), "{error}");
    }
}
