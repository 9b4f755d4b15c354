//! The short form: one source, one window operator and one sink, as a graph of three.

use super::{Job, component, sink, source, windowed};
use crate::error::PipelineError;
use crate::model::{Form, Operator, OperatorSpec, Pipeline, SinkSpec, Upstream, WindowKind};
use crate::place::Place;

/// The keys that the file has besides those of [`super::COMMON`].
pub(crate) const KEYS: [&str; 10] =
    ["source", "map", "key_by", "dedup", "window", "trigger", "accumulation", "aggregate", "late_side_output", "sink"];

pub(super) fn decode(file: &Place<'_>) -> Result<Pipeline, PipelineError> {
    let keys: Vec<&str> = super::COMMON.iter().chain(&KEYS).copied().collect();
    let file = file.object("the pipeline", &keys)?;
    let job = Job::head(&file)?;
    let place = file.require("source", "say which log is read and how its watermark is made")?;
    let mut source = source::decode(&place.object("`source`", &source::KEYS)?, "source")?;
    source.map = file.get("map").map(|place| component::hook(&place, "map")).transpose()?;
    let windowed = windowed::decode(&file, None)?;
    let name = match &windowed.window.kind {
        WindowKind::Custom { hook } => hook.uid.clone(),
        _ => "window".to_owned(),
    };
    let operator = Operator { name, place: 0, inputs: vec![Upstream::Source(0)], kind: OperatorSpec::Window(windowed) };
    let place = file.require("sink", "say where panes go, such as `sink: {type: log, log: out}`")?;
    let keys: Vec<&str> = sink::KEYS.iter().chain(&sink::COMMON).copied().collect();
    let (sink, stamp) = sink::decode(&place.object("`sink`", &keys)?, &sink::COMMON)?;
    let sink = SinkSpec { name: "sink".into(), input: 0, sink, stamp };
    job.tail(&file, Form::Short, (vec![source], vec![operator], vec![sink]))
}
