//! The long form: lists of named sources, operators and sinks, as a graph in an order in which each operator comes after
//! its inputs.

use std::collections::BTreeMap;

use super::names::{Drafts, Names};
use super::{Job, component, operator, sink, source};
use crate::error::PipelineError;
use crate::model::{Form, Pipeline, SinkSpec, Source};
use crate::path::quoted;
use crate::place::{Object, Place};

/// The keys that the file has besides those of [`super::COMMON`].
pub(crate) const KEYS: [&str; 3] = ["sources", "operators", "sinks"];
/// The most sources and operators of a job.
pub(crate) const MAX_PARTS: usize = 64;
/// The most sinks of a job.
pub(crate) const MAX_SINKS: usize = 16;

pub(super) fn decode(file: &Place<'_>) -> Result<Pipeline, PipelineError> {
    let keys: Vec<&str> = super::COMMON.iter().chain(&KEYS).copied().collect();
    let file = file.object("the pipeline", &keys)?;
    let job = Job::head(&file)?;
    let places = entries(&file, "sources", "list at least one source, such as `- {name: clicks, log: clicks, …}`")?;
    at_most(&file, "sources", places.len(), MAX_PARTS, "sources and operators")?;
    let mut names = Names::default();
    let mut sources = Vec::new();
    for place in &places {
        let (source, name) = source(place)?;
        names.add_source(&name, &source.name)?;
        sources.push(source);
    }
    let mend = "list at least one operator, such as `- {name: per_minute, input: clicks, window: …}`";
    let places = entries(&file, "operators", mend)?;
    at_most(&file, "operators", sources.len() + places.len(), MAX_PARTS, "sources and operators")?;
    let mut drafts = Vec::new();
    for place in &places {
        let draft = operator::decode(place)?;
        names.add_operator(&draft.name_place, &draft.name)?;
        drafts.push(draft);
    }
    let mend = "say where results go, such as `- {input: per_minute, type: log, log: out}`";
    let places = entries(&file, "sinks", mend)?;
    at_most(&file, "sinks", places.len(), MAX_SINKS, "sinks")?;
    let drafts = Drafts::resolve(drafts, &names)?;
    let sinks = sinks(&places, &names, &drafts)?;
    let operators = drafts.finish(&sources, &sinks, &names)?;
    job.tail(&file, Form::Long, (sources, operators, sinks))
}

/// The entries of a list that must not be empty.
fn entries<'a>(file: &Object<'a>, key: &str, mend: &str) -> Result<Vec<Place<'a>>, PipelineError> {
    let place = file.require(key, mend)?;
    let entries = place.list(&format!("`{key}`"))?;
    if entries.is_empty() { Err(place.refuse(format!("the list is empty; {mend}"))) } else { Ok(entries) }
}

fn at_most(file: &Object<'_>, key: &str, count: usize, most: usize, what: &str) -> Result<(), PipelineError> {
    if count <= most {
        return Ok(());
    }
    Err(file.refuse_at(key, format!("{count} {what} are too many for one job; use at most {most}, or split the job")))
}

/// A source and the place of its name.
fn source<'a>(place: &Place<'a>) -> Result<(Source, Place<'a>), PipelineError> {
    let keys: Vec<&str> = source::ENTRY.iter().chain(&source::KEYS).copied().collect();
    let object = place.object("a source", &keys)?;
    let name_place = object.require("name", "name the source, such as `name: clicks`")?;
    let name = name_place.name("a source's name")?;
    let mut source = source::decode(&object, &name)?;
    let uid = format!("{name}.map");
    source.map = object.get("map").map(|place| component::hook(&place, &uid)).transpose()?;
    Ok((source, name_place))
}

fn sinks(places: &[Place<'_>], names: &Names<'_>, drafts: &Drafts<'_>) -> Result<Vec<SinkSpec>, PipelineError> {
    let common: Vec<&str> = sink::ENTRY.iter().chain(&sink::COMMON).copied().collect();
    let keys: Vec<&str> = sink::KEYS.iter().chain(&common).copied().collect();
    let mut sinks = Vec::new();
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for place in places {
        let object = place.object("a sink", &keys)?;
        let input = object.require("input", "name the operator whose results it takes")?;
        let operator = names.sink_input(&input, drafts)?;
        let given = object.get("name").map(|place| place.name("a sink's name")).transpose()?;
        let name = given.unwrap_or_else(|| input.text("an operator's name").unwrap_or_default().to_owned());
        if let Some(first) = taken.insert(name.clone(), place.path.clone()) {
            let reason = format!(
                "the sink `{first}` is called {} already (without `name` a sink is called like its input); give this one \
                 a `name` of its own",
                quoted(&name)
            );
            return Err(object.refuse_at("name", reason));
        }
        let (sink, stamp) = sink::decode(&object, &common)?;
        sinks.push(SinkSpec { name, input: operator, sink, stamp });
    }
    Ok(sinks)
}
