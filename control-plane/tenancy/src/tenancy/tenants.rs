//! Tenants and their limits.

use serde_json::{Value, json};
use tidegate_store::Change;
use tidegate_types::TenantId;

use crate::tenant::{KIND, TenantBody, body, read};
use crate::{AuditEntry, Caller, Permission, Tenancy, TenancyError, Tenant, TenantLimits};

impl Tenancy {
    /// Makes a tenant.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, limits, a tenant of this name exists or existed.
    pub async fn create_tenant(
        &self,
        by: &Caller,
        id: &TenantId,
        limits: TenantLimits,
    ) -> Result<Tenant, TenancyError> {
        by.may_on_platform(Permission::CreateTenant)?;
        limits.check()?;
        let document = TenantBody { limits, created_at: self.now(), deleted_at: None };
        let change = Change::create(KIND, id.as_str(), body(&document));
        let entry = entry(id, "tenant.create", json!({ "limits": document.limits }));
        match self.commit(Some(by), vec![change], &entry).await {
            Err(TenancyError::Conflict { .. }) => Err(TenancyError::TenantExists(id.clone())),
            Err(other) => Err(other),
            Ok(()) => self.existing(id).await,
        }
    }

    /// A tenant's record.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found.
    pub async fn tenant(&self, by: &Caller, id: &TenantId) -> Result<Tenant, TenancyError> {
        by.may(Permission::ReadTenant, id)?;
        self.existing(id).await
    }

    /// Tenants by name behind `after`. At most `limit` names are looked at; deleted tenants among them are left out, so
    /// the answer's second part says where the next page begins behind (none: this was the last).
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, the store.
    pub async fn tenants(
        &self,
        by: &Caller,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Tenant>, Option<String>), TenancyError> {
        by.may_on_platform(Permission::ListTenants)?;
        let documents = self.store.list(KIND, "", after, limit).await?;
        let next = if documents.len() == limit { documents.last().map(|last| last.path.clone()) } else { None };
        let tenants = documents.iter().map(read).filter_map(Result::transpose).collect::<Result<_, _>>()?;
        Ok((tenants, next))
    }

    /// Sets a tenant's limits, if its record still has the version that the caller read.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found, limits, conflict.
    pub async fn set_limits(
        &self,
        by: &Caller,
        id: &TenantId,
        version: u64,
        limits: TenantLimits,
    ) -> Result<Tenant, TenancyError> {
        by.may(Permission::SetLimits, id)?;
        limits.check()?;
        let before = self.existing(id).await?;
        let document = TenantBody { limits, created_at: before.created_at, deleted_at: None };
        let entry = entry(id, "tenant.set-limits", json!({ "before": before.limits, "after": document.limits }));
        let change = Change::replace(KIND, id.as_str(), version, body(&document));
        self.commit(Some(by), vec![change], &entry).await?;
        self.existing(id).await
    }

    /// Deletes a tenant: its tokens and keys count no more, and its name is never used again. What it stored elsewhere is
    /// not touched.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found, conflict.
    pub async fn delete_tenant(&self, by: &Caller, id: &TenantId, version: u64) -> Result<(), TenancyError> {
        by.may(Permission::DeleteTenant, id)?;
        let before = self.existing(id).await?;
        let document =
            TenantBody { limits: before.limits, created_at: before.created_at, deleted_at: Some(self.now()) };
        let change = Change::replace(KIND, id.as_str(), version, body(&document));
        self.commit(Some(by), vec![change], &entry(id, "tenant.delete", Value::Null)).await
    }

    /// A tenant's limits, for the program's own parts. Read them when they are needed: an admin may change them at any time.
    ///
    /// # Errors
    /// [`TenancyError`]: not found, the store.
    pub async fn limits_of(&self, id: &TenantId) -> Result<TenantLimits, TenancyError> {
        Ok(self.existing(id).await?.limits)
    }

    /// A tenant that exists.
    pub(super) async fn existing(&self, id: &TenantId) -> Result<Tenant, TenancyError> {
        let document = self.store.get(KIND, id.as_str()).await?;
        let tenant = document.as_ref().map(read).transpose()?.flatten();
        tenant.ok_or_else(|| TenancyError::NotFound { what: "tenant", name: id.to_string() })
    }
}

fn entry(id: &TenantId, action: &'static str, detail: Value) -> AuditEntry {
    AuditEntry { tenant: Some(id.clone()), action, target: id.to_string(), detail }
}
