//! Artifacts: uploaded, listed, refused, revoked.

use serde_json::json;

use crate::harness::{Platform, Signer, component_of, delete, form, get, post, upload};

#[tokio::test]
async fn a_signed_component_is_admitted_once() {
    let platform = Platform::new().await;
    let signer = Signer::of(&platform, "acme", &platform.acme).await;
    let first = platform.send(signer.upload(&platform.acme, "enrich", "1.2.0", "x")).await.has_status(201);
    assert_eq!(first.header("location"), Some("/v1/artifacts/enrich/1.2.0"));
    let again = platform.send(signer.upload(&platform.acme, "enrich", "1.2.0", "x")).await.has_status(201);
    assert_eq!(again.body(), first.body());

    let read = platform.send(get("/v1/artifacts/enrich/1.2.0").by(&platform.acme)).await.has_status(200);
    assert_eq!(read.body(), first.body());
    assert_eq!(read.body()["limits"], json!({ "call_fuel": 5_000_000, "memory_bytes": null }));
    let other = platform.send(signer.upload(&platform.acme, "enrich", "1.2.0", "y")).await;
    other.has_problem("already-exists");
    let lower = platform.send(signer.upload(&platform.acme, "enrich", "1.1.9", "z")).await;
    assert_eq!(lower.has_problem("version-not-newer").body()["rule"], "version-not-newer");
}

#[tokio::test]
async fn artifacts_are_listed_page_by_page() {
    let platform = Platform::new().await;
    let signer = Signer::of(&platform, "acme", &platform.acme).await;
    for (name, version) in [("b", "1.9.0"), ("b", "1.10.0"), ("a", "2.0.0")] {
        platform.send(signer.upload(&platform.acme, name, version, version)).await.has_status(201);
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = platform.send(get(&format!("/v1/artifacts?limit=1{after}")).by(&platform.acme)).await.body();
        seen.extend(page["artifacts"].as_array().unwrap().iter().map(|a| format!("{}@{}", a["name"], a["version"])));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(seen, [r#""a"@"2.0.0""#, r#""b"@"1.9.0""#, r#""b"@"1.10.0""#]);
    let one = platform.send(get("/v1/artifacts?name=b").by(&platform.acme)).await.body();
    assert_eq!(one["artifacts"].as_array().unwrap().len(), 2);
    for nowhere in ["b", "x%0a/1.0.0", "/1.0.0", "a/b/1.0.0"] {
        let page = get(&format!("/v1/artifacts?after={nowhere}")).by(&platform.acme);
        platform.send(page).await.has_problem("invalid-request");
    }
    platform.send(get("/v1/artifacts?limit=0").by(&platform.acme)).await.has_problem("invalid-request");
    platform.send(get("/v1/artifacts?nam=b").by(&platform.acme)).await.has_problem("bad-request");
}

#[tokio::test]
async fn a_refusal_names_its_rule_place_and_mend() {
    let platform = Platform::new().await;
    let signer = Signer::of(&platform, "acme", &platform.acme).await;
    let refused = platform.send(signer.upload(&platform.acme, "enrich", "1.0.0", "WASI")).await;
    let refused = refused.has_problem("artifact-refused").body();
    assert_eq!(refused["rule"], "import-not-granted");
    assert_eq!(refused["place"], "import wasi:sockets/tcp");
    assert_eq!(refused["mend"], "build without it");

    let component = component_of("x");
    let signature = signer.sign("enrich", "1.0.0", &component_of("y"));
    let other_bytes = upload(&platform.acme, &[("component", &component), ("signature", &signature)]);
    let refused = platform.send(other_bytes).await.has_problem("artifact-refused").body();
    assert_eq!(refused["rule"], "digest-mismatch", "{refused}");
}

#[tokio::test]
async fn another_tenants_signature_opens_nothing() {
    let platform = Platform::new().await;
    let signer = Signer::of(&platform, "bolt", &platform.bolt).await;
    let refused = platform.send(signer.upload(&platform.acme, "enrich", "1.0.0", "x")).await;
    refused.has_problem("artifact-refused");
}

#[tokio::test]
async fn a_host_that_cannot_look_refuses_nothing() {
    let platform = Platform::new().await;
    let signer = Signer::of(&platform, "acme", &platform.acme).await;
    let down = platform.send(signer.upload(&platform.acme, "enrich", "1.0.0", "DOWN")).await.has_problem("unavailable");
    assert!(!down.text().contains("secret"), "{}", down.text());
}

#[tokio::test]
async fn a_revoked_artifact_stays_and_says_why() {
    let platform = Platform::new().await;
    let signer = Signer::of(&platform, "acme", &platform.acme).await;
    platform.send(signer.upload(&platform.acme, "enrich", "1.0.0", "x")).await.has_status(201);
    let path = "/v1/artifacts/enrich/1.0.0?reason=a%20leak";
    let revoked = platform.send(delete(path).by(&platform.acme)).await.has_status(200).body();
    assert_eq!(revoked["revoked"]["reason"], "a leak");
    platform.send(delete("/v1/artifacts/enrich/1.0.0").by(&platform.acme)).await.has_status(200);
    platform.send(delete("/v1/artifacts/enrich/1.0.1").by(&platform.acme)).await.has_problem("not-found");
    let long = format!("/v1/artifacts/enrich/1.0.0?reason={}", "x".repeat(501));
    platform.send(delete(&long).by(&platform.acme)).await.has_problem("invalid-request");
}

#[tokio::test]
async fn an_upload_that_is_no_form_of_two_parts_is_refused() {
    let platform = Platform::new().await;
    let token = &platform.acme;
    let send = |parts: &'static [(&'static str, &'static [u8])]| platform.send(upload(token, parts));
    assert_eq!(send(&[("component", b"x")]).await.has_problem("invalid-request").body()["path"], "signature");
    assert_eq!(send(&[("signature", b"x")]).await.has_problem("invalid-request").body()["path"], "component");
    send(&[("component", b"x"), ("other", b"y")]).await.has_problem("bad-request");
    send(&[("component", b"x"), ("component", b"y")]).await.has_problem("bad-request");
    send(&[]).await.has_status(422);

    let whole = form("xyz", &[("component", b"x"), ("signature", b"y")]);
    let cut = post("/v1/artifacts").by(token).typed("multipart/form-data; boundary=xyz", whole[..60].to_vec());
    platform.send(cut).await.has_problem("bad-request");
    let unbound = post("/v1/artifacts").by(token).typed("multipart/form-data", whole.clone());
    platform.send(unbound).await.has_problem("bad-request");
    let untyped = post("/v1/artifacts").by(token).body(whole);
    platform.send(untyped).await.has_problem("unsupported-media-type");
}

#[tokio::test]
async fn a_component_beyond_the_tenants_limit_is_too_large() {
    let platform = Platform::new().await;
    let limits = json!({ "name": "tiny", "limits": { "artifact_bytes": 65_536 } });
    platform.send(post("/v1/tenants").by(&platform.root).json(&limits)).await.has_status(201);
    let token = platform.token("tiny", "developer").await;
    let component = vec![b'x'; 65_536 + 131_072];
    let large = upload(&token, &[("component", &component), ("signature", b"s")]);
    platform.send(large).await.has_problem("body-too-large");
}
