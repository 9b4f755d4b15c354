//! What no checkpoint can hold: horizons of logs, identities and transactions, and what depends on clocks.

use crate::model::{Accumulation, Early, Late, OperatorSpec, Pipeline, Sink, Strategy, WindowKind, Windowed};
use crate::path::quoted;

/// What is excluded, one sentence each without its first word.
pub(super) fn all(pipeline: &Pipeline) -> Vec<String> {
    let mut excluded = vec![
        "records that a log's retention dropped before the job came to them; what a checkpoint still needs is not dropped."
            .to_owned(),
    ];
    excluded.extend(repeats(pipeline));
    excluded.extend(transactions(pipeline));
    excluded.extend(damage(pipeline));
    excluded.extend(clocks(pipeline));
    excluded.extend(stale_sessions(pipeline));
    excluded.extend(idleness(pipeline));
    if !pipeline.hooks().is_empty() {
        excluded.push("hooks whose answers depend on more than their configuration and their arguments.".to_owned());
    }
    excluded.push("the loss of the folder or store that holds the checkpoints.".to_owned());
    excluded
}

/// Records that were appended twice.
fn repeats(pipeline: &Pipeline) -> Vec<String> {
    let horizons = windows(pipeline).filter_map(|(name, windowed)| Some((name, windowed.dedup.as_ref()?)));
    let mut found: Vec<String> = horizons
        .map(|(name, dedup)| {
            format!(
                "in operator {}, a repeated {} more than {} of event time after the one that counted: it counts again.",
                quoted(name),
                quoted(&dedup.field),
                dedup.horizon
            )
        })
        .collect();
    if found.is_empty() {
        found.push("records that their producer appended twice: without `dedup` both count.".to_owned());
    }
    found
}

/// Transactions that nobody could commit in time.
fn transactions(pipeline: &Pipeline) -> Vec<String> {
    let timeouts = pipeline.sinks.iter().filter_map(|sink| match &sink.sink {
        Sink::TransactionalLog { transaction_timeout, .. } => Some((&sink.name, transaction_timeout)),
        _ => None,
    });
    let sentence = |(name, timeout): (&String, &tidegate_types::Millis)| {
        format!(
            "at sink {}, results that are not committed within {timeout} (`transaction_timeout`): the log may drop them, and \
             the job then fails rather than go on without them.",
            quoted(name)
        )
    };
    timeouts.map(sentence).collect()
}

/// A restart from an older checkpoint than the newest emits again what was committed since.
fn damage(pipeline: &Pipeline) -> Option<String> {
    pipeline.is_transactional().then(|| {
        "a newest checkpoint that is damaged: the one before it is used, and what was committed since then is committed again."
            .to_owned()
    })
}

/// Firings that depend on the clock.
fn clocks(pipeline: &Pipeline) -> Vec<String> {
    let by_clock = windows(pipeline).filter(|(_, windowed)| fires_by_the_clock(windowed));
    let sentence = |(name, windowed): (&str, &Windowed)| {
        let split = match windowed.accumulation {
            Accumulation::Discarding => ", and how records are split over panes",
            Accumulation::Accumulating | Accumulation::AccumulatingAndRetracting => "",
        };
        format!(
            "in operator {}, how often panes come by processing time and with it `pane.index`{split}; what all panes of a \
             window say together is the same.",
            quoted(name)
        )
    };
    by_clock.map(sentence).collect()
}

fn fires_by_the_clock(windowed: &Windowed) -> bool {
    let lateness = windowed.window.allowed_lateness.0 > 0;
    matches!(windowed.trigger.early, Early::EveryProcessingTime(_))
        || (lateness && matches!(windowed.trigger.late, Late::EveryProcessingTime(_)))
}

/// Sessions that were shown by the clock, and after a failure merged before they were shown again.
fn stale_sessions(pipeline: &Pipeline) -> Vec<String> {
    let mut found = Vec::new();
    for (place, operator) in pipeline.operators.iter().enumerate() {
        let Some(windowed) = operator.windowed().filter(|windowed| fires_by_the_clock(windowed)) else { continue };
        let is_session = matches!(windowed.window.kind, WindowKind::Session { .. });
        let tables = pipeline.sinks_of(place).filter(|(_, sink)| matches!(sink.sink, Sink::UpsertStore { .. }));
        for (_, sink) in tables.filter(|_| is_session) {
            found.push(format!(
                "at sink {}, the row of a session that was shown by processing time before a failure and merged before it \
                 was shown again: it stays.",
                quoted(&sink.name)
            ));
        }
    }
    found
}

/// Watermarks that depend on the clock.
fn idleness(pipeline: &Pipeline) -> Option<String> {
    let reads_idle = |source: &crate::model::Source| {
        source.watermark.idle_partition_timeout.is_some() && source.watermark.strategy != Strategy::None
    };
    pipeline.sources.iter().any(reads_idle).then(|| {
        "which partitions were idle at which moment, and so which of their records are late afterwards.".to_owned()
    })
}

/// The window operators, each with its name.
fn windows(pipeline: &Pipeline) -> impl Iterator<Item = (&str, &Windowed)> {
    pipeline.operators.iter().filter_map(|operator| match &operator.kind {
        OperatorSpec::Window(windowed) => Some((operator.name.as_str(), windowed)),
        OperatorSpec::Map(_) | OperatorSpec::Join(_) | OperatorSpec::Process(_) => None,
    })
}
