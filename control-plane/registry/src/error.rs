//! Why the registry does not do what it was asked.

use tidegate_signing::Refusal;
use tidegate_store::StoreError;
use tidegate_tenancy::{Denied, QuotaExceeded, TenancyError};

use crate::admission::AdmissionError;

/// Why the registry does not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The component, its signature or its statement breaks a rule.
    #[error(transparent)]
    Refused(Refusal),
    /// The version is not higher than the highest that was ever admitted (the rule `version-not-newer`).
    #[error(transparent)]
    VersionNotNewer(Refusal),
    /// The version exists with other bytes.
    #[error(
        "`{name}@{version}` exists already with other bytes: versions never change, raise the version and sign again"
    )]
    VersionTaken {
        /// The artifact's name.
        name: String,
        /// Its version.
        version: String,
    },
    /// There is no such artifact for this caller.
    #[error("there is no artifact `{name}`: look at the list of what there is")]
    NotFound {
        /// `name` or `name@version`.
        name: String,
    },
    /// The artifact was revoked: no job starts with it.
    #[error("the artifact `{name}@{version}` was revoked ({reason}): use another version")]
    Revoked {
        /// The artifact's name.
        name: String,
        /// Its version.
        version: String,
        /// Why, in the revoker's words.
        reason: String,
    },
    /// An input that is not allowed.
    #[error("{field}: {reason}")]
    Invalid {
        /// The input's name.
        field: &'static str,
        /// What is wrong and what is allowed.
        reason: String,
    },
    /// The caller may not.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// Beyond a limit of the tenant.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The tenant's record or keys could not be read.
    #[error(transparent)]
    Tenancy(TenancyError),
    /// Too many uploads of this tenant at the same time.
    #[error("other uploads of the tenant came between each time: try again")]
    Contended,
    /// The host could not find out (busy, no memory, no process): try again.
    #[error("the component could not be looked at: {reason}")]
    Unavailable {
        /// What failed, for the operator.
        reason: String,
    },
    /// The object store does not have what it should, or cannot be used.
    #[error("the object store: {reason}")]
    Blobs {
        /// What failed, for the operator.
        reason: String,
    },
    /// The metadata store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refusal> for RegistryError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<AdmissionError> for RegistryError {
    fn from(error: AdmissionError) -> Self {
        match error {
            AdmissionError::Refused(refusal) => Self::Refused(refusal),
            AdmissionError::Unavailable { reason } => Self::Unavailable { reason },
        }
    }
}

impl From<TenancyError> for RegistryError {
    fn from(error: TenancyError) -> Self {
        match error {
            TenancyError::Forbidden(denied) => Self::Denied(denied),
            TenancyError::NotFound { name, .. } => Self::Denied(Denied::NotFound { tenant: name }),
            TenancyError::Store(error) => Self::Store(error),
            other => Self::Tenancy(other),
        }
    }
}
