//! Tenants, their tokens and keys.

use serde_json::json;

use crate::harness::{Platform, Signer, delete, get, patch, post};

#[tokio::test]
async fn a_platform_admin_makes_and_lists_tenants() {
    let platform = Platform::new().await;
    let new = json!({ "name": "carol", "limits": { "jobs": 3 } });
    let made = platform.send(post("/v1/tenants").by(&platform.root).json(&new)).await.has_status(201);
    assert_eq!(made.header("location"), Some("/v1/tenants/carol"));
    let body = made.body();
    assert_eq!((&body["name"], &body["limits"]["jobs"]), (&json!("carol"), &json!(3)));
    assert_eq!(body["limits"]["streams"], 30, "what is left out has its default");

    let listed = platform.send(get("/v1/tenants?limit=2").by(&platform.root)).await.has_status(200).body();
    assert_eq!(listed["tenants"][0]["name"], "acme");
    let next = listed["next"].as_str().unwrap();
    let rest = platform.send(get(&format!("/v1/tenants?after={next}")).by(&platform.root)).await.body();
    assert_eq!((&rest["tenants"][0]["name"], &rest["next"]), (&json!("carol"), &json!(null)));
}

#[tokio::test]
async fn limits_change_only_over_the_version_that_was_read() {
    let platform = Platform::new().await;
    let read = platform.send(get("/v1/tenants/acme").by(&platform.acme)).await.has_status(200);
    let tag = read.header("etag").unwrap().to_owned();
    let change = |jobs: u32| patch("/v1/tenants/acme").by(&platform.root).json(&json!({ "limits": { "jobs": jobs } }));

    let changed = platform.send(change(4).header("if-match", &tag)).await.has_status(200);
    assert_eq!((&changed.body()["limits"]["jobs"], &changed.body()["limits"]["streams"]), (&json!(4), &json!(30)));
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
    platform.send(change(5).header("if-match", &tag)).await.has_problem("precondition-failed");
    platform.send(change(5).header("if-match", "no tag")).await.has_problem("precondition-failed");
    platform.send(change(5).header("if-match", "*")).await.has_status(200);
    platform.send(change(6)).await.has_status(200);

    let beyond = json!({ "limits": { "jobs": 1_000_000 } });
    let refused = platform.send(patch("/v1/tenants/acme").by(&platform.root).json(&beyond)).await;
    let refused = refused.has_problem("invalid-request");
    assert!(refused.body()["detail"].as_str().unwrap().contains("set 1 to 1000 jobs"), "{}", refused.text());
    platform.send(patch("/v1/tenants/acme").by(&platform.acme).json(&beyond)).await.has_problem("denied");
}

#[tokio::test]
async fn a_token_counts_until_it_is_revoked() {
    let platform = Platform::new().await;
    let new = json!({ "role": "viewer", "subject": "dashboard", "ttl_ms": 3_600_000 });
    let issued =
        platform.send(post("/v1/tenants/acme/tokens").by(&platform.acme).json(&new)).await.has_status(201).body();
    let token = issued["token"].as_str().unwrap().to_owned();
    platform.send(get("/v1/streams").by(&token)).await.has_status(200);
    platform.send(post("/v1/streams").by(&token).json(&json!({ "name": "x" }))).await.has_problem("denied");

    let listed = platform.send(get("/v1/tenants/acme/tokens").by(&platform.acme)).await.has_status(200);
    let id = issued["id"].as_str().unwrap();
    assert!(listed.body()["tokens"].as_array().unwrap().iter().any(|token| token["id"] == id));
    assert!(!listed.text().contains(&token), "a token's text is shown once");

    let path = format!("/v1/tenants/acme/tokens/{id}");
    platform.send(delete(&path).by(&platform.acme)).await.has_status(204);
    platform.send(delete(&path).by(&platform.acme)).await.has_status(204);
    platform.send(get("/v1/streams").by(&token)).await.has_problem("unauthenticated");
    platform.send(delete("/v1/tenants/acme/tokens/0123").by(&platform.acme)).await.has_problem("not-found");
}

#[tokio::test]
async fn a_token_counts_until_it_expires() {
    let platform = Platform::new().await;
    let new = json!({ "role": "viewer", "subject": "dashboard", "ttl_ms": 60_000 });
    let issued = platform.send(post("/v1/tenants/acme/tokens").by(&platform.acme).json(&new)).await.body();
    let token = issued["token"].as_str().unwrap();
    platform.send(get("/v1/streams").by(token)).await.has_status(200);
    platform.clock.forward(70_000);
    platform.send(get("/v1/streams").by(token)).await.has_problem("unauthenticated");
}

#[tokio::test]
async fn an_authorization_that_is_no_bearer_token_is_refused() {
    let platform = Platform::new().await;
    for header in ["", "Bearer", "Bearer ", "Basic YTpi", "bearer nonsense", "Bearer a.b.c"] {
        let reply = platform.send(get("/v1/jobs").header("authorization", header)).await.has_problem("unauthenticated");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"tidegate\""), "{header}");
    }
    let twice = get("/v1/jobs").by(&platform.acme).by(&platform.acme);
    platform.send(twice).await.has_problem("unauthenticated");
    let lower = get("/v1/jobs").header("authorization", &format!("bearer {}", platform.acme));
    platform.send(lower).await.has_status(200);
}

#[tokio::test]
async fn a_tenant_manages_its_signing_keys() {
    let platform = Platform::new().await;
    let signer = Signer::of(&platform, "acme", &platform.acme).await;
    let listed = platform.send(get("/v1/tenants/acme/keys").by(&platform.acme)).await.has_status(200).body();
    let id = listed["keys"][0]["id"].as_str().unwrap();
    assert!(id.starts_with("ed25519:"), "{listed}");

    let same = json!({ "public_key": signer.public_key() });
    let taken = post("/v1/tenants/bolt/keys").by(&platform.bolt).json(&same);
    platform.send(taken).await.has_problem("already-exists");
    let no_key = json!({ "public_key": "tidegate-public-key:v1:AAAA" });
    let refused = platform.send(post("/v1/tenants/acme/keys").by(&platform.acme).json(&no_key)).await;
    assert_eq!(refused.has_problem("invalid-request").body()["path"], "public_key");

    let path = format!("/v1/tenants/acme/keys/{id}");
    let revoked = platform.send(delete(&path).by(&platform.acme)).await.has_status(200).body();
    assert!(revoked["revoked_at"].is_i64(), "{revoked}");
    let upload = signer.upload(&platform.acme, "enrich", "1.0.0", "x");
    platform.send(upload).await.has_problem("artifact-refused");
}
