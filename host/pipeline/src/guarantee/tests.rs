//! Guarantees, sentence by sentence.

use super::{Delivery, Guarantee, guarantee};
use crate::parse;
use crate::parsed::tests::{BASE, GRAPH, SPECIFICATION};

fn of(text: &str) -> Guarantee {
    guarantee(&parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).pipeline)
}

/// The base file with another sink.
fn into(sink: &str) -> String {
    BASE.replace("  type: upsert_store\n  table: clicks_minute\n  key: [shop, country, window_start]\n", sink)
}

#[test]
fn the_specifications_job_says_all_of_it() {
    let expected = [
        "Source `source` (log `ad-events`): after a failure it is read on from its position in the newest checkpoint, so \
         each record counts once in state.",
        "State (windows, identities, joins, timers, watermarks, the account): exactly once, saved every 30s; checkpoints \
         that fail do not stop the job.",
        "Sink `sink` (table `campaign_minute`): exactly once in effect; results since the newest checkpoint are written \
         again after a failure, and rows are replaced by key and version; a row may go back until the job has caught up.",
        "Too-late records and dead letters: at least once; after a failure those since the newest checkpoint are written \
         again.",
        "Excluded: records that a log's retention dropped before the job came to them; what a checkpoint still needs is not \
         dropped.",
        "Excluded: in operator `window`, a repeated `event_id` more than 10m of event time after the one that counted: it \
         counts again.",
        "Excluded: in operator `window`, how often panes come by processing time and with it `pane.index`; what all panes of \
         a window say together is the same.",
        "Excluded: which partitions were idle at which moment, and so which of their records are late afterwards.",
        "Excluded: the loss of the folder or store that holds the checkpoints.",
    ];
    assert_eq!(of(SPECIFICATION).sentences(), expected);
}

#[test]
fn each_kind_of_sink_promises_its_own() {
    let delivery = |sink: &str| of(&into(sink)).sinks.remove(0).delivery;
    assert_eq!(delivery("  type: log\n  log: out\n"), Delivery::AtLeastOnce);
    assert_eq!(delivery("  type: transactional_log\n  log: out\n"), Delivery::ExactlyOnce);
    assert_eq!(of(BASE).sinks[0].delivery, Delivery::ExactlyOnceInEffect);
    assert_eq!(delivery("  type: outbox\n"), Delivery::None);
    assert_eq!(delivery("  type: parquet\n"), Delivery::None);
}

#[test]
fn side_outputs_promise_what_the_jobs_sink_does() {
    assert_eq!(of(BASE).side_outputs.delivery, Delivery::AtLeastOnce);
    let transactional = of(&into("  type: transactional_log\n  log: out\n  transaction_timeout: 20m\n"));
    assert_eq!(transactional.side_outputs.delivery, Delivery::ExactlyOnce);
    let horizon =
        transactional.excluded.iter().find(|text| text.contains("`transaction_timeout`")).expect("the horizon");
    assert!(horizon.starts_with("at sink `sink`, results that are not committed within 20m"), "{horizon}");
    let damage = |guarantee: &Guarantee| guarantee.excluded.iter().any(|text| text.contains("damaged"));
    assert!(damage(&transactional) && !damage(&of(BASE)), "only what is committed once can be committed twice");
    // One transactional log among several sinks is enough.
    let mixed = GRAPH.replace("type: log, log: out", "type: transactional_log, log: out");
    let mixed = of(&mixed);
    assert_eq!(mixed.side_outputs.delivery, Delivery::ExactlyOnce);
    let deliveries: Vec<Delivery> = mixed.sinks.iter().map(|promise| promise.delivery).collect();
    assert_eq!(deliveries, [Delivery::ExactlyOnce, Delivery::ExactlyOnceInEffect]);
}

#[test]
fn a_row_that_windows_share_and_a_row_without_one_are_told() {
    let shared = of(&BASE.replace("[shop, country, window_start]", "[shop, country]"));
    assert!(
        shared.sinks[0].sentence.ends_with("as the key lacks them: the last that was written stands."),
        "{shared:?}"
    );
    for own in ["window_start", "window_end"] {
        let own = of(&BASE.replace("window_start]", &format!("{own}]")));
        assert!(own.sinks[0].sentence.ends_with("until the job has caught up."), "{own:?}");
    }
    let graph = of(GRAPH);
    assert!(
        graph.sinks[1].sentence.ends_with("Of rows without a window, the last that was written stands."),
        "{graph:?}"
    );
    assert_eq!(graph.sources.len(), 2);
}

#[test]
fn what_depends_on_the_clock_is_excluded() {
    let excluded = |text: &str, phrase: &str| of(text).excluded.iter().any(|sentence| sentence.contains(phrase));
    let by_clock = "by processing time and with it `pane.index`";
    assert!(!excluded(BASE, by_clock) && !excluded(BASE, "idle"));
    let early = |every: &str| format!("{BASE}trigger: {{early: every {every}}}\n");
    assert!(excluded(&early("10s processing_time"), by_clock));
    assert!(!excluded(&early("3 elements"), by_clock), "elements are the same in every run");
    let late = format!("{BASE}trigger: {{late: every 10s processing_time}}\n");
    assert!(!excluded(&late, by_clock), "no record is late");
    assert!(excluded(&late.replace("size: 1m", "size: 1m\n  allowed_lateness: 1m"), by_clock));
    let discarding =
        into("  type: log\n  log: out\n") + "accumulation: discarding\ntrigger: {early: every 10s processing_time}\n";
    assert!(excluded(&discarding, "`pane.index`, and how records are split over panes"));
    let sessions = early("10s processing_time")
        .replace("type: tumbling\n  size: 1m", "type: session\n  gap: 30s\naccumulation: accumulating_and_retracting")
        .replace("window_start]", "window_start, window_end]");
    assert!(excluded(&sessions, "the row of a session") && !excluded(BASE, "the row of a session"));
}

#[test]
fn repeats_and_hooks_are_excluded_where_they_count() {
    let excluded = |text: &str, phrase: &str| of(text).excluded.iter().any(|sentence| sentence.contains(phrase));
    assert!(excluded(BASE, "without `dedup` both count"));
    let dedup = format!("{BASE}dedup: {{field: id, horizon: 11m}}\n");
    assert!(excluded(&dedup, "more than 11m of event time") && !excluded(&dedup, "without `dedup`"));
    assert!(!excluded(BASE, "hooks") && excluded(GRAPH, "hooks whose answers"));
}

#[test]
fn how_failures_are_borne_is_told() {
    let state = |more: &str| of(&format!("{BASE}checkpoint: {{interval: 1m{more}}}\n")).state;
    assert!(state("").ends_with("saved every 1m; checkpoints that fail do not stop the job."));
    assert!(state(", tolerable_failures: 0").contains("a checkpoint that fails ends the run"));
    assert!(state(", tolerable_failures: 2").contains("more than 2 failed checkpoints in a row end the run"));
}

#[test]
fn every_sentence_is_one_line_and_ends_with_a_full_stop() {
    for text in [BASE, GRAPH, SPECIFICATION] {
        for sentence in of(text).sentences() {
            assert!(
                sentence.ends_with('.') && !sentence.contains(['\n', '\t']) && !sentence.contains("  "),
                "{sentence}"
            );
            assert!(sentence.len() <= 300, "{} bytes: {sentence}", sentence.len());
        }
    }
}
