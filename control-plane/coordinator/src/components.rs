//! The seam to the tenant's registry: which artifact a pipeline's component is.

use async_trait::async_trait;
use tidegate_registry::{Registry, RegistryError};
use tidegate_types::TenantId;

/// An artifact that a job may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundComponent {
    /// Its version.
    pub version: String,
    /// The SHA-256 of its bytes, hex.
    pub digest: String,
    /// Whether it was revoked: then no job starts with it.
    pub revoked: bool,
}

/// The registry could not be asked. Tenants are not told why: `reason` is for the operator's log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the registry cannot be read now; try again")]
pub struct RegistryDown {
    /// What failed, with what the store said.
    pub reason: String,
}

/// Finds components in a tenant's registry.
#[async_trait]
pub trait Components: Send + Sync + 'static {
    /// The artifact of this name: of this version, or the latest one that is not revoked. None: there is none.
    ///
    /// # Errors
    /// If the registry cannot be read.
    async fn find(
        &self,
        tenant: &TenantId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<FoundComponent>, RegistryDown>;
}

#[async_trait]
impl Components for Registry {
    async fn find(
        &self,
        tenant: &TenantId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<FoundComponent>, RegistryDown> {
        match Self::find(self, tenant, name, version).await {
            Ok(found) => Ok(found.map(|artifact| FoundComponent {
                version: artifact.version,
                digest: artifact.digest,
                revoked: artifact.revoked.is_some(),
            })),
            // A name or a version that no artifact can have.
            Err(RegistryError::Invalid { .. } | RegistryError::NotFound { .. }) => Ok(None),
            Err(error) => Err(RegistryDown { reason: error.to_string() }),
        }
    }
}
