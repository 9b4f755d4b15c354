//! The key of a host's seals: 32 random bytes in a file of the data folder.
//!
//! Invariants: it is made once, readable by its owner alone, and never written over; a file that others may read is refused. If
//! it is lost, a new one makes all images stale, and they are compiled again: nothing else depends on it.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use tidegate_sandbox::ImageKey;

use crate::failure::Failure;

const KEY_BYTES: usize = 32;

/// The key in this file; a new one where there is no file.
///
/// # Errors
/// If the file cannot be read or made, is of another length, or others may read or change it.
pub(crate) fn image_key(path: &Path) -> Result<ImageKey, Failure> {
    let wrong = |what: &dyn std::fmt::Display| Failure::external(format!("{}: {what}", path.display()));
    let file = match OpenOptions::new().read(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return make(path).map_err(|error| wrong(&error)),
        opened => opened.map_err(|error| wrong(&error))?,
    };
    let mode = file.metadata().map_err(|error| wrong(&error))?.mode();
    if mode & 0o077 != 0 {
        return Err(wrong(
            &"others may read or change the key of sealed images: chmod 600, or remove it to get a new one",
        ));
    }
    let mut bytes = Vec::with_capacity(KEY_BYTES);
    let most = u64::try_from(KEY_BYTES).unwrap_or(0) + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|error| wrong(&error))?;
    let key = bytes.try_into().map_err(|_| wrong(&"it is no key of sealed images: remove it to get a new one"))?;
    Ok(ImageKey::new(key))
}

fn make(path: &Path) -> std::io::Result<ImageKey> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(std::io::Error::other)?;
    let part = path.with_extension("part");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&part)?;
    file.write_all(&key)?;
    file.sync_all()?;
    fs::rename(&part, path)?;
    Ok(ImageKey::new(key))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.key");
        image_key(&path).unwrap();
        let first = fs::read(&path).unwrap();
        image_key(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), first);
        assert_eq!((first.len(), fs::metadata(&path).unwrap().mode() & 0o777), (32, 0o600));
    }

    #[test]
    fn a_key_that_others_may_read_or_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.key");
        image_key(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(image_key(&path).unwrap_err().message.unwrap().contains("chmod 600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, [1; 33]).unwrap();
        assert!(image_key(&path).unwrap_err().message.unwrap().contains("no key"));
    }
}
