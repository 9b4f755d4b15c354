//! The services' errors as problems: the one place where an error's meaning becomes a code.
//!
//! Invariant: an error's text reaches the client only if it was written for tenants. Texts of the disk, the store and of
//! libraries go to the operator's log.

use tidegate_coordinator::{JobError, SubmitError};
use tidegate_log::LogError;
use tidegate_registry::RegistryError;
use tidegate_signing::Refusal;
use tidegate_store::StoreError;
use tidegate_tenancy::{AuthError, Denied, QuotaExceeded, TenancyError};
use tidegate_types::NameError;

use super::{Problem, codes};
use crate::tables::TablesError;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { .. } => {
                Self::new(codes::CONFLICT, "somebody changed it at the same time; read it again and repeat the change")
            }
            StoreError::Unavailable { reason } => Self::unavailable("the metadata store", reason),
            fault @ (StoreError::Invalid { .. } | StoreError::Corrupt { .. }) => Self::internal(fault.to_string()),
        }
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::NotFound { tenant } => Self::not_found("tenant", &tenant),
            forbidden @ Denied::Forbidden { .. } => Self::new(codes::DENIED, forbidden.to_string()),
        }
    }
}

impl From<AuthError> for Problem {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Store(error) => error.into(),
            refused => Self::new(codes::UNAUTHENTICATED, refused.to_string()),
        }
    }
}

impl From<QuotaExceeded> for Problem {
    fn from(quota: QuotaExceeded) -> Self {
        Self::new(codes::QUOTA_EXCEEDED, quota.to_string())
    }
}

impl From<TenancyError> for Problem {
    fn from(error: TenancyError) -> Self {
        match error {
            TenancyError::Forbidden(denied) => denied.into(),
            TenancyError::NotFound { what, name } => Self::not_found(what, &name),
            exists @ (TenancyError::TenantExists(_) | TenancyError::KeyExists(_)) => {
                Self::new(codes::ALREADY_EXISTS, exists.to_string())
            }
            conflict @ TenancyError::Conflict { .. } => Self::new(codes::CONFLICT, conflict.to_string()),
            TenancyError::Limits(error) => Self::invalid("limits", error.to_string()),
            TenancyError::Invalid { field, reason } => Self::invalid(field, format!("{field}: {reason}")),
            many @ TenancyError::TooMany { .. } => Self::new(codes::QUOTA_EXCEEDED, many.to_string()),
            TenancyError::Keys(error) => Self::internal(error.to_string()),
            TenancyError::Store(error) => error.into(),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let Refusal { rule, place, reason, mend } = refusal;
        Self::new(codes::ARTIFACT_REFUSED, format!("{place}: {reason}")).of_rule(rule, &place, &mend)
    }
}

impl From<RegistryError> for Problem {
    fn from(error: RegistryError) -> Self {
        let text = error.to_string();
        match error {
            RegistryError::Refused(refusal) => refusal.into(),
            RegistryError::VersionNotNewer(Refusal { rule, place, reason, mend }) => {
                Self::new(codes::VERSION_NOT_NEWER, format!("{place}: {reason}")).of_rule(rule, &place, &mend)
            }
            RegistryError::VersionTaken { .. } => Self::new(codes::ALREADY_EXISTS, text),
            RegistryError::NotFound { name } => Self::not_found("artifact", &name),
            RegistryError::Revoked { .. } => Self::new(codes::CONFLICT, text),
            RegistryError::Invalid { field, .. } => Self::invalid(field, text),
            RegistryError::Denied(denied) => denied.into(),
            RegistryError::Quota(quota) => quota.into(),
            RegistryError::Tenancy(error) => error.into(),
            RegistryError::Contended => Self::new(codes::CONFLICT, text),
            RegistryError::Unavailable { reason } => Self::unavailable("the compiler", reason),
            RegistryError::Blobs { reason } => Self::unavailable("the object store", reason),
            RegistryError::Store(error) => error.into(),
        }
    }
}

impl From<SubmitError> for Problem {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::InvalidPipeline { path, line, reason } => {
                Self::new(codes::INVALID_PIPELINE, reason).at_path(path).at_line(number(line))
            }
            SubmitError::UnknownComponent { path, line, reason, .. } => {
                Self::new(codes::UNKNOWN_COMPONENT, reason).at_path(path).at_line(number(line))
            }
            older @ SubmitError::VersionNotNewer { .. } => {
                Self::new(codes::VERSION_NOT_NEWER, older.to_string()).at_path("version")
            }
            SubmitError::Conflict { reason } => Self::new(codes::CONFLICT, reason),
            quota @ SubmitError::Quota { .. } => Self::new(codes::QUOTA_EXCEEDED, quota.to_string()),
            SubmitError::Denied(denied) => denied.into(),
            SubmitError::Unavailable { reason } => Self::new(codes::UNAVAILABLE, reason),
            SubmitError::Store(error) => error.into(),
        }
    }
}

fn number(line: Option<usize>) -> Option<u64> {
    line.and_then(|line| u64::try_from(line).ok())
}

impl From<JobError> for Problem {
    fn from(error: JobError) -> Self {
        match error {
            JobError::NotFound { name } => Self::not_found("job", &name),
            used @ (JobError::StreamInUse { .. } | JobError::JobsRun { .. }) => {
                Self::new(codes::CONFLICT, used.to_string())
            }
            JobError::Denied(denied) => denied.into(),
            JobError::Store(error) => error.into(),
        }
    }
}

impl From<LogError> for Problem {
    fn from(error: LogError) -> Self {
        let text = error.to_string();
        match error {
            LogError::NotFound { stream } => Self::not_found("stream", stream.name.as_str()),
            LogError::NoPartition { .. } => Self::new(codes::NOT_FOUND, text).at_path("partition"),
            LogError::Exists { .. } => Self::new(codes::ALREADY_EXISTS, text),
            LogError::InvalidSpec { field, .. } => Self::invalid(field, text),
            LogError::EmptyBatch { .. } => Self::invalid("body", text),
            LogError::InvalidProducer { .. } => Self::invalid("Tidegate-Producer", text),
            LogError::BatchTooLarge { .. } => Self::new(codes::BODY_TOO_LARGE, text),
            LogError::RecordTooLong { .. } => Self::new(codes::RECORD_TOO_LARGE, text),
            LogError::Sealed { .. } => Self::new(codes::STREAM_SEALED, text),
            LogError::StaleSequence { .. } => Self::new(codes::SEQUENCE_TOO_LOW, text),
            LogError::SequenceReused { .. } => Self::new(codes::SEQUENCE_REUSED, text),
            LogError::StillStaged { .. }
            | LogError::Fenced { .. }
            | LogError::NotBegun { .. }
            | LogError::TransactionDone { .. }
            | LogError::TransactionLost { .. } => Self::new(codes::CONFLICT, text),
            LogError::InvalidName { .. } | LogError::InvalidHold { .. } => Self::invalid("body", text),
            LogError::TooManyProducers { .. }
            | LogError::ProducersFull { .. }
            | LogError::TooManyNames { .. }
            | LogError::NoRoom { .. } => Self::new(codes::QUOTA_EXCEEDED, text),
            LogError::Gone { .. } => Self::new(codes::OFFSET_NOT_KEPT, text),
            LogError::BeyondEnd { .. } => Self::new(codes::OFFSET_OUT_OF_RANGE, text).at_path("from"),
            LogError::Corrupt { .. } | LogError::CorruptMetadata { .. } => Self::internal(text),
            LogError::Storage { .. } | LogError::Stopped { .. } => Self::unavailable("the log", text),
        }
    }
}

impl From<TablesError> for Problem {
    fn from(error: TablesError) -> Self {
        let text = error.to_string();
        match error {
            TablesError::NotFound => Self::new(codes::NOT_FOUND, text),
            TablesError::UnknownColumn { .. } => Self::invalid("where", text),
            TablesError::BadPosition => Self::invalid("after", text),
            TablesError::Unavailable(reason) => Self::unavailable("the tables", reason),
        }
    }
}

/// A name in a path that is none cannot be a thing's: the answer is that there is no such thing.
pub(crate) fn no_such(what: &'static str, name: &str) -> impl FnOnce(NameError) -> Problem {
    let problem = Problem::not_found(what, name);
    move |_| problem
}
