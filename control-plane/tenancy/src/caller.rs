//! Who asks: what an accepted token says, and the one question whether it may.
//!
//! Invariant: `may` compares the tenant before the role. A caller of another tenant is told that there is nothing, whatever its
//! role, so that names of tenants and of their things can not be found out by trying.

use tidegate_types::TenantId;

use crate::{Permission, Role};

/// Somebody whose token was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The name in the token: a person or a machine. For the audit trail, not for decisions.
    pub subject: String,
    /// What it may do.
    pub role: Role,
    /// Where it may do it; none for a platform admin only.
    pub tenant: Option<TenantId>,
    /// The token's id (`jti`).
    pub token_id: String,
}

/// Why a caller may not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// For this caller there is no such tenant. To be answered as if there were none at all.
    #[error("there is no tenant `{tenant}` for this token: look at the list of what there is")]
    NotFound {
        /// The tenant that was asked for.
        tenant: String,
    },
    /// The caller's role does not have the permission.
    #[error("a {role} may not {permission}: {mend}")]
    Forbidden {
        /// The caller's role.
        role: Role,
        /// What it asked for.
        permission: Permission,
        /// What to do.
        mend: &'static str,
    },
}

impl Caller {
    /// Whether this caller may do something in a tenant.
    ///
    /// # Errors
    /// [`Denied`], whose `NotFound` must be answered exactly as a missing thing is.
    pub fn may(&self, permission: Permission, tenant: &TenantId) -> Result<(), Denied> {
        match &self.tenant {
            Some(own) if own != tenant => Err(Denied::NotFound { tenant: tenant.to_string() }),
            // A tenant's role without a tenant is made by no token; it has nothing.
            None if self.role != Role::PlatformAdmin => Err(Denied::NotFound { tenant: tenant.to_string() }),
            Some(_) if self.role == Role::PlatformAdmin => Err(Denied::NotFound { tenant: tenant.to_string() }),
            _ => self.has(permission),
        }
    }

    /// Whether this caller may do something that concerns no single tenant.
    ///
    /// # Errors
    /// [`Denied::Forbidden`].
    pub fn may_on_platform(&self, permission: Permission) -> Result<(), Denied> {
        if self.role == Role::PlatformAdmin && self.tenant.is_none() {
            return self.has(permission);
        }
        Err(Denied::Forbidden { role: self.role, permission, mend: "ask a platform admin" })
    }

    /// The tenant of a caller that acts within one.
    ///
    /// # Errors
    /// [`Denied::Forbidden`] for a platform admin: it needs a token of the tenant.
    pub fn own_tenant(&self, permission: Permission) -> Result<&TenantId, Denied> {
        let tenant = self.tenant.as_ref().ok_or_else(|| self.forbidden(permission))?;
        self.may(permission, tenant)?;
        Ok(tenant)
    }

    fn has(&self, permission: Permission) -> Result<(), Denied> {
        if self.role.has(permission) { Ok(()) } else { Err(self.forbidden(permission)) }
    }

    fn forbidden(&self, permission: Permission) -> Denied {
        let mend = if self.role == Role::PlatformAdmin {
            "issue a token of the tenant and use that one"
        } else {
            "use a token of a role that may"
        };
        Denied::Forbidden { role: self.role, permission, mend }
    }
}

#[cfg(test)]
mod tests;
