//! Who asks: a bearer token becomes a caller.
//!
//! Invariant: [`By`] and [`Scope`] are taken from the request's head, before its body, so a request without a token is
//! refused whatever else is wrong with it.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use tidegate_tenancy::{AuthError, Caller, Permission, SignedToken, Tenancy};
use tidegate_types::TenantId;

use super::one_header;
use crate::problem::{Problem, codes};
use crate::services::Shared;

/// Somebody whose token was accepted.
pub(crate) struct By {
    pub(crate) caller: Caller,
}

/// Somebody who acts within the tenant of its token.
pub(crate) struct Scope {
    pub(crate) caller: Caller,
    pub(crate) tenant: TenantId,
}

/// Whose request this is as far as its token's signature tells. The gate shares out places by it; rights come from [`By`].
pub(crate) enum Claimant {
    /// Nobody's: there is no token, or nobody signed it.
    Stranger,
    Platform,
    Tenant(TenantId),
}

/// The token that a request brings, verified once: by the gate, which leaves it here for whoever asks for the caller.
#[derive(Clone)]
pub(crate) struct Presented(Result<SignedToken, Refused>);

/// Why a request brings no token that was signed.
#[derive(Clone)]
enum Refused {
    /// The header says so.
    Head(Problem),
    Token(AuthError),
}

impl Presented {
    pub(crate) fn by(headers: &HeaderMap, tenancy: &Tenancy) -> Self {
        let signed = bearer(headers).map_err(Refused::Head);
        Self(signed.and_then(|token| tenancy.signed(token).map_err(Refused::Token)))
    }

    pub(crate) fn claimant(&self) -> Claimant {
        match &self.0 {
            Ok(token) => token.tenant().cloned().map_or(Claimant::Platform, Claimant::Tenant),
            Err(_) => Claimant::Stranger,
        }
    }

    fn signed(self) -> Result<SignedToken, Problem> {
        self.0.map_err(|refused| match refused {
            Refused::Head(problem) => problem,
            Refused::Token(error) => error.into(),
        })
    }
}

/// The token that a request brings.
fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let refused = |why: &str| Problem::new(codes::UNAUTHENTICATED, why);
    let header = one_header(headers, AUTHORIZATION.as_str()).map_err(|_| refused("the token is not readable"))?;
    let header = header.ok_or_else(|| refused("there is no bearer token"))?;
    let (scheme, token) = header.split_once(' ').ok_or_else(|| refused("there is no bearer token"))?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(refused("the scheme of `Authorization` is not `Bearer`"));
    }
    Ok(token.trim())
}

impl FromRequestParts<Shared> for By {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Shared) -> Result<Self, Problem> {
        let presented = parts.extensions.get::<Presented>().cloned();
        let presented = presented.ok_or_else(|| Problem::internal("a request came past the gate".to_owned()))?;
        Ok(Self { caller: api.services.tenancy.admit(presented.signed()?).await? })
    }
}

impl FromRequestParts<Shared> for Scope {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Shared) -> Result<Self, Problem> {
        let By { caller } = By::from_request_parts(parts, api).await?;
        match caller.tenant.clone() {
            Some(tenant) => Ok(Self { caller, tenant }),
            None => Err(Problem::new(
                codes::DENIED,
                "this token belongs to no tenant, and the path is a tenant's; issue a token of the tenant \
                 (`POST /v1/tenants/{tenant}/tokens`) and use that one",
            )),
        }
    }
}

impl Scope {
    /// Whether the caller's role may do this in its tenant.
    pub(crate) fn may(&self, permission: Permission) -> Result<(), Problem> {
        Ok(self.caller.may(permission, &self.tenant)?)
    }
}
