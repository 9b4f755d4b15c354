//! Who may issue what, and what ends a token.

use super::*;
use crate::{AuthError, MAX_TOKENS, MAX_TTL};

#[tokio::test]
async fn a_token_says_who_bears_it() {
    let world = World::new().await;
    let issued = world.token("acme", Role::Developer).await;
    let caller = world.tenancy.authenticate(&issued.token).await.expect("it counts");
    let expected = Caller {
        subject: "somebody".into(),
        role: Role::Developer,
        tenant: Some(id("acme")),
        token_id: issued.record.id.clone(),
    };
    assert_eq!(caller, expected);
    assert_eq!((issued.record.issued_by.as_str(), issued.record.issued_at), ("root", START));
    assert_eq!(issued.record.expires_at, START + 3_600_000);
    assert!(!format!("{issued:?}").contains(&issued.token), "the text is in no log");
    assert!(issued.token.len() < 1_000, "{}", issued.token.len());
}

#[tokio::test]
async fn a_tenants_admin_issues_for_its_own_tenant_only() {
    let world = World::new().await;
    let admin = world.caller("acme", Role::TenantAdmin).await;
    let issue = async |tenant: Option<&str>, role| {
        let tenant = tenant.map(id);
        world.tenancy.issue_token(&admin, tenant.as_ref(), role, "x", HOUR).await
    };
    for role in [Role::TenantAdmin, Role::Developer, Role::Viewer] {
        assert!(issue(Some("acme"), role).await.is_ok());
        assert!(is_missing(&issue(Some("other"), role).await), "another tenant is not there");
        assert!(is_missing(&issue(Some("nobody"), role).await), "as one that does not exist");
    }
    assert!(is_forbidden(&issue(None, Role::PlatformAdmin).await), "nobody makes more of itself");
    assert!(matches!(issue(Some("acme"), Role::PlatformAdmin).await, Err(TenancyError::Invalid { field: "role", .. })));
}

#[tokio::test]
async fn what_is_no_good_token_is_not_issued() {
    let world = World::new().await;
    let issue = async |tenant: Option<&str>, role, subject: &str, ttl| {
        let tenant = tenant.map(id);
        world.tenancy.issue_token(&world.admin, tenant.as_ref(), role, subject, ttl).await
    };
    let acme = Some("acme");
    let second = Duration::from_secs(1);
    assert!(issue(acme, Role::Viewer, "x", MAX_TTL).await.is_ok());
    assert!(issue(acme, Role::Viewer, &"ü".repeat(128), second).await.is_ok());
    for (tenant, role, subject, ttl, field) in [
        (acme, Role::Viewer, "x", MAX_TTL + second, "ttl"),
        (acme, Role::Viewer, "x", Duration::MAX, "ttl"),
        (acme, Role::Viewer, "x", Duration::ZERO, "ttl"),
        (acme, Role::Viewer, "x", Duration::from_millis(999), "ttl"),
        (acme, Role::Viewer, "", HOUR, "subject"),
        (acme, Role::Viewer, "a\nb", HOUR, "subject"),
        (acme, Role::Viewer, &"x".repeat(129), HOUR, "subject"),
        (acme, Role::PlatformAdmin, "x", HOUR, "role"),
        (None, Role::TenantAdmin, "x", HOUR, "role"),
    ] {
        let answer = issue(tenant, role, subject, ttl).await;
        assert!(matches!(&answer, Err(TenancyError::Invalid { field: named, .. }) if *named == field), "{answer:?}");
    }
}

#[tokio::test]
async fn a_revoked_token_counts_no_more() {
    let world = World::new().await;
    let issued = world.token("acme", Role::Developer).await;
    let kept = world.token("acme", Role::Developer).await;
    let admin = world.caller("acme", Role::TenantAdmin).await;
    let acme = Some(id("acme"));
    world.tenancy.revoke_token(&admin, acme.as_ref(), &issued.record.id).await.expect("it is revoked");
    assert_eq!(world.tenancy.authenticate(&issued.token).await, Err(AuthError::Revoked));
    assert!(world.tenancy.authenticate(&kept.token).await.is_ok(), "the other one does");
    world.tenancy.revoke_token(&admin, acme.as_ref(), &issued.record.id).await.expect("a second time changes nothing");
    let tokens = world.tenancy.tokens(&admin, acme.as_ref()).await.expect("it may");
    let revoked: Vec<_> = tokens.iter().filter(|token| token.revoked_at.is_some()).map(|token| &token.id).collect();
    assert_eq!(revoked, [&issued.record.id]);
}

#[tokio::test]
async fn nobody_revokes_what_is_of_others() {
    let world = World::new().await;
    let theirs = world.token("other", Role::Developer).await;
    let admin = world.caller("acme", Role::TenantAdmin).await;
    let revoke = async |tenant: Option<&str>, token: &str| {
        let tenant = tenant.map(id);
        world.tenancy.revoke_token(&admin, tenant.as_ref(), token).await
    };
    let path = format!("../other/{}", theirs.record.id);
    for wrong in [theirs.record.id.as_str(), "", "x", &path, &"0".repeat(32)] {
        assert!(is_missing(&revoke(Some("acme"), wrong).await), "{wrong}");
    }
    assert!(is_missing(&revoke(Some("other"), &theirs.record.id).await));
    assert!(is_forbidden(&revoke(None, &world.admin.token_id).await));
    assert!(world.tenancy.authenticate(&theirs.token).await.is_ok());
}

#[tokio::test]
async fn a_deleted_tenants_tokens_count_no_more() {
    let world = World::new().await;
    let issued = world.token("acme", Role::TenantAdmin).await;
    let version = world.tenancy.tenant(&world.admin, &id("acme")).await.expect("it is there").version;
    world.tenancy.delete_tenant(&world.admin, &id("acme"), version).await.expect("it is deleted");
    assert_eq!(world.tenancy.authenticate(&issued.token).await, Err(AuthError::NoTenant));
    let acme = Some(id("acme"));
    let issued = world.tenancy.issue_token(&world.admin, acme.as_ref(), Role::Viewer, "x", HOUR).await;
    assert!(is_missing(&issued));
}

#[tokio::test]
async fn older_keys_verify_until_they_are_removed() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let dir = folder.path().join("keys");
    let clock = Arc::new(SetClock(AtomicI64::new(START)));
    let store = Arc::new(MemoryStore::new());
    let start = || {
        let keys = TokenKeys::load_or_create(&dir).expect("keys");
        let first = keys.ids()[0].to_owned();
        (Tenancy::new(Arc::clone(&store) as Arc<dyn MetaStore>, keys, Arc::clone(&clock) as Arc<dyn Clock>), first)
    };
    let (before, first) = start();
    let old = before.first_token("root", HOUR).await.expect("a token").token;
    TokenKeys::rotate(&dir).expect("a key");
    let (after, _) = start();
    let new = after.first_token("root", HOUR).await.expect("a token").token;
    assert!(after.authenticate(&old).await.is_ok() && after.authenticate(&new).await.is_ok());
    assert_eq!(before.authenticate(&new).await, Err(AuthError::UnknownKey), "a process that has not loaded it");
    TokenKeys::remove(&dir, &first).expect("it is removed");
    let (last, _) = start();
    assert_eq!(last.authenticate(&old).await, Err(AuthError::UnknownKey));
    assert!(last.authenticate(&new).await.is_ok());
}

#[tokio::test]
async fn expired_tokens_are_cleared_away_and_live_ones_are_bounded() {
    let world = World::new().await;
    let acme = Some(id("acme"));
    let issue = async |ttl| world.tenancy.issue_token(&world.admin, acme.as_ref(), Role::Viewer, "x", ttl).await;
    for _ in 0..MAX_TOKENS {
        issue(HOUR).await.expect("there is room");
    }
    let full = issue(HOUR).await;
    assert!(matches!(full, Err(TenancyError::TooMany { what: "tokens", count: MAX_TOKENS })), "{full:?}");
    assert!(world.tenancy.first_token("root", HOUR).await.is_ok(), "others have room of their own");
    world.set_clock(START + 2 * 3_600_000);
    issue(HOUR).await.expect("the expired ones made room");
    let left = world.tenancy.tokens(&world.admin, acme.as_ref()).await.expect("it may");
    assert_eq!(left.len(), MAX_TOKENS - 100 + 1);
}
