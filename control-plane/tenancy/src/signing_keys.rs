//! The public keys that a tenant signs its artifacts with.
//!
//! Invariant: a key belongs to one tenant for ever. Its owner is a document of its own that is made once and never deleted, so
//! no other tenant, and no later moment, can claim it. A revoked key stays in the list and verifies nothing.

use serde::{Deserialize, Serialize};
use tidegate_types::EventTime;

/// The store's kind of a tenant's keys; the path is the tenant.
pub(crate) const KIND: &str = "signing-keys";
/// The store's kind of a key's owner; the path is the key's id.
pub(crate) const OWNER_KIND: &str = "signing-key-owner";
/// The most keys of a tenant, revoked ones too: verification looks at each.
pub const MAX_KEYS: usize = 64;

/// A public key of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningKey {
    /// Its id: `ed25519:` and 32 hexadecimal digits.
    pub id: String,
    /// The public key as one line of text: `tidegate-public-key:v1:…`.
    pub public_key: String,
    /// What the tenant calls it.
    pub label: String,
    /// When it was added, ms since the epoch.
    pub added_at: EventTime,
    /// Who added it.
    pub added_by: String,
    /// From when on it verifies nothing, ms since the epoch.
    #[serde(default)]
    pub not_after: Option<EventTime>,
    /// When it was revoked, ms since the epoch.
    #[serde(default)]
    pub revoked_at: Option<EventTime>,
}

/// The document with all keys of one tenant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct KeysBody {
    pub(crate) keys: Vec<SigningKey>,
}

/// The document that says whose a key is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OwnerBody {
    pub(crate) tenant: String,
}
