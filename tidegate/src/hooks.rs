//! Opens a job's hooks over the sandbox, while the job is put together: for `run` and for deployed jobs.

use tidegate_dataflow::{AssemblyError, Job, JobError, JobOptions, OpenHooks};
use tidegate_pipeline::{HookRole, NamedHook, Pipeline};
use tidegate_sandbox::{Component, OpenError, OpenOptions};
use tidegate_types::Field;
use tidegate_types::hooks::{AggregateHook, MapHook, ProcessHook, WindowHook};

use crate::cli::MAX_PARALLELISM;

/// What hooks are opened with.
pub(crate) trait Opener {
    /// The component that a hook names.
    fn component(&self, named: &NamedHook<'_>) -> &Component;
    /// Its limits, and where its log goes.
    fn options(&self, named: &NamedHook<'_>) -> OpenOptions;
}

/// Why a job is not put together.
#[derive(Debug)]
pub(crate) enum Unopened {
    /// A hook does not open.
    Hook { path: String, error: OpenError },
    /// The pipeline and its hooks do not fit together, or the tenant has no room for them.
    Fit(JobError),
}

/// Opens the hooks and puts the job together.
///
/// # Errors
/// If a hook does not open, the tenant has no room for all of them, or the pipeline names a field that nobody puts out.
pub(crate) fn assemble(pipeline: &Pipeline, opener: &dyn Opener, options: JobOptions) -> Result<Job, Unopened> {
    have_room(pipeline, opener, options.parallelism)?;
    Job::new(pipeline, Opening { opener }, options).map_err(|error| match error {
        AssemblyError::Hook(unopened) => unopened,
        AssemblyError::Fit(error) => Unopened::Fit(error),
    })
}

/// How many hooks are open while a job runs with so many subtasks: of those behind sources one, of the others at most one
/// for each subtask.
fn wanted(named: &[NamedHook<'_>], subtasks: u32) -> u32 {
    let each = |named: &NamedHook<'_>| if named.source.is_some() { 1 } else { subtasks };
    named.iter().map(each).fold(0, u32::saturating_add)
}

/// Whether a tenant's hooks may all be open: as many as the job runs with, also where one subtask's are opened to see
/// whether they open.
fn have_room(pipeline: &Pipeline, opener: &dyn Opener, parallelism: u32) -> Result<(), Unopened> {
    let named = pipeline.hooks();
    let Some(first) = named.first() else { return Ok(()) };
    let Some(memory) = opener.options(first).memory else { return Ok(()) };
    let subtasks = parallelism.max(pipeline.parallelism.unwrap_or(1).min(MAX_PARALLELISM));
    let wanted = wanted(&named, subtasks);
    let room = opener.component(first).room_for(&memory, wanted);
    room.map_err(|refused| Unopened::Fit(JobError { path: "parallelism".into(), reason: refused.to_string() }))
}

struct Opening<'a> {
    opener: &'a dyn Opener,
}

impl OpenHooks for Opening<'_> {
    type Error = Unopened;

    fn map(&mut self, hook: &NamedHook<'_>, input: &[Field]) -> Result<Box<dyn MapHook>, Unopened> {
        debug_assert!(matches!(hook.role, HookRole::Map | HookRole::Join), "{hook:?}");
        let (config, options) = (hook.hook.config.to_string(), self.opener.options(hook));
        let opened = self.opener.component(hook).open_mapper(&config, input, options);
        opened.map_err(|error| unopened(hook, error))
    }

    fn aggregate(
        &mut self,
        hook: &NamedHook<'_>,
        key: &[Field],
        input: &[Field],
    ) -> Result<Box<dyn AggregateHook>, Unopened> {
        let (config, options) = (hook.hook.config.to_string(), self.opener.options(hook));
        let opened = self.opener.component(hook).open_aggregator(&config, key, input, options);
        opened.map_err(|error| unopened(hook, error))
    }

    fn window(
        &mut self,
        hook: &NamedHook<'_>,
        key: &[Field],
        input: &[Field],
        value: &[Field],
    ) -> Result<Box<dyn WindowHook>, Unopened> {
        let (config, options) = (hook.hook.config.to_string(), self.opener.options(hook));
        let opened = self.opener.component(hook).open_windower(&config, key, input, value, options);
        opened.map_err(|error| unopened(hook, error))
    }

    fn process(
        &mut self,
        hook: &NamedHook<'_>,
        key: &[Field],
        input: &[Field],
    ) -> Result<Box<dyn ProcessHook>, Unopened> {
        let (config, options) = (hook.hook.config.to_string(), self.opener.options(hook));
        let opened = self.opener.component(hook).open_processor(&config, key, input, options);
        opened.map_err(|error| unopened(hook, error))
    }
}

fn unopened(named: &NamedHook<'_>, error: OpenError) -> Unopened {
    Unopened::Hook { path: named.path.clone(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_hook_counts_once_and_the_others_once_for_each_subtask() {
        let text = "job: j\nversion: 1\nsource: {log: events, timestamp_field: t, watermark: {strategy: ascending}}\n\
                    map: {uid: m, component: m@1.0.0}\nkey_by: [k]\nwindow: {type: tumbling, size: 1m}\n\
                    aggregate:\n  n: {fn: count}\n  a: {uid: a, component: a@1.0.0}\n  b: {uid: b, component: b@1.0.0}\n\
                    sink: {type: log, log: out}\n";
        let parsed = tidegate_pipeline::parse(text).expect("a pipeline");
        assert_eq!(wanted(&parsed.pipeline.hooks(), 16), 33);
        assert_eq!(wanted(&[], 16), 0);
    }
}
