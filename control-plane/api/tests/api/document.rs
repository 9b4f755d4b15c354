//! The documents: the OpenAPI document and the table of problems are what the code says.
//!
//! `cargo test -p tidegate-api -- --ignored write_the_documents` writes them anew.

use std::path::PathBuf;

use axum::http::Method;
use serde_json::Value;
use tidegate_api::openapi_json;
use tidegate_api::problem::codes;

use crate::harness::{Call, Platform, get};

fn docs(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(docs(name)).unwrap_or_else(|error| panic!("docs/{name}: {error}"))
}

const BEGIN: &str = "<!-- problems: written by a test -->\n";
const END: &str = "<!-- end of problems -->";

fn with_problems(guide: &str) -> String {
    let (before, rest) = guide.split_once(BEGIN).expect("docs/api.md has a place for the problems");
    let (_, after) = rest.split_once(END).expect("docs/api.md ends the place for the problems");
    format!("{before}{BEGIN}\n{}\n{END}{after}", codes::markdown())
}

#[test]
fn the_openapi_document_is_written_down() {
    assert_eq!(read("openapi.json"), openapi_json(), "write it anew (see the head of this file)");
}

#[test]
fn the_guide_has_every_problem() {
    let guide = read("api.md");
    assert_eq!(guide, with_problems(&guide), "write it anew (see the head of this file)");
}

#[test]
#[ignore = "writes docs/openapi.json and the table of docs/api.md"]
fn write_the_documents() {
    std::fs::write(docs("openapi.json"), openapi_json()).unwrap();
    std::fs::write(docs("api.md"), with_problems(&read("api.md"))).unwrap();
}

#[tokio::test]
async fn the_api_gives_its_own_document() {
    let platform = Platform::new().await;
    let given = platform.send(get("/v1/openapi.json")).await.has_status(200);
    assert_eq!(given.body(), serde_json::from_str::<Value>(&openapi_json()).unwrap());
}

/// Every method on every path of the document is served if and only if the document has it. A route that is not in the
/// document at all cannot be: routes are made from the descriptions.
#[tokio::test]
async fn the_router_serves_what_the_document_has() {
    let platform = Platform::new().await;
    for (template, item) in platform.document["paths"].as_object().unwrap() {
        let path = template.replace(['{', '}'], "");
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let reply = platform.send_unchecked(Call::new(method.clone(), &path)).await;
            let has = item.get(method.as_str().to_ascii_lowercase()).is_some();
            assert_eq!(reply.code() != "method-not-allowed", has, "{method} {template}: {}", reply.text());
            assert_ne!(reply.code(), "not-found", "{method} {template}");
        }
    }
}

#[test]
fn every_operation_is_described() {
    let document: Value = serde_json::from_str(&openapi_json()).unwrap();
    let tags: Vec<&Value> = document["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
    let mut ids = std::collections::BTreeSet::new();
    for (template, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let place = format!("{method} {template}");
            for field in ["summary", "description", "operationId"] {
                assert!(operation[field].is_string(), "{place} has no {field}");
            }
            assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{place}: an operation id stands twice");
            assert!(tags.contains(&&operation["tags"][0]), "{place}");
            let named: Vec<&str> =
                operation["parameters"].as_array().into_iter().flatten().filter_map(|p| p["name"].as_str()).collect();
            for part in template.split('/').filter(|part| part.starts_with('{')) {
                assert!(named.contains(&part.trim_matches(['{', '}'])), "{place} does not describe {part}");
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                assert!(parameter["description"].is_string(), "{place}: {} is not described", parameter["name"]);
                assert!(parameter["schema"].is_object(), "{place}: {} has no schema", parameter["name"]);
            }
            let open = ["/v1/health", "/v1/openapi.json"].contains(&template.as_str());
            assert_eq!(operation["responses"].get("401").is_none(), open, "{place}");
            assert_eq!(operation.get("security").is_some(), open, "{place}: security is said once, for all");
        }
    }
    assert_eq!(document["security"], serde_json::json!([{ "token": [] }]));
}

#[test]
fn every_reference_leads_somewhere() {
    let document: Value = serde_json::from_str(&openapi_json()).unwrap();
    let mut open = vec![&document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    assert!(document.pointer(&reference[1..]).is_some(), "{reference} leads nowhere");
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}

/// The schema's own list of roles is the tenancy's.
#[test]
fn the_document_has_every_role() {
    let document: Value = serde_json::from_str(&openapi_json()).unwrap();
    let roles: Vec<&str> = tidegate_tenancy::Role::ALL.iter().map(|role| role.as_str()).collect();
    let described = document["components"]["schemas"]["Role"].to_string();
    let named: Vec<&str> = roles.iter().copied().filter(|role| described.contains(&format!("\"{role}\""))).collect();
    assert_eq!(named, roles, "{described}");
    assert_eq!(
        described.matches("-admin\"").count()
            + described.matches("developer\"").count()
            + described.matches("viewer\"").count(),
        4
    );
}

#[test]
fn a_code_has_one_meaning_and_a_way_out() {
    let mut names = std::collections::BTreeSet::new();
    for code in codes::ALL {
        assert!(names.insert(code.name), "{} stands twice", code.name);
        assert!((400..600).contains(&code.status), "{}", code.name);
        for text in [code.title, code.meaning, code.mend] {
            assert!(text.len() > 10, "{}: {text:?}", code.name);
        }
        assert!(code.meaning.ends_with('.') && !code.mend.ends_with('.'), "{}", code.name);
        assert!(code.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", code.name);
    }
}
