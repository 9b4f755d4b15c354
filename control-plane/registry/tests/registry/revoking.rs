//! What is revoked starts no job, is not uploaded again, and stays in the list.

use super::*;

const WHY: &str = "CVE-2026-1";

#[tokio::test]
async fn a_revoked_version_is_not_fetched_and_the_latest_is_another() {
    let world = World::new().await;
    world.upload("acme", "1.0.0", &component("a")).await.unwrap();
    world.upload("acme", "1.1.0", &component("b")).await.unwrap();
    let by = caller("acme", Role::Developer);
    let revoked = world.registry.revoke(&by, &id("acme"), "metrics", "1.1.0", WHY).await.unwrap();
    assert_eq!(revoked.revoked.as_ref().unwrap().reason, WHY);
    let error = world.registry.fetch(&id("acme"), "metrics", Some("1.1.0")).await.unwrap_err();
    assert!(matches!(&error, RegistryError::Revoked { reason, .. } if reason == WHY), "{error}");
    assert_eq!(world.registry.fetch(&id("acme"), "metrics", None).await.unwrap().artifact.version, "1.0.0");
    // It stays visible, and revoking it again changes nothing.
    world.clock.0.store(START + DAY, Ordering::Relaxed);
    assert_eq!(world.registry.revoke(&by, &id("acme"), "metrics", "1.1.0", "again").await.unwrap(), revoked);
    let refused = refusal(world.upload("acme", "1.1.0", &component("b")).await);
    assert_refusal(&refused, "artifact-revoked", "metrics@1.1.0", "a higher version");
}

#[tokio::test]
async fn revoked_bytes_are_refused_under_every_version() {
    let world = World::new().await;
    let digest = world.upload("acme", "1.0.0", &component("a")).await.unwrap().digest;
    world.upload("acme", "1.1.0", &component("a")).await.unwrap();
    world.upload("acme", "1.2.0", &component("b")).await.unwrap();
    let by = caller("acme", Role::Developer);
    let revoked = world.registry.revoke_digest(&by, &id("acme"), &digest, WHY).await.unwrap();
    assert_eq!(revoked.iter().map(|artifact| artifact.version.as_str()).collect::<Vec<_>>(), ["1.0.0", "1.1.0"]);
    let refused = refusal(world.upload("acme", "2.0.0", &component("a")).await);
    assert_refusal(&refused, "digest-revoked", &digest, "build");
    // Another tenant's copy is its own business.
    world.upload("other", "1.0.0", &component("a")).await.unwrap();
    assert!(matches!(
        world.registry.revoke_digest(&by, &id("acme"), "A1", WHY).await,
        Err(RegistryError::Invalid { field: "digest", .. })
    ));
}

#[tokio::test]
async fn uploads_and_revocations_are_in_the_audit_trail() {
    let world = World::new().await;
    let digest = world.upload("acme", "1.0.0", &component("a")).await.unwrap().digest;
    let by = caller("acme", Role::TenantAdmin);
    world.registry.revoke(&by, &id("acme"), "metrics", "1.0.0", WHY).await.unwrap();
    let trail = world.tenancy.audit_trail(&by, Some(&id("acme")), 0, 100).await.unwrap();
    let about: Vec<_> = trail.iter().filter(|record| record.target == "metrics@1.0.0").collect();
    assert_eq!(
        about.iter().map(|record| record.action.as_str()).collect::<Vec<_>>(),
        ["artifact.upload", "artifact.revoke"]
    );
    assert_eq!(about[0].detail["digest"], digest.as_str());
    assert_eq!(about[1].detail["reason"], WHY);
}

#[tokio::test]
async fn what_was_admitted_starts_jobs_after_its_signature_has_run_out_and_its_key_is_gone() {
    let world = World::new().await;
    let admitted = world.upload("acme", "1.0.0", &component("a")).await.unwrap();
    let by = caller("acme", Role::TenantAdmin);
    world.clock.0.store(admitted.expires_at + DAY, Ordering::Relaxed);
    let refused = refusal(world.upload("acme", "1.1.0", &component("b")).await);
    assert_eq!(refused.rule, "expired", "{refused:?}");
    let found = world.registry.find(&id("acme"), "metrics", None).await.unwrap();
    assert_eq!(found.as_ref(), Some(&admitted), "what was admitted in time stays");
    world.clock.0.store(START, Ordering::Relaxed);
    world.tenancy.revoke_key(&by, &id("acme"), &key("acme").public().id().to_string()).await.unwrap();
    let refused = refusal(world.upload("acme", "1.1.0", &component("b")).await);
    assert_eq!(refused.rule, "key-revoked", "{refused:?}");
    assert_eq!(world.registry.fetch(&id("acme"), "metrics", Some("1.0.0")).await.unwrap().artifact, admitted);
    // What shall start no more is revoked by itself.
    world.registry.revoke(&by, &id("acme"), "metrics", "1.0.0", WHY).await.unwrap();
    assert!(matches!(
        world.registry.fetch(&id("acme"), "metrics", Some("1.0.0")).await,
        Err(RegistryError::Revoked { .. })
    ));
}
