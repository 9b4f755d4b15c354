//! Two tenants: a token of one opens nothing of the other's. Every route of the OpenAPI document is walked.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use tidegate_api::ApiSettings;

use crate::harness::{Call, Platform, Signer, TrickleBody, component_of, form, get, post};
use crate::jobs::pipeline;

/// Everything that a tenant can have, of acme's, named so that a name in another's answer is seen.
async fn acme_has_everything(platform: &Platform) -> (String, String) {
    let signer = Signer::of(platform, "acme", &platform.acme).await;
    platform.send(signer.upload(&platform.acme, "acme-artifact", "1.0.0", "x")).await.has_status(201);
    platform.stream("acme-stream", 1).await;
    let append = post("/v1/streams/acme-stream/records").by(&platform.acme).lines("acme-record\n");
    platform.send(append).await.has_status(200);
    platform.send(post("/v1/jobs").by(&platform.acme).yaml(pipeline("acme-job", 1))).await.has_status(201);
    platform.tables.put("acme", "acme-table", json!({ "id": "acme-row", "n": 1 }));
    let list =
        async |what: &str| platform.send(get(&format!("/v1/tenants/acme/{what}")).by(&platform.acme)).await.body();
    let key = list("keys").await["keys"][0]["id"].as_str().unwrap().to_owned();
    let token = list("tokens").await["tokens"][0]["id"].as_str().unwrap().to_owned();
    (key, token)
}

/// A path template with acme's names in it.
fn filled(template: &str, key: &str, token: &str) -> String {
    let name = match template.split('/').nth(2).unwrap() {
        "artifacts" => "acme-artifact",
        "jobs" => "acme-job",
        "streams" => "acme-stream",
        "tables" => "acme-table",
        _ => "",
    };
    let id = if template.contains("/keys/") { key } else { token };
    let path = template.replace("{tenant}", "acme").replace("{name}", name).replace("{version}", "1.0.0");
    path.replace("{id}", id)
}

/// A request that would be served if the caller might: only its rights are wrong.
fn valid_request(method: &Method, template: &str, path: &str) -> Call {
    let call = Call::new(method.clone(), path);
    match (method.as_str(), template) {
        ("POST", "/v1/tenants/{tenant}/tokens") => call.json(&json!({ "role": "viewer", "subject": "x" })),
        ("POST", "/v1/tenants/{tenant}/keys") => call.json(&json!({ "public_key": "tidegate-public-key:v1:AAAA" })),
        ("PATCH", "/v1/tenants/{tenant}") => call.json(&json!({ "limits": { "jobs": 1 } })),
        ("POST", "/v1/tenants") => call.json(&json!({ "name": "new" })),
        ("POST", "/v1/streams") => call.json(&json!({ "name": "bolts-own" })),
        ("POST", "/v1/streams/{name}/records") => call.lines("a\n"),
        ("POST", "/v1/jobs") => call.yaml(pipeline("bolts-own", 1)),
        ("POST", "/v1/artifacts") => {
            let parts = form("b", &[("component", &component_of("x")), ("signature", b"{}")]);
            call.typed("multipart/form-data; boundary=b", parts)
        }
        _ => call,
    }
}

/// Every operation of the document, with its path template.
fn operations(document: &Value) -> Vec<(Method, String)> {
    let mut all = Vec::new();
    for (template, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            all.push((method.to_ascii_uppercase().parse().unwrap(), template.clone()));
        }
    }
    assert!(all.len() >= 28, "the document has lost routes: {all:?}");
    all
}

const OPEN: [&str; 2] = ["/v1/health", "/v1/openapi.json"];

#[tokio::test]
async fn without_a_token_nothing_is_opened() {
    let platform = Platform::new().await;
    let (key, token) = acme_has_everything(&platform).await;
    for (method, template) in operations(&platform.document) {
        let path = filled(&template, &key, &token);
        let reply = platform.send(valid_request(&method, &template, &path)).await;
        if OPEN.contains(&template.as_str()) {
            reply.has_status(200);
        } else {
            assert_eq!(reply.status.as_u16(), 401, "{method} {template}");
            // The same holds for a request that is wrong in every other way.
            let wrong = Call::new(method.clone(), &format!("{path}?nonsense=1")).typed("nonsense", "{");
            platform.send(wrong).await.has_problem("unauthenticated");
        }
    }
}

#[tokio::test]
async fn another_tenants_token_opens_nothing() {
    let platform = Platform::new().await;
    let (key, token) = acme_has_everything(&platform).await;
    let before = everything_of_acme(&platform).await;
    for (method, template) in operations(&platform.document) {
        if OPEN.contains(&template.as_str()) {
            continue;
        }
        let path = filled(&template, &key, &token);
        for role in ["tenant-admin", "developer", "viewer"] {
            let bolt = platform.token("bolt", role).await;
            let reply = platform.send(valid_request(&method, &template, &path).by(&bolt)).await;
            let place = format!("{role}: {method} {path} -> {} {}", reply.status, reply.text());
            if template.contains('{') {
                let may_not_at_all = reply.status == 403 && !template.contains("{tenant}") && method != Method::GET;
                assert!(reply.status == 404 || may_not_at_all, "{place}");
                assert!(
                    role != "tenant-admin" || reply.status == 404,
                    "an admin may everything, so it learns nothing: {place}"
                );
            }
            let told = reply.text().replace("acme-", "");
            let only_what_was_asked = reply.status.is_client_error();
            assert!(only_what_was_asked || told == reply.text(), "something of acme's is shown: {place}");
        }
    }
    assert_eq!(everything_of_acme(&platform).await, before, "and nothing was changed");
}

/// What acme sees of its own, apart from what a job's run moves.
async fn everything_of_acme(platform: &Platform) -> Vec<Value> {
    let mut all = Vec::new();
    for path in ["/v1/tenants/acme", "/v1/tenants/acme/keys", "/v1/artifacts", "/v1/streams", "/v1/tables"] {
        all.push(platform.send(get(path).by(&platform.acme)).await.has_status(200).body());
    }
    let job = platform.send(get("/v1/jobs/acme-job").by(&platform.acme)).await.body();
    all.push(json!([job["name"], job["version"], job["ended_at"]]));
    all
}

#[tokio::test]
async fn a_missing_thing_and_another_tenants_are_told_alike() {
    let platform = Platform::new().await;
    platform.stream("secret", 1).await;
    let told = async |name: &str| {
        let reply =
            platform.send(get(&format!("/v1/streams/{name}")).by(&platform.bolt)).await.has_problem("not-found");
        let mut body = reply.body();
        body["instance"] = Value::Null;
        body.to_string().replace(name, "NAME")
    };
    assert_eq!(told("secret").await, told("nothing").await);
    let tenant = async |name: &str| {
        let reply =
            platform.send(get(&format!("/v1/tenants/{name}")).by(&platform.bolt)).await.has_problem("not-found");
        let mut body = reply.body();
        body["instance"] = Value::Null;
        body.to_string().replace(name, "NAME")
    };
    assert_eq!(tenant("acme").await, tenant("nobody").await);
}

#[tokio::test]
async fn a_platform_admin_has_no_tenants_rights() {
    let platform = Platform::new().await;
    acme_has_everything(&platform).await;
    for path in ["/v1/streams", "/v1/streams/acme-stream", "/v1/jobs", "/v1/artifacts", "/v1/tables/acme-table/rows"] {
        platform.send(get(path).by(&platform.root)).await.has_problem("denied");
    }
    platform.send(get("/v1/tenants/acme").by(&platform.root)).await.has_status(200);
    platform.send(get("/v1/tenants").by(&platform.acme)).await.has_problem("denied");
}

#[tokio::test]
async fn a_tenants_many_requests_leave_room_for_others() {
    let settings = ApiSettings { requests_per_tenant: 1, ..ApiSettings::default() };
    let platform = Arc::new(Platform::with(settings).await);
    let sender = Arc::clone(&platform);
    tokio::spawn(async move { sender.send(get("/v1/tables/blocked/rows").by(&sender.acme)).await });
    platform.tables.gate.reached_by(1).await;
    platform.send(get("/v1/streams").by(&platform.acme)).await.has_problem("too-many-requests");
    platform.send(get("/v1/streams").by(&platform.bolt)).await.has_status(200);
    platform.send(get("/v1/tenants").by(&platform.root)).await.has_status(200);
}

#[tokio::test]
async fn requests_that_nobody_signed_have_few_places_and_take_no_others() {
    let settings = ApiSettings { strangers: 0, ..ApiSettings::default() };
    let platform = Platform::with(settings).await;
    platform.send(get("/v1/health")).await.has_problem("overloaded");
    platform.send(get("/v1/streams").by("not a token")).await.has_problem("overloaded");
    let forged = format!("{}x", platform.acme);
    platform.send(get("/v1/streams").by(&forged)).await.has_problem("overloaded");
    platform.send(get("/v1/streams").by(&platform.acme)).await.has_status(200);
    platform.send(get("/v1/tenants").by(&platform.root)).await.has_status(200);
}

#[tokio::test]
async fn a_tenants_large_bodies_leave_room_for_others() {
    let room = 8 * 1024 * 1024;
    let settings =
        ApiSettings { body_bytes_per_tenant: room, queue_timeout: Duration::from_millis(5), ..ApiSettings::default() };
    let platform = Arc::new(Platform::with(settings).await);
    platform.stream("s", 1).await;
    platform.send(post("/v1/streams").by(&platform.bolt).json(&json!({ "name": "s" }))).await.has_status(201);
    let append = |token: &str| post("/v1/streams/s/records").by(token).lines("a\n");
    let sender = Arc::clone(&platform);
    // A body that does not say how long it will be, and never ends, has the room of the largest.
    let endless = append(&platform.acme).body(Body::new(TrickleBody { first: Some("a".into()), breaks: false }));
    tokio::spawn(async move { sender.send(endless).await });
    // A body that fits beside it shows that the endless one has not come to its place yet.
    let full = loop {
        let reply = platform.send(append(&platform.acme).body("a\n".repeat(4096))).await;
        if reply.status != 200 {
            break reply;
        }
    };
    full.has_problem("too-many-requests");
    platform.send(append(&platform.acme)).await.has_status(200);
    platform.send(append(&platform.bolt).body("a\n".repeat(4096))).await.has_status(200);
}
