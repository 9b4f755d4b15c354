//! From the tree to a `Pipeline`: one decoder per object of the file, defaults filled in.
//!
//! Here a value is checked by itself and against its neighbours in the same object; what several objects say together is
//! checked by `check` afterwards. The key lists below are the grammar: `schema` publishes the same ones.

pub(crate) mod aggregate;
pub(crate) mod component;
pub(crate) mod join;
pub(crate) mod long;
mod names;
pub(crate) mod operator;
mod order;
pub(crate) mod short;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod trigger;
pub(crate) mod window;
pub(crate) mod windowed;

use crate::error::PipelineError;
use crate::model::{Checkpoint, CheckpointMode, Form, Operator, Pipeline, SinkSpec, Source};
use crate::nearest::list;
use crate::node::{Content, Entry, Node};
use crate::place::{Object, Place};

/// The keys of both forms.
pub(crate) const COMMON: [&str; 7] =
    ["job", "version", "precedence", "dead_letter_output", "checkpoint", "parallelism", "max_parallelism"];
/// The keys of `checkpoint`.
pub(crate) const CHECKPOINT: [&str; 4] = ["interval", "mode", "unaligned_after", "tolerable_failures"];
/// The words of `checkpoint.mode`.
pub(crate) const CHECKPOINT_MODES: [(&str, CheckpointMode); 2] =
    [("aligned", CheckpointMode::Aligned), ("unaligned", CheckpointMode::Unaligned)];
/// How many key groups a job has that does not say.
pub(crate) const DEFAULT_MAX_PARALLELISM: u32 = 1024;
/// The most key groups.
pub(crate) const LIMIT_MAX_PARALLELISM: u32 = 32_768;

/// Decodes the whole file.
pub(crate) fn pipeline(root: &Node) -> Result<Pipeline, PipelineError> {
    let file = Place::root(root);
    match form(&file)? {
        Form::Short => short::decode(&file),
        Form::Long => long::decode(&file),
    }
}

/// Which form the file has, by the keys that only one form has.
fn form(file: &Place<'_>) -> Result<Form, PipelineError> {
    let Content::Map(_) = &file.node.content else { return Ok(Form::Short) };
    let entries = file.entries("the pipeline")?;
    let of = |keys: &[&str]| entries.iter().find(|(entry, _)| keys.contains(&entry.key.as_str()));
    match (of(&short::KEYS), of(&long::KEYS)) {
        (Some((short, _)), Some((long, place))) => {
            let reason = format!(
                "`{}` belongs to the long form of the file and `{}` to the short one, which do not mix; name sources, \
                 operators and sinks in {}, or write one `source`, one `window` and one `sink`",
                long.key,
                short.key,
                list(&long::KEYS)
            );
            Err(PipelineError::invalid(place.path.clone(), Some(long.line), reason))
        }
        (None, Some(_)) => Ok(Form::Long),
        _ => refuse_parts_of_the_long_form(&entries).map(|()| Form::Short),
    }
}

/// Names the long form where a file of the short one says what only that can, instead of calling its keys unknown.
fn refuse_parts_of_the_long_form(entries: &[(&Entry, Place<'_>)]) -> Result<(), PipelineError> {
    for (entry, place) in entries {
        let key = entry.key.as_str();
        let several = matches!(key, "source" | "sink" | "window") && matches!(entry.value.content, Content::List(_));
        if several || matches!(key, "join" | "joins" | "process") {
            let reason = format!(
                "`{key}` here needs the long form of the file, which names several sources, operators (windows, joins, \
                 process hooks) and sinks in {}; write it so, or write one `source`, one `window` and one `sink`",
                list(&long::KEYS)
            );
            return Err(PipelineError::invalid(place.path.clone(), Some(entry.line), reason));
        }
    }
    Ok(())
}

/// Sources, operators and sinks.
type Graph = (Vec<Source>, Vec<Operator>, Vec<SinkSpec>);

/// The keys that stand before the graph in both forms.
struct Job {
    job: String,
    version: u64,
    precedence: i32,
}

impl Job {
    /// Reads the keys before the graph.
    fn head(file: &Object<'_>) -> Result<Self, PipelineError> {
        let job = file.require("job", "name the job, such as `job: campaign-metrics`")?.name("the job's name")?;
        let version = file.require("version", "number it, such as `version: 1`")?.integer("`version`", 0, u64::MAX)?;
        let precedence = file.get("precedence").map(|place| place.signed_i32("`precedence`")).transpose()?;
        Ok(Self { job, version, precedence: precedence.unwrap_or(0) })
    }

    /// Reads the keys after the graph.
    fn tail(self, file: &Object<'_>, form: Form, graph: Graph) -> Result<Pipeline, PipelineError> {
        let (sources, operators, sinks) = graph;
        let max_parallelism = max_parallelism(file)?;
        Ok(Pipeline {
            job: self.job,
            version: self.version,
            precedence: self.precedence,
            form,
            sources,
            operators,
            sinks,
            dead_letter_output: log(file, "dead_letter_output")?,
            checkpoint: file.get("checkpoint").map(|place| checkpoint(&place)).transpose()?,
            parallelism: parallelism(file, max_parallelism)?,
            max_parallelism,
        })
    }
}

fn log(file: &Object<'_>, key: &str) -> Result<Option<String>, PipelineError> {
    file.get(key).map(|place| place.name("the log's name")).transpose()
}

fn checkpoint(place: &Place<'_>) -> Result<Checkpoint, PipelineError> {
    let object = place.object("`checkpoint`", &CHECKPOINT)?;
    let interval =
        object.require("interval", "say how often, such as `interval: 30s`")?.positive_duration("`interval`")?;
    let mode = object.get("mode").map(|place| place.choice("a mode", &CHECKPOINT_MODES)).transpose()?;
    let mode = mode.unwrap_or(CheckpointMode::Aligned);
    let unaligned_after =
        object.get("unaligned_after").map(|place| place.positive_duration("`unaligned_after`")).transpose()?;
    if mode == CheckpointMode::Unaligned && unaligned_after.is_some() {
        let reason = "checkpoints that are unaligned from the start cannot turn so; remove it, or use `mode: aligned`";
        return Err(object.refuse_at("unaligned_after", reason));
    }
    let tolerable = object.get("tolerable_failures");
    let tolerable_failures =
        tolerable.map(|place| place.integer_u32("`tolerable_failures`", 0, u32::MAX)).transpose()?;
    Ok(Checkpoint { interval, mode, unaligned_after, tolerable_failures })
}

fn max_parallelism(file: &Object<'_>) -> Result<u32, PipelineError> {
    let given = file.get("max_parallelism");
    let read = |place: Place<'_>| place.integer_u32("`max_parallelism`", 1, LIMIT_MAX_PARALLELISM);
    Ok(given.map(read).transpose()?.unwrap_or(DEFAULT_MAX_PARALLELISM))
}

fn parallelism(file: &Object<'_>, max: u32) -> Result<Option<u32>, PipelineError> {
    let Some(place) = file.get("parallelism") else { return Ok(None) };
    let parallelism = place.integer_u32("`parallelism`", 1, LIMIT_MAX_PARALLELISM)?;
    if parallelism > max {
        let reason = format!(
            "{parallelism} tasks cannot share {max} key groups; lower it, or raise `max_parallelism` (only before the job keeps state)"
        );
        return Err(place.refuse(reason));
    }
    Ok(Some(parallelism))
}
