//! The keys that tokens are signed with: files in a folder that only the platform reads.
//!
//! Rotation: `rotate` adds a file. From the next load on the newest key signs and the older ones still verify, until `remove`
//! deletes them. Invariant: a key file is written whole or not at all, by its owner only (0600), and a key file that others
//! could read is refused.

use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use jsonwebtoken::{DecodingKey, EncodingKey};
use zeroize::Zeroizing;

use crate::crypto;

const PREFIX: &str = "token-key-";
const SUFFIX: &str = ".key";
const HEAD: &str = "tidegate-token-key:v1:";
/// A key file is one short line; a larger file is not read.
const MAX_FILE_BYTES: u64 = 1024;

/// The keys that sign and verify tokens, loaded.
pub struct TokenKeys {
    /// Ascending by number; never empty. The last signs.
    keys: Vec<TokenKey>,
}

struct TokenKey {
    number: u32,
    id: String,
    signing: EncodingKey,
    verifying: DecodingKey,
}

/// Why the keys can not be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenKeyError {
    /// The folder or a file can not be read or written.
    #[error("the token keys' {path:?} can not be {what}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// `read`, `written`, `made`, `removed`.
        what: &'static str,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Others may read or write a key.
    #[error(
        "the token key {path:?} has mode {mode:o}: others may read it; replace the key, and give the new file mode 600"
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode bits.
        mode: u32,
    },
    /// A file is no key.
    #[error("{path:?} is no token key: {reason}; restore the file or remove it")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: &'static str,
    },
    /// There is no such key, or it is the one that signs.
    #[error("the token key {0} can not be removed: it is not there, or it is the newest, which signs; rotate first")]
    NotRemovable(String),
    /// The system gave no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
    /// Something else in this process brought its own cryptography for tokens.
    #[error(
        "another part of this process has set up token cryptography: only one can be used, and it must be Tidegate's"
    )]
    ForeignProvider,
}

impl TokenKeys {
    /// Loads every key of a folder; makes the folder and a first key if there is none. Two processes that do this at once end
    /// with the same keys.
    ///
    /// # Errors
    /// [`TokenKeyError`].
    pub fn load_or_create(dir: &Path) -> Result<Self, TokenKeyError> {
        let mut keys = load(dir)?;
        if keys.is_empty() {
            write_new(dir, 1)?;
            keys = load(dir)?;
        }
        Self::of(keys)
    }

    /// A new key that is kept nowhere: its tokens end with the process.
    ///
    /// # Errors
    /// [`TokenKeyError::Random`], [`TokenKeyError::ForeignProvider`].
    pub fn ephemeral() -> Result<Self, TokenKeyError> {
        Self::of(vec![TokenKey::new(1, &*new_seed()?)])
    }

    /// Adds a key to a folder and answers with its id. It signs from the next load on.
    ///
    /// # Errors
    /// [`TokenKeyError`].
    pub fn rotate(dir: &Path) -> Result<String, TokenKeyError> {
        let last = load(dir)?.last().map_or(0, |key| key.number);
        write_new(dir, last.saturating_add(1))?;
        let keys = load(dir)?;
        Ok(keys.last().expect("a key was written just now").id.clone())
    }

    /// Removes a key that does not sign any more. From the next load on its tokens are refused.
    ///
    /// # Errors
    /// [`TokenKeyError`].
    pub fn remove(dir: &Path, id: &str) -> Result<(), TokenKeyError> {
        let keys = load(dir)?;
        let older = keys.split_last().map_or(&[][..], |(_, older)| older);
        let key = older.iter().find(|key| key.id == id).ok_or_else(|| TokenKeyError::NotRemovable(id.to_owned()))?;
        let path = file(dir, key.number);
        fs::remove_file(&path).map_err(|source| TokenKeyError::Io { path: path.clone(), what: "removed", source })?;
        sync_dir(dir)
    }

    /// The ids of all keys, the oldest first; the last one signs.
    #[must_use]
    pub fn ids(&self) -> Vec<&str> {
        self.keys.iter().map(|key| key.id.as_str()).collect()
    }

    /// The id and the secret of the key that signs.
    pub(crate) fn signing(&self) -> (&str, &EncodingKey) {
        let newest = self.keys.last().expect("there is always a key");
        (&newest.id, &newest.signing)
    }

    /// The public key of this id.
    pub(crate) fn verifying(&self, id: &str) -> Option<&DecodingKey> {
        self.keys.iter().find(|key| key.id == id).map(|key| &key.verifying)
    }

    fn of(keys: Vec<TokenKey>) -> Result<Self, TokenKeyError> {
        if crypto::install() { Ok(Self { keys }) } else { Err(TokenKeyError::ForeignProvider) }
    }
}

impl fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenKeys").field("ids", &self.ids()).finish_non_exhaustive()
    }
}

impl TokenKey {
    fn new(number: u32, seed: &[u8; 32]) -> Self {
        let public = SigningKey::from_bytes(seed).verifying_key().to_bytes();
        let id = public[..16].iter().fold("token:".to_owned(), |id, byte| id + &format!("{byte:02x}"));
        Self { number, id, signing: EncodingKey::from_ed_der(seed), verifying: DecodingKey::from_ed_der(&public) }
    }
}

/// Every key of the folder, ascending by number; none if there is no folder.
fn load(dir: &Path) -> Result<Vec<TokenKey>, TokenKeyError> {
    let broken = |source| TokenKeyError::Io { path: dir.to_owned(), what: "read", source };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(broken(error)),
    };
    let mut keys = Vec::new();
    for entry in entries {
        let entry = entry.map_err(broken)?;
        if let Some(number) = entry.file_name().to_str().and_then(number_of) {
            keys.push(TokenKey::new(number, &*read(&entry.path())?));
        }
    }
    keys.sort_by_key(|key| key.number);
    Ok(keys)
}

fn number_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

fn file(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{PREFIX}{number:06}{SUFFIX}"))
}

fn read(path: &Path) -> Result<Zeroizing<[u8; 32]>, TokenKeyError> {
    let broken = |source| TokenKeyError::Io { path: path.to_owned(), what: "read", source };
    let malformed = |reason| TokenKeyError::Malformed { path: path.to_owned(), reason };
    let metadata = fs::metadata(path).map_err(broken)?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(TokenKeyError::Exposed { path: path.to_owned(), mode });
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(malformed("it is longer than a key"));
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(broken)?);
    let encoded = text.trim_end_matches('\n').strip_prefix(HEAD).ok_or_else(|| malformed("its head is another"))?;
    let seed = STANDARD.decode(encoded).map(Zeroizing::new).map_err(|_| malformed("its base64 is broken"))?;
    let seed = seed.as_slice().try_into().map_err(|_| malformed("it has not 32 bytes"))?;
    Ok(Zeroizing::new(seed))
}

/// Writes a new key under this number; if somebody else was first, theirs stays.
fn write_new(dir: &Path, number: u32) -> Result<(), TokenKeyError> {
    let seed = new_seed()?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|source| TokenKeyError::Io { path: dir.to_owned(), what: "made", source })?;
    let path = file(dir, number);
    let mut suffix = [0; 8];
    fill(&mut suffix)?;
    let temporary = dir.join(format!(".new-{:016x}", u64::from_le_bytes(suffix)));
    let text = Zeroizing::new(format!("{HEAD}{}\n", STANDARD.encode(*seed)));
    let written = write_and_link(&temporary, &path, text.as_bytes());
    let removed = fs::remove_file(&temporary);
    written.and(removed).map_err(|source| TokenKeyError::Io { path, what: "written", source })?;
    sync_dir(dir)
}

/// A link appears at once and whole, and never replaces a file.
fn write_and_link(temporary: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary)?;
    file.write_all(text)?;
    file.sync_all()?;
    match fs::hard_link(temporary, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}

fn sync_dir(dir: &Path) -> Result<(), TokenKeyError> {
    let synced = fs::File::open(dir).and_then(|folder| folder.sync_all());
    synced.map_err(|source| TokenKeyError::Io { path: dir.to_owned(), what: "written", source })
}

fn new_seed() -> Result<Zeroizing<[u8; 32]>, TokenKeyError> {
    let mut seed = Zeroizing::new([0; 32]);
    fill(&mut *seed)?;
    Ok(seed)
}

fn fill(bytes: &mut [u8]) -> Result<(), TokenKeyError> {
    getrandom::fill(bytes).map_err(|error| TokenKeyError::Random(error.to_string()))
}

/// A new id: 32 hexadecimal digits that nobody can guess.
pub(crate) fn new_id() -> Result<String, TokenKeyError> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests;
