//! Files of signing keys, envelopes and components: where they are written, and what is refused when they are read.
//!
//! Invariants: a secret key's file is made readable by its owner alone, is never written over, and is refused when others may
//! read it; nothing is read without a bound.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tidegate_sandbox::ScanLimits;
use tidegate_signing::{MAX_ENVELOPE_BYTES, PublicKey, SecretKey};
use zeroize::Zeroizing;

use crate::bounded;
use crate::failure::Failure;

/// A key's file is one short line.
const LARGEST_KEY: u64 = 4 << 10;
/// What an envelope's file is called beside its component.
const ENVELOPE_SUFFIX: &str = ".dsse.json";

/// The files of a new pair.
pub(crate) struct Pair {
    pub(crate) secret: PathBuf,
    pub(crate) public: PathBuf,
}

impl Pair {
    /// `NAME.key` and `NAME.pub`.
    pub(crate) fn named(name: &Path) -> Self {
        Self { secret: suffixed(name, ".key"), public: suffixed(name, ".pub") }
    }

    /// Writes a pair.
    ///
    /// # Errors
    /// If one of the files exists (nothing is changed then), or cannot be written.
    pub(crate) fn write(&self, key: &SecretKey) -> Result<(), Failure> {
        if let Some(there) = [&self.secret, &self.public].into_iter().find(|path| path.symlink_metadata().is_ok()) {
            return Err(exists(there));
        }
        create(&self.secret, 0o600, &Zeroizing::new(format!("{}\n", *key.to_text())))?;
        create(&self.public, 0o644, &format!("{}\n", key.public())).inspect_err(|_| drop(fs::remove_file(&self.secret)))
    }
}

/// Where the envelope of a component stands if nothing else is said: beside it.
pub(crate) fn envelope_of(component: &Path) -> PathBuf {
    suffixed(component, ENVELOPE_SUFFIX)
}

/// Reads a secret key.
///
/// # Errors
/// If it cannot be read, is none, or others than its owner may read it.
pub(crate) fn read_secret(flag: &str, path: &Path) -> Result<SecretKey, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| Failure::invalid(format!("{flag} {}: {reason}", path.display()));
    let mode = fs::metadata(path).map_err(|error| wrong(&error))?.mode();
    if mode & 0o077 != 0 {
        let reason = format!(
            "others may read or change it (mode {:o}); a secret key is its owner's alone: chmod 600 {}",
            mode & 0o777,
            path.display()
        );
        return Err(wrong(&reason));
    }
    let bytes = Zeroizing::new(bounded::read(path, "a key", LARGEST_KEY).map_err(|error| wrong(&error))?);
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong(&"is no text, so it is no key"))?;
    text.parse().map_err(|error| wrong(&error))
}

/// Reads a public key.
///
/// # Errors
/// If it cannot be read or is none.
pub(crate) fn read_public(flag: &str, path: &Path) -> Result<PublicKey, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| Failure::invalid(format!("{flag} {}: {reason}", path.display()));
    let bytes = bounded::read(path, "a key", LARGEST_KEY).map_err(|error| wrong(&error))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong(&"is no text, so it is no key"))?;
    text.parse().map_err(|error| wrong(&error))
}

/// Reads a component of at most the size that the sandbox takes.
///
/// # Errors
/// If it cannot be read or is larger.
pub(crate) fn read_component(path: &Path) -> Result<Vec<u8>, bounded::BoundedError> {
    let limit = u64::try_from(ScanLimits::default().component_bytes).expect("a size fits 64 bits");
    bounded::read(path, "a component", limit)
}

/// Reads an envelope.
///
/// # Errors
/// If it cannot be read or is larger than any.
pub(crate) fn read_envelope(path: &Path) -> Result<Vec<u8>, bounded::BoundedError> {
    let limit = u64::try_from(MAX_ENVELOPE_BYTES).expect("a size fits 64 bits");
    bounded::read(path, "a signature's envelope", limit)
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn create(path: &Path, mode: u32, text: &str) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => Failure::external(format!("{}: {error}", path.display())),
    })
}

fn exists(path: &Path) -> Failure {
    Failure::invalid(format!(
        "--out: {} exists, and a key is never written over; choose another name, or move the old one away",
        path.display()
    ))
}

#[cfg(test)]
mod tests;
