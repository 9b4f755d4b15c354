//! The audit trail: every change has its entry, and nobody reads another's.

use serde_json::json;
use tidegate_signing::SecretKey;

use super::*;

async fn actions(world: &World, tenant: Option<&str>) -> Vec<(String, String, String)> {
    let tenant = tenant.map(id);
    let records = world.tenancy.audit_trail(&world.admin, tenant.as_ref(), 0, 100).await.expect("it may");
    records.into_iter().map(|record| (record.subject, record.action, record.target)).collect()
}

fn row(subject: &str, action: &str, target: &str) -> (String, String, String) {
    (subject.to_owned(), action.to_owned(), target.to_owned())
}

#[tokio::test]
async fn says_who_did_what_to_what() {
    let world = World::new().await;
    let acme = id("acme");
    let issued = world.token("acme", Role::TenantAdmin).await;
    let admin = world.tenancy.authenticate(&issued.token).await.expect("it counts");
    let public = SecretKey::from_bytes(&[1; 32]).public();
    let key = world.tenancy.add_key(&admin, &acme, &public, "", None).await.expect("a new key").id;
    world.tenancy.revoke_key(&admin, &acme, &key).await.expect("it is revoked");
    let version = world.tenancy.tenant(&admin, &acme).await.expect("it is there").version;
    let limits = TenantLimits { jobs: 11, ..TenantLimits::default() };
    world.tenancy.set_limits(&world.admin, &acme, version, limits).await.expect("it may");
    world.tenancy.revoke_token(&admin, Some(&acme), &issued.record.id).await.expect("it may");
    let uploaded = AuditEntry {
        tenant: Some(acme.clone()),
        action: "artifact.upload",
        target: "a@1.0.0".into(),
        detail: json!(null),
    };
    world.tenancy.audit(Some(&admin), &uploaded).await.expect("it is recorded");

    let expected = [
        row("root", "tenant.create", "acme"),
        row("root", "token.issue", &issued.record.id),
        row("somebody", "key.add", &key),
        row("somebody", "key.revoke", &key),
        row("root", "tenant.set-limits", "acme"),
        row("somebody", "token.revoke", &issued.record.id),
        row("somebody", "artifact.upload", "a@1.0.0"),
    ];
    assert_eq!(actions(&world, Some("acme")).await, expected);
    // What a platform admin or the program itself did stands in the platform's trail too.
    let expected = [
        row("tidegate", "token.issue", &world.admin.token_id),
        row("root", "tenant.create", "acme"),
        row("root", "tenant.create", "other"),
        row("root", "token.issue", &issued.record.id),
        row("root", "tenant.set-limits", "acme"),
    ];
    assert_eq!(actions(&world, None).await, expected);
}

#[tokio::test]
async fn has_the_limits_before_and_after_and_no_secret() {
    let world = World::new().await;
    let issued = world.token("acme", Role::Viewer).await;
    let version = world.tenancy.tenant(&world.admin, &id("acme")).await.expect("it is there").version;
    let limits = TenantLimits { jobs: 11, ..TenantLimits::default() };
    world.tenancy.set_limits(&world.admin, &id("acme"), version, limits).await.expect("it may");
    let records = world.tenancy.audit_trail(&world.admin, Some(&id("acme")), 0, 100).await.expect("it may");
    let last = records.last().expect("the change");
    assert_eq!((&last.detail["before"]["jobs"], &last.detail["after"]["jobs"]), (&json!(10), &json!(11)));
    assert_eq!((last.at, last.role), (START, Some(Role::PlatformAdmin)));
    assert_eq!(last.token_id.as_ref(), Some(&world.admin.token_id));
    let signature = issued.token.rsplit('.').next().expect("its last part");
    assert!(!format!("{records:?}").contains(signature), "the token's text is nowhere");
}

#[tokio::test]
async fn what_was_refused_leaves_no_entry() {
    let world = World::new().await;
    let before = actions(&world, Some("acme")).await.len();
    let viewer = Caller { subject: "v".into(), role: Role::Viewer, tenant: Some(id("acme")), token_id: "1".into() };
    let public = SecretKey::from_bytes(&[1; 32]).public();
    assert!(is_forbidden(&world.tenancy.add_key(&viewer, &id("acme"), &public, "", None).await));
    let stale = world.tenancy.set_limits(&world.admin, &id("acme"), 0, TenantLimits::default()).await;
    assert!(matches!(stale, Err(TenancyError::Conflict { .. })));
    assert_eq!(actions(&world, Some("acme")).await.len(), before);
}

#[tokio::test]
async fn goes_on_page_by_page() {
    let world = World::new().await;
    for _ in 0..5 {
        world.token("acme", Role::Viewer).await;
    }
    let (mut seen, mut after) = (0, 0);
    loop {
        let page = world.tenancy.audit_trail(&world.admin, Some(&id("acme")), after, 2).await.expect("it may");
        let Some(last) = page.last() else { break };
        assert!(last.position > after);
        after = last.position;
        seen += page.len();
    }
    assert_eq!(seen, 6);
}
