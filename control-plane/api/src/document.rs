//! The OpenAPI document, made from the code: the routes say what they take and give, the table of problems what goes wrong.
//!
//! Invariant: every operation lists every problem that it answers with. The tests check each answer against this document.

use std::collections::BTreeMap;

use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Header, Ref, Response, ResponseBuilder};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;

use crate::problem::{Code, PROBLEM_JSON, ProblemBody, codes};
use crate::routes;
use crate::services::Shared;

/// What every operation answers with, besides its own problems.
const COMMON: &[Code] = &[codes::BAD_REQUEST, codes::INTERNAL, codes::OVERLOADED, codes::TOOK_TOO_LONG];

/// What every operation that needs a token answers with, too.
const OF_CALLERS: &[Code] = &[codes::UNAUTHENTICATED, codes::DENIED, codes::TOO_MANY_REQUESTS, codes::UNAVAILABLE];

/// The operations that need no token.
const OPEN: &[&str] = &["health", "openapi"];

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tidegate",
        description = "Tenants, signed artifacts, stream jobs, streams and result tables. Every answer has the header \
                       `Tidegate-Request-Id`. What is no success is a problem document (RFC 9457). Times are ms since the \
                       Unix epoch. docs/api.md is the guide.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "tenants", description = "Tenants and their limits"),
        (name = "tokens", description = "A tenant's tokens"),
        (name = "keys", description = "The keys that a tenant signs its artifacts with"),
        (name = "audit", description = "Who changed what"),
        (name = "artifacts", description = "Signed components"),
        (name = "jobs", description = "Stream jobs"),
        (name = "streams", description = "Streams and their records"),
        (name = "tables", description = "Result tables"),
        (name = "health", description = "The API itself"),
    ),
    components(schemas(ProblemBody)),
    modifiers(&Bearer),
    security(("token" = [])),
)]
struct Base;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let mut bearer = Http::new(HttpAuthScheme::Bearer);
        bearer.bearer_format = Some("JWT".into());
        bearer.description = Some("A token of a tenant, or of a platform admin for tenants and tokens".into());
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

/// The routes, and the document that describes them.
pub(crate) fn routes_and_document() -> (axum::Router<Shared>, utoipa::openapi::OpenApi) {
    let (router, mut document) = OpenApiRouter::with_openapi(Base::openapi()).merge(routes::all()).split_for_parts();
    let own: BTreeMap<&str, &[Code]> = routes::problems().copied().collect();
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            add_problems(operation, &own);
        }
    }
    (router, document)
}

/// The OpenAPI document as the text of docs/openapi.json.
///
/// # Panics
/// Never: the document is made of texts and numbers.
#[must_use]
pub fn openapi_json() -> String {
    let (_, document) = routes_and_document();
    let mut text = document.to_pretty_json().expect("a document is made of texts and numbers");
    text.push('\n');
    text
}

fn add_problems(operation: &mut Operation, own: &BTreeMap<&str, &[Code]>) {
    let id = operation.operation_id.as_deref().expect("every route has an operation id");
    let own = own.get(id).copied().expect("every operation says its problems");
    let of_callers = if OPEN.contains(&id) { &[] } else { OF_CALLERS };
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in COMMON.iter().chain(of_callers).chain(own) {
        by_status.entry(code.status).or_default().push(*code);
    }
    for (status, codes) in by_status {
        operation.responses.responses.insert(status.to_string(), response(status, &codes).into());
    }
}

fn response(status: u16, codes: &[Code]) -> Response {
    let lines: Vec<String> = codes.iter().map(|code| format!("`{}`: {}", code.name, code.meaning)).collect();
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let response = ResponseBuilder::new().description(lines.join("\n\n")).content(PROBLEM_JSON, content);
    let waits = codes.iter().any(Code::asks_to_wait);
    let response = if waits { response.header("Retry-After", retry_after()) } else { response };
    match status {
        401 => response.header("WWW-Authenticate", header("The scheme: Bearer", Type::String)).build(),
        _ => response.build(),
    }
}

fn retry_after() -> Header {
    header("Seconds to wait before asking again", Type::Integer)
}

fn header(about: &str, kind: Type) -> Header {
    let schema = ObjectBuilder::new().schema_type(SchemaType::Type(kind)).build();
    HeaderBuilder::new().schema(Some(schema)).description(Some(about)).build()
}
