//! What a deployed job promises across failures, in sentences that follow from its file alone.
//!
//! A failure here is the end of a process, a host or a run at any moment; what a job does is in docs/checkpoints.md. The
//! invariant: whatever the platform does not hold for every failure is named under `excluded`, never left out.

mod excluded;

use crate::model::{Checkpoint, Operator, OperatorSpec, Pipeline, Sink, SinkSpec, Source, WindowKind};
use crate::path::quoted;

/// What holds for a job, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarantee {
    /// Of each source, in the order of the file.
    pub sources: Vec<String>,
    /// Of the state of all operators.
    pub state: String,
    /// Of each sink, in the order of the file.
    pub sinks: Vec<Promise>,
    /// Of too-late records and dead letters.
    pub side_outputs: Promise,
    /// What is excluded: horizons, and what may differ from an undisturbed run.
    pub excluded: Vec<String>,
}

/// How often a result reaches its place, and the sentence that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// How often.
    pub delivery: Delivery,
    /// The sentence.
    pub sentence: String,
}

/// How often a result reaches its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Never less than once; after a failure again.
    AtLeastOnce,
    /// After a failure again, and the second time changes nothing.
    ExactlyOnceInEffect,
    /// Once, and seen only once its checkpoint is complete.
    ExactlyOnce,
    /// This release does not write there.
    None,
}

impl Guarantee {
    /// All of it, a short sentence each: sources, state, sinks, side outputs, then what is excluded.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = self.sources.clone();
        sentences.push(self.state.clone());
        sentences.extend(self.sinks.iter().chain([&self.side_outputs]).map(|promise| promise.sentence.clone()));
        sentences.extend(self.excluded.iter().map(|excluded| format!("Excluded: {excluded}")));
        sentences
    }
}

/// What a deployed job promises. (`tidegate run` takes no checkpoints: a run that ends early is run again.)
#[must_use]
pub fn guarantee(pipeline: &Pipeline) -> Guarantee {
    Guarantee {
        sources: pipeline.sources.iter().map(of_source).collect(),
        state: of_state(pipeline),
        sinks: pipeline.sinks.iter().map(|sink| of_sink(pipeline, sink)).collect(),
        side_outputs: of_side_outputs(pipeline),
        excluded: excluded::all(pipeline),
    }
}

fn of_source(source: &Source) -> String {
    format!(
        "Source {} (log {}): after a failure it is read on from its position in the newest checkpoint, so each record \
         counts once in state.",
        quoted(&source.name),
        quoted(&source.log)
    )
}

fn of_state(pipeline: &Pipeline) -> String {
    let Checkpoint { interval, tolerable_failures, .. } = pipeline.checkpointing();
    let failing = match tolerable_failures {
        None => "checkpoints that fail do not stop the job".to_owned(),
        Some(0) => "a checkpoint that fails ends the run, which is started again".to_owned(),
        Some(tolerable) => {
            format!("more than {tolerable} failed checkpoints in a row end the run, which is started again")
        }
    };
    format!(
        "State (windows, identities, joins, timers, watermarks, the account): exactly once, saved every {interval}; \
         {failing}."
    )
}

fn of_sink(pipeline: &Pipeline, spec: &SinkSpec) -> Promise {
    let name = quoted(&spec.name);
    match &spec.sink {
        Sink::Log { log } => Promise {
            delivery: Delivery::AtLeastOnce,
            sentence: format!(
                "Sink {name} (log {}): at least once; after a failure the results since the newest checkpoint are written \
                 again.",
                quoted(log)
            ),
        },
        Sink::TransactionalLog { log, .. } => Promise {
            delivery: Delivery::ExactlyOnce,
            sentence: format!(
                "Sink {name} (log {}): exactly once; results are seen once their checkpoint is complete, up to {} later.",
                quoted(log),
                pipeline.checkpointing().interval
            ),
        },
        Sink::UpsertStore { table, key } => Promise {
            delivery: Delivery::ExactlyOnceInEffect,
            sentence: format!(
                "Sink {name} (table {}): exactly once in effect; results since the newest checkpoint are written again \
                 after a failure, and rows are replaced by key and version; a row may go back until the job has caught \
                 up.{}",
                quoted(table),
                rows_share_keys(&pipeline.operators[spec.input], key)
            ),
        },
        Sink::Outbox { .. } | Sink::Parquet { .. } => {
            Promise { delivery: Delivery::None, sentence: format!("Sink {name}: not run by this release.") }
        }
    }
}

/// Whether versions tell the rows of a key apart.
fn rows_share_keys(operator: &Operator, key: &[String]) -> &'static str {
    match &operator.kind {
        OperatorSpec::Window(windowed) => {
            let has = |name: &str| key.iter().any(|field| field == name);
            let global = matches!(windowed.window.kind, WindowKind::Global);
            if global || has("window_start") || has("window_end") {
                return "";
            }
            " Windows share a row, as the key lacks them: the last that was written stands."
        }
        OperatorSpec::Map(_) | OperatorSpec::Join(_) | OperatorSpec::Process(_) => {
            " Of rows without a window, the last that was written stands."
        }
    }
}

/// Side outputs commit as the job's sinks do.
fn of_side_outputs(pipeline: &Pipeline) -> Promise {
    if pipeline.is_transactional() {
        let sentence = "Too-late records and dead letters: exactly once, as the job's transactional log: they are seen once \
                        their checkpoint is complete.";
        return Promise { delivery: Delivery::ExactlyOnce, sentence: sentence.to_owned() };
    }
    let sentence = "Too-late records and dead letters: at least once; after a failure those since the newest checkpoint are \
                    written again.";
    Promise { delivery: Delivery::AtLeastOnce, sentence: sentence.to_owned() }
}

impl Pipeline {
    /// Whether any sink is a `transactional_log`; the side outputs are then transactional too.
    #[must_use]
    pub fn is_transactional(&self) -> bool {
        self.sinks.iter().any(|sink| matches!(sink.sink, Sink::TransactionalLog { .. }))
    }
}

#[cfg(test)]
mod tests;
