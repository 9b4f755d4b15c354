//! The folder that a platform in one process keeps everything in, and the lock that lets one process at a time into it.
//!
//! The lock belongs to the open file: it goes with the process, however that ends. Its file says who holds it. Invariant:
//! nothing in the folder is touched before it is locked, and nobody else on the machine may read it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::client::{ADMIN_TOKEN_FILE, API_URL_FILE};
use crate::failure::Failure;

const LOCK_FILE: &str = "lock";
/// For the owner only.
const PRIVATE_FOLDER: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

/// A folder that this process holds.
pub(super) struct DataFolder {
    root: PathBuf,
    lock: File,
}

impl DataFolder {
    /// Makes the folder where it is missing, and locks it.
    ///
    /// # Errors
    /// If another process holds it, or it cannot be made.
    pub(super) fn open(root: &Path) -> Result<Self, Failure> {
        make(root)?;
        let path = root.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(PRIVATE_FILE);
        let mut lock = options.open(&path).map_err(|error| failed(&path, &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(root, &mut lock)),
            Err(TryLockError::Error(error)) => return Err(failed(&path, &error)),
        }
        let mut folder = Self { root: root.to_owned(), lock };
        folder.say_holder(&format!("process {}", std::process::id()))?;
        // What a process that was killed left: nobody listens there.
        folder.remove_api_url();
        Ok(folder)
    }

    /// The folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where something in it is.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A folder in it, made where it is missing.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.path(name);
        make(&path)?;
        Ok(path)
    }

    /// Says where the API is: to commands, and to whoever finds the folder locked.
    pub(super) fn write_api_url(&mut self, url: &str) -> Result<(), Failure> {
        self.say_holder(&format!("process {} at {url}", std::process::id()))?;
        self.write_private(API_URL_FILE, url)
    }

    /// Nobody listens any more.
    pub(super) fn remove_api_url(&self) {
        // A file that stays names a place where nobody answers, which commands say.
        let _ = fs::remove_file(self.path(API_URL_FILE));
    }

    /// The token that was saved, if there is one.
    pub(super) fn admin_token(&self) -> Option<String> {
        let token = fs::read_to_string(self.path(ADMIN_TOKEN_FILE)).ok()?;
        Some(token.trim().to_owned()).filter(|token| !token.is_empty())
    }

    /// Saves a token.
    pub(super) fn write_admin_token(&self, token: &str) -> Result<(), Failure> {
        self.write_private(ADMIN_TOKEN_FILE, token)
    }

    /// Writes a file of one line as a whole: it is the old one or the new one, whenever the process ends.
    fn write_private(&self, name: &str, line: &str) -> Result<(), Failure> {
        let (path, part) = (self.path(name), self.path(&format!("{name}.part")));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(PRIVATE_FILE);
        let written = options.open(&part).and_then(|mut file| {
            file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
            writeln!(file, "{line}")?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&part, &path)).map_err(|error| failed(&path, &error))
    }

    fn say_holder(&mut self, holder: &str) -> Result<(), Failure> {
        let written =
            self.lock.set_len(0).and_then(|()| self.lock.rewind()).and_then(|()| writeln!(self.lock, "{holder}"));
        written.map_err(|error| failed(&self.path(LOCK_FILE), &error))
    }
}

fn make(path: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(path);
    made.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            Failure::invalid(format!("--data {}: a file is in the way; name a folder", path.display()))
        }
        _ => failed(path, &error),
    })
}

fn held(root: &Path, lock: &mut File) -> Failure {
    let mut holder = String::new();
    let said = lock.read_to_string(&mut holder).is_ok() && !holder.trim().is_empty();
    let holder = if said { holder.trim() } else { "another process" };
    Failure::invalid(format!(
        "--data {}: {holder} uses this folder; stop it first, or give another folder",
        root.display()
    ))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::external(format!("--data: {}: {error}; choose a folder that can be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_process_is_told_who_holds_the_folder() {
        let root = tempfile::tempdir().unwrap();
        let mut first = DataFolder::open(root.path()).unwrap();
        first.write_api_url("http://127.0.0.1:7400").unwrap();
        let refused = DataFolder::open(root.path()).err().expect("it is held");
        assert_eq!(refused.status, 2);
        let message = refused.message.unwrap();
        let holder = format!("process {} at http://127.0.0.1:7400 uses this folder", std::process::id());
        assert!(message.contains(&holder), "{message}");
        drop(first);
        assert!(DataFolder::open(root.path()).is_ok());
    }

    #[test]
    fn what_is_secret_is_for_the_owner_only() {
        let root = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(&root.path().join("data")).unwrap();
        folder.write_admin_token("one").unwrap();
        folder.write_admin_token("two").unwrap();
        let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(ADMIN_TOKEN_FILE), mode("")), (0o600, 0o700));
        assert_eq!(folder.admin_token().as_deref(), Some("two"));
    }

    #[test]
    fn where_nobody_listens_any_more_is_forgotten_at_the_next_start() {
        let root = tempfile::tempdir().unwrap();
        DataFolder::open(root.path()).unwrap().write_api_url("http://127.0.0.1:1").unwrap();
        let again = DataFolder::open(root.path()).unwrap();
        assert!(!again.path(API_URL_FILE).exists());
    }

    #[test]
    fn a_file_in_the_way_is_said() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        let message = DataFolder::open(&file).err().expect("refused").message.unwrap();
        assert!(message.contains("a file is in the way"), "{message}");
    }
}
