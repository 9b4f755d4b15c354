//! Opens a job's hooks, in the order in which each learns what the one before it puts out: for `run` and for deployed jobs.

use tidegate_dataflow::{JobError, JobFields, JobHooks, fields_after_map, map_input, value_fields};
use tidegate_pipeline::{Aggregate, Hook, Pipeline, WindowKind};
use tidegate_sandbox::{Component, OpenError, OpenOptions};
use tidegate_types::Field;
use tidegate_types::hooks::{AggregateHook, MapHook, WindowHook};

use crate::cli::MAX_PARALLELISM;

/// A hook and where the file names its component.
pub(crate) struct Named<'a> {
    pub(crate) path: String,
    pub(crate) hook: &'a Hook,
}

/// The hooks of a pipeline, in the order of a record's way.
pub(crate) fn hooks(pipeline: &Pipeline) -> Vec<Named<'_>> {
    let map = pipeline.map.iter().map(|hook| Named { path: "map".into(), hook });
    let window = match &pipeline.window.kind {
        WindowKind::Custom { hook } => Some(Named { path: "window".into(), hook }),
        _ => None,
    };
    let aggregates = pipeline.aggregates.iter().filter_map(|aggregate| match aggregate {
        Aggregate::Hook { name, hook } => Some(Named { path: format!("aggregate.{name}"), hook }),
        Aggregate::Builtin { .. } => None,
    });
    map.chain(window).chain(aggregates).collect()
}

/// What hooks are opened with.
pub(crate) trait Opener {
    /// The component that a hook names.
    fn component(&self, named: &Named<'_>) -> &Component;
    /// Its limits, and where its log goes.
    fn options(&self, named: &Named<'_>) -> OpenOptions;
}

/// Why a job's hooks are not open.
#[derive(Debug)]
pub(crate) enum Unopened {
    /// A hook does not open.
    Hook { path: String, error: OpenError },
    /// The pipeline names a field that does not come out of the map hook.
    Fit(JobError),
}

/// Opens the map hook once, and the other hooks once for each subtask of the window operator.
///
/// # Errors
/// If a hook does not open, or the pipeline names a field that does not come out of the map hook.
pub(crate) fn open(pipeline: &Pipeline, parallelism: u32, opener: &dyn Opener) -> Result<JobHooks, Unopened> {
    let opening = Opening { pipeline, opener };
    let named = hooks(pipeline);
    opening.have_room(&named, parallelism)?;
    let map = named.iter().find(|named| named.path == "map").map(|named| opening.map(named)).transpose()?;
    let fields = fields_after_map(pipeline, map.as_ref().map(|map| map.plan())).map_err(Unopened::Fit)?;
    let aggregates: Vec<&Named<'_>> = named.iter().filter(|named| named.path.starts_with("aggregate.")).collect();
    let of_a_subtask = || aggregates.iter().map(|named| opening.aggregate(named, &fields)).collect();
    let aggregates = (0..parallelism).map(|_| of_a_subtask()).collect::<Result<Vec<Vec<_>>, _>>()?;
    let custom = named.iter().find(|named| named.path == "window");
    let values = value_fields(pipeline, &fields, aggregates.first().map_or(&[], Vec::as_slice));
    let windows = custom.map_or_else(
        || Ok(Vec::new()),
        |named| (0..parallelism).map(|_| opening.window(named, &fields, &values)).collect(),
    )?;
    Ok(JobHooks { map, aggregates, windows })
}

/// How many hooks are open while a job runs with so many subtasks.
fn wanted(named: &[Named<'_>], subtasks: u32) -> u32 {
    let each = |named: &Named<'_>| if named.path == "map" { 1 } else { subtasks };
    named.iter().map(each).fold(0, u32::saturating_add)
}

struct Opening<'a> {
    pipeline: &'a Pipeline,
    opener: &'a dyn Opener,
}

impl Opening<'_> {
    /// Whether a tenant's hooks may all be open: as many as the job runs with, also where one subtask's are opened to see
    /// whether they open.
    fn have_room(&self, named: &[Named<'_>], parallelism: u32) -> Result<(), Unopened> {
        let Some(first) = named.first() else { return Ok(()) };
        let Some(memory) = self.opener.options(first).memory else { return Ok(()) };
        let subtasks = parallelism.max(self.pipeline.parallelism.unwrap_or(1).min(MAX_PARALLELISM));
        let wanted = wanted(named, subtasks);
        let room = self.opener.component(first).room_for(&memory, wanted);
        room.map_err(|refused| Unopened::Fit(JobError { path: "parallelism".into(), reason: refused.to_string() }))
    }

    fn map(&self, named: &Named<'_>) -> Result<Box<dyn MapHook>, Unopened> {
        let input: Vec<Field> = map_input(self.pipeline);
        let config = named.hook.config.to_string();
        let opened = self.opener.component(named).open_mapper(&config, &input, self.opener.options(named));
        opened.map_err(|error| unopened(named, error))
    }

    fn aggregate(&self, named: &Named<'_>, fields: &JobFields) -> Result<Box<dyn AggregateHook>, Unopened> {
        let (config, options) = (named.hook.config.to_string(), self.opener.options(named));
        let opened = self.opener.component(named).open_aggregator(&config, &fields.keys, &fields.rows, options);
        opened.map_err(|error| unopened(named, error))
    }

    fn window(&self, named: &Named<'_>, fields: &JobFields, values: &[Field]) -> Result<Box<dyn WindowHook>, Unopened> {
        let (config, options) = (named.hook.config.to_string(), self.opener.options(named));
        let opened = self.opener.component(named).open_windower(&config, &fields.keys, &fields.rows, values, options);
        opened.map_err(|error| unopened(named, error))
    }
}

fn unopened(named: &Named<'_>, error: OpenError) -> Unopened {
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
        assert_eq!(wanted(&hooks(&parsed.pipeline), 16), 33);
        assert_eq!(wanted(&[], 16), 0);
    }
}
