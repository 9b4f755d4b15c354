//! The audit trail: who did what to what, in the commit that did it.
//!
//! Invariant: an entry is committed together with the change it tells of, so there is no change without an entry and no entry
//! without the change. Entries are never changed; a trail keeps its newest [`tidegate_store::MAX_ENTRIES`].

use serde::{Deserialize, Serialize};
use tidegate_store::{Change, Entry, StoreError};
use tidegate_types::{EventTime, TenantId};

use crate::tenant::body;
use crate::{Caller, Role};

/// What was done, to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The tenant it concerns; none for the platform itself.
    pub tenant: Option<TenantId>,
    /// What was done: a thing and a verb, such as `artifact.upload`.
    pub action: &'static str,
    /// To what: a name or an id, such as `campaign-metrics@1.2.0`.
    pub target: String,
    /// What else matters, such as the limits before and after; null if nothing does. Never a secret.
    pub detail: serde_json::Value,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Its place in the trail: where the next page begins behind.
    #[serde(default)]
    pub position: u64,
    /// When, ms since the epoch.
    pub at: EventTime,
    /// Who: the token's subject.
    pub subject: String,
    /// In which role; none for the program itself.
    pub role: Option<Role>,
    /// By which token; none for the program itself.
    pub token_id: Option<String>,
    /// The tenant it concerns.
    pub tenant: Option<String>,
    /// What was done.
    pub action: String,
    /// To what.
    pub target: String,
    /// What else matters.
    #[serde(default)]
    pub detail: serde_json::Value,
}

/// The trail of a tenant, or of the platform. No tenant's name has a `/` or a capital, so none is taken for the other.
pub(crate) fn trail(tenant: Option<&TenantId>) -> String {
    tenant.map_or_else(|| "platform".to_owned(), |tenant| format!("tenant/{tenant}"))
}

/// The changes that record an entry: in the tenant's trail, and in the platform's if no tenant's own token did it.
pub(crate) fn appends(by: Option<&Caller>, entry: &AuditEntry, now: EventTime) -> Vec<Change> {
    let record = AuditRecord {
        position: 0,
        at: now,
        subject: by.map_or_else(|| "tidegate".to_owned(), |by| by.subject.clone()),
        role: by.map(|by| by.role),
        token_id: by.map(|by| by.token_id.clone()),
        tenant: entry.tenant.as_ref().map(ToString::to_string),
        action: entry.action.to_owned(),
        target: entry.target.clone(),
        detail: entry.detail.clone(),
    };
    let mut trails = vec![trail(entry.tenant.as_ref())];
    if entry.tenant.is_some() && by.is_none_or(|by| by.tenant.is_none()) {
        trails.push(trail(None));
    }
    trails.into_iter().map(|trail| Change::Append { trail, body: body(&record) }).collect()
}

/// An entry of the store as a record.
pub(crate) fn read(entry: &Entry) -> Result<AuditRecord, StoreError> {
    let record = AuditRecord::deserialize(&entry.body);
    let record = record.map_err(|error| StoreError::Corrupt {
        reason: format!("the audit entry at position {}: {error}", entry.position),
    })?;
    Ok(AuditRecord { position: entry.position, ..record })
}
