//! The short form: one source, one window operator and one sink, as a graph of three.

use super::{Job, component, sink, source, windowed};
use crate::error::PipelineError;
use crate::model::{Form, Operator, OperatorSpec, Pipeline, SinkSpec, Stamp, Upstream, WindowKind};
use crate::place::Place;

/// The keys of the file.
pub(crate) const KEYS: [&str; 16] = [
    "job",
    "version",
    "source",
    "map",
    "key_by",
    "dedup",
    "window",
    "trigger",
    "accumulation",
    "aggregate",
    "late_side_output",
    "dead_letter_output",
    "sink",
    "checkpoint",
    "parallelism",
    "max_parallelism",
];

pub(super) fn decode(file: &Place<'_>) -> Result<Pipeline, PipelineError> {
    let file = file.object("the pipeline", &KEYS)?;
    let job = Job::head(&file)?;
    let place = file.require("source", "say which log is read and how its watermark is made")?;
    let mut source = source::decode(&place, "source")?;
    source.map = file.get("map").map(|place| component::hook(&place, "map")).transpose()?;
    let windowed = windowed::decode(&file, None)?;
    let name = match &windowed.window.kind {
        WindowKind::Custom { hook } => hook.uid.clone(),
        _ => "window".to_owned(),
    };
    let operator = Operator { name, place: 0, inputs: vec![Upstream::Source(0)], kind: OperatorSpec::Window(windowed) };
    let sink = sink::decode(&file.require("sink", "say where panes go, such as `sink: {type: log, log: out}`")?)?;
    let sink = SinkSpec { name: "sink".into(), input: 0, sink, stamp: Stamp::default() };
    job.tail(&file, Form::Short, (vec![source], vec![operator], vec![sink]))
}
