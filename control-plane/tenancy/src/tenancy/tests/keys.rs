//! Signing keys: whose they are, and how long.

use tidegate_signing::{PublicKey, SecretKey};

use super::*;
use crate::MAX_KEYS;

fn key(number: u8) -> PublicKey {
    SecretKey::from_bytes(&[number; 32]).public()
}

#[tokio::test]
async fn a_key_is_added_listed_and_revoked() {
    let world = World::new().await;
    let (tenancy, acme) = (&world.tenancy, id("acme"));
    let admin = world.caller("acme", Role::TenantAdmin).await;
    let added = tenancy.add_key(&admin, &acme, &key(1), "laptop", Some(START + 1)).await.expect("a new key");
    assert_eq!((added.id.as_str(), added.label.as_str()), (key(1).id().as_str(), "laptop"));
    tenancy.add_key(&admin, &acme, &key(2), "", None).await.expect("a second");

    world.set_clock(START + 5_000);
    let revoked = tenancy.revoke_key(&admin, &acme, &added.id).await.expect("it is revoked");
    assert_eq!(revoked.revoked_at, Some(START + 5_000));
    world.set_clock(START + 9_000);
    let again = tenancy.revoke_key(&admin, &acme, &added.id).await.expect("a second time changes nothing");
    assert_eq!(again, revoked);

    let keys = tenancy.keys(&admin, &acme).await.expect("it may");
    assert_eq!(keys.iter().map(|key| key.revoked_at).collect::<Vec<_>>(), [Some(START + 5_000), None]);
    let trusted = tenancy.trusted_keys(&acme).await.expect("the tenant is there");
    let seen: Vec<_> = trusted.iter().map(|key| (&key.key, key.tenant.as_str(), key.not_after, key.revoked)).collect();
    assert_eq!(seen, [(&key(1), "acme", Some(START + 1), true), (&key(2), "acme", None, false)]);
    assert!(tenancy.trusted_keys(&id("other")).await.expect("the tenant is there").is_empty());
    assert!(is_missing(&tenancy.trusted_keys(&id("nobody")).await.map(drop)));
}

#[tokio::test]
async fn a_key_belongs_to_one_tenant_for_ever() {
    let world = World::new().await;
    let tenancy = &world.tenancy;
    let (ours, theirs) =
        (world.caller("acme", Role::TenantAdmin).await, world.caller("other", Role::TenantAdmin).await);
    let (acme, other) = (id("acme"), id("other"));
    let added = tenancy.add_key(&ours, &acme, &key(1), "", None).await.expect("a new key");
    let taken = |answer: Result<_, _>| matches!(answer, Err(TenancyError::KeyExists(id)) if id == added.id);
    assert!(taken(tenancy.add_key(&theirs, &other, &key(1), "", None).await), "by another");
    assert!(taken(tenancy.add_key(&ours, &acme, &key(1), "", None).await), "by itself");
    tenancy.revoke_key(&ours, &acme, &added.id).await.expect("it is revoked");
    assert!(taken(tenancy.add_key(&theirs, &other, &key(1), "", None).await), "a revoked one too");
    assert!(taken(tenancy.add_key(&ours, &acme, &key(1), "", None).await), "it does not come back");
    assert!(is_missing(&tenancy.revoke_key(&theirs, &other, &added.id).await), "another's key is not there");
    assert!(tenancy.keys(&theirs, &other).await.expect("it may").is_empty(), "nothing half-done is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_are_added_at_once_are_all_there_or_refused() {
    let world = Arc::new(World::new().await);
    let admin = world.caller("acme", Role::TenantAdmin).await;
    let mut adding = tokio::task::JoinSet::new();
    for number in 1..=8 {
        let (world, admin) = (Arc::clone(&world), admin.clone());
        adding.spawn(async move { world.tenancy.add_key(&admin, &id("acme"), &key(number), "", None).await });
    }
    let answers = adding.join_all().await;
    let added = answers.iter().filter(|answer| answer.is_ok()).count();
    let refused =
        answers.iter().filter(|answer| matches!(answer, Err(TenancyError::Conflict { what: "key", .. }))).count();
    assert_eq!((added > 0, added + refused), (true, 8), "{answers:?}");
    assert_eq!(world.tenancy.keys(&admin, &id("acme")).await.expect("it may").len(), added);
}

#[tokio::test]
async fn a_tenant_has_so_many_keys_and_plain_labels() {
    let world = World::new().await;
    let (tenancy, acme) = (&world.tenancy, id("acme"));
    let admin = world.caller("acme", Role::TenantAdmin).await;
    for label in ["a\nb", &"x".repeat(129)] {
        let answer = tenancy.add_key(&admin, &acme, &key(1), label, None).await;
        assert!(matches!(answer, Err(TenancyError::Invalid { field: "label", .. })), "{answer:?}");
    }
    for number in 0..MAX_KEYS {
        let number = u8::try_from(number).expect("a few");
        tenancy.add_key(&admin, &acme, &key(number), "", None).await.expect("there is room");
    }
    let full = tenancy.add_key(&admin, &acme, &key(200), "", None).await;
    assert!(matches!(full, Err(TenancyError::TooMany { what: "keys", .. })), "{full:?}");
}
