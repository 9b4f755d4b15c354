//! The signing keys of tenants: added, listed, revoked, and handed to whoever verifies signatures.

use serde_json::json;
use tidegate_signing::{PublicKey, TrustedKey};
use tidegate_store::{Change, Expect, StoreError};
use tidegate_types::{EventTime, TenantId};

use crate::signing_keys::{KIND, KeysBody, MAX_KEYS, OWNER_KIND, OwnerBody, SigningKey};
use crate::tenant::{body, parse};
use crate::{AuditEntry, Caller, Permission, Tenancy, TenancyError};

/// The most characters of a label.
const MAX_LABEL_CHARS: usize = 128;

impl Tenancy {
    /// Adds a public key to a tenant. From then on artifacts that it signed for this tenant are taken, until `not_after`
    /// (ms since the epoch) or until it is revoked.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found, an invalid label, the key belongs to a tenant already, too many keys,
    /// conflict.
    pub async fn add_key(
        &self,
        by: &Caller,
        tenant: &TenantId,
        key: &PublicKey,
        label: &str,
        not_after: Option<EventTime>,
    ) -> Result<SigningKey, TenancyError> {
        by.may(Permission::ManageKeys, tenant)?;
        self.existing(tenant).await?;
        check_label(label)?;
        let (mut keys, expect) = self.keys_body(tenant).await?;
        if keys.keys.len() >= MAX_KEYS {
            return Err(TenancyError::TooMany { what: "keys", count: keys.keys.len() });
        }
        let added = SigningKey {
            id: key.id().to_string(),
            public_key: key.to_string(),
            label: label.to_owned(),
            added_at: self.now(),
            added_by: by.subject.clone(),
            not_after,
            revoked_at: None,
        };
        keys.keys.push(added.clone());
        let owner = OwnerBody { tenant: tenant.to_string() };
        let changes = vec![Change::create(OWNER_KIND, added.id.as_str(), body(&owner)), put(tenant, &keys, expect)];
        match self.commit(Some(by), changes, &entry(tenant, "key.add", &added)).await {
            // The owner's document is compared first, so a key that is taken is told from a race for the list.
            Err(TenancyError::Conflict { name, .. }) if name == added.id => Err(TenancyError::KeyExists(added.id)),
            Err(other) => Err(other),
            Ok(()) => Ok(added),
        }
    }

    /// The keys of a tenant in the order in which they were added, revoked ones too.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found, the store.
    pub async fn keys(&self, by: &Caller, tenant: &TenantId) -> Result<Vec<SigningKey>, TenancyError> {
        by.may(Permission::ReadKeys, tenant)?;
        self.existing(tenant).await?;
        Ok(self.keys_body(tenant).await?.0.keys)
    }

    /// Revokes a key: what it signed is taken no more. One that is revoked already stays so.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found, conflict.
    pub async fn revoke_key(&self, by: &Caller, tenant: &TenantId, id: &str) -> Result<SigningKey, TenancyError> {
        by.may(Permission::ManageKeys, tenant)?;
        self.existing(tenant).await?;
        let (mut keys, expect) = self.keys_body(tenant).await?;
        let key = keys.keys.iter_mut().find(|key| key.id == id);
        let key = key.ok_or_else(|| TenancyError::NotFound { what: "key", name: id.to_owned() })?;
        if key.revoked_at.is_some() {
            return Ok(key.clone());
        }
        key.revoked_at = Some(self.now());
        let revoked = key.clone();
        let change = put(tenant, &keys, expect);
        self.commit(Some(by), vec![change], &entry(tenant, "key.revoke", &revoked)).await?;
        Ok(revoked)
    }

    /// What signatures of this tenant's artifacts are verified with, for the program's own parts. Revoked keys are in it,
    /// marked, so that a refusal can say so.
    ///
    /// # Errors
    /// [`TenancyError`]: not found, the store.
    pub async fn trusted_keys(&self, tenant: &TenantId) -> Result<Vec<TrustedKey>, TenancyError> {
        self.existing(tenant).await?;
        let (keys, _) = self.keys_body(tenant).await?;
        keys.keys.iter().map(|key| trusted(tenant, key)).collect()
    }

    async fn keys_body(&self, tenant: &TenantId) -> Result<(KeysBody, Expect), TenancyError> {
        match self.store.get(KIND, tenant.as_str()).await? {
            Some(document) => Ok((parse(&document)?, Expect::Version(document.version))),
            None => Ok((KeysBody::default(), Expect::Absent)),
        }
    }
}

fn put(tenant: &TenantId, keys: &KeysBody, expect: Expect) -> Change {
    Change::Put { kind: KIND.to_owned(), path: tenant.to_string(), body: body(keys), expect }
}

fn trusted(tenant: &TenantId, key: &SigningKey) -> Result<TrustedKey, TenancyError> {
    let public = key.public_key.parse::<PublicKey>().map_err(|error| StoreError::Corrupt {
        reason: format!("the key {} of the tenant `{tenant}`: {error}", key.id),
    })?;
    Ok(TrustedKey {
        key: public,
        tenant: tenant.to_string(),
        not_after: key.not_after,
        revoked: key.revoked_at.is_some(),
    })
}

fn check_label(label: &str) -> Result<(), TenancyError> {
    if label.chars().count() <= MAX_LABEL_CHARS && !label.chars().any(char::is_control) {
        return Ok(());
    }
    let reason = format!("give it at most {MAX_LABEL_CHARS} characters without control characters");
    Err(TenancyError::Invalid { field: "label", reason })
}

fn entry(tenant: &TenantId, action: &'static str, key: &SigningKey) -> AuditEntry {
    AuditEntry { tenant: Some(tenant.clone()), action, target: key.id.clone(), detail: json!({ "label": key.label }) }
}
