//! What went wrong, in words for the tenant, and whose fault it is: the platform's faults restart a job, the tenant's do not.
//!
//! Invariant: a reason names no path, no other tenant and nothing of the inside; that goes to the operator's log.

use tidegate_connectors::{SinkError, SourceError};
use tidegate_coordinator::{JobKey, RunEnd, StartError};
use tidegate_dataflow::OperatorError;
use tidegate_dataflow::task::TaskError;
use tidegate_log::{ErrorKind, LogError};
use tidegate_registry::RegistryError;
use tidegate_sandbox::OpenError;
use tidegate_sink_sqlite::TableError;
use tidegate_tenancy::TenancyError;
use tidegate_worker::{KeepError, RunEnd as Ended, RunError};

use super::tenants::TenantHost;
use crate::failure::describe;
use crate::hooks::Unopened;

/// The platform cannot start the job.
pub(super) fn lost(reason: &str) -> StartError {
    StartError::Platform { reason: format!("the platform cannot start the job: {reason}") }
}

/// The job runs already: the coordinator's mistake.
pub(super) fn already_runs() -> StartError {
    lost("it runs already")
}

/// A thread cannot be started.
pub(super) fn no_threads(error: &std::io::Error) -> StartError {
    tracing::error!(%error, "no thread for a job");
    lost("the machine has no threads left")
}

/// The pipeline asks for what cannot be.
pub(super) fn invalid(path: impl Into<String>, reason: impl ToString) -> StartError {
    StartError::Invalid { path: path.into(), reason: reason.to_string() }
}

pub(super) fn tenancy_refused(error: &TenancyError) -> StartError {
    tracing::error!(%error, "a tenant's limits cannot be read");
    lost("the tenant's limits cannot be read")
}

pub(super) fn registry_refused(path: &str, error: RegistryError) -> StartError {
    match error {
        RegistryError::NotFound { .. } | RegistryError::Revoked { .. } | RegistryError::Refused(_) => {
            invalid(format!("{path}.component"), error)
        }
        error => {
            tracing::error!(%error, path, "a component cannot be fetched");
            lost("a component cannot be fetched from the registry")
        }
    }
}

pub(super) fn not_opened(unopened: Unopened, host: &TenantHost) -> StartError {
    match unopened {
        Unopened::Hook { error: OpenError::Platform { .. }, path } if host.memory.was_exhausted() => {
            invalid(path, memory_used_up(host))
        }
        Unopened::Hook { error: OpenError::Interrupted { .. } | OpenError::Platform { .. }, path } => {
            lost(&format!("the hook at `{path}` could not be opened now"))
        }
        Unopened::Hook { error, path } => invalid(path, error),
        Unopened::Fit(error) => invalid(error.path, error.reason),
    }
}

/// The table of the sink that stands at `sink` cannot be used.
pub(super) fn table_refused(sink: &str, error: &TableError) -> StartError {
    let path = match error {
        TableError::KeyField { .. } => format!("{sink}.key"),
        _ => format!("{sink}.table"),
    };
    match error.kind() {
        tidegate_connectors::ErrorKind::Invalid => invalid(path, error),
        tidegate_connectors::ErrorKind::External => {
            tracing::error!(error = describe(error), "a table cannot be opened");
            lost(&error.to_string())
        }
    }
}

/// What an earlier start has left in an output cannot be settled.
pub(super) fn output_refused(error: &SinkError) -> StartError {
    match error {
        SinkError::TransactionLost { .. } | SinkError::Recover { .. } => invalid("sink", error),
        error => {
            tracing::error!(error = describe(error), "an output cannot be brought to its checkpoint");
            lost("an output cannot be brought to where the job's checkpoint left it")
        }
    }
}

/// A stream that the pipeline names at `path` cannot be used.
pub(super) fn stream_refused(path: &str, error: &LogError) -> StartError {
    if is_the_tenants(error) {
        return invalid(path, error);
    }
    tracing::error!(%error, path, "a stream cannot be opened");
    lost("a stream cannot be opened")
}

/// Whether the tenant made the stream what it is.
fn is_the_tenants(error: &LogError) -> bool {
    match error.kind() {
        ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::Gone | ErrorKind::Quota => true,
        ErrorKind::Corrupt | ErrorKind::External => false,
    }
}

/// The tenant's instances hold all the memory that it may have.
fn memory_used_up(host: &TenantHost) -> String {
    format!(
        "the hooks of the tenant's jobs have used up its limit `memory_bytes` ({} bytes for all of them together); run fewer \
         or smaller ones, or ask a platform admin for more",
        host.memory_bytes
    )
}

/// How a run ended, for the coordinator: `verdict` is why it had to, if it had. What the tenant is not told goes to the
/// operator's log.
pub(super) fn end_of(key: &JobKey, ended: Result<Ended, RunError>, host: &TenantHost, verdict: Option<&str>) -> RunEnd {
    match (ended, verdict) {
        (Ok(Ended::Finished(_)), _) => RunEnd::Finished,
        (_, Some(verdict)) => RunEnd::TenantFault { reason: verdict.to_owned() },
        (ended, None) => end_by_itself(key, ended, host),
    }
}

fn end_by_itself(key: &JobKey, ended: Result<Ended, RunError>, host: &TenantHost) -> RunEnd {
    match ended {
        Ok(Ended::Finished(_)) => RunEnd::Finished,
        Ok(Ended::Stopped(_)) => RunEnd::Stopped,
        Err(error) => {
            tracing::warn!(tenant = %key.tenant, job = %key.name, error = describe(&error), "a job's run has failed");
            failed(&error, host)
        }
    }
}

/// Why state cannot be kept, without what is the platform's own.
fn kept_reason(error: &KeepError) -> String {
    match error {
        KeepError::State(_) => "the platform's disk failed".to_owned(),
        KeepError::Fenced(_) | KeepError::Failed { .. } => error.to_string(),
    }
}

fn failed(error: &RunError, host: &TenantHost) -> RunEnd {
    if let RunError::Keep(error) = error {
        return RunEnd::PlatformFault { reason: format!("its state cannot be kept: {}", kept_reason(error)) };
    }
    let RunError::Task(task) = error else {
        return RunEnd::PlatformFault { reason: "a defect of Tidegate, or a machine without threads".to_owned() };
    };
    let reason = task.to_string();
    match task {
        TaskError::Source(SourceError::Stopped) => RunEnd::Stopped,
        // Starting again from the same checkpoint meets the same.
        TaskError::Source(SourceError::Overtaken { .. } | SourceError::Position { .. } | SourceError::Malformed(_))
        | TaskError::Sink(SinkError::Full { .. } | SinkError::TransactionLost { .. } | SinkError::Recover { .. }) => {
            RunEnd::TenantFault { reason }
        }
        TaskError::Source(SourceError::Log { source, .. }) | TaskError::Sink(SinkError::Log { source, .. })
            if is_the_tenants(source) =>
        {
            RunEnd::TenantFault { reason: format!("{reason}: {source}") }
        }
        TaskError::Operator(OperatorError::Platform { .. }) if host.memory.was_exhausted() => {
            RunEnd::TenantFault { reason: memory_used_up(host) }
        }
        // A hook that the wall clock stops may have been on a busy machine; it is tried again, and not for ever.
        TaskError::Source(_) | TaskError::Sink(_) | TaskError::Operator(_) => RunEnd::PlatformFault { reason },
    }
}
