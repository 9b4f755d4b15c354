//! Why an operation on tenants did not happen. The variant says which answer it is: forbidden, not there, changed meanwhile,
//! wrong input, beyond a limit, or a fault of ours.

use tidegate_store::StoreError;
use tidegate_types::TenantId;

use crate::{Denied, LimitError, TokenKeyError};

/// Why an operation did not happen. Nothing was changed, unless `Store` says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum TenancyError {
    /// The caller's role may not.
    #[error(transparent)]
    Forbidden(Denied),
    /// There is nothing of this name for this caller.
    #[error("there is no {what} `{name}` for this token: look at the list of what there is")]
    NotFound {
        /// `tenant`, `token`, `key`.
        what: &'static str,
        /// Its name or id.
        name: String,
    },
    /// A tenant of this name exists, or has existed.
    #[error("the tenant `{0}` exists already, or did once: choose another name")]
    TenantExists(TenantId),
    /// The key belongs to a tenant already.
    #[error("the key {0} is registered already: make a new one with `tidegate keygen`")]
    KeyExists(String),
    /// Somebody else changed it meanwhile.
    #[error("the {what} `{name}` was changed meanwhile: read it again and repeat the change")]
    Conflict {
        /// What was changed.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Limits that are not allowed.
    #[error(transparent)]
    Limits(#[from] LimitError),
    /// An input that is not allowed.
    #[error("{field}: {reason}")]
    Invalid {
        /// The input's name.
        field: &'static str,
        /// What is wrong and what is allowed.
        reason: String,
    },
    /// More keys or tokens than a tenant can have.
    #[error("the tenant has {count} {what}, the most there may be: revoke or remove some")]
    TooMany {
        /// `keys`, `tokens`.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// No token can be signed.
    #[error("no token can be signed")]
    Keys(#[from] TokenKeyError),
    /// The store did not do it.
    #[error(transparent)]
    Store(StoreError),
}

impl From<Denied> for TenancyError {
    /// Another tenant's things are answered as missing ones.
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::NotFound { tenant } => Self::NotFound { what: "tenant", name: tenant },
            forbidden @ Denied::Forbidden { .. } => Self::Forbidden(forbidden),
        }
    }
}

impl From<StoreError> for TenancyError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { kind, path } => Self::Conflict { what: kind_name(&kind), name: path },
            other => Self::Store(other),
        }
    }
}

fn kind_name(kind: &str) -> &'static str {
    match kind {
        "tenant" => "tenant",
        "token" => "token",
        "signing-keys" | "signing-key-owner" => "key",
        _ => "document",
    }
}
