//! A deployed hook's log lines, in the operator's log with the job that they are of.

use tidegate_coordinator::JobKey;
use tidegate_sandbox::{GuestLog, LogLevel};

/// The log of one hook.
pub(super) struct JobLog {
    key: JobKey,
    operator: String,
    component: String,
}

impl JobLog {
    pub(super) fn new(key: JobKey, operator: String, component: String) -> Self {
        Self { key, operator, component }
    }
}

impl GuestLog for JobLog {
    fn write(&self, level: LogLevel, line: &str) {
        let JobLog { key: JobKey { tenant, name }, operator, component } = self;
        match level {
            LogLevel::Debug => tracing::debug!(target: "guest", %tenant, job = %name, operator, component, "{line}"),
            LogLevel::Info => tracing::info!(target: "guest", %tenant, job = %name, operator, component, "{line}"),
            LogLevel::Warn => tracing::warn!(target: "guest", %tenant, job = %name, operator, component, "{line}"),
            LogLevel::Error => tracing::error!(target: "guest", %tenant, job = %name, operator, component, "{line}"),
        }
    }

    fn dropped(&self, lines: u64) {
        let JobLog { key: JobKey { tenant, name }, operator, component } = self;
        tracing::warn!(
            target: "guest", %tenant, job = %name, operator, component, lines,
            "lines of the hook's log were dropped: it writes too many"
        );
    }
}
