//! Sealed images: machine code that only this host made, of exactly the component and the engine that it says.
//!
//! Loading an image runs whatever is in it with the host's rights, so a file in a store is worth nothing by itself. A seal is
//! a message authentication code (HMAC-SHA-256, RFC 2104) with a key of the host over a header and the image. The header names the
//! component's digest and size, the engine and the limits. Invariant: [`deserialize`] sees only a [`Checked`] image, which
//! borrows the very buffer that the seal was checked over. Anything else is compiled again, which costs seconds and never trust.
//!
//! Layout, integers little-endian: magic and version (8), component digest (32), component size (8), engine (32), limits (32),
//! image length (8), seal (32), image.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::config::SandboxConfig;
use crate::error::SandboxError;

/// What sealed images begin with. The digit is the version of this layout.
const MAGIC: &[u8; 8] = b"TGIMAGE1";
const HASH_BYTES: usize = 32;
const HEADER_BYTES: usize = 8 + HASH_BYTES + 8 + HASH_BYTES + HASH_BYTES + 8;
const SEALED_AT: usize = HEADER_BYTES + HASH_BYTES;

/// The SHA-256 of a component's exact bytes. Written as 64 small hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentDigest([u8; HASH_BYTES]);

/// The key of a host's seals.
#[derive(Clone)]
pub struct ImageKey([u8; HASH_BYTES]);

/// What machine code was compiled with: the engine's settings, version and processor, and the limits of admission. Images go
/// from a compiler to a sandbox of the same stamp only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    engine: [u8; HASH_BYTES],
    limits: [u8; HASH_BYTES],
}

/// An image whose seal holds, for this component and this sandbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checked<'a>(&'a [u8]);

/// Why a sealed image is not loaded. Whatever it is, the way out is to compile the component again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// It does not begin as sealed images of this version do.
    #[error("the image is not one that this version of the host seals: compile the component again")]
    Format,
    /// It is shorter or longer than its header says.
    #[error("the image has {found} bytes, its header says {said}: compile the component again")]
    Length {
        /// Its bytes.
        found: u64,
        /// What they should be.
        said: u64,
    },
    /// The seal is not this host's, or the bytes were changed after it was put on.
    #[error("the image's seal is broken: it was changed, or sealed by another host; compile the component again")]
    Seal,
    /// It is the image of another component.
    #[error("the image is that of the component {found}, not of {asked}: compile the component again")]
    OtherComponent {
        /// The component that it was made of.
        found: ComponentDigest,
        /// The component that was asked for.
        asked: ComponentDigest,
    },
    /// It was compiled by another version, with other settings, or for another processor.
    #[error("the image was compiled for another engine: compile the component again")]
    OtherEngine,
    /// It was admitted under other limits.
    #[error("the image was admitted under other limits: compile the component again")]
    OtherLimits,
    /// The component cannot run in this sandbox.
    #[error(transparent)]
    Refused(#[from] SandboxError),
}

impl ComponentDigest {
    /// Of these bytes.
    #[must_use]
    pub fn of(component: &[u8]) -> Self {
        Self(Sha256::digest(component).into())
    }
}

impl fmt::Display for ComponentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ComponentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a component's digest is the 64 small hexadecimal digits of its SHA-256")]
pub struct DigestError;

impl FromStr for ComponentDigest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let digits = text.as_bytes();
        let small = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        if digits.len() != 2 * HASH_BYTES || !small {
            return Err(DigestError);
        }
        let mut bytes = [0; HASH_BYTES];
        for (byte, at) in bytes.iter_mut().zip((0..text.len()).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| DigestError)?;
        }
        Ok(Self(bytes))
    }
}

impl ImageKey {
    /// A key of 32 random bytes.
    #[must_use]
    pub fn new(bytes: [u8; HASH_BYTES]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for ImageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImageKey(…)")
    }
}

impl Stamp {
    /// Of an engine, and of the limits under which a component is admitted.
    pub(crate) fn of(engine: &Engine, config: &SandboxConfig) -> Self {
        let mut hasher = Sha256Hasher(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let limits = format!(
            "{} {:?} {} {} {} {} {}",
            env!("CARGO_PKG_VERSION"),
            config.scan,
            config.memories,
            config.tables,
            config.core_instances,
            config.memory_bytes,
            config.table_elements,
        );
        Self { engine: hasher.0.finalize().into(), limits: Sha256::digest(limits).into() }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.engine.iter().chain(&self.limits).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Feeds what an engine says of itself to SHA-256: the standard hashers' 64 bits are too few to tell engines apart for good.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        // Nobody asks: the whole hash is taken out.
        0
    }
}

/// Puts a seal on an image.
pub(crate) fn seal(key: &ImageKey, stamp: &Stamp, digest: ComponentDigest, size: u64, image: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(SEALED_AT + image.len());
    sealed.extend_from_slice(MAGIC);
    sealed.extend_from_slice(&digest.0);
    sealed.extend_from_slice(&size.to_le_bytes());
    sealed.extend_from_slice(&stamp.engine);
    sealed.extend_from_slice(&stamp.limits);
    sealed.extend_from_slice(&length(image).to_le_bytes());
    let code = code(key, &sealed, image).finalize().into_bytes();
    sealed.extend_from_slice(&code);
    sealed.extend_from_slice(image);
    sealed
}

/// Checks everything about a sealed image; the seal before anything that the header says.
pub(crate) fn open<'a>(
    key: &ImageKey,
    stamp: &Stamp,
    digest: ComponentDigest,
    size: u64,
    sealed: &'a [u8],
) -> Result<Checked<'a>, ImageError> {
    if !sealed.starts_with(MAGIC) {
        return Err(ImageError::Format);
    }
    let Some((header, rest)) = sealed.split_at_checked(HEADER_BYTES) else { return Err(ImageError::Format) };
    let Some((code_given, image)) = rest.split_at_checked(HASH_BYTES) else { return Err(ImageError::Format) };
    let said = number(header, HEADER_BYTES - 8);
    if said != length(image) {
        return Err(ImageError::Length { found: length(image), said });
    }
    code(key, header, image).verify_slice(code_given).map_err(|_| ImageError::Seal)?;
    let found = ComponentDigest(hash(header, 8));
    if found != digest || number(header, 40) != size {
        return Err(ImageError::OtherComponent { found, asked: digest });
    }
    if hash(header, 48) != stamp.engine {
        return Err(ImageError::OtherEngine);
    }
    if hash(header, 80) != stamp.limits {
        return Err(ImageError::OtherLimits);
    }
    Ok(Checked(image))
}

/// Makes a component of an image. wasmtime looks at the image's own note of engine and settings once more.
#[allow(
    unsafe_code,
    reason = "machine code can only be trusted, not checked: the seal says that this host compiled it"
)]
pub(crate) fn deserialize(engine: &Engine, image: Checked<'_>) -> Result<Component, ImageError> {
    // SAFETY: the bytes were made by `Component::serialize` of our own compiler and not changed since: `open` checked the seal
    // over this very buffer, which stays borrowed and which wasmtime copies before it makes it executable.
    let loaded = unsafe { Component::deserialize(engine, image.0) };
    loaded.map_err(|error| SandboxError::Unfit { detail: format!("{error:#}") }.into())
}

fn code(key: &ImageKey, header: &[u8], image: &[u8]) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(&key.0).expect("a key of HMAC may have any length");
    code.update(header);
    code.update(image);
    code
}

fn length(image: &[u8]) -> u64 {
    u64::try_from(image.len()).unwrap_or(u64::MAX)
}

fn number(header: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"))
}

fn hash(header: &[u8], at: usize) -> [u8; HASH_BYTES] {
    header[at..at + HASH_BYTES].try_into().expect("32 bytes")
}

#[cfg(test)]
mod tests;
