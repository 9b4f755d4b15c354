//! What a job reads and writes, as it was written down: by this release, or by one whose jobs had one source and one sink.
//!
//! Invariant: a document of either kind reads as the same job.

use serde::Deserialize;

use super::{JobStreams, NamedResult, NamedStream};

/// Either kind of document.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Stored {
    Graph {
        inputs: Vec<NamedStream>,
        results: Vec<NamedResult>,
        too_late: Vec<NamedStream>,
        dead_letters: String,
    },
    /// Its table stood beside it, in the job's record.
    One {
        input: String,
        panes: Option<String>,
        too_late: Option<String>,
        dead_letters: String,
    },
}

impl From<Stored> for JobStreams {
    fn from(stored: Stored) -> Self {
        let named = |name: &str, stream| NamedStream { name: name.to_owned(), stream };
        match stored {
            Stored::Graph { inputs, results, too_late, dead_letters } => {
                Self { inputs, results, too_late, dead_letters }
            }
            // The names that the short form's parts have.
            Stored::One { input, panes, too_late, dead_letters } => Self {
                inputs: vec![named("source", input)],
                results: vec![NamedResult { name: "sink".to_owned(), stream: panes, table: None }],
                too_late: too_late.map(|stream| named("window", stream)).into_iter().collect(),
                dead_letters,
            },
        }
    }
}
