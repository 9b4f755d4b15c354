//! Who asks: a bearer token becomes a caller.
//!
//! Invariant: [`By`] and [`Scope`] are taken from the request's head, before its body, so a request without a token is
//! refused whatever else is wrong with it.

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use tidegate_tenancy::{Caller, Permission};
use tidegate_types::TenantId;
use tokio::sync::OwnedSemaphorePermit;

use super::one_header;
use crate::problem::{Problem, codes};
use crate::services::Shared;

/// Somebody whose token was accepted.
pub(crate) struct By {
    pub(crate) caller: Caller,
    /// The place that its tenant gives to the request, until the request has ended.
    place: Option<OwnedSemaphorePermit>,
}

/// Somebody who acts within the tenant of its token.
pub(crate) struct Scope {
    pub(crate) caller: Caller,
    pub(crate) tenant: TenantId,
    _place: Option<OwnedSemaphorePermit>,
}

impl FromRequestParts<Shared> for By {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Shared) -> Result<Self, Problem> {
        let refused = |why: &str| Problem::new(codes::UNAUTHENTICATED, why);
        let header =
            one_header(&parts.headers, AUTHORIZATION.as_str()).map_err(|_| refused("the token is not readable"))?;
        let header = header.ok_or_else(|| refused("there is no bearer token"))?;
        let (scheme, token) = header.split_once(' ').ok_or_else(|| refused("there is no bearer token"))?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(refused("the scheme of `Authorization` is not `Bearer`"));
        }
        let caller = api.services.tenancy.authenticate(token.trim()).await?;
        let place = caller.tenant.as_ref().map(|tenant| api.places.enter_as(tenant)).transpose()?;
        Ok(Self { caller, place })
    }
}

impl FromRequestParts<Shared> for Scope {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Shared) -> Result<Self, Problem> {
        let By { caller, place } = By::from_request_parts(parts, api).await?;
        match caller.tenant.clone() {
            Some(tenant) => Ok(Self { caller, tenant, _place: place }),
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
