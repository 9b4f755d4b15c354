//! A tenant's record.
//!
//! Invariant: a tenant's id is used once for ever. Deleting leaves the record as a tombstone, so that nothing that was made for
//! the old tenant (a token, a signature, a backup) ever opens a new one of the same name.

use serde::{Deserialize, Serialize};
use tidegate_store::{Document, StoreError};
use tidegate_types::{EventTime, TenantId};

use crate::TenantLimits;

/// The store's kind of tenants' documents; the path is the id.
pub(crate) const KIND: &str = "tenant";

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Its name.
    pub id: TenantId,
    /// What it may use.
    pub limits: TenantLimits,
    /// When it was made, ms since the epoch.
    pub created_at: EventTime,
    /// The version of the record: what a change of the limits has to name.
    pub version: u64,
}

/// The document in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TenantBody {
    pub(crate) limits: TenantLimits,
    pub(crate) created_at: EventTime,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deleted_at: Option<EventTime>,
}

/// A tenant's document, or none if it was deleted.
pub(crate) fn read(document: &Document) -> Result<Option<Tenant>, StoreError> {
    let body: TenantBody = parse(document)?;
    if body.deleted_at.is_some() {
        return Ok(None);
    }
    let id = document.path.parse().map_err(|error| corrupt(document, &error))?;
    Ok(Some(Tenant { id, limits: body.limits, created_at: body.created_at, version: document.version }))
}

/// A document's body as a type of ours.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(document: &Document) -> Result<T, StoreError> {
    T::deserialize(&document.body).map_err(|error| corrupt(document, &error))
}

fn corrupt(document: &Document, error: &dyn std::error::Error) -> StoreError {
    StoreError::Corrupt { reason: format!("the document `{}`, version {}: {error}", document.path, document.version) }
}

/// A value of ours as a body.
pub(crate) fn body<T: Serialize>(value: &T) -> serde_json::Value {
    serde_json::to_value(value).expect("the documents are plain structs with text keys")
}
