//! Bodies: in which encodings and shapes they are taken, whatever the request is.

use serde_json::json;

use crate::harness::{Call, Platform, get, post};

/// One request of each kind that has a body.
fn each(platform: &Platform) -> Vec<(&'static str, Call)> {
    let lines = post("/v1/streams/s/records").by(&platform.acme).body("a\n");
    let new = post("/v1/streams").by(&platform.acme).body(json!({ "name": "t" }).to_string());
    let job = post("/v1/jobs").by(&platform.acme).body("job: x");
    let upload = post("/v1/artifacts").by(&platform.acme).body("--b--");
    vec![
        ("application/x-ndjson", lines),
        ("application/json", new),
        ("application/yaml", job),
        ("multipart/form-data; boundary=b", upload),
    ]
}

#[tokio::test]
async fn a_compressed_body_is_refused() {
    let platform = Platform::new().await;
    platform.stream("s", 1).await;
    for encoding in ["gzip", "br", "gzip, identity", "identity, identity"] {
        for (kind, call) in each(&platform) {
            let call = call.header("content-type", kind).header("content-encoding", encoding);
            let reply = platform.send(call).await.has_problem("unsupported-media-type");
            assert!(reply.text().contains("send it uncompressed"), "{}", reply.text());
        }
    }
    for encoding in ["identity", "Identity", ""] {
        for (kind, call) in each(&platform) {
            let call = call.header("content-type", kind).header("content-encoding", encoding);
            assert_ne!(platform.send(call).await.status.as_u16(), 415, "{kind} {encoding:?}");
        }
    }
}

#[tokio::test]
async fn a_body_in_another_charset_is_refused() {
    let platform = Platform::new().await;
    platform.stream("s", 1).await;
    for charset in ["utf-16", "\"UTF-16LE\"", "iso-8859-1", ""] {
        for (kind, call) in each(&platform) {
            let call = call.header("content-type", &format!("{kind}; Charset={charset}"));
            platform.send(call).await.has_problem("unsupported-media-type");
        }
    }
    for charset in ["utf-8", "UTF-8", "\"utf-8\""] {
        for (kind, call) in each(&platform) {
            let call = call.header("content-type", &format!("{kind};charset={charset}"));
            assert_ne!(platform.send(call).await.status.as_u16(), 415, "{kind} {charset}");
        }
    }
}

#[tokio::test]
async fn a_body_is_an_object_with_named_fields() {
    let platform = Platform::new().await;
    let by_place = [
        ("/v1/streams", &platform.acme, json!(["x", 1, null, null])),
        ("/v1/streams", &platform.acme, json!({ "name": "x", "retention": [1000, 100_000] })),
        ("/v1/streams", &platform.acme, json!("x")),
        ("/v1/streams", &platform.acme, json!(null)),
        ("/v1/tenants", &platform.root, json!(["x", null])),
        ("/v1/tenants/acme/tokens", &platform.root, json!(["viewer", "x", null])),
        ("/v1/tenants/acme/keys", &platform.acme, json!(["00", "x"])),
    ];
    for (path, token, body) in by_place {
        let reply = platform.send(post(path).by(token).json(&body)).await.has_problem("invalid-request");
        assert!(reply.text().contains("send a JSON object"), "{}", reply.text());
    }
    let twice = post("/v1/streams").by(&platform.acme).typed("application/json", r#"{"name":"x","name":"y"}"#);
    platform.send(twice).await.has_problem("invalid-request");
}

#[tokio::test]
async fn no_message_names_our_types() {
    let platform = Platform::new().await;
    platform.stream("s", 1).await;
    let wrong = [
        json!({ "name": "x", "retention": 7 }),
        json!({ "name": "x", "retention": { "bytes": "many" } }),
        json!({ "name": "x", "partitions": "four" }),
        json!({ "name": "x", "partitions": -1 }),
        json!({ "name": 7 }),
        json!({}),
    ];
    let mut said = Vec::new();
    for body in wrong {
        said.push(platform.send(post("/v1/streams").by(&platform.acme).json(&body)).await.text());
    }
    for query in ["from=x", "limit=-1", "frm=1", "partition=4294967296", "from=1&from=2"] {
        said.push(platform.send(get(&format!("/v1/streams/s/records?{query}")).by(&platform.acme)).await.text());
    }
    for text in said {
        for name in ["struct", "Document", "New", "u32", "u64", "usize", "deserialize"] {
            assert!(!text.contains(name), "{name}: {text}");
        }
    }
}
