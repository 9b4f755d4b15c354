//! The service over the store: every operation takes its caller and asks it itself whether it may.
//!
//! Invariant: an operation that changes something commits the change and its audit entries together, and names the versions
//! that it read. What takes no caller (`limits_of`, `trusted_keys`, `first_token`) is for the program's own parts and is
//! reached by no route.

mod keys;
mod tenants;
mod tokens;

use std::sync::Arc;

use tidegate_store::{Change, MetaStore};
use tidegate_types::{Clock, EventTime, TenantId};

use crate::{AuditEntry, AuditRecord, Caller, Permission, TenancyError, TokenKeys, audit};

/// Tenants, tokens, keys and the audit trail.
pub struct Tenancy {
    store: Arc<dyn MetaStore>,
    keys: TokenKeys,
    clock: Arc<dyn Clock>,
}

impl Tenancy {
    /// The service over a store, with the keys that its tokens are signed with.
    #[must_use]
    pub fn new(store: Arc<dyn MetaStore>, keys: TokenKeys, clock: Arc<dyn Clock>) -> Self {
        Self { store, keys, clock }
    }

    /// The changes that record what a caller does, to be committed together with what it does. None: the program itself.
    #[must_use]
    pub fn audit_changes(&self, by: Option<&Caller>, entry: &AuditEntry) -> Vec<Change> {
        audit::appends(by, entry, self.now())
    }

    /// Records what a caller did, by itself: for what is done elsewhere than in the store.
    ///
    /// # Errors
    /// [`TenancyError::Store`].
    pub async fn audit(&self, by: Option<&Caller>, entry: &AuditEntry) -> Result<(), TenancyError> {
        Ok(self.store.commit(self.audit_changes(by, entry)).await?)
    }

    /// The audit trail of a tenant (none: the platform's) behind a position (0: from the first), the oldest first.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found, the store.
    pub async fn audit_trail(
        &self,
        by: &Caller,
        tenant: Option<&TenantId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<AuditRecord>, TenancyError> {
        match tenant {
            Some(tenant) => {
                by.may(Permission::ReadAudit, tenant)?;
                self.existing(tenant).await?;
            }
            None => by.may_on_platform(Permission::ReadAudit)?,
        }
        let entries = self.store.entries(&audit::trail(tenant), after, limit).await?;
        Ok(entries.iter().map(audit::read).collect::<Result<_, _>>()?)
    }

    fn now(&self) -> EventTime {
        self.clock.now()
    }

    /// Commits changes together with their audit entries.
    async fn commit(
        &self,
        by: Option<&Caller>,
        mut changes: Vec<Change>,
        entry: &AuditEntry,
    ) -> Result<(), TenancyError> {
        changes.extend(self.audit_changes(by, entry));
        Ok(self.store.commit(changes).await?)
    }
}

#[cfg(test)]
mod tests;
