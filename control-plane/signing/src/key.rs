//! Ed25519 keys: made, named, and written as one line of text.
//!
//! Invariants: a [`PublicKey`] is a point of large order in its canonical encoding, so that a signature by it binds a message;
//! a secret key is never shown by `Debug`, and its bytes are wiped when it is dropped.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};
use thiserror::Error;
use zeroize::Zeroizing;

const PUBLIC_PREFIX: &str = "tidegate-public-key:v1:";
const SECRET_PREFIX: &str = "tidegate-secret-key:v1:";
const ID_PREFIX: &str = "ed25519:";
/// How much of the digest of a public key names it.
const ID_BYTES: usize = 16;
/// The bytes of a key.
const KEY_BYTES: usize = 32;

/// The bytes of a signature.
pub(crate) const SIGNATURE_BYTES: usize = 64;

/// The half of a key that signs.
pub struct SecretKey(SigningKey);

/// The half of a key that verifies.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: VerifyingKey,
    id: KeyId,
}

/// What a key is called: `ed25519:` and the first 16 bytes of the SHA-256 of the public key, in hexadecimal.
///
/// It says where to look, and proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(String);

/// Why a text is no key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyError {
    /// A secret key where a public one belongs.
    #[error("this is a secret key; name the public key (the .pub file), and show the secret one to nobody")]
    SecretGiven,
    /// A public key where a secret one belongs.
    #[error("this is a public key; to sign, name the secret key (the .key file)")]
    PublicGiven,
    /// Not written as a key is.
    #[error("this is no key of Tidegate: a line `{expected}…` is expected; make keys with `tidegate keygen`")]
    Form {
        /// How it begins.
        expected: &'static str,
    },
    /// It has not 32 bytes in canonical base64.
    #[error("the key's base64 is damaged; copy the file again, whole")]
    Damaged,
    /// It is no point of the curve, a weak one, or one in a second encoding.
    #[error(
        "the public key is no usable Ed25519 key (no point of the curve, of low order, or not canonical); make keys with `tidegate keygen`"
    )]
    Unusable,
    /// The system gave no random bytes.
    #[error("the system gives no random bytes: {0}; a key cannot be made")]
    NoRandomness(String),
}

impl SecretKey {
    /// A new key from the system's random bytes.
    ///
    /// # Errors
    /// If the system gives none.
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|error| KeyError::NoRandomness(error.to_string()))?;
        Ok(Self::from_bytes(&bytes))
    }

    /// The key of a seed of 32 bytes (RFC 8032, 5.1.5), which must be secret and random.
    #[must_use]
    pub fn from_bytes(seed: &[u8; KEY_BYTES]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The other half.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey::of(self.0.verifying_key())
    }

    /// The key as the line that is kept in a file which only its owner may read.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        let encoded = Zeroizing::new(STANDARD.encode(self.0.as_bytes()));
        let mut text = Zeroizing::new(String::with_capacity(SECRET_PREFIX.len() + encoded.len()));
        text.push_str(SECRET_PREFIX);
        text.push_str(&encoded);
        text
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.0.sign(message).to_bytes()
    }
}

impl PublicKey {
    /// The key of these bytes (RFC 8032, 5.1.2).
    ///
    /// # Errors
    /// [`KeyError::Unusable`].
    pub fn from_bytes(bytes: &[u8; KEY_BYTES]) -> Result<Self, KeyError> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Unusable)?;
        let canonical = key.to_edwards().compress().to_bytes() == *bytes;
        if canonical && !key.is_weak() { Ok(Self::of(key)) } else { Err(KeyError::Unusable) }
    }

    fn of(key: VerifyingKey) -> Self {
        let digest = Sha256::digest(key.as_bytes());
        let named = digest.iter().take(ID_BYTES).map(|byte| format!("{byte:02x}"));
        Self { key, id: KeyId(named.fold(ID_PREFIX.to_owned(), |id, byte| id + &byte)) }
    }

    /// What the key is called.
    #[must_use]
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// Whether this is the key's signature over this message. Malleable forms are none (RFC 8032's `s < l`, and no point of
    /// low order).
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        self.key.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl KeyId {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(of {})", self.public().id)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC_PREFIX}{}", STANDARD.encode(self.key.as_bytes()))
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let text = text.trim_ascii();
        if text.starts_with(SECRET_PREFIX) {
            return Err(KeyError::SecretGiven);
        }
        let encoded = text.strip_prefix(PUBLIC_PREFIX).ok_or(KeyError::Form { expected: PUBLIC_PREFIX })?;
        Self::from_bytes(&*decode(encoded)?)
    }
}

impl FromStr for SecretKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let text = text.trim_ascii();
        if text.starts_with(PUBLIC_PREFIX) {
            return Err(KeyError::PublicGiven);
        }
        let encoded = text.strip_prefix(SECRET_PREFIX).ok_or(KeyError::Form { expected: SECRET_PREFIX })?;
        Ok(Self::from_bytes(&*decode(encoded)?))
    }
}

fn decode(encoded: &str) -> Result<Zeroizing<[u8; KEY_BYTES]>, KeyError> {
    let bytes = Zeroizing::new(STANDARD.decode(encoded).map_err(|_| KeyError::Damaged)?);
    let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).map_err(|_| KeyError::Damaged)?;
    Ok(Zeroizing::new(key))
}

#[cfg(test)]
mod tests;
