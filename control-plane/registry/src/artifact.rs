//! An artifact as it is kept and shown.
//!
//! Invariant: its document's path sorts as its version does, number by number.

use serde::{Deserialize, Serialize};
use tidegate_signing::{DeclaredLimits, Version};
use tidegate_store::{Document, StoreError};
use tidegate_types::EventTime;

/// The store's kind of artifacts' documents; the path is `tenant/name/version`.
pub(crate) const KIND: &str = "artifact";
/// The store's kind of the envelopes that artifacts came with; the path is the artifact's.
pub(crate) const ENVELOPE_KIND: &str = "artifact-envelope";

/// A version of a tenant's component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Whose it is.
    pub tenant: String,
    /// What it is called.
    pub name: String,
    /// Its version, three numbers.
    pub version: String,
    /// The SHA-256 of its exact bytes, 64 small hexadecimal digits.
    pub digest: String,
    /// Its size, bytes.
    pub size: u64,
    /// The hooks that it has: `mapper`, `aggregator`, `windower`.
    pub hooks: Vec<String>,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// The key that signed it.
    pub key_id: String,
    /// Fuel of one call, as its signer declares; none: the tenant's limit alone counts.
    pub call_fuel: Option<u64>,
    /// Bytes of memory, as its signer declares; none: the tenant's limit alone counts.
    pub memory_bytes: Option<u64>,
    /// From when on its signed statement is no longer taken in an upload, ms since the epoch.
    pub expires_at: EventTime,
    /// When it was admitted, ms since the epoch.
    pub admitted_at: EventTime,
    /// Who uploaded it: the token's subject.
    pub admitted_by: String,
    /// What trial calls of its hooks cost when it was admitted.
    pub warm_up: Vec<WarmUp>,
    /// What its tenant should know.
    pub remarks: Vec<String>,
    /// Since when no job starts with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revocation>,
}

/// What a trial call cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUp {
    /// The hook: `mapper`, `aggregator`, `windower`.
    pub hook: String,
    /// Its function: `open`, `process`, ….
    pub function: String,
    /// Fuel; the same every time.
    pub fuel: u64,
    /// Microseconds on the machine that admitted it.
    pub micros: u64,
}

/// That an artifact was revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revocation {
    /// When, ms since the epoch.
    pub at: EventTime,
    /// By whom: the token's subject.
    pub by: String,
    /// Why, in the revoker's words.
    pub reason: String,
}

impl Artifact {
    /// What its signer declares.
    #[must_use]
    pub fn declared(&self) -> DeclaredLimits {
        DeclaredLimits { call_fuel: self.call_fuel, memory_bytes: self.memory_bytes }
    }

    pub(crate) fn read(document: &Document) -> Result<Self, StoreError> {
        Self::deserialize(&document.body).map_err(|error| StoreError::Corrupt {
            reason: format!("the artifact `{}`, version {}: {error}", document.path, document.version),
        })
    }

    pub(crate) fn body(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("an artifact is a plain struct with text keys")
    }
}

/// The path of a version's document: numbers are padded, so that paths sort as versions do.
pub(crate) fn path(tenant: &str, name: &str, version: &Version) -> String {
    let Version { major, minor, patch } = version;
    format!("{tenant}/{name}/{major:010}.{minor:010}.{patch:010}")
}
