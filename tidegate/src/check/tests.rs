//! What `tidegate check` says of the specification's pipeline.

use super::*;

#[test]
fn the_specifications_pipeline_is_explained() {
    let text = include_str!("tests/pipeline.yaml");
    let pipeline = tidegate_pipeline::parse(text).unwrap().pipeline;
    let expected = "\
campaign-metrics, version 14: sound

  source      JSON records from log `ad-events`; event time in `event_time`; no field declared (all dynamic)
  watermark   30s behind each partition's newest record; a partition silent for 1m is idle and holds nothing back
  key         campaign_id, country
  dedup       `event_id`, remembered for 10m of event time
  window      tumbling, 1m each; takes late records for 10m
  panes       early every 10s of processing time, on time, late at every record; each has all records so far
  aggregate   impressions = how many `impressions` are present
              clicks = how many records where `kind` is \"click\"
              spend_micros = sum of `spend_micros`
  sink        rows of table `campaign_minute`, one for each campaign_id, country, window_start

Operators and the ids that their state belongs to:
  dedup       dedup
  window      window
  aggregate   aggregate.impressions
  aggregate   aggregate.clicks
  aggregate   aggregate.spend_micros

What it guarantees once it is deployed (`tidegate run` takes no checkpoints):
  Source `source` (log `ad-events`): after a failure it is read on from its position in the newest checkpoint, so each \
record counts once in state.
  State (windows, identities, joins, timers, watermarks, the account): exactly once, saved every 10s; checkpoints that \
fail do not stop the job.
  Sink `sink` (table `campaign_minute`): exactly once in effect; results since the newest checkpoint are written again \
after a failure, and rows are replaced by key and version; a row may go back until the job has caught up.
  Too-late records and dead letters: at least once; after a failure those since the newest checkpoint are written again.
";
    let explained = explain(&pipeline);
    assert_eq!(&explained[..expected.len()], expected);
    let excluded = explained[expected.len()..].lines().all(|line| line.starts_with("  Excluded: "));
    assert!(excluded && explained.len() > expected.len(), "{explained}");
}

#[test]
fn windows_without_lateness_take_no_late_records() {
    let text = include_str!("tests/pipeline.yaml").replace("allowed_lateness: 10m", "allowed_lateness: 0s");
    let pipeline = tidegate_pipeline::parse(&text).unwrap().pipeline;
    let explained = explain(&pipeline);
    assert!(explained.contains("tumbling, 1m each; takes no late records\n"), "{explained}");
}
