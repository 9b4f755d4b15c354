//! The same request sent again.

use std::sync::Arc;

use serde_json::json;

use crate::harness::{Call, Platform, Signer, component_of, delete, form, get, post};
use crate::jobs::pipeline;

fn stream(platform: &Platform, name: &str) -> Call {
    post("/v1/streams").by(&platform.acme).json(&json!({ "name": name }))
}

#[tokio::test]
async fn a_repeated_request_gets_the_first_answer() {
    let platform = Platform::new().await;
    let first = platform.send(stream(&platform, "s").key("k1")).await.has_status(201);
    platform.send(post("/v1/streams/s/records").by(&platform.acme).lines("a\n")).await.has_status(200);
    let again = platform.send(stream(&platform, "s").key("k1")).await.has_status(201);
    assert_eq!((&again.bytes, again.header("location")), (&first.bytes, first.header("location")));
    assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), (None, Some("true")));
    platform.send(stream(&platform, "s")).await.has_status(200);
}

#[tokio::test]
async fn a_key_of_another_request_is_refused() {
    let platform = Platform::new().await;
    platform.send(stream(&platform, "s").key("k1")).await.has_status(201);
    platform.send(stream(&platform, "t").key("k1")).await.has_problem("idempotency-key-reused");
    let elsewhere = post("/v1/jobs").by(&platform.acme).yaml(pipeline("m", 1)).key("k1");
    platform.send(elsewhere).await.has_problem("idempotency-key-reused");
    platform.send(get("/v1/streams/t").by(&platform.acme)).await.has_problem("not-found");
}

#[tokio::test]
async fn a_key_belongs_to_its_caller_and_tenant() {
    let platform = Platform::new().await;
    platform.send(stream(&platform, "s").key("k1")).await.has_status(201);
    let bolt = post("/v1/streams").by(&platform.bolt).json(&json!({ "name": "t" })).key("k1");
    platform.send(bolt).await.has_status(201);
    let developer = platform.token("acme", "developer").await;
    let other = post("/v1/streams").by(&developer).json(&json!({ "name": "u" })).key("k1");
    platform.send(other).await.has_status(201);
}

#[tokio::test]
async fn a_refused_request_may_be_sent_again() {
    let platform = Platform::new().await;
    let few = json!({ "name": "few", "limits": { "streams": 1 } });
    platform.send(post("/v1/tenants").by(&platform.root).json(&few)).await.has_status(201);
    let token = platform.token("few", "tenant-admin").await;
    let make = |name: &str| post("/v1/streams").by(&token).json(&json!({ "name": name }));
    platform.send(make("a")).await.has_status(201);
    platform.send(make("b").key("k")).await.has_problem("quota-exceeded");
    platform.send(delete("/v1/streams/a").by(&token)).await.has_status(204);
    platform.send(make("b").key("k")).await.has_status(201);
}

#[tokio::test]
async fn an_answer_is_kept_for_a_day() {
    let platform = Platform::new().await;
    platform.send(stream(&platform, "s").key("k1")).await.has_status(201);
    platform.clock.forward(24 * 3_600_000 - 1);
    platform.send(stream(&platform, "s").key("k1")).await.has_status(201);
    platform.clock.forward(1);
    platform.send(stream(&platform, "t").key("k1")).await.has_status(201);
}

#[tokio::test]
async fn what_was_kept_is_cleared_away() {
    let platform = Platform::new().await;
    for key in 0..20 {
        platform.send(stream(&platform, "s").key(&format!("old-{key}"))).await;
    }
    platform.clock.forward(24 * 3_600_000);
    for key in 0..12 {
        platform.send(stream(&platform, "s").key(&format!("new-{key}"))).await;
    }
    let kept = platform.store.list("idempotency", "tenant/acme/", None, 1000).await.unwrap();
    assert!(kept.len() <= 14, "{} are kept, 12 of them count", kept.len());
}

#[tokio::test]
async fn two_at_once_are_worked_on_once() {
    let platform = Arc::new(Platform::new().await);
    let submit = |platform: &Platform| post("/v1/jobs").by(&platform.acme).yaml(pipeline("slow", 1)).key("k1");
    let sender = Arc::clone(&platform);
    let first = tokio::spawn(async move { sender.send(submit(&sender)).await });
    platform.runner.gate.reached_by(1).await;
    let second = platform.send(submit(&platform)).await.has_problem("request-in-progress");
    assert_eq!(second.header("retry-after"), Some("1"));
    platform.runner.gate.open();
    let first = first.await.unwrap().has_status(201);
    let third = platform.send(submit(&platform)).await.has_status(201);
    assert_eq!(third.bytes, first.bytes);
}

#[tokio::test]
async fn a_request_that_never_ended_frees_its_key() {
    let platform = Arc::new(Platform::new().await);
    let sender = Arc::clone(&platform);
    let submit = |platform: &Platform| post("/v1/jobs").by(&platform.acme).yaml(pipeline("slow", 1)).key("k1");
    let first = tokio::spawn(async move { sender.send(submit(&sender)).await });
    platform.runner.gate.reached_by(1).await;
    platform.clock.forward(2 * 60_000);
    let other = stream(&platform, "s").key("k1");
    platform.send(other).await.has_status(201);
    platform.runner.gate.open();
    first.await.unwrap().has_status(201);
    let replayed = platform.send(stream(&platform, "s").key("k1")).await.has_status(201);
    assert_eq!(replayed.header("location"), Some("/v1/streams/s"), "the late answer replaced nothing");
}

#[tokio::test]
async fn a_tokens_text_is_never_kept() {
    let platform = Platform::new().await;
    let issue = || {
        let new = json!({ "role": "viewer", "subject": "once" });
        post("/v1/tenants/acme/tokens").by(&platform.acme).json(&new).key("k1")
    };
    let first = platform.send(issue()).await.has_status(201).body();
    let again = platform.send(issue()).await.has_problem("answer-not-kept");
    let id = first["id"].as_str().unwrap();
    assert!(again.body()["detail"].as_str().unwrap().contains(id), "{}", again.text());
    let kept = platform.store.list("idempotency", "tenant/acme/", None, 10).await.unwrap();
    let text = format!("{kept:?}");
    assert!(!text.contains(first["token"].as_str().unwrap()), "{text}");
    let tokens = platform.send(get("/v1/tenants/acme/tokens").by(&platform.acme)).await.body();
    let made = tokens["tokens"].as_array().unwrap().iter().filter(|token| token["subject"] == "once").count();
    assert_eq!(made, 1);
}

#[tokio::test]
async fn an_upload_is_the_same_under_another_boundary() {
    let platform = Platform::new().await;
    let signer = Signer::of(&platform, "acme", &platform.acme).await;
    let component = component_of("x");
    let signature = signer.sign("enrich", "1.0.0", &component);
    let upload = |boundary: &str| {
        let body = form(boundary, &[("component", &component), ("signature", &signature)]);
        post("/v1/artifacts")
            .by(&platform.acme)
            .typed(&format!("multipart/form-data; boundary={boundary}"), body)
            .key("k")
    };
    platform.send(upload("one")).await.has_status(201);
    let again = platform.send(upload("two")).await.has_status(201);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
}

#[tokio::test]
async fn a_key_is_a_short_text() {
    let platform = Platform::new().await;
    for wrong in [String::new(), "k".repeat(256), "é".into()] {
        platform.send(stream(&platform, "s").key(&wrong)).await.has_problem("bad-request");
    }
    platform.send(stream(&platform, "s").key(&"k".repeat(255))).await.has_status(201);
    platform.send(stream(&platform, "t").key("a").key("b")).await.has_problem("bad-request");
}

#[tokio::test]
async fn of_very_many_answers_the_oldest_go() {
    let platform = Platform::new().await;
    platform.send(stream(&platform, "s").key("first")).await.has_status(201);
    for key in 0..1_050 {
        platform.clock.forward(1);
        platform.send_unchecked(stream(&platform, "s").key(&format!("k{key}"))).await.has_status(200);
    }
    let kept = async || {
        let mut after = None;
        let mut kept = 0;
        loop {
            let page = platform.store.list("idempotency", "tenant/acme/", after.as_deref(), 1000).await.unwrap();
            kept += page.len();
            let Some(last) = page.last() else { return kept };
            after = Some(last.path.clone());
        }
    };
    assert_eq!(kept().await, 1_000);
    let again = platform.send(stream(&platform, "s").key("first")).await.has_status(200);
    assert_eq!(again.header("idempotency-replayed"), None, "its answer is no longer kept");
    let newest = platform.send(stream(&platform, "s").key("k1049")).await.has_status(200);
    assert_eq!(newest.header("idempotency-replayed"), Some("true"));
    // What was refused is not kept, and pushes out no more than the room that it needed.
    for key in 0..20 {
        platform.send(stream(&platform, "").key(&format!("refused-{key}"))).await.has_problem("invalid-request");
    }
    assert_eq!(kept().await, 999, "room was made once, and given back");
    let old = platform.send(stream(&platform, "s").key("k100")).await.has_status(200);
    assert_eq!(old.header("idempotency-replayed"), Some("true"));
}
