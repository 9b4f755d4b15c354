//! The operator's log: one line an event on standard error, filtered by `--log`.

use tracing_subscriber::EnvFilter;

use crate::failure::Failure;

/// Starts logging for this process.
///
/// # Errors
/// If the filter is none.
pub(super) fn start(filter: &str) -> Result<(), Failure> {
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::invalid(format!("--log {filter}: {error}; write it as `info`, or as `warn,tidegate_api=debug`"))
    };
    let filter = EnvFilter::builder().parse(filter).map_err(|error| wrong(&error))?;
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(filter)
        .with_ansi(false)
        .try_init()
        .map_err(|error| Failure::external(format!("the log cannot be started: {error}")))
}
