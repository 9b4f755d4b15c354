//! An upload: signature, rules about versions and quotas, admission, files, and then the one commit that makes it an artifact.
//!
//! Invariant: the digest is taken once, over the buffer that the signature is checked with, and that same buffer is what is
//! compiled and stored. Nothing is an artifact before its files are durable; files that no artifact names are harmless. What was
//! revoked while the upload was under way (the bytes, the key) is no artifact: the commit itself looks for it.

use std::str::FromStr;

use bytes::Bytes;
use serde_json::json;
use tidegate_signing::{Expectation, Statement, Verified, Version, verify};
use tidegate_store::{Change, Document, Expect, StoreError};
use tidegate_tenancy::{AuditEntry, Caller, Permission, TenantLimits};
use tidegate_types::{Name, TenantId};

use super::{ATTEMPTS, Registry, aside, revoke};
use crate::admission::{Admitted, Candidate};
use crate::artifact::{self, Artifact};
use crate::decide::{self, Decision, Offer};
use crate::error::RegistryError;
use crate::index::{self, Index};

/// The store's kind of a tenant's signing keys, whose path is the tenant: the commit holds them to what the signature was
/// checked with.
const KEYS_KIND: &str = "signing-keys";

/// What the steps of one upload share.
struct Upload<'a> {
    by: &'a Caller,
    tenant: &'a TenantId,
    component: &'a Bytes,
    envelope: &'a Bytes,
    limits: TenantLimits,
    verified: Verified,
    name: Name,
    version: Version,
}

impl Registry {
    /// Admits a component. The same bytes as the same version again give the first answer again.
    ///
    /// # Errors
    /// See [`RegistryError`]. Nothing is changed then.
    pub async fn upload(
        &self,
        by: &Caller,
        tenant: &TenantId,
        component: Bytes,
        envelope: Bytes,
    ) -> Result<Artifact, RegistryError> {
        by.may(Permission::UploadArtifact, tenant)?;
        let limits = self.tenancy.limits_of(tenant).await?;
        limits.room("artifact_bytes", 0, u64::try_from(component.len()).unwrap_or(u64::MAX))?;
        let upload = self.verified(by, tenant, &component, &envelope, limits).await?;
        if let Decision::AsBefore(artifact) = self.decide(&upload).await?.0 {
            return Ok(*artifact);
        }
        let statement = &upload.verified.statement;
        let candidate = Candidate {
            tenant: tenant.clone(),
            name: upload.name.clone(),
            version: statement.version.clone(),
            component: component.clone(),
            digest: statement.digest.clone(),
            declared: statement.limits,
            granted: decide::grant(statement.limits, &upload.limits)?,
        };
        let admitted = self.admission.admit(candidate).await?;
        self.blobs.put_component(tenant.as_str(), &statement.digest, &component).await?;
        self.blobs.put_image(tenant.as_str(), &statement.digest, &admitted.image).await?;
        self.record(&upload, admitted).await
    }

    /// Checks the signature.
    async fn verified<'a>(
        &self,
        by: &'a Caller,
        tenant: &'a TenantId,
        component: &'a Bytes,
        envelope: &'a Bytes,
        limits: TenantLimits,
    ) -> Result<Upload<'a>, RegistryError> {
        let verified = self.verify(tenant, component, envelope).await?;
        let Statement { name, version, .. } = &verified.statement;
        let name = Name::from_str(name)
            .map_err(|error| RegistryError::Invalid { field: "name", reason: error.to_string() })?;
        let version = Version::from_str(version)
            .map_err(|error| RegistryError::Invalid { field: "version", reason: error.to_string() })?;
        Ok(Upload { by, tenant, component, envelope, limits, verified, name, version })
    }

    /// Checks the signature with the keys that the tenant has now. It hashes all bytes, so it leaves the thread of requests.
    async fn verify(&self, tenant: &TenantId, component: &Bytes, envelope: &Bytes) -> Result<Verified, RegistryError> {
        let keys = self.tenancy.trusted_keys(tenant).await?;
        let (tenant, component, envelope) = (tenant.clone(), component.clone(), envelope.clone());
        let now = self.clock.now();
        let verified = aside(move || {
            let expect = Expectation { tenant: tenant.as_str(), name: None, version: None, now, keys: &keys };
            verify(&envelope, &component, &expect)
        });
        Ok(verified.await??)
    }

    /// Applies the rules about versions to what is there now.
    async fn decide(&self, upload: &Upload<'_>) -> Result<(Decision, Index), RegistryError> {
        let tenant = upload.tenant.as_str();
        let digest = &upload.verified.statement.digest;
        if let Some(reason) = revoke::reason_of(self.store.get(revoke::KIND, &format!("{tenant}/{digest}")).await?) {
            return Err(decide::revoked_digest(digest, &reason).into());
        }
        let index = Index::read(self.store.get(index::KIND, tenant).await?.as_ref())?;
        let there = self.version(upload.tenant, upload.name.as_str(), &upload.version.to_string()).await?;
        let offer = Offer { name: upload.name.as_str(), version: &upload.version, digest };
        let decision = decide::upload(offer, there.map(|(artifact, _)| artifact), &index, &upload.limits)?;
        Ok((decision, index))
    }

    /// Makes it an artifact, if the rules still allow it.
    async fn record(&self, upload: &Upload<'_>, admitted: Admitted) -> Result<Artifact, RegistryError> {
        let artifact = self.artifact(upload, admitted);
        for _ in 0..ATTEMPTS {
            let (decision, index) = self.decide(upload).await?;
            if let Decision::AsBefore(artifact) = decision {
                return Ok(*artifact);
            }
            // Read before the signature is checked again: whatever changes the keys from here on fails the commit.
            let keys = self.store.get(KEYS_KIND, upload.tenant.as_str()).await?;
            self.verify(upload.tenant, upload.component, upload.envelope).await?;
            let mut changes = self.changes(upload, &artifact, &index);
            changes.extend(unrevoked(upload, keys));
            match self.store.commit(changes).await {
                Ok(()) => return Ok(artifact),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(RegistryError::Contended)
    }

    fn artifact(&self, upload: &Upload<'_>, admitted: Admitted) -> Artifact {
        let statement = &upload.verified.statement;
        Artifact {
            tenant: upload.tenant.to_string(),
            name: upload.name.to_string(),
            version: upload.version.to_string(),
            digest: statement.digest.clone(),
            size: u64::try_from(upload.component.len()).unwrap_or(u64::MAX),
            hooks: admitted.hooks,
            imports: admitted.imports,
            key_id: upload.verified.key_id.to_string(),
            call_fuel: statement.limits.call_fuel,
            memory_bytes: statement.limits.memory_bytes,
            expires_at: statement.expires_at,
            admitted_at: self.clock.now(),
            admitted_by: upload.by.subject.clone(),
            warm_up: admitted.warm_up,
            remarks: admitted.remarks,
            revoked: None,
        }
    }

    fn changes(&self, upload: &Upload<'_>, artifact: &Artifact, index: &Index) -> Vec<Change> {
        let tenant = upload.tenant.as_str();
        let path = artifact::path(tenant, upload.name.as_str(), &upload.version);
        let envelope = json!({ "envelope": String::from_utf8_lossy(upload.envelope) });
        let audit = AuditEntry {
            tenant: Some(upload.tenant.clone()),
            action: "artifact.upload",
            target: format!("{}@{}", artifact.name, artifact.version),
            detail: json!({ "digest": artifact.digest, "key": artifact.key_id }),
        };
        let mut changes = vec![
            index.with(tenant, upload.name.as_str(), &upload.version),
            Change::create(artifact::KIND, path.clone(), artifact.body()),
            Change::create(artifact::ENVELOPE_KIND, path, envelope),
        ];
        changes.extend(self.tenancy.audit_changes(Some(upload.by), &audit));
        changes
    }
}

/// That neither the bytes nor a key of the tenant's were revoked since they were looked at, as part of the commit.
fn unrevoked(upload: &Upload<'_>, keys: Option<Document>) -> Vec<Change> {
    let path = format!("{}/{}", upload.tenant, upload.verified.statement.digest);
    let mut checks = vec![Change::Delete { kind: revoke::KIND.to_owned(), path, expect: Expect::Absent }];
    // The store has no mere check of a version: the keys are written as they are.
    checks.extend(keys.map(|keys| Change::replace(KEYS_KIND, keys.path, keys.version, keys.body)));
    checks
}
