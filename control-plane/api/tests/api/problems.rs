//! Every problem of the table is answered by some request, and none says what is not for the client.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use serde_json::json;
use tidegate_api::ApiSettings;
use tidegate_api::problem::codes;

use crate::harness::{Call, Platform, Reply, Signer, TrickleBody, get, patch, post};
use crate::jobs::{PIPELINE, pipeline};

#[tokio::test]
async fn every_code_is_answered_by_some_request() {
    for code in codes::ALL.iter().filter(|code| !codes::NOT_YET.contains(code)) {
        let reply = provoke(code.name).await;
        assert_eq!(reply.code(), code.name, "{}", reply.text());
        assert_eq!(reply.status.as_u16(), code.status);
    }
}

/// The answer of a request that has this problem.
async fn provoke(code: &str) -> Reply {
    let settings = ApiSettings {
        body_timeout: Duration::from_millis(if code == "request-timeout" { 10 } else { 30_000 }),
        answer_timeout: Duration::from_millis(if code == "took-too-long" { 10 } else { 90_000 }),
        requests: if code == "overloaded" { 1 } else { 512 },
        calls_per_tenant: if code == "too-many-requests" { 1 } else { 32 },
        queue_timeout: Duration::from_millis(10),
        ..ApiSettings::default()
    };
    let platform = Arc::new(Platform::with(settings).await);
    if let Some(reply) = beside_another(code, &platform).await {
        return reply;
    }
    let call = match wrong_at_once(code, &platform) {
        Some(call) => call,
        None => match wrong_of_streams(code, &platform).await {
            Some(call) => call,
            None => wrong_after_another(code, &platform).await,
        },
    };
    platform.send(call).await
}

fn stream(platform: &Platform, name: &str) -> Call {
    post("/v1/streams").by(&platform.acme).json(&json!({ "name": name }))
}

fn submit(platform: &Platform, text: String) -> Call {
    post("/v1/jobs").by(&platform.acme).yaml(text)
}

/// Problems of a request that is sent while another one is worked on.
async fn beside_another(code: &str, platform: &Arc<Platform>) -> Option<Reply> {
    let sender = Arc::clone(platform);
    match code {
        "request-in-progress" => {
            let first = submit(platform, pipeline("slow", 1)).key("k");
            tokio::spawn(async move { sender.send(first).await });
            platform.runner.gate.reached_by(1).await;
            Some(platform.send(submit(platform, pipeline("slow", 1)).key("k")).await)
        }
        "too-many-requests" | "overloaded" => {
            tokio::spawn(async move { sender.send_unchecked(rows(&sender, "blocked")).await });
            platform.tables.gate.reached_by(1).await;
            let reply = platform.send(rows(platform, "other")).await;
            platform.tables.gate.open();
            Some(reply)
        }
        _ => None,
    }
}

/// Problems that a single request has.
fn wrong_at_once(code: &str, platform: &Platform) -> Option<Call> {
    let acme = &platform.acme;
    Some(match code {
        "bad-request" => post("/v1/streams").by(acme).typed("application/json", "{"),
        "unauthenticated" => get("/v1/streams"),
        "denied" => post("/v1/tenants").by(acme).json(&json!({ "name": "x" })),
        "not-found" => get("/v1/streams/nothing").by(acme),
        "method-not-allowed" => Call::new(Method::PUT, "/v1/streams").by(acme),
        "request-timeout" => {
            let body = TrickleBody { first: Some("{".into()), breaks: false };
            post("/v1/streams").by(acme).typed("application/json", Body::new(body))
        }
        "already-exists" => post("/v1/tenants").by(&platform.root).json(&json!({ "name": "acme" })),
        "precondition-failed" => {
            let change = json!({ "limits": { "jobs": 1 } });
            patch("/v1/tenants/acme").by(&platform.root).json(&change).header("if-match", "\"0\"")
        }
        "body-too-large" => post("/v1/streams").by(acme).typed("application/json", " ".repeat(64 * 1024 + 1)),
        "unsupported-media-type" => post("/v1/streams").by(acme).body("{}"),
        "invalid-request" => stream(platform, "no name"),
        "invalid-pipeline" => submit(platform, "job: [".into()),
        "unknown-component" => submit(platform, with_component("other")),
        "internal" => rows(platform, "panics"),
        "unavailable" => rows(platform, "broken"),
        "took-too-long" => rows(platform, "blocked"),
        _ => return None,
    })
}

/// Problems that a stream in some state has.
async fn wrong_of_streams(code: &str, platform: &Platform) -> Option<Call> {
    let acme = &platform.acme;
    let append = |lines: &'static str| post("/v1/streams/s/records").by(acme).lines(lines);
    let counted = |sequence: &str, lines: &'static str| {
        append(lines).header("tidegate-producer", "p").header("tidegate-sequence", sequence)
    };
    let new = match code {
        "offset-not-kept" => json!({ "name": "s", "retention": { "age_ms": 1_000 } }),
        "record-too-large" => json!({ "name": "s", "max_record_bytes": 1 }),
        "stream-sealed" | "sequence-too-low" | "sequence-reused" | "offset-out-of-range" => json!({ "name": "s" }),
        _ => return None,
    };
    platform.send(post("/v1/streams").by(acme).json(&new)).await.has_status(201);
    Some(match code {
        "offset-not-kept" => {
            platform.send(append("a\n")).await.has_status(200);
            platform.log.retain(i64::MAX).unwrap();
            get("/v1/streams/s/records?from=0").by(acme)
        }
        "record-too-large" => append("ab\n"),
        "stream-sealed" => {
            platform.send(post("/v1/streams/s/seal").by(acme)).await.has_status(200);
            append("a\n")
        }
        "offset-out-of-range" => get("/v1/streams/s/records?from=1").by(acme),
        _ => {
            platform.send(counted("5", "a\n")).await.has_status(200);
            counted(if code == "sequence-reused" { "5" } else { "4" }, "b\n")
        }
    })
}

/// Problems that a request has because of what was done before.
async fn wrong_after_another(code: &str, platform: &Platform) -> Call {
    let acme = &platform.acme;
    match code {
        "conflict" => {
            platform.send(submit(platform, PIPELINE.into())).await.has_status(201);
            submit(platform, PIPELINE.replace("campaign-metrics", "other").replace("too-late", "late"))
        }
        "version-not-newer" => {
            platform.send(submit(platform, pipeline("m", 2))).await.has_status(201);
            submit(platform, pipeline("m", 1))
        }
        "answer-not-kept" => {
            let new = json!({ "role": "viewer", "subject": "x" });
            let issue = || post("/v1/tenants/acme/tokens").by(acme).json(&new).key("k");
            platform.send(issue()).await.has_status(201);
            issue()
        }
        "artifact-refused" => {
            let signer = Signer::of(platform, "acme", acme).await;
            signer.upload(acme, "a", "1.0.0", "WASI")
        }
        "idempotency-key-reused" => {
            platform.send(stream(platform, "s").key("k")).await.has_status(201);
            stream(platform, "t").key("k")
        }
        "quota-exceeded" => {
            let few = json!({ "limits": { "streams": 1 } });
            platform.send(patch("/v1/tenants/acme").by(&platform.root).json(&few)).await.has_status(200);
            platform.stream("s", 1).await;
            stream(platform, "t")
        }
        other => panic!("nothing provokes {other}: add a request here"),
    }
}

fn rows(platform: &Platform, table: &str) -> Call {
    get(&format!("/v1/tables/{table}/rows")).by(&platform.acme)
}

/// A pipeline with a map hook of this component.
fn with_component(name: &str) -> String {
    format!("{PIPELINE}map: {{component: {name}}}\n")
}

#[tokio::test]
async fn what_is_internal_stays_inside() {
    let platform = Platform::new().await;
    for table in ["panics", "broken"] {
        let reply = platform.send(rows(&platform, table)).await;
        assert!(reply.status.is_server_error());
        for inner in ["secret", "/", "disk", "panic"] {
            let said = reply.body()["detail"].as_str().unwrap().to_owned();
            assert!(!said.contains(inner), "{said}");
        }
        assert!(!reply.text().contains("secret"), "{}", reply.text());
    }
    platform.send(rows(&platform, "none")).await.has_problem("not-found");
}

#[tokio::test]
async fn a_method_that_a_path_does_not_know_is_named_with_those_it_does() {
    let platform = Platform::new().await;
    let reply = platform.send(Call::new(Method::PUT, "/v1/streams")).await.has_problem("method-not-allowed");
    let allowed = reply.header("allow").unwrap();
    assert!(allowed.contains("GET") && allowed.contains("POST"), "{allowed}");
    for path in ["/", "/v1", "/v2/streams", "/v1/streams/", "/v1/streams/s/", "/v1//streams", "/v1/%2e%2e/streams"] {
        platform.send(get(path)).await.has_problem("not-found");
    }
}

#[tokio::test]
async fn a_head_request_has_the_heads_of_its_get() {
    let platform = Platform::new().await;
    for path in ["/v1/health", "/v1/streams/nothing"] {
        let got = platform.send(get(path).by(&platform.acme)).await;
        let head = platform.send_unchecked(Call::new(Method::HEAD, path).by(&platform.acme)).await;
        assert_eq!((head.status, head.bytes.len()), (got.status, 0), "{path}");
        assert_eq!(head.header("content-type"), got.header("content-type"), "{path}");
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_changes_nothing() {
    let platform = Platform::new().await;
    platform.stream("s", 1).await;
    let body = TrickleBody { first: Some("whole\nhal".into()), breaks: true };
    let broken = post("/v1/streams/s/records").by(&platform.acme).lines(Body::new(body));
    platform.send(broken).await.has_problem("bad-request");
    let state = platform.send(get("/v1/streams/s").by(&platform.acme)).await.body();
    assert_eq!(state["records"], 0);
}

#[tokio::test]
async fn a_job_that_cannot_start_now_may_be_sent_again() {
    let platform = Platform::new().await;
    let down = platform.send(post("/v1/jobs").by(&platform.acme).yaml(pipeline("down", 1))).await;
    assert_eq!(down.has_problem("unavailable").header("retry-after"), Some("1"));
}

#[tokio::test]
async fn every_answer_names_its_request() {
    let platform = Platform::new().await;
    let mut ids = std::collections::BTreeSet::new();
    for path in ["/v1/health", "/v1/streams", "/nothing"] {
        let reply = platform.send(get(path)).await;
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert!(ids.insert(reply.header("tidegate-request-id").unwrap().to_owned()), "an id stands twice");
    }
}
