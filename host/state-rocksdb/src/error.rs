//! What errors of the database become. RocksDB tells in its text only which file it means and whether the disk is full.

use std::io;
use std::path::{Path, PathBuf};

use rocksdb::ErrorKind;
use tidegate_state::StateError;

/// What an error of the database in `folder` becomes.
pub(crate) fn failed(folder: &Path, doing: &'static str, error: rocksdb::Error) -> StateError {
    let kind = error.kind();
    let reason = error.into_string();
    match kind {
        ErrorKind::Corruption => StateError::Corrupt { path: named_in(&reason, folder), reason },
        ErrorKind::IOError => {
            let full = reason.contains("No space left on device");
            let kind = if full { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
            StateError::io(&named_in(&reason, folder), doing, io::Error::new(kind, reason))
        }
        _ => StateError::Store { path: folder.to_owned(), doing, reason },
    }
}

/// The first file of the folder that a text names; else the folder.
fn named_in(text: &str, folder: &Path) -> PathBuf {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-')));
    let is_file = |word: &&str| word.ends_with(".sst") || word.starts_with("MANIFEST-");
    words.map(|word| word.trim_end_matches('.')).find(is_file).map_or(folder.to_owned(), |name| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_is_meant_is_named() {
        for (text, name) in [
            ("Corruption: block checksum mismatch in /a/s/000012.sst offset 3", "/f/000012.sst"),
            ("IO error: While appending to file: /a/s/000012.sst: No space left on device", "/f/000012.sst"),
            ("Corruption: in /a/MANIFEST-000005.", "/f/MANIFEST-000005"),
            ("Corruption: of something", "/f"),
        ] {
            assert_eq!(named_in(text, Path::new("/f")), Path::new(name));
        }
    }
}
