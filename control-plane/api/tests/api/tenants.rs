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

#[tokio::test]
async fn a_tenant_is_deleted_once_none_of_its_jobs_runs() {
    let platform = Platform::new().await;
    platform.send(post("/v1/jobs").by(&platform.acme).yaml(crate::jobs::pipeline("m", 1))).await.has_status(201);
    let gone = || delete("/v1/tenants/acme").by(&platform.root);
    platform.send(delete("/v1/tenants/acme").by(&platform.acme)).await.has_problem("denied");
    let refused = platform.send(gone()).await.has_problem("conflict").body();
    assert!(refused["detail"].as_str().unwrap().contains("1 of its jobs run, `m` among them"), "{refused}");
    platform.send(delete("/v1/jobs/m").by(&platform.acme)).await.has_status(200);
    platform.send(gone().header("if-match", "\"999\"")).await.has_problem("precondition-failed");
    let tag = platform.send(get("/v1/tenants/acme").by(&platform.root)).await;
    platform.send(gone().header("if-match", tag.header("etag").unwrap())).await.has_status(204);
    platform.send(gone()).await.has_problem("not-found");
    platform.send(get("/v1/streams").by(&platform.acme)).await.has_problem("unauthenticated");
    let again = post("/v1/tenants").by(&platform.root).json(&json!({ "name": "acme" }));
    platform.send(again).await.has_problem("already-exists");
    platform.send(get("/v1/streams").by(&platform.bolt)).await.has_status(200);
    let trail = platform.send(get("/v1/audit?limit=1000").by(&platform.root)).await.has_status(200).body();
    let last = trail["entries"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["action"], &last["target"]), (&json!("tenant.delete"), &json!("acme")));
}

#[tokio::test]
async fn a_trail_is_read_page_by_page_by_those_who_may() {
    let platform = Platform::new().await;
    platform.stream("s", 1).await;
    let page = async |path: &str, by: &str| platform.send(get(path).by(by)).await.has_status(200).body();
    let all = page("/v1/tenants/acme/audit", &platform.acme).await;
    let actions = |page: &serde_json::Value| -> Vec<String> {
        let entries = page["entries"].as_array().unwrap().iter();
        entries.map(|entry| entry["action"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(actions(&all), ["tenant.create", "token.issue", "stream.create"]);
    let by = &all["entries"][2];
    assert_eq!(
        (&by["subject"], &by["role"], &by["target"]),
        (&json!("tenant-admin"), &json!("tenant-admin"), &json!("s"))
    );
    assert_eq!(all["next"], json!(null));
    let first = page("/v1/tenants/acme/audit?limit=2", &platform.root).await;
    let rest = page(&format!("/v1/tenants/acme/audit?limit=2&after={}", first["next"]), &platform.root).await;
    assert_eq!((actions(&first).len(), actions(&rest)), (2, vec!["stream.create".to_owned()]));
    let developer = platform.token("acme", "developer").await;
    platform.send(get("/v1/tenants/acme/audit").by(&developer)).await.has_problem("denied");
    platform.send(get("/v1/tenants/acme/audit").by(&platform.bolt)).await.has_problem("not-found");
    platform.send(get("/v1/audit").by(&platform.acme)).await.has_problem("denied");
    platform.send(get("/v1/audit?limit=0").by(&platform.root)).await.has_problem("invalid-request");
}
