//! Tenants, their limits and keys, and who may do what.
//!
//! Everything that the control plane does for somebody starts here: `Tenancy::authenticate` makes a `Caller` of a bearer
//! token, and every operation asks the caller whether it may. Invariant: a caller of one tenant never learns whether another
//! tenant, or anything of it, exists: it is told that there is nothing.

mod audit;
mod caller;
mod crypto;
mod error;
mod limits;
mod role;
mod signing_keys;
mod tenancy;
mod tenant;
mod token;
mod token_keys;

pub use audit::{AuditEntry, AuditRecord};
pub use caller::{Caller, Denied};
pub use error::TenancyError;
pub use limits::{LIMITS, LimitError, LimitRule, LimitsChange, QuotaExceeded, TenantLimits};
pub use role::{Permission, Role, UnknownRole};
pub use signing_keys::{MAX_KEYS, SigningKey};
pub use tenancy::Tenancy;
pub use tenant::Tenant;
pub use token::{
    AUDIENCE, AuthError, ISSUER, IssuedToken, LEEWAY, MAX_TOKEN_BYTES, MAX_TOKENS, MAX_TTL, SignedToken, TokenRecord,
};
pub use token_keys::{TokenKeyError, TokenKeys};
