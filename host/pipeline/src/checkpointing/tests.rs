//! Defaults of checkpoints, and transactions that must outlive them.

use crate::model::{Checkpoint, CheckpointMode, Sink};
use crate::parsed::tests::BASE;
use crate::{ErrorCode, parse};
use tidegate_types::Millis;

const UPSERT: &str = "  type: upsert_store\n  table: clicks_minute\n  key: [shop, country, window_start]\n";

/// The base file with a transactional sink and these further lines.
fn transactional(sink: &str, checkpoint: &str) -> String {
    let text = BASE.replace(UPSERT, &format!("  type: transactional_log\n  log: out\n{sink}"));
    format!("{text}{checkpoint}")
}

#[test]
fn a_job_without_the_key_is_saved_every_ten_seconds_aligned_and_bears_every_failure() {
    let pipeline = parse(BASE).expect("sound").pipeline;
    assert_eq!(pipeline.checkpoint, None);
    let checkpoint = pipeline.checkpointing();
    let expected = Checkpoint {
        interval: Millis(10_000),
        mode: CheckpointMode::Aligned,
        unaligned_after: None,
        tolerable_failures: None,
    };
    assert_eq!(checkpoint, expected);
    assert!(checkpoint.tolerates(1) && checkpoint.tolerates(u64::MAX));
}

#[test]
fn so_many_failures_in_a_row_are_borne_and_no_more() {
    let with = |tolerable: &str| {
        let text = format!("{BASE}checkpoint: {{interval: 1s, tolerable_failures: {tolerable}}}\n");
        parse(&text).map(|parsed| parsed.pipeline.checkpointing())
    };
    let none = with("0").expect("sound");
    assert!(none.tolerates(0) && !none.tolerates(1));
    let two = with("2").expect("sound");
    assert!(two.tolerates(2) && !two.tolerates(3));
    for wrong in ["-1", "1.5", "\"2\"", "none", "4294967296"] {
        let error = with(wrong).expect_err(wrong);
        assert_eq!((error.code, error.path.as_str()), (ErrorCode::InvalidPipeline, "checkpoint.tolerable_failures"));
    }
}

#[test]
fn the_defaults_fit_each_other() {
    for checkpoint in ["", "checkpoint: {interval: 30s, mode: aligned, unaligned_after: 60s}\n"] {
        let pipeline = parse(&transactional("", checkpoint)).expect("sound").pipeline;
        let Sink::TransactionalLog { transaction_timeout, .. } = pipeline.sinks[0].sink else {
            panic!("a transactional log")
        };
        assert_eq!(transaction_timeout, Millis(900_000));
    }
}

#[test]
fn a_transaction_outlives_interval_alignment_and_the_longest_recovery() {
    // 10 s + 60 s + 7 m is 490 s, and the timeout must exceed it.
    parse(&transactional("  transaction_timeout: 490001ms\n", "")).expect("just enough");
    let error = parse(&transactional("  transaction_timeout: 490s\n", "")).expect_err("one millisecond short");
    assert_eq!((error.path.as_str(), error.line), ("sink.transaction_timeout", Some(19)), "{error}");
    let sum = "can need 490s until it is committed: 10s (`checkpoint.interval`) + 1m (`checkpoint.unaligned_after`, 1m where \
               absent) + 7m (the longest recovery)";
    assert!(error.reason.contains(sum), "{error}");
    // A long interval needs a longer timeout than the default one; the line is the sink's.
    let long = transactional("", "checkpoint: {interval: 10m}\n");
    let error = parse(&long).expect_err("longer than 15 minutes");
    assert_eq!((error.path.as_str(), error.line), ("sink.transaction_timeout", Some(16)), "{error}");
    parse(&transactional("  transaction_timeout: 30m\n", "checkpoint: {interval: 10m}\n")).expect("told");
    let patient = "checkpoint: {interval: 1s, unaligned_after: 1h}\n";
    assert!(
        parse(&transactional("", patient)).is_err() && parse(&transactional("", &patient.replace("1h", "1m"))).is_ok()
    );
}

#[test]
fn only_a_transactional_log_has_a_transaction_timeout() {
    let text = format!("{BASE}  transaction_timeout: 20m\n");
    let error = parse(&text).expect_err("an upsert store");
    assert_eq!(error.path, "sink.transaction_timeout");
    assert!(error.reason.contains("`type: transactional_log`"), "{error}");
    // An interval of years is no matter without transactions.
    parse(&format!("{BASE}checkpoint: {{interval: 365d}}\n")).expect("sound");
    for wrong in ["0s", "900"] {
        assert!(parse(&transactional(&format!("  transaction_timeout: {wrong}\n"), "")).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_not_done_yet_is_remarked() {
    let remarks = |checkpoint: &str| -> Vec<String> {
        let parsed = parse(&format!("{BASE}checkpoint: {checkpoint}\n")).expect("sound");
        parsed.warnings.iter().map(ToString::to_string).collect()
    };
    assert_eq!(remarks("{interval: 30s, mode: aligned, tolerable_failures: 3}"), Vec::<String>::new());
    let unaligned = remarks("{interval: 30s, mode: unaligned}");
    assert!(unaligned.len() == 1 && unaligned[0].starts_with("checkpoint.mode (line 20): accepted"), "{unaligned:?}");
    let after = remarks("{interval: 30s, unaligned_after: 60s}");
    assert!(after.len() == 1 && after[0].starts_with("checkpoint.unaligned_after (line 20): accepted"), "{after:?}");
}
