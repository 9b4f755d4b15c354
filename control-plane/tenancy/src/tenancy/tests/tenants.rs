//! Tenants and their limits.

use super::*;
use crate::LimitError;

#[tokio::test]
async fn a_tenant_is_made_once_for_ever() {
    let world = World::new().await;
    let (tenancy, admin) = (&world.tenancy, &world.admin);
    let create = async || tenancy.create_tenant(admin, &id("acme"), TenantLimits::default()).await;
    assert!(matches!(create().await, Err(TenancyError::TenantExists(_))));
    let acme = tenancy.tenant(admin, &id("acme")).await.expect("it is there");
    assert_eq!((acme.created_at, &acme.limits), (START, &TenantLimits::default()));

    tenancy.delete_tenant(admin, &id("acme"), acme.version).await.expect("it is deleted");
    assert!(is_missing(&tenancy.tenant(admin, &id("acme")).await));
    assert!(is_missing(&tenancy.delete_tenant(admin, &id("acme"), acme.version).await));
    assert!(is_missing(&tenancy.set_limits(admin, &id("acme"), acme.version, TenantLimits::default()).await));
    assert!(is_missing(&tenancy.limits_of(&id("acme")).await.map(drop)));
    assert!(matches!(create().await, Err(TenancyError::TenantExists(_))), "not even after it was deleted");
    let (left, next) = tenancy.tenants(admin, None, 10).await.expect("it may");
    assert_eq!((left.iter().map(|tenant| tenant.id.as_str()).collect::<Vec<_>>(), next), (vec!["other"], None));
}

#[tokio::test]
async fn pages_of_tenants_skip_the_deleted_and_go_on() {
    let world = World::new().await;
    let (tenancy, admin) = (&world.tenancy, &world.admin);
    for name in ["b", "c", "d"] {
        tenancy.create_tenant(admin, &id(name), TenantLimits::default()).await.expect("a new tenant");
    }
    let version = tenancy.tenant(admin, &id("b")).await.expect("it is there").version;
    tenancy.delete_tenant(admin, &id("b"), version).await.expect("it is deleted");
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let (page, next) = tenancy.tenants(admin, after.as_deref(), 2).await.expect("it may");
        seen.extend(page.into_iter().map(|tenant| tenant.id.to_string()));
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["acme", "c", "d", "other"]);
}

#[tokio::test]
async fn limits_are_set_by_who_read_them_last() {
    let world = World::new().await;
    let (tenancy, admin) = (&world.tenancy, &world.admin);
    let read = tenancy.tenant(admin, &id("acme")).await.expect("it is there").version;
    let set = async |version, jobs| {
        let limits = TenantLimits { jobs, ..TenantLimits::default() };
        tenancy.set_limits(admin, &id("acme"), version, limits).await
    };
    // Two admins read the same version. The second is told, and nothing of the first's is lost.
    let first = set(read, 20).await.expect("the first");
    assert!(first.version > read);
    let second = set(read, 30).await;
    assert!(matches!(&second, Err(TenancyError::Conflict { what: "tenant", name }) if name == "acme"), "{second:?}");
    assert_eq!(tenancy.limits_of(&id("acme")).await.expect("it is there").jobs, 20);
    set(first.version, 30).await.expect("after reading again");
    assert_eq!(tenancy.limits_of(&id("acme")).await.expect("it is there").jobs, 30);
    assert_eq!(tenancy.limits_of(&id("other")).await.expect("it is there"), TenantLimits::default());
}

#[tokio::test]
async fn limits_beyond_the_hard_bounds_are_not_set() {
    let world = World::new().await;
    let version = world.tenancy.tenant(&world.admin, &id("acme")).await.expect("it is there").version;
    for limits in [
        TenantLimits { jobs: 0, ..TenantLimits::default() },
        TenantLimits { lanes: u32::MAX, ..TenantLimits::default() },
        TenantLimits { call_fuel: u64::MAX, ..TenantLimits::default() },
    ] {
        let set = world.tenancy.set_limits(&world.admin, &id("acme"), version, limits.clone()).await;
        assert!(matches!(set, Err(TenancyError::Limits(LimitError::OutOfBounds { .. }))), "{set:?}");
        let made = world.tenancy.create_tenant(&world.admin, &id("third"), limits).await;
        assert!(matches!(made, Err(TenancyError::Limits(LimitError::OutOfBounds { .. }))), "{made:?}");
    }
    assert!(is_missing(&world.tenancy.tenant(&world.admin, &id("third")).await));
}
