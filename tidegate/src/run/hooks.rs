//! The hooks of a run: opened over the components of its flags, their logs on standard error.

use std::sync::Arc;

use tidegate_dataflow::{Job, JobError, JobOptions};
use tidegate_pipeline::{NamedHook, Parsed};
use tidegate_sandbox::{Component, GuestLog, LogLevel, OpenError, OpenOptions};

use super::components::Components;
use super::given::written;
use crate::console::Console;
use crate::failure::Failure;
use crate::hooks::{self, Unopened};

/// Opens hooks of loaded components.
pub(super) struct Opener<'a> {
    pub(super) parsed: &'a Parsed,
    pub(super) components: &'a Components,
    pub(super) fresh_instances: bool,
    pub(super) console: &'a Console,
}

impl Opener<'_> {
    /// Opens the hooks and puts the job together.
    ///
    /// # Errors
    /// If a hook does not open, or the pipeline and its hooks do not fit together.
    pub(super) fn assemble(&self, options: JobOptions) -> Result<Job, Failure> {
        hooks::assemble(&self.parsed.pipeline, self, options).map_err(|unopened| match unopened {
            Unopened::Hook { path, error } => self.not_opened(&path, &error),
            Unopened::Fit(error) => does_not_fit(self.parsed, &error),
        })
    }

    fn not_opened(&self, path: &str, error: &OpenError) -> Failure {
        let message = located(self.parsed, path, &error.to_string());
        match error {
            OpenError::Interrupted { .. } | OpenError::TooMany { .. } | OpenError::Platform { .. } => {
                Failure::external(message)
            }
            OpenError::NoSuchHook { .. } | OpenError::Failed { .. } | OpenError::Plan { .. } => {
                Failure::invalid(message)
            }
        }
    }
}

impl hooks::Opener for Opener<'_> {
    fn component(&self, named: &NamedHook<'_>) -> &Component {
        self.components.of(named.hook)
    }

    fn options(&self, named: &NamedHook<'_>) -> OpenOptions {
        let who = format!("{} ({})", named.hook.uid, written(&named.hook.component));
        let log = ConsoleLog { who, console: self.console.clone() };
        OpenOptions { fresh_instances: self.fresh_instances, ..OpenOptions::new(Arc::new(log)) }
    }
}

/// A pipeline that its hooks do not fit.
fn does_not_fit(parsed: &Parsed, error: &JobError) -> Failure {
    Failure::invalid(located(parsed, &error.path, &error.reason))
}

/// `invalid-pipeline: map (line 8): …`, as refusals of the file itself read.
fn located(parsed: &Parsed, path: &str, reason: &str) -> String {
    let line = parsed.line_of(path).map_or_else(String::new, |line| format!(" (line {line})"));
    format!("invalid-pipeline: {path}{line}: {reason}")
}

/// A hook's log as lines on standard error.
struct ConsoleLog {
    who: String,
    console: Console,
}

impl GuestLog for ConsoleLog {
    fn write(&self, level: LogLevel, line: &str) {
        let level = match level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        };
        self.console.line(&format!("{}: {level}: {line}", self.who));
    }

    fn dropped(&self, lines: u64) {
        self.console.line(&format!("{}: {lines} lines of its log were dropped: it writes too many", self.who));
    }
}
