//! Jobs: submitted, watched, cancelled.

use serde_json::{Value, json};

use crate::harness::{Platform, delete, get, post};

/// The pipeline of the specification.
pub(crate) const PIPELINE: &str = "\
job: campaign-metrics
version: 14
source:
  log: ad-events
  timestamp_field: event_time
  watermark:
    strategy: bounded_out_of_orderness
    max_delay: 30s
    idle_partition_timeout: 60s
key_by: [campaign_id, country]
window:
  type: tumbling
  size: 1m
  allowed_lateness: 10m
trigger:
  early: every 10s processing_time
  on_time: at_watermark
  late: every_element
accumulation: accumulating   # each firing carries the full value so far
aggregate: {impressions: count, clicks: count, spend_micros: sum}
dedup: {field: event_id, horizon: 10m}
late_side_output: ad-events-too-late
sink:
  type: upsert_store
  table: campaign_minute
  key: [campaign_id, country, window_start]
checkpoint: {interval: 30s, mode: aligned, unaligned_after: 60s}
";

/// The same pipeline under another name, writing another table.
pub(crate) fn pipeline(job: &str, version: u32) -> String {
    PIPELINE
        .replace("campaign-metrics", job)
        .replace("version: 14", &format!("version: {version}"))
        .replace("campaign_minute", &format!("table_{job}"))
        .replace("ad-events-too-late", &format!("{job}-too-late"))
}

#[tokio::test]
async fn a_job_is_submitted_watched_and_cancelled() {
    let platform = Platform::new().await;
    let made = platform.send(post("/v1/jobs").by(&platform.acme).yaml(PIPELINE)).await.has_status(201);
    assert_eq!(made.header("location"), Some("/v1/jobs/campaign-metrics"));
    let job = running(&platform, "campaign-metrics").await;
    assert_eq!((&job["version"], &job["parallelism"]), (&json!(14), &json!(2)));
    assert_eq!(job["lag"], json!({ "records": 7, "age_ms": 1_500 }));
    assert_eq!((&job["watermark_lag_ms"], &job["last_checkpoint"]), (&json!(60_000), &json!(1_792_662_000_500_i64)));
    assert_eq!(made.body()["last_checkpoint"], Value::Null, "it had not begun");
    assert_eq!(job["account"]["panes"], json!({ "EARLY": 0, "ON_TIME": 0, "LATE": 0 }));
    assert_eq!((&job["table"], &job["streams"]["input"]), (&json!("campaign_minute"), &json!("ad-events")));

    let listed = platform.send(get("/v1/jobs").by(&platform.acme)).await.has_status(200).body();
    assert_eq!(listed["jobs"][0]["name"], "campaign-metrics");
    let ended = platform.send(delete("/v1/jobs/campaign-metrics").by(&platform.acme)).await.has_status(200).body();
    assert_eq!(ended["state"], "cancelled");
    let again = platform.send(delete("/v1/jobs/campaign-metrics").by(&platform.acme)).await.has_status(200).body();
    assert_eq!(again["state"], "cancelled", "a job that has ended stays as it is");
    platform.send(delete("/v1/jobs/other").by(&platform.acme)).await.has_problem("not-found");
}

#[tokio::test]
async fn a_job_shows_how_its_checkpoints_fare_and_what_it_promises() {
    let platform = Platform::new().await;
    let made = platform.send(post("/v1/jobs").by(&platform.acme).yaml(PIPELINE)).await.has_status(201).body();
    let sentences = made["guarantee"].as_array().expect("a list");
    let begins =
        |start: &str| sentences.iter().any(|sentence| sentence.as_str().is_some_and(|text| text.starts_with(start)));
    assert!(begins("Sink `sink` (table `campaign_minute`): exactly once in effect") && begins("Excluded: "), "{made}");
    let job = running(&platform, "campaign-metrics").await;
    let alert = "the last 3 checkpoints failed; the job goes on, and a restart now would go back to checkpoint 12. The last \
                 failure: the store does not answer";
    let expected = json!({
        "last": {
            "id": 12, "completed_at": 1_792_662_000_500_i64, "duration_ms": 420, "alignment_ms": 3,
            "bytes": {"full": 1_000, "transferred": 50, "referenced": 950},
        },
        "completed": 1, "failures": 4, "failures_in_a_row": 3, "failing_since": 1_792_662_010_500_i64,
        "last_error": "the store does not answer", "alert": alert,
        "oldest_kept_age_ms": 30_000, "store_bytes_per_second": 125, "restored_from": 11,
        "restore": {"assign_ms": 1, "download_ms": 20, "open_ms": 5, "warm_ms": 9, "replay_ms": null},
        "oldest_prepared_transaction_ms": 700,
    });
    assert_eq!(job["checkpoints"], expected);
}

/// The job once its supervisor has started it.
async fn running(platform: &Platform, name: &str) -> Value {
    loop {
        let job = platform.send(get(&format!("/v1/jobs/{name}")).by(&platform.acme)).await.has_status(200).body();
        if job["state"] != "submitted" && !job["parallelism"].is_null() {
            return job;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_pipeline_is_taken_as_yaml_and_as_json() {
    let platform = Platform::new().await;
    for (place, kind) in ["application/yaml", "text/yaml; charset=utf-8", "application/x-yaml"].into_iter().enumerate()
    {
        let text = pipeline(&format!("job-{place}"), 1);
        platform.send(post("/v1/jobs").by(&platform.acme).typed(kind, text)).await.has_status(201);
    }
    let json = json!({
        "job": "from-json", "version": 1, "key_by": [],
        "source": { "log": "in", "timestamp_field": "t", "watermark": { "strategy": "bounded_out_of_orderness", "max_delay": "1s" } },
        "window": { "type": "tumbling", "size": "1m" },
        "aggregate": { "n": "count" },
        "sink": { "type": "log", "log": "out" },
    });
    platform.send(post("/v1/jobs").by(&platform.acme).json(&json)).await.has_status(201);
    platform
        .send(post("/v1/jobs").by(&platform.acme).typed("text/plain", PIPELINE))
        .await
        .has_problem("unsupported-media-type");
}

#[tokio::test]
async fn a_wrong_pipeline_is_refused_with_path_and_line() {
    let platform = Platform::new().await;
    let zero = PIPELINE.replace("size: 1m", "size: 0s");
    let refused = platform.send(post("/v1/jobs").by(&platform.acme).yaml(zero)).await.has_problem("invalid-pipeline");
    assert_eq!(
        (&refused.body()["path"], &refused.body()["line"]),
        (&json!("window.size"), &json!(13)),
        "{}",
        refused.text()
    );
    for broken in ["job: [", "", "{}", "a: &a [*a, *a]", "\u{0}"] {
        platform.send(post("/v1/jobs").by(&platform.acme).yaml(broken)).await.has_problem("invalid-pipeline");
    }
    let bytes = post("/v1/jobs").by(&platform.acme).yaml(b"job: x\nversion: \xff\n".to_vec());
    assert_eq!(platform.send(bytes).await.has_problem("invalid-pipeline").body()["line"], 2);
    let large = post("/v1/jobs").by(&platform.acme).yaml("#".repeat(256 * 1024 + 1));
    platform.send(large).await.has_problem("body-too-large");
}

#[tokio::test]
async fn versions_only_grow() {
    let platform = Platform::new().await;
    let submit = |version| post("/v1/jobs").by(&platform.acme).yaml(pipeline("m", version));
    platform.send(submit(3)).await.has_status(201);
    platform.send(submit(3)).await.has_status(201);
    platform.send(delete("/v1/jobs/m").by(&platform.acme)).await.has_status(200);
    platform.send(submit(2)).await.has_problem("version-not-newer");
    platform.send(submit(4)).await.has_status(201);
}

#[tokio::test]
async fn a_viewer_watches_and_changes_nothing() {
    let platform = Platform::new().await;
    let viewer = platform.token("acme", "viewer").await;
    platform.send(post("/v1/jobs").by(&viewer).yaml(PIPELINE)).await.has_problem("denied");
    platform.send(post("/v1/jobs").by(&platform.acme).yaml(PIPELINE)).await.has_status(201);
    platform.send(get("/v1/jobs/campaign-metrics").by(&viewer)).await.has_status(200);
    platform.send(delete("/v1/jobs/campaign-metrics").by(&viewer)).await.has_problem("denied");
}

#[tokio::test]
async fn jobs_are_listed_page_by_page() {
    let platform = Platform::new().await;
    for name in ["c", "a", "b"] {
        platform.send(post("/v1/jobs").by(&platform.acme).yaml(pipeline(name, 1))).await.has_status(201);
    }
    let page = async |query: &str| {
        let body = platform.send(get(&format!("/v1/jobs{query}")).by(&platform.acme)).await.has_status(200).body();
        let names: Vec<String> =
            body["jobs"].as_array().unwrap().iter().map(|job| job["name"].as_str().unwrap().to_owned()).collect();
        (names.join(" "), body["next"].as_str().map(str::to_owned))
    };
    assert_eq!(page("").await, ("a b c".into(), None));
    assert_eq!(page("?limit=2").await, ("a b".into(), Some("b".into())));
    assert_eq!(page("?limit=2&after=b").await, ("c".into(), None));
    for wrong in ["?limit=0", "?limit=1001", "?after=", "?after=a/b"] {
        platform.send(get(&format!("/v1/jobs{wrong}")).by(&platform.acme)).await.has_problem("invalid-request");
    }
}
