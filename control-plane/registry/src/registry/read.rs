//! Reading artifacts: for callers, and for the program's own parts.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_store::MAX_LIST;
use tidegate_tenancy::{Caller, Permission};
use tidegate_types::{Name, TenantId};

use super::{Fetched, Registry, aside, not_found};
use crate::admission::{Candidate, GrantedLimits, ImageOf};
use crate::artifact::{self, Artifact};
use crate::decide;
use crate::error::RegistryError;

impl Registry {
    /// One version.
    ///
    /// # Errors
    /// Denied, not found, the store.
    pub async fn get(
        &self,
        by: &Caller,
        tenant: &TenantId,
        name: &str,
        version: &str,
    ) -> Result<Artifact, RegistryError> {
        by.may(Permission::ReadArtifacts, tenant)?;
        let found = self.version(tenant, name, version).await?;
        found.map(|(artifact, _)| artifact).ok_or_else(|| not_found(name, Some(version)))
    }

    /// A tenant's artifacts, revoked ones too, by name and then by version, behind the artifact `after` (name and version); of
    /// one name, if that is given. At most `limit` (1 to 1,000).
    ///
    /// # Errors
    /// Denied, the store.
    pub async fn list(
        &self,
        by: &Caller,
        tenant: &TenantId,
        name: Option<&Name>,
        after: Option<(&str, &str)>,
        limit: usize,
    ) -> Result<Vec<Artifact>, RegistryError> {
        by.may(Permission::ReadArtifacts, tenant)?;
        let prefix = name.map_or_else(|| format!("{tenant}/"), |name| format!("{tenant}/{name}/"));
        let after = after.map(|(name, version)| match version.parse() {
            Ok(version) => artifact::path(tenant.as_str(), name, &version),
            Err(_) => format!("{tenant}/{name}"),
        });
        let limit = limit.clamp(1, MAX_LIST);
        let documents = self.store.list(artifact::KIND, &prefix, after.as_deref(), limit).await?;
        Ok(documents.iter().map(Artifact::read).collect::<Result<_, _>>()?)
    }

    /// The artifact of this name, for the program's own parts: of this version, revoked or not, or the highest that is not
    /// revoked.
    ///
    /// # Errors
    /// The store.
    pub async fn find(
        &self,
        tenant: &TenantId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<Artifact>, RegistryError> {
        if let Some(version) = version {
            return Ok(self.version(tenant, name, version).await?.map(|(artifact, _)| artifact));
        }
        let Ok(name) = name.parse::<Name>() else { return Ok(None) };
        let prefix = format!("{tenant}/{name}/");
        let mut found: Option<Artifact> = None;
        let mut after: Option<String> = None;
        loop {
            let page = self.store.list(artifact::KIND, &prefix, after.as_deref(), MAX_LIST).await?;
            for document in &page {
                let artifact = Artifact::read(document)?;
                if artifact.revoked.is_none() {
                    found = Some(artifact);
                }
            }
            if page.len() < MAX_LIST {
                return Ok(found);
            }
            after = page.last().map(|document| document.path.clone());
        }
    }

    /// What a job needs to run an artifact, for the program's own parts. An image that is missing, damaged, someone else's or
    /// out of date is made anew.
    ///
    /// # Errors
    /// Not found, revoked, damaged files, or a component that this version of the host admits no more.
    pub async fn fetch(&self, tenant: &TenantId, name: &str, version: Option<&str>) -> Result<Fetched, RegistryError> {
        let artifact = self.find(tenant, name, version).await?.ok_or_else(|| not_found(name, version))?;
        if let Some(revoked) = artifact.revoked {
            let Artifact { name, version, .. } = artifact;
            return Err(RegistryError::Revoked { name, version, reason: revoked.reason });
        }
        let limits = self.tenancy.limits_of(tenant).await?;
        let granted = decide::grant_now(artifact.declared(), &limits);
        let component = self.blobs.component(tenant.as_str(), &artifact.digest, artifact.size).await?;
        let image = self.image(tenant, &artifact, &component, granted).await?;
        Ok(Fetched { artifact, component, image, granted })
    }

    async fn image(
        &self,
        tenant: &TenantId,
        artifact: &Artifact,
        component: &Bytes,
        granted: GrantedLimits,
    ) -> Result<Bytes, RegistryError> {
        if let Some(image) = self.stored_image(tenant, artifact).await? {
            return Ok(image);
        }
        tracing::warn!(
            %tenant, artifact = artifact.name, version = artifact.version,
            "the stored image is missing, changed or out of date: the component is compiled again"
        );
        let candidate = Candidate {
            tenant: tenant.clone(),
            name: artifact.name.parse().map_err(|_| not_found(&artifact.name, None))?,
            version: artifact.version.clone(),
            component: component.clone(),
            digest: artifact.digest.clone(),
            declared: artifact.declared(),
            granted,
        };
        let image = self.admission.recompile(candidate).await?;
        self.blobs.put_image(tenant.as_str(), &artifact.digest, &image).await?;
        Ok(image)
    }

    /// The image that is stored, if it fits. Its seal is over all of it, so it is checked on a thread that serves no requests.
    async fn stored_image(&self, tenant: &TenantId, artifact: &Artifact) -> Result<Option<Bytes>, RegistryError> {
        let Some(image) = self.blobs.image(tenant.as_str(), &artifact.digest).await else { return Ok(None) };
        let (admission, digest, size) = (Arc::clone(&self.admission), artifact.digest.clone(), artifact.size);
        aside(move || admission.fits(ImageOf { digest: &digest, size }, &image).then_some(image)).await
    }
}
