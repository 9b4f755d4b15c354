//! Revoking: of a version, or of bytes whatever they are called. Jobs that run go on; none starts anew.
//!
//! Invariant: a revocation is never undone, and never gives back a version's number.

use serde_json::{Value, json};
use tidegate_signing::Version;
use tidegate_store::{Change, Document, MAX_LIST, StoreError};
use tidegate_tenancy::{AuditEntry, Caller, Permission};
use tidegate_types::TenantId;

use super::{ATTEMPTS, Registry, not_found};
use crate::artifact::{self, Artifact, Revocation};
use crate::error::RegistryError;

/// The store's kind of revoked digests; the path is `tenant/digest`.
pub(super) const KIND: &str = "revoked-digest";

/// The most characters of a reason.
const MAX_REASON_CHARS: usize = 500;

impl Registry {
    /// Revokes a version. One that is revoked already stays as it is.
    ///
    /// # Errors
    /// Denied, not found, an invalid reason, the store.
    pub async fn revoke(
        &self,
        by: &Caller,
        tenant: &TenantId,
        name: &str,
        version: &str,
        reason: &str,
    ) -> Result<Artifact, RegistryError> {
        by.may(Permission::RevokeArtifact, tenant)?;
        let reason = checked(reason)?;
        for _ in 0..ATTEMPTS {
            let found = self.version(tenant, name, version).await?;
            let (mut artifact, read) = found.ok_or_else(|| not_found(name, Some(version)))?;
            if artifact.revoked.is_some() {
                return Ok(artifact);
            }
            artifact.revoked = Some(self.revocation(by, reason));
            let mut changes = vec![replaced(&artifact, read)?];
            let target = format!("{}@{}", artifact.name, artifact.version);
            changes.extend(self.audit_revocation(by, tenant, target, reason));
            match self.store.commit(changes).await {
                Ok(()) => return Ok(artifact),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(RegistryError::Contended)
    }

    /// Revokes bytes: every version that has them, and every later upload of them. Returns the versions that were revoked now.
    ///
    /// # Errors
    /// Denied, an invalid digest or reason, the store.
    pub async fn revoke_digest(
        &self,
        by: &Caller,
        tenant: &TenantId,
        digest: &str,
        reason: &str,
    ) -> Result<Vec<Artifact>, RegistryError> {
        by.may(Permission::RevokeArtifact, tenant)?;
        let reason = checked(reason)?;
        if digest.len() != 64 || !digest.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            let reason = "write the 64 small hexadecimal digits of a component's SHA-256".to_owned();
            return Err(RegistryError::Invalid { field: "digest", reason });
        }
        // An upload's commit expects that this is absent, so from here on no upload of these bytes succeeds, also none that was
        // under way: the list below is complete once it stands.
        let body = json!({ "reason": reason, "at": self.clock.now(), "by": by.subject });
        let path = format!("{tenant}/{digest}");
        if self.store.get(KIND, &path).await?.is_none() {
            let mut changes = vec![Change::create(KIND, path, body)];
            changes.extend(self.audit_revocation(by, tenant, format!("sha256:{digest}"), reason));
            match self.store.commit(changes).await {
                Ok(()) | Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut revoked = Vec::new();
        for artifact in self.of_digest(tenant, digest).await? {
            revoked.push(self.revoke(by, tenant, &artifact.name, &artifact.version, reason).await?);
        }
        Ok(revoked)
    }

    /// The versions with these bytes that are not revoked.
    async fn of_digest(&self, tenant: &TenantId, digest: &str) -> Result<Vec<Artifact>, RegistryError> {
        let prefix = format!("{tenant}/");
        let mut found = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = self.store.list(artifact::KIND, &prefix, after.as_deref(), MAX_LIST).await?;
            for document in &page {
                let artifact = Artifact::read(document)?;
                if artifact.digest == digest && artifact.revoked.is_none() {
                    found.push(artifact);
                }
            }
            if page.len() < MAX_LIST {
                return Ok(found);
            }
            after = page.last().map(|document| document.path.clone());
        }
    }

    fn revocation(&self, by: &Caller, reason: &str) -> Revocation {
        Revocation { at: self.clock.now(), by: by.subject.clone(), reason: reason.to_owned() }
    }

    fn audit_revocation(&self, by: &Caller, tenant: &TenantId, target: String, reason: &str) -> Vec<Change> {
        let detail = json!({ "reason": reason });
        let entry = AuditEntry { tenant: Some(tenant.clone()), action: "artifact.revoke", target, detail };
        self.tenancy.audit_changes(Some(by), &entry)
    }
}

fn replaced(artifact: &Artifact, read: u64) -> Result<Change, RegistryError> {
    let corrupt = |_| StoreError::Corrupt { reason: format!("`{}` is no version", artifact.version) };
    let version: Version = artifact.version.parse().map_err(corrupt)?;
    let path = artifact::path(&artifact.tenant, &artifact.name, &version);
    Ok(Change::replace(artifact::KIND, path, read, artifact.body()))
}

fn checked(reason: &str) -> Result<&str, RegistryError> {
    if reason.chars().count() > MAX_REASON_CHARS || reason.chars().any(char::is_control) {
        let reason = format!("write at most {MAX_REASON_CHARS} characters, without control characters");
        return Err(RegistryError::Invalid { field: "reason", reason });
    }
    Ok(reason)
}

/// Why a digest was revoked, if it was.
pub(super) fn reason_of(document: Option<Document>) -> Option<String> {
    let body = document?.body;
    Some(body.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned())
}
