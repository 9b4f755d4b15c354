//! What a killed process leaves of an object store that is a folder.
//!
//! Such a store writes an object under a name with `#` and a number behind it first, and shows no such file to anybody: what is
//! left of one by a kill can only be deleted from outside.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::CheckpointError;
use crate::hashing::local;

/// Deletes what is half written below the folder of a store that is one. Nobody may be writing there. Gives how many files went.
///
/// # Errors
/// If a folder cannot be read or a file not be deleted.
pub fn clear_staged(folder: &Path) -> Result<u64, CheckpointError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(local(folder, "can not be read")(error)),
    };
    let mut cleared = 0;
    for entry in entries {
        let entry = entry.map_err(local(folder, "can not be read"))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(local(&path, "can not be looked at"))?;
        if kind.is_dir() {
            cleared += clear_staged(&path)?;
        } else if kind.is_file() && entry.file_name().to_str().is_some_and(is_staged) {
            fs::remove_file(&path).map_err(local(&path, "can not be deleted"))?;
            cleared += 1;
        }
    }
    Ok(cleared)
}

fn is_staged(name: &str) -> bool {
    name.rsplit_once('#')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_half_written_goes() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("tenants/acme");
        fs::create_dir_all(&below).unwrap();
        for name in ["a", "a#1", "b#22", "c#", "d#1x", "e-1"] {
            fs::write(below.join(name), b"x").unwrap();
        }
        assert_eq!(clear_staged(folder.path()).unwrap(), 2);
        let mut left: Vec<_> = fs::read_dir(&below).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["a", "c#", "d#1x", "e-1"]);
        assert_eq!(clear_staged(&folder.path().join("none")).unwrap(), 0);
    }

    #[test]
    fn a_store_calls_what_is_half_written_so() {
        use object_store::ObjectStoreExt;

        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let store = object_store::local::LocalFileSystem::new_with_prefix(folder.path()).unwrap();
        let mut parts = runtime.block_on(store.put_multipart(&"files/a".into())).unwrap();
        runtime.block_on(parts.put_part("content".into())).unwrap();
        // The process is killed here.
        assert_eq!(clear_staged(folder.path()).unwrap(), 1);
        assert_eq!(fs::read_dir(folder.path().join("files")).unwrap().count(), 0);
    }
}
