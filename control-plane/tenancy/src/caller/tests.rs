//! Tenant before role, for every role and permission.

use super::*;

fn caller(role: Role, tenant: Option<&str>) -> Caller {
    let tenant = tenant.map(|tenant| tenant.parse().expect("a tenant"));
    Caller { subject: "somebody".into(), role, tenant, token_id: "1".into() }
}

fn tenant(name: &str) -> TenantId {
    name.parse().expect("a tenant")
}

#[test]
fn another_tenant_is_not_there_whatever_the_role_and_the_permission() {
    for role in [Role::TenantAdmin, Role::Developer, Role::Viewer] {
        for permission in Permission::ALL {
            let answer = caller(role, Some("acme")).may(permission, &tenant("other"));
            assert_eq!(answer, Err(Denied::NotFound { tenant: "other".into() }), "{role}: {permission}");
        }
    }
}

#[test]
fn the_own_tenant_is_there_and_the_role_decides() {
    for role in [Role::TenantAdmin, Role::Developer, Role::Viewer] {
        for permission in Permission::ALL {
            let answer = caller(role, Some("acme")).may(permission, &tenant("acme"));
            match answer {
                Ok(()) => assert!(role.has(permission)),
                Err(Denied::Forbidden { role: named, permission: asked, .. }) => {
                    assert!(!role.has(permission));
                    assert_eq!((named, asked), (role, permission));
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_platform_admin_governs_every_tenant_and_touches_nothing_of_it() {
    let admin = caller(Role::PlatformAdmin, None);
    for permission in Permission::ALL {
        assert_eq!(admin.may(permission, &tenant("acme")).is_ok(), Role::PlatformAdmin.has(permission));
        assert_eq!(admin.may_on_platform(permission).is_ok(), Role::PlatformAdmin.has(permission));
    }
    let said = admin.may(Permission::SubmitJob, &tenant("acme")).expect_err("not as a platform admin").to_string();
    assert_eq!(said, "a platform-admin may not submit jobs: issue a token of the tenant and use that one");
    assert!(matches!(admin.own_tenant(Permission::SubmitJob), Err(Denied::Forbidden { .. })));
}

#[test]
fn a_tenants_role_has_nothing_of_the_platform() {
    for role in [Role::TenantAdmin, Role::Developer, Role::Viewer] {
        for permission in Permission::ALL {
            assert!(caller(role, Some("acme")).may_on_platform(permission).is_err(), "{role}: {permission}");
        }
    }
}

#[test]
fn a_caller_that_no_token_makes_has_nothing() {
    for permission in Permission::ALL {
        for (role, own) in [
            (Role::PlatformAdmin, Some("acme")),
            (Role::TenantAdmin, None),
            (Role::Developer, None),
            (Role::Viewer, None),
        ] {
            let caller = caller(role, own);
            assert!(caller.may(permission, &tenant("acme")).is_err(), "{role} of {own:?}: {permission}");
            assert!(caller.may_on_platform(permission).is_err(), "{role} of {own:?}: {permission}");
            assert!(caller.own_tenant(permission).is_err(), "{role} of {own:?}: {permission}");
        }
    }
}

#[test]
fn a_caller_of_a_tenant_acts_in_it() {
    let developer = caller(Role::Developer, Some("acme"));
    assert_eq!(developer.own_tenant(Permission::SubmitJob), Ok(&tenant("acme")));
    assert!(matches!(developer.own_tenant(Permission::ManageKeys), Err(Denied::Forbidden { .. })));
}
