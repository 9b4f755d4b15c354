//! Components and images in the object store.
//!
//! Invariant: a component is written once under its digest and never changed; whatever is read is checked by the caller or
//! here before it is used. A file's size is looked at before its bytes are read, so that a file (or what a link leads to) that
//! grew cannot fill the memory.

use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode};
use tidegate_signing::digest;

use crate::error::RegistryError;
use crate::registry::aside;

/// The most bytes of an image: what the largest component that a tenant may have compiles to, with room.
const MAX_IMAGE_BYTES: u64 = 512 * 1024 * 1024;

/// The files of all tenants.
pub(crate) struct Blobs {
    store: Arc<dyn ObjectStore>,
}

impl Blobs {
    pub(crate) fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self { store }
    }

    /// Writes a component under its digest, durable when this returns. One that is there with these bytes stays as it is.
    pub(crate) async fn put_component(&self, tenant: &str, of: &str, component: &Bytes) -> Result<(), RegistryError> {
        let path = component_path(tenant, of);
        let create = self.store.put_opts(&path, component.clone().into(), PutMode::Create.into()).await;
        match create {
            Ok(_) => return Ok(()),
            Err(object_store::Error::AlreadyExists { .. }) => {}
            Err(error) => return Err(failed(&error)),
        }
        let size = u64::try_from(component.len()).unwrap_or(u64::MAX);
        if self.component(tenant, of, size).await.is_ok() {
            return Ok(());
        }
        // What is there is not what its name says: damage, which these bytes repair.
        self.store.put(&path, component.clone().into()).await.map_err(|error| failed(&error))?;
        Ok(())
    }

    /// A component, its digest and size checked.
    pub(crate) async fn component(&self, tenant: &str, of: &str, size: u64) -> Result<Bytes, RegistryError> {
        let path = component_path(tenant, of);
        let bytes = self.read(&path, size).await.map_err(|error| failed(&error))?;
        match bytes {
            Some(bytes) if hashed(&bytes).await? == of => Ok(bytes),
            _ => Err(RegistryError::Blobs {
                reason: format!(
                    "{path} does not hold the bytes that it is named after: restore it, or upload them again"
                ),
            }),
        }
    }

    /// Writes the image of a component, in place of any that is there.
    pub(crate) async fn put_image(&self, tenant: &str, of: &str, image: &Bytes) -> Result<(), RegistryError> {
        let put = self.store.put(&image_path(tenant, of), image.clone().into()).await;
        put.map(|_| ()).map_err(|error| failed(&error))
    }

    /// What is there as the image of a component, unchecked. None: nothing that could be one.
    pub(crate) async fn image(&self, tenant: &str, of: &str) -> Option<Bytes> {
        let path = image_path(tenant, of);
        let size = self.store.head(&path).await.ok()?.size;
        if size > MAX_IMAGE_BYTES { None } else { self.read(&path, size).await.ok().flatten() }
    }

    /// A file of exactly this size, or none.
    async fn read(&self, path: &Path, size: u64) -> Result<Option<Bytes>, object_store::Error> {
        let found = self.store.get(path).await?;
        if found.meta.size != size {
            return Ok(None);
        }
        let bytes = found.bytes().await?;
        Ok((u64::try_from(bytes.len()) == Ok(size)).then_some(bytes))
    }
}

/// The digest of many bytes, on a thread that serves no requests.
async fn hashed(bytes: &Bytes) -> Result<String, RegistryError> {
    let bytes = bytes.clone();
    aside(move || digest(&bytes)).await
}

fn component_path(tenant: &str, of: &str) -> Path {
    Path::from_iter(["tenants", tenant, "components", &format!("{of}.wasm")])
}

fn image_path(tenant: &str, of: &str) -> Path {
    Path::from_iter(["tenants", tenant, "images", &format!("{of}.image")])
}

fn failed(error: &object_store::Error) -> RegistryError {
    RegistryError::Blobs { reason: error.to_string() }
}
