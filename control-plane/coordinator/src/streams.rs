//! The streams of a job, as its pipeline names them and as the platform does where it says nothing.

use serde::{Deserialize, Serialize};
use tidegate_pipeline::{Pipeline, Sink};
use tidegate_types::{Name, NameError};

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

/// The streams that a job reads and writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobStreams {
    /// The input.
    pub input: String,
    /// Its panes, where the sink is a stream.
    pub panes: Option<String>,
    /// Records that came too late; none: they are counted only.
    pub too_late: Option<String>,
    /// Rejected records.
    pub dead_letters: String,
}

impl JobStreams {
    /// The streams of this pipeline.
    #[must_use]
    pub fn of(pipeline: &Pipeline) -> Self {
        let panes = pipeline.sinks.iter().find_map(|sink| match &sink.sink {
            Sink::Log { log } | Sink::TransactionalLog { log } => Some(log.clone()),
            Sink::UpsertStore { .. } | Sink::Outbox { .. } | Sink::Parquet { .. } => None,
        });
        Self {
            input: pipeline.sources[0].log.clone(),
            panes,
            too_late: pipeline.operators.iter().find_map(|operator| operator.late_side_output().map(str::to_owned)),
            dead_letters: pipeline
                .dead_letter_output
                .clone()
                .unwrap_or_else(|| format!("{}{DEAD_LETTERS}", pipeline.job)),
        }
    }

    /// The streams that it writes, each with the field of the pipeline file that names it.
    #[must_use]
    pub fn written(&self) -> Vec<(&'static str, &str)> {
        let panes = self.panes.iter().map(|name| ("sink.log", name.as_str()));
        let too_late = self.too_late.iter().map(|name| ("late_side_output", name.as_str()));
        panes.chain(too_late).chain([("dead_letter_output", self.dead_letters.as_str())]).collect()
    }
}

/// The table that a pipeline writes.
#[must_use]
pub fn table_of(pipeline: &Pipeline) -> Option<&str> {
    pipeline.sinks.iter().find_map(|sink| match &sink.sink {
        Sink::UpsertStore { table, .. } => Some(table.as_str()),
        Sink::Log { .. } | Sink::TransactionalLog { .. } | Sink::Outbox { .. } | Sink::Parquet { .. } => None,
    })
}

/// Checks every name of the platform's that a pipeline holds, and that it does not write what it reads.
///
/// # Errors
/// The first name that is none, with its place.
pub(crate) fn check_names(pipeline: &Pipeline) -> Result<Name, BadName> {
    let named = |path: &str, text: &str| {
        text.parse::<Name>().map_err(|error: NameError| BadName { path: path.to_owned(), reason: error.to_string() })
    };
    let job = named("job", &pipeline.job)?;
    let streams = JobStreams::of(pipeline);
    named("source.log", &streams.input)?;
    if pipeline.dead_letter_output.is_none() && streams.dead_letters.parse::<Name>().is_err() {
        let reason = format!(
            "its dead letters would go to a stream `{}`, which is too long a name; shorten the job's name, or name a stream in \
             `dead_letter_output`",
            streams.dead_letters
        );
        return Err(BadName { path: "job".into(), reason });
    }
    for (path, name) in streams.written() {
        named(path, name)?;
        if name == streams.input {
            let reason = format!("the job would write into its own input `{name}`; name another stream");
            return Err(BadName { path: path.to_owned(), reason });
        }
    }
    let written = streams.written();
    for (place, (path, name)) in written.iter().enumerate() {
        if let Some((other, _)) = written[..place].iter().find(|(_, other)| other == name) {
            let reason = format!("`{name}` is also `{other}`; give each output a stream of its own");
            return Err(BadName { path: (*path).to_owned(), reason });
        }
    }
    if let Some(table) = table_of(pipeline) {
        named("sink.table", table)?;
    }
    Ok(job)
}

#[cfg(test)]
mod tests;
