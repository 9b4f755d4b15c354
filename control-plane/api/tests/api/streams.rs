//! Streams: made, looked at, sealed, deleted.

use serde_json::{Value, json};

use crate::harness::{Platform, delete, get, patch, post};

#[tokio::test]
async fn a_stream_is_made_once_with_its_settings() {
    let platform = Platform::new().await;
    let new = json!({
        "name": "ad-events", "partitions": 3, "max_record_bytes": 4096, "retention": { "bytes": 1_000_000, "age_ms": 86_400_000 },
    });
    let made = platform.send(post("/v1/streams").by(&platform.acme).json(&new)).await.has_status(201);
    assert_eq!(made.header("location"), Some("/v1/streams/ad-events"));
    let body = made.body();
    assert_eq!((&body["partitions"], &body["sealed"], &body["records"]), (&json!(3), &json!(false), &json!(0)));
    assert_eq!((&body["retention"], &body["max_record_bytes"]), (&new["retention"], &json!(4096)));
    assert_eq!(body["partition_states"].as_array().unwrap().len(), 3);

    let again = platform.send(post("/v1/streams").by(&platform.acme).json(&new)).await.has_status(200);
    assert_eq!(again.body(), body);
    let other = json!({ "name": "ad-events", "partitions": 4 });
    platform.send(post("/v1/streams").by(&platform.acme).json(&other)).await.has_problem("already-exists");
    let listed = platform.send(get("/v1/streams").by(&platform.acme)).await.has_status(200).body();
    assert_eq!(listed["streams"], json!([body]));
    let elsewhere = platform.send(get("/v1/streams").by(&platform.bolt)).await.has_status(200).body();
    assert_eq!(elsewhere["streams"], json!([]));
}

#[tokio::test]
async fn what_is_left_out_has_its_default() {
    let platform = Platform::new().await;
    let made = platform.send(post("/v1/streams").by(&platform.acme).json(&json!({ "name": "s" }))).await.body();
    assert_eq!((&made["partitions"], &made["max_record_bytes"]), (&json!(1), &json!(1024 * 1024)));
    assert_eq!(made["retention"], json!({ "bytes": null, "age_ms": null }));
}

#[tokio::test]
async fn the_same_request_finds_its_stream_after_a_limit_changed() {
    let platform = Platform::new().await;
    let shortest = json!({ "bytes": 32_768, "age_ms": 1_000 });
    let new = json!({ "name": "s", "retention": shortest });
    let made = platform.send(post("/v1/streams").by(&platform.acme).json(&new)).await.has_status(201).body();
    let change = json!({ "limits": { "record_bytes": 4096 } });
    platform.send(patch("/v1/tenants/acme").by(&platform.root).json(&change)).await.has_status(200);
    let again = platform.send(post("/v1/streams").by(&platform.acme).json(&new)).await.has_status(200).body();
    assert_eq!(again, made);
    let given = json!({ "name": "s", "retention": shortest, "max_record_bytes": 4096 });
    platform.send(post("/v1/streams").by(&platform.acme).json(&given)).await.has_problem("already-exists");
}

#[tokio::test]
async fn wrong_settings_are_refused_with_their_field() {
    let platform = Platform::new().await;
    let path_of = async |body: Value| {
        let reply =
            platform.send(post("/v1/streams").by(&platform.acme).json(&body)).await.has_problem("invalid-request");
        reply.body()["path"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(path_of(json!({ "name": "a/b" })).await, "name");
    assert_eq!(path_of(json!({ "name": "s", "partitions": 0 })).await, "partitions");
    assert_eq!(path_of(json!({ "name": "s", "partitions": 5000 })).await, "partitions");
    assert_eq!(path_of(json!({ "name": "s", "max_record_bytes": 0 })).await, "max_record_bytes");
    assert_eq!(path_of(json!({ "name": "s", "max_record_bytes": 2_000_000 })).await, "max_record_bytes");
    assert_eq!(path_of(json!({ "name": "s", "retention": { "age_ms": 0 } })).await, "retention.age_ms");
    assert_eq!(path_of(json!({ "name": "s", "retention": { "age_ms": 999 } })).await, "retention.age_ms");
    assert_eq!(path_of(json!({ "name": "s", "retention": { "bytes": 32_767 } })).await, "retention.bytes");
    path_of(json!({ "name": "s", "colour": "red" })).await;
    path_of(json!({ "name": 7 })).await;
    path_of(json!({})).await;
    let broken = post("/v1/streams").by(&platform.acme).typed("application/json", "{\"name\":\n");
    assert_eq!(platform.send(broken).await.has_problem("bad-request").body()["line"], 2);
}

#[tokio::test]
async fn a_tenant_makes_as_many_streams_as_it_may() {
    let platform = Platform::new().await;
    let few = json!({ "name": "few", "limits": { "streams": 1, "partitions": 2 } });
    platform.send(post("/v1/tenants").by(&platform.root).json(&few)).await.has_status(201);
    let token = platform.token("few", "tenant-admin").await;
    let make = |name: &str, partitions: u32| {
        post("/v1/streams").by(&token).json(&json!({ "name": name, "partitions": partitions }))
    };
    platform.send(make("a", 3)).await.has_problem("quota-exceeded");
    platform.send(make("a", 2)).await.has_status(201);
    let full = platform.send(make("b", 1)).await.has_problem("quota-exceeded");
    assert!(full.body()["detail"].as_str().unwrap().contains("limit streams"), "{}", full.text());
    platform.send(make("a", 2)).await.has_status(200);
    platform.send(delete("/v1/streams/a").by(&token)).await.has_status(204);
    platform.send(make("b", 1)).await.has_status(201);
}

#[tokio::test]
async fn a_sealed_partition_takes_no_more() {
    let platform = Platform::new().await;
    platform.stream("s", 2).await;
    let one = platform.send(post("/v1/streams/s/seal?partition=1").by(&platform.acme)).await.has_status(200).body();
    let sealed: Vec<&Value> =
        one["partition_states"].as_array().unwrap().iter().map(|state| &state["sealed"]).collect();
    assert_eq!((sealed, &one["sealed"]), (vec![&json!(false), &json!(true)], &json!(false)));
    let append =
        |partition: u32| post(&format!("/v1/streams/s/records?partition={partition}")).by(&platform.acme).lines("a\n");
    platform.send(append(1)).await.has_problem("stream-sealed");
    platform.send(append(0)).await.has_status(200);
    let all = platform.send(post("/v1/streams/s/seal").by(&platform.acme)).await.has_status(200).body();
    assert_eq!(all["sealed"], true);
    platform.send(post("/v1/streams/s/seal").by(&platform.acme)).await.has_status(200);
    platform.send(post("/v1/streams/s/seal?partition=2").by(&platform.acme)).await.has_problem("not-found");
    platform.send(post("/v1/streams/other/seal").by(&platform.acme)).await.has_problem("not-found");
    let viewer = platform.token("acme", "viewer").await;
    platform.send(post("/v1/streams/s/seal").by(&viewer)).await.has_problem("denied");
}

#[tokio::test]
async fn a_deleted_stream_frees_its_name() {
    let platform = Platform::new().await;
    platform.stream("s", 1).await;
    platform.send(post("/v1/streams/s/records").by(&platform.acme).lines("a\n")).await.has_status(200);
    let developer = platform.token("acme", "developer").await;
    platform.send(delete("/v1/streams/s").by(&developer)).await.has_problem("denied");
    platform.send(delete("/v1/streams/s").by(&platform.acme)).await.has_status(204);
    platform.send(get("/v1/streams/s").by(&platform.acme)).await.has_problem("not-found");
    platform.stream("s", 4).await;
    let again = platform.send(get("/v1/streams/s").by(&platform.acme)).await.body();
    assert_eq!((&again["records"], &again["partitions"]), (&json!(0), &json!(4)));
}

#[tokio::test]
async fn what_is_done_to_a_stream_is_recorded() {
    let platform = Platform::new().await;
    platform.stream("s", 1).await;
    platform.send(post("/v1/streams/s/seal").by(&platform.acme)).await.has_status(200);
    platform.send(delete("/v1/streams/s").by(&platform.acme)).await.has_status(204);
    let entries = platform.store.entries("tenant/acme", 0, 100).await.unwrap();
    let actions: Vec<&str> = entries.iter().filter_map(|entry| entry.body["action"].as_str()).collect();
    assert!(actions.ends_with(&["stream.create", "stream.seal", "stream.delete"]), "{actions:?}");
}

#[tokio::test]
async fn a_stream_that_a_live_job_uses_is_not_deleted() {
    let platform = Platform::new().await;
    platform.stream("ad-events", 1).await;
    platform.stream("m-dead-letters", 1).await;
    platform.send(post("/v1/jobs").by(&platform.acme).yaml(crate::jobs::pipeline("m", 1))).await.has_status(201);
    let gone = |stream: &str| delete(&format!("/v1/streams/{stream}")).by(&platform.acme);
    let refused = platform.send(gone("ad-events")).await.has_problem("conflict").body();
    let detail = refused["detail"].as_str().unwrap();
    assert_eq!(detail, "stream `ad-events`: job `m` reads it; cancel the job first (`tidegate job cancel m`)");
    platform.send(gone("m-dead-letters")).await.has_problem("conflict");
    platform.send(get("/v1/streams/ad-events").by(&platform.acme)).await.has_status(200);
    platform.send(delete("/v1/jobs/m").by(&platform.acme)).await.has_status(200);
    platform.send(gone("ad-events")).await.has_status(204);
    platform.send(gone("ad-events")).await.has_problem("not-found");
}
