//! What a job reads and writes: its streams and tables, as its pipeline names them and as the platform does where it says
//! nothing.

mod stored;

use serde::{Deserialize, Serialize};
use tidegate_pipeline::{Pipeline, Sink};
use tidegate_types::{Name, NameError};

use stored::Stored;

/// What the platform adds to a job's name for the stream of its dead letters.
const DEAD_LETTERS: &str = "-dead-letters";

/// A pipeline that names a stream, a table or itself in a way that is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub(crate) struct BadName {
    /// The field of the pipeline file.
    pub(crate) path: String,
    /// What is wrong, and the way out.
    pub(crate) reason: String,
}

/// The streams that a job reads, and those that its operators and it write beside its results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct JobStreams {
    /// The stream of each source, in the order of the pipeline.
    pub inputs: Vec<NamedStream>,
    /// Where each sink's results go, in the order of the pipeline.
    pub results: Vec<NamedResult>,
    /// Records that came too late, for each operator that has a stream for them; of the others they are counted only.
    pub too_late: Vec<NamedStream>,
    /// Rejected records.
    pub dead_letters: String,
}

/// A stream of a part of the pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedStream {
    /// What the pipeline calls the source or the operator.
    pub name: String,
    /// The stream.
    pub stream: String,
}

/// Where a sink's results go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedResult {
    /// What the pipeline calls the sink.
    pub name: String,
    /// The stream, if it is one.
    pub stream: Option<String>,
    /// The table, if it is one.
    pub table: Option<String>,
}

impl JobStreams {
    /// What this pipeline reads and writes.
    #[must_use]
    pub fn of(pipeline: &Pipeline) -> Self {
        let named = |name: &String, stream: &str| NamedStream { name: name.clone(), stream: stream.to_owned() };
        let late = |operator: &tidegate_pipeline::Operator| {
            operator.late_side_output().map(|stream| named(&operator.name, stream))
        };
        Self {
            inputs: pipeline.sources.iter().map(|source| named(&source.name, &source.log)).collect(),
            results: pipeline.sinks.iter().map(|sink| result(sink.name.clone(), &sink.sink)).collect(),
            too_late: pipeline.operators.iter().filter_map(late).collect(),
            dead_letters: dead_letters(pipeline),
        }
    }

    /// Whether it reads a stream.
    #[must_use]
    pub fn reads(&self, stream: &str) -> bool {
        self.inputs.iter().any(|input| input.stream == stream)
    }

    /// Whether it writes a stream.
    #[must_use]
    pub fn writes(&self, stream: &str) -> bool {
        self.results.iter().any(|result| result.stream.as_deref() == Some(stream))
            || self.too_late.iter().any(|output| output.stream == stream)
            || self.dead_letters == stream
    }

    /// The tables that it writes, in the order of its sinks.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        self.results.iter().filter_map(|result| result.table.clone()).collect()
    }
}

fn result(name: String, sink: &Sink) -> NamedResult {
    let (stream, table) = match sink {
        Sink::Log { log } | Sink::TransactionalLog { log, .. } => (Some(log.clone()), None),
        Sink::UpsertStore { table, .. } => (None, Some(table.clone())),
        Sink::Outbox { .. } | Sink::Parquet { .. } => (None, None),
    };
    NamedResult { name, stream, table }
}

/// The stream of a pipeline's dead letters.
fn dead_letters(pipeline: &Pipeline) -> String {
    pipeline.dead_letter_output.clone().unwrap_or_else(|| format!("{}{DEAD_LETTERS}", pipeline.job))
}

/// The streams that a pipeline's job writes, each with the field of the file that names it or could: those of sinks, then
/// operators' for what was too late, then that of dead letters.
#[must_use]
pub fn streams_written(pipeline: &Pipeline) -> Vec<(String, String)> {
    let written = pipeline.logs_written().into_iter().map(|(path, name)| (path, name.to_owned()));
    let unnamed = pipeline.dead_letter_output.is_none();
    written.chain(unnamed.then(|| ("dead_letter_output".to_owned(), dead_letters(pipeline)))).collect()
}

/// Checks every name of the platform's that a pipeline holds, that it does not write what it reads, and that no two of its
/// outputs are one.
///
/// # Errors
/// The first name that is none, with its place.
pub(crate) fn check_names(pipeline: &Pipeline) -> Result<Name, BadName> {
    let job = named("job", &pipeline.job)?;
    let inputs = pipeline.logs_read();
    inputs.iter().try_for_each(|(path, name)| named(path, name).map(drop))?;
    if pipeline.dead_letter_output.is_none() && dead_letters(pipeline).parse::<Name>().is_err() {
        let reason = format!(
            "its dead letters would go to a stream `{}`, which is too long a name; shorten the job's name, or name a stream in \
             `dead_letter_output`",
            dead_letters(pipeline)
        );
        return Err(BadName { path: "job".into(), reason });
    }
    let written = streams_written(pipeline);
    for (path, name) in &written {
        named(path, name)?;
        if inputs.iter().any(|(_, input)| input == name) {
            let reason = format!("the job would write into its own input `{name}`; name another stream");
            return Err(BadName { path: path.clone(), reason });
        }
    }
    apart(&written, "stream")?;
    let tables: Vec<_> = pipeline.tables_written().into_iter().map(|(path, name)| (path, name.to_owned())).collect();
    tables.iter().try_for_each(|(path, name)| named(path, name).map(drop))?;
    apart(&tables, "table")?;
    Ok(job)
}

fn named(path: &str, text: &str) -> Result<Name, BadName> {
    text.parse().map_err(|error: NameError| BadName { path: path.to_owned(), reason: error.to_string() })
}

/// Refuses an output that is another one too.
fn apart(outputs: &[(String, String)], what: &str) -> Result<(), BadName> {
    for (place, (path, name)) in outputs.iter().enumerate() {
        if let Some((other, _)) = outputs[..place].iter().find(|(_, other)| other == name) {
            let reason = format!("`{name}` is also `{other}`; give each output a {what} of its own");
            return Err(BadName { path: path.clone(), reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
