//! Opens a job's hooks, in the order in which each learns what the one before it puts out.

use std::sync::Arc;

use tidegate_dataflow::{JobError, JobFields, JobHooks, fields_after_map, map_input, value_fields};
use tidegate_pipeline::{Hook, Parsed};
use tidegate_sandbox::{GuestLog, LogLevel, OpenError, OpenOptions};
use tidegate_types::Field;
use tidegate_types::hooks::{AggregateHook, MapHook, WindowHook};

use super::components::{Components, Named, hooks, written};
use crate::console::Console;
use crate::failure::Failure;

/// Opens hooks of loaded components.
pub(super) struct Opener<'a> {
    pub(super) parsed: &'a Parsed,
    pub(super) components: &'a Components,
    pub(super) fresh_instances: bool,
    pub(super) console: &'a Console,
}

impl Opener<'_> {
    /// Opens the map hook once, and the other hooks once for each subtask of the window operator.
    ///
    /// # Errors
    /// If a hook does not open, or the pipeline names a field that does not come out of the map hook.
    pub(super) fn open(&self, parallelism: u32) -> Result<JobHooks, Failure> {
        let pipeline = &self.parsed.pipeline;
        let named = hooks(pipeline);
        let map = named.iter().find(|named| named.path == "map").map(|named| self.map(named)).transpose()?;
        let fields = fields_after_map(pipeline, map.as_ref().map(|map| map.plan()))
            .map_err(|error| does_not_fit(self.parsed, &error))?;
        let aggregates: Vec<&Named<'_>> = named.iter().filter(|named| named.path.starts_with("aggregate.")).collect();
        let of_a_subtask = || aggregates.iter().map(|named| self.aggregate(named, &fields)).collect();
        let aggregates = (0..parallelism).map(|_| of_a_subtask()).collect::<Result<Vec<Vec<_>>, _>>()?;
        let custom = named.iter().find(|named| named.path == "window");
        let values = value_fields(pipeline, &fields, aggregates.first().map_or(&[], Vec::as_slice));
        let windows = custom.map_or_else(
            || Ok(Vec::new()),
            |named| (0..parallelism).map(|_| self.window(named, &fields, &values)).collect(),
        )?;
        Ok(JobHooks { map, aggregates, windows })
    }

    fn map(&self, named: &Named<'_>) -> Result<Box<dyn MapHook>, Failure> {
        let input: Vec<Field> = map_input(&self.parsed.pipeline);
        let component = self.components.of(named.hook);
        let opened = component.open_mapper(&named.hook.config.to_string(), &input, self.options(named.hook));
        opened.map_err(|error| self.not_opened(named, &error))
    }

    fn aggregate(&self, named: &Named<'_>, fields: &JobFields) -> Result<Box<dyn AggregateHook>, Failure> {
        let component = self.components.of(named.hook);
        let config = named.hook.config.to_string();
        let opened = component.open_aggregator(&config, &fields.keys, &fields.rows, self.options(named.hook));
        opened.map_err(|error| self.not_opened(named, &error))
    }

    fn window(&self, named: &Named<'_>, fields: &JobFields, values: &[Field]) -> Result<Box<dyn WindowHook>, Failure> {
        let component = self.components.of(named.hook);
        let config = named.hook.config.to_string();
        let opened = component.open_windower(&config, &fields.keys, &fields.rows, values, self.options(named.hook));
        opened.map_err(|error| self.not_opened(named, &error))
    }

    fn options(&self, hook: &Hook) -> OpenOptions {
        let log =
            ConsoleLog { who: format!("{} ({})", hook.uid, written(&hook.component)), console: self.console.clone() };
        OpenOptions { fresh_instances: self.fresh_instances, ..OpenOptions::new(Arc::new(log)) }
    }

    fn not_opened(&self, named: &Named<'_>, error: &OpenError) -> Failure {
        let message = located(self.parsed, &named.path, &error.to_string());
        match error {
            OpenError::Interrupted { .. } | OpenError::Platform { .. } => Failure::external(message),
            OpenError::NoSuchHook { .. } | OpenError::Failed { .. } | OpenError::Plan { .. } => {
                Failure::invalid(message)
            }
        }
    }
}

/// A pipeline that its hooks do not fit.
pub(super) fn does_not_fit(parsed: &Parsed, error: &JobError) -> Failure {
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
