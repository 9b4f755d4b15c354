//! Uploads that the signature does not hold for, and roles that may not.

use super::*;

async fn refused(world: &World, component: &Bytes, envelope: Bytes) -> Refusal {
    let by = caller("acme", Role::Developer);
    let answer = world.registry.upload(&by, &id("acme"), component.clone(), envelope).await;
    assert_eq!(world.admission.admitted.load(Ordering::Relaxed), 0, "nothing looks into what is not signed");
    refusal(answer)
}

fn signed(by: &str, tenant: &str, component: &Bytes) -> Bytes {
    envelope(&key(by), tenant, "1.0.0", component, DeclaredLimits::default())
}

#[tokio::test]
async fn bytes_other_than_the_signed_ones_are_refused() {
    let world = World::new().await;
    let (whole, envelope) = (component("whole"), signed("acme", "acme", &component("whole")));
    let truncated = whole.slice(..whole.len() - 1);
    let extended: Bytes = [&whole[..], b"\0"].concat().into();
    for other in [truncated, extended, component("whose")] {
        let refused = refused(&world, &other, envelope.clone()).await;
        assert_refusal(&refused, "digest-mismatch", "component", "take the file that was signed");
    }
}

#[tokio::test]
async fn keys_and_statements_of_other_tenants_are_refused() {
    let world = World::new().await;
    let bytes = component("a");
    let stranger = envelope(&SecretKey::from_bytes(&[9; 32]), "acme", "1.0.0", &bytes, DeclaredLimits::default());
    assert_eq!(refused(&world, &bytes, stranger).await.rule, "key-not-trusted");
    assert_eq!(refused(&world, &bytes, signed("other", "acme", &bytes)).await.rule, "key-not-trusted");
    assert_eq!(refused(&world, &bytes, signed("acme", "other", &bytes)).await.rule, "tenant-mismatch");
    assert_eq!(refused(&world, &bytes, Bytes::from_static(b"{}")).await.rule, "envelope-malformed");
}

#[tokio::test]
async fn a_statement_or_a_key_that_is_over_is_refused() {
    let world = World::new().await;
    let bytes = component("a");
    let envelope = signed("acme", "acme", &bytes);
    world.clock.0.store(START + 31 * DAY, Ordering::Relaxed);
    assert_eq!(refused(&world, &bytes, envelope.clone()).await.rule, "expired");
    world.clock.0.store(START, Ordering::Relaxed);
    let admin = caller("acme", Role::TenantAdmin);
    world.tenancy.revoke_key(&admin, &id("acme"), key("acme").public().id().as_str()).await.unwrap();
    assert_eq!(refused(&world, &bytes, envelope).await.rule, "key-revoked");
}

#[tokio::test]
async fn who_may_not_upload_or_revoke_is_told_so() {
    let world = World::new().await;
    let bytes = component("a");
    let envelope = signed("acme", "acme", &bytes);
    for by in [caller("acme", Role::Viewer), caller("other", Role::Developer), world.admin.clone()] {
        let answer = world.registry.upload(&by, &id("acme"), bytes.clone(), envelope.clone()).await;
        assert!(matches!(answer, Err(RegistryError::Denied(_))), "{answer:?}");
    }
    world.upload("acme", "1.0.0", &bytes).await.unwrap();
    let viewer = caller("acme", Role::Viewer);
    let answer = world.registry.revoke(&viewer, &id("acme"), "metrics", "1.0.0", "").await;
    assert!(matches!(answer, Err(RegistryError::Denied(_))), "{answer:?}");
}

#[tokio::test]
async fn a_refusal_of_admission_comes_through_and_leaves_nothing() {
    let world = World::new().await;
    let refused = refusal(world.upload("acme", "1.0.0", &component("refuse")).await);
    assert_refusal(&refused, "no-hook", "byte 8", "do not");
    assert_eq!(world.registry.find(&id("acme"), "metrics", None).await.unwrap(), None);
    // The version's number is free.
    world.upload("acme", "1.0.0", &component("a")).await.unwrap();
}
