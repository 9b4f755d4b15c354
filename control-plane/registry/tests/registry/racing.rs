//! Revocations that come between the last look of an upload and its commit.

use serde_json::json;
use tidegate_store::{Change, Document, Entry, Expect, StoreError};

use super::*;

/// A store in which somebody else's commit stands before the next one of an artifact.
#[derive(Default)]
pub(crate) struct Meddled {
    inner: MemoryStore,
    before: Mutex<Vec<Change>>,
}

#[async_trait::async_trait]
impl MetaStore for Meddled {
    async fn get(&self, kind: &str, path: &str) -> Result<Option<Document>, StoreError> {
        self.inner.get(kind, path).await
    }

    async fn list(
        &self,
        kind: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Document>, StoreError> {
        self.inner.list(kind, prefix, after, limit).await
    }

    async fn commit(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        let of_artifact = |change: &Change| matches!(change, Change::Put { kind, .. } if kind == "artifact");
        if changes.iter().any(of_artifact) {
            let before = std::mem::take(&mut *self.before.lock().unwrap());
            if !before.is_empty() {
                self.inner.commit(before).await?;
            }
        }
        self.inner.commit(changes).await
    }

    async fn entries(&self, trail: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.inner.entries(trail, after, limit).await
    }
}

/// The refusal of an upload in which this change came just before the commit.
async fn refused_after(world: &World, bytes: &Bytes, change: Change) -> Refusal {
    world.store.before.lock().unwrap().push(change);
    let refused = refusal(world.upload("acme", "1.0.0", bytes).await);
    assert!(world.store.before.lock().unwrap().is_empty(), "it came before the commit");
    assert_eq!(world.registry.find(&id("acme"), "metrics", None).await.unwrap(), None);
    refused
}

#[tokio::test]
async fn bytes_revoked_just_before_the_commit_are_not_admitted() {
    let (world, probe) = (World::new().await, World::new().await);
    let bytes = component("a");
    let digest = probe.upload("acme", "1.0.0", &bytes).await.unwrap().digest;
    let change = Change::create("revoked-digest", format!("acme/{digest}"), json!({ "reason": "CVE-2026-1" }));
    let refused = refused_after(&world, &bytes, change).await;
    assert_refusal(&refused, "digest-revoked", &digest, "build");
}

#[tokio::test]
async fn a_key_revoked_just_before_the_commit_admits_nothing() {
    let (world, probe) = (World::new().await, World::new().await);
    let admin = caller("acme", Role::TenantAdmin);
    probe.tenancy.revoke_key(&admin, &id("acme"), key("acme").public().id().as_str()).await.unwrap();
    let revoked = probe.store.get("signing-keys", "acme").await.unwrap().unwrap();
    let (kind, path) = ("signing-keys".to_owned(), revoked.path);
    let change = Change::Put { kind, path, body: revoked.body, expect: Expect::Any };
    assert_eq!(refused_after(&world, &component("a"), change).await.rule, "key-revoked");
}
