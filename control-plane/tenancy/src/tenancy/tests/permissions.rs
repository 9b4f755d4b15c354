//! Every operation by every role: of the tenant, of another tenant, and of the platform.

use tidegate_signing::SecretKey;

use super::*;

/// What an operation answers, without what it answers with.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Answer {
    /// It was allowed (and perhaps failed for another reason).
    Allowed,
    Forbidden,
    Missing,
}

fn answer<T: std::fmt::Debug>(result: &Result<T, TenancyError>) -> Answer {
    match result {
        Err(TenancyError::Forbidden(_)) => Answer::Forbidden,
        // A missing token or key of the own tenant was looked for, and so was allowed.
        Err(TenancyError::NotFound { what: "tenant", .. }) => Answer::Missing,
        _ => Answer::Allowed,
    }
}

/// Every operation on a tenant: its permission, and what it answers.
async fn on_tenant(world: &World, by: &Caller, tenant: &TenantId) -> Vec<(Permission, Answer)> {
    let tenancy = &world.tenancy;
    let public = SecretKey::from_bytes(&[1; 32]).public();
    let zero = "0".repeat(32);
    let limits = TenantLimits::default;
    vec![
        (Permission::ReadTenant, answer(&tenancy.tenant(by, tenant).await)),
        (Permission::SetLimits, answer(&tenancy.set_limits(by, tenant, 0, limits()).await)),
        (Permission::DeleteTenant, answer(&tenancy.delete_tenant(by, tenant, 0).await)),
        (Permission::IssueToken, answer(&tenancy.issue_token(by, Some(tenant), Role::Viewer, "x", HOUR).await)),
        (Permission::RevokeToken, answer(&tenancy.revoke_token(by, Some(tenant), &zero).await)),
        (Permission::ReadTokens, answer(&tenancy.tokens(by, Some(tenant)).await)),
        (Permission::ManageKeys, answer(&tenancy.add_key(by, tenant, &public, "", None).await)),
        (Permission::ManageKeys, answer(&tenancy.revoke_key(by, tenant, "ed25519:0").await)),
        (Permission::ReadKeys, answer(&tenancy.keys(by, tenant).await)),
        (Permission::ReadAudit, answer(&tenancy.audit_trail(by, Some(tenant), 0, 1).await)),
    ]
}

/// Every operation on the platform.
async fn on_platform(world: &World, by: &Caller) -> Vec<(Permission, Answer)> {
    let tenancy = &world.tenancy;
    let zero = "0".repeat(32);
    vec![
        (Permission::CreateTenant, answer(&tenancy.create_tenant(by, &id("new"), TenantLimits::default()).await)),
        (Permission::ListTenants, answer(&tenancy.tenants(by, None, 1).await)),
        (Permission::IssueToken, answer(&tenancy.issue_token(by, None, Role::PlatformAdmin, "x", HOUR).await)),
        (Permission::RevokeToken, answer(&tenancy.revoke_token(by, None, &zero).await)),
        (Permission::ReadTokens, answer(&tenancy.tokens(by, None).await)),
        (Permission::ReadAudit, answer(&tenancy.audit_trail(by, None, 0, 1).await)),
    ]
}

#[tokio::test]
async fn in_its_own_tenant_the_table_decides() {
    let world = World::new().await;
    for role in [Role::TenantAdmin, Role::Developer, Role::Viewer] {
        let caller = world.caller("acme", role).await;
        for (permission, answer) in on_tenant(&world, &caller, &id("acme")).await {
            let expected = if role.has(permission) { Answer::Allowed } else { Answer::Forbidden };
            assert_eq!(answer, expected, "{role}: {permission}");
        }
    }
}

#[tokio::test]
async fn another_tenant_is_answered_as_one_that_is_not_there() {
    let world = World::new().await;
    for role in [Role::TenantAdmin, Role::Developer, Role::Viewer] {
        let caller = world.caller("acme", role).await;
        for (permission, answer) in on_tenant(&world, &caller, &id("other")).await {
            assert_eq!(answer, Answer::Missing, "{role}: {permission}");
        }
        // To the last letter.
        let words =
            async |name: &str| world.tenancy.keys(&caller, &id(name)).await.map(drop).expect_err("missing").to_string();
        assert_eq!(words("other").await, words("nobody").await.replace("nobody", "other"));
    }
}

#[tokio::test]
async fn the_platform_is_the_platform_admins() {
    let world = World::new().await;
    for (permission, answer) in on_platform(&world, &world.admin).await {
        assert_eq!(answer, Answer::Allowed, "{permission}");
    }
    for role in [Role::TenantAdmin, Role::Developer, Role::Viewer] {
        let caller = world.caller("acme", role).await;
        for (permission, answer) in on_platform(&world, &caller).await {
            assert_eq!(answer, Answer::Forbidden, "{role}: {permission}");
        }
    }
}

#[tokio::test]
async fn a_platform_admin_has_a_tenants_things_by_a_token_of_the_tenant_only() {
    let world = World::new().await;
    for (permission, answer) in on_tenant(&world, &world.admin, &id("acme")).await {
        let expected = if Role::PlatformAdmin.has(permission) { Answer::Allowed } else { Answer::Forbidden };
        assert_eq!(answer, expected, "{permission}");
    }
    for (permission, answer) in on_tenant(&world, &world.admin, &id("nobody")).await {
        let expected = if Role::PlatformAdmin.has(permission) { Answer::Missing } else { Answer::Forbidden };
        assert_eq!(answer, expected, "{permission}");
    }
}
