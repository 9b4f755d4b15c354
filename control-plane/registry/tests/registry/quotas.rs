//! A tenant's limits, and what a component declares.

use super::*;

#[tokio::test]
async fn what_is_declared_beyond_the_tenants_limits_is_refused() {
    let world = World::new().await;
    let bytes = component("a");
    let by = caller("acme", Role::Developer);
    let most = TenantLimits::default();
    let declaring = async |call_fuel, memory_bytes| {
        let limits = DeclaredLimits { call_fuel, memory_bytes };
        let envelope = envelope(&key("acme"), "acme", "1.0.0", &bytes, limits);
        world.registry.upload(&by, &id("acme"), bytes.clone(), envelope).await
    };
    let refused = refusal(declaring(Some(most.call_fuel + 1), None).await);
    assert_refusal(&refused, "limits-exceed-quota", "limits.call_fuel", "ask a platform admin");
    let refused = refusal(declaring(None, Some(most.memory_bytes + 1)).await);
    assert_refusal(&refused, "limits-exceed-quota", "limits.memory_bytes", "declare less");
    assert_eq!(world.admission.admitted.load(Ordering::Relaxed), 0);
    declaring(Some(most.call_fuel), Some(1 << 20)).await.unwrap();
    let granted = world.admission.last.lock().unwrap().as_ref().unwrap().granted;
    assert_eq!(granted, GrantedLimits { call_fuel: most.call_fuel, memory_bytes: 1 << 20 });
}

#[tokio::test]
async fn two_tenants_components_are_granted_their_own_tenants_limits() {
    let world = World::new().await;
    world.set_limits("other", |limits| limits.call_fuel = 5_000_000).await;
    for (tenant, fuel) in [("acme", 80_000_000), ("other", 5_000_000)] {
        world.upload(tenant, "1.0.0", &component("a")).await.unwrap();
        let granted = world.admission.last.lock().unwrap().as_ref().unwrap().granted;
        assert_eq!(granted.call_fuel, fuel, "{tenant}");
        assert_eq!(world.registry.fetch(&id(tenant), "metrics", None).await.unwrap().granted, granted);
    }
    // A limit that is changed later counts from then on.
    world.set_limits("acme", |limits| limits.call_fuel = 1_000_000).await;
    assert_eq!(world.registry.fetch(&id("acme"), "metrics", None).await.unwrap().granted.call_fuel, 1_000_000);
}

#[tokio::test]
async fn more_versions_than_the_tenant_may_have_are_refused() {
    let world = World::new().await;
    world.set_limits("acme", |limits| limits.artifacts = 2).await;
    for version in ["1.0.0", "1.1.0"] {
        world.upload("acme", version, &component(version)).await.unwrap();
    }
    let answer = world.upload("acme", "1.2.0", &component("c")).await;
    assert!(matches!(&answer, Err(RegistryError::Quota(quota)) if quota.limit == "artifacts"), "{answer:?}");
    // A revoked one still takes its place: its number and its bytes are kept.
    let by = caller("acme", Role::Developer);
    world.registry.revoke(&by, &id("acme"), "metrics", "1.0.0", "old").await.unwrap();
    assert!(world.upload("acme", "1.2.0", &component("c")).await.is_err());
}

#[tokio::test]
async fn a_component_beyond_the_tenants_size_is_not_even_hashed() {
    let world = World::new().await;
    world.set_limits("acme", |limits| limits.artifact_bytes = 64 * 1024).await;
    let large: Bytes = vec![0; 64 * 1024 + 1].into();
    let by = caller("acme", Role::Developer);
    let answer = world.registry.upload(&by, &id("acme"), large, Bytes::new()).await;
    assert!(matches!(&answer, Err(RegistryError::Quota(quota)) if quota.limit == "artifact_bytes"), "{answer:?}");
}
