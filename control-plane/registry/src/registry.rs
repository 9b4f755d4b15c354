//! The service: uploads, reads and revocations over the metadata store and the object store.
//!
//! Operations that take a caller ask it whether it may. Those that take none (`find`, `fetch`) are for the program's own parts
//! and are reached by no route.

mod read;
mod revoke;
mod upload;

use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStore;
use tidegate_signing::Version;
use tidegate_store::MetaStore;
use tidegate_tenancy::Tenancy;
use tidegate_types::{Clock, TenantId};

use crate::admission::{Admission, GrantedLimits};
use crate::artifact::{self, Artifact};
use crate::blobs::Blobs;
use crate::error::RegistryError;

/// How often an upload is tried again when another one of the tenant came between.
const ATTEMPTS: usize = 8;

/// The artifacts of all tenants.
pub struct Registry {
    store: Arc<dyn MetaStore>,
    blobs: Blobs,
    admission: Arc<dyn Admission>,
    tenancy: Arc<Tenancy>,
    clock: Arc<dyn Clock>,
}

/// What a job needs of an artifact to run it.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The artifact.
    pub artifact: Artifact,
    /// Its component, whose digest was checked.
    pub component: Bytes,
    /// The sealed image of its machine code, which this host can load.
    pub image: Bytes,
    /// What it is granted today.
    pub granted: GrantedLimits,
}

impl Registry {
    /// The service over its stores, the rest of admission, and the tenants.
    #[must_use]
    pub fn new(
        store: Arc<dyn MetaStore>,
        blobs: Arc<dyn ObjectStore>,
        admission: Arc<dyn Admission>,
        tenancy: Arc<Tenancy>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, blobs: Blobs::new(blobs), admission, tenancy, clock }
    }

    /// One version, if it exists. A text that is no version is a version that does not exist.
    async fn version(
        &self,
        tenant: &TenantId,
        name: &str,
        version: &str,
    ) -> Result<Option<(Artifact, u64)>, RegistryError> {
        let Ok(version) = version.parse::<Version>() else { return Ok(None) };
        if name.parse::<tidegate_types::Name>().is_err() {
            return Ok(None);
        }
        let path = artifact::path(tenant.as_str(), name, &version);
        let Some(document) = self.store.get(artifact::KIND, &path).await? else { return Ok(None) };
        Ok(Some((Artifact::read(&document)?, document.version)))
    }
}

fn not_found(name: &str, version: Option<&str>) -> RegistryError {
    let name = version.map_or_else(|| name.to_owned(), |version| format!("{name}@{version}"));
    RegistryError::NotFound { name: name.chars().filter(|c| !c.is_control()).take(128).collect() }
}

/// Does what takes the processor long (hashing megabytes) on a thread that serves no requests.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, RegistryError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| RegistryError::Unavailable { reason: error.to_string() })
}
