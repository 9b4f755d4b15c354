//! Artifacts: signed components, admitted once, never changed.

use axum::extract::{Path, Request, State};
use serde::{Deserialize, Serialize};
use tidegate_registry::{Artifact, Revocation, WarmUp};
use tidegate_tenancy::Permission;
use tidegate_types::Name;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::answer::{Created, json};
use crate::idempotency::Repeatable;
use crate::problem::{Answer, Problem, codes};
use crate::request::{Params, Scope, Upload, page_length, read_upload};
use crate::services::Shared;

pub(super) const PROBLEMS: &[OperationProblems] = &[
    (
        "upload_artifact",
        &[
            codes::CONFLICT,
            codes::ALREADY_EXISTS,
            codes::VERSION_NOT_NEWER,
            codes::BODY_TOO_LARGE,
            codes::UNSUPPORTED_MEDIA_TYPE,
            codes::INVALID_REQUEST,
            codes::ARTIFACT_REFUSED,
            codes::REQUEST_TIMEOUT,
            codes::QUOTA_EXCEEDED,
            codes::REQUEST_IN_PROGRESS,
            codes::IDEMPOTENCY_KEY_REUSED,
        ],
    ),
    ("list_artifacts", &[codes::INVALID_REQUEST]),
    ("get_artifact", &[codes::NOT_FOUND]),
    ("revoke_artifact", &[codes::NOT_FOUND, codes::CONFLICT, codes::INVALID_REQUEST]),
];

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(upload_artifact, list_artifacts)).routes(routes!(get_artifact, revoke_artifact))
}

/// A version of a tenant's component.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Artifact)]
pub(crate) struct ArtifactDocument {
    /// What it is called.
    name: String,
    /// Its version, three numbers.
    version: String,
    /// The SHA-256 of its exact bytes, hex.
    digest: String,
    /// Its size, bytes.
    size: u64,
    /// The hooks that it has: `mapper`, `aggregator`, `windower`.
    hooks: Vec<String>,
    /// The interfaces that it imports.
    imports: Vec<String>,
    /// The key that signed it.
    key_id: String,
    /// What its signer declares.
    limits: DeclaredLimits,
    /// From when on its signed statement is no longer taken in an upload, ms since the epoch.
    expires_at: i64,
    /// When it was admitted, ms since the epoch.
    admitted_at: i64,
    /// Who uploaded it.
    admitted_by: String,
    /// What trial calls of its hooks cost when it was admitted.
    warm_up: Vec<TrialCall>,
    /// What its tenant should know.
    remarks: Vec<String>,
    /// Since when no job starts with it; null: it was not revoked.
    revoked: Option<RevocationDocument>,
}

/// What a component's signer declares. The tenant's own limits bound it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeclaredLimits {
    /// Fuel of one call; null: the tenant's limit alone counts.
    call_fuel: Option<u64>,
    /// Bytes of memory; null: the tenant's limit alone counts.
    memory_bytes: Option<u64>,
}

/// What a trial call cost.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrialCall {
    /// The hook: `mapper`, `aggregator`, `windower`.
    hook: String,
    /// Its function: `open`, `process`, ….
    function: String,
    /// Fuel; the same every time.
    fuel: u64,
    /// Microseconds on the machine that admitted it.
    micros: u64,
}

/// That an artifact was revoked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Revocation)]
pub(crate) struct RevocationDocument {
    /// When, ms since the epoch.
    at: i64,
    /// By whom.
    by: String,
    /// Why.
    reason: String,
}

impl From<Artifact> for ArtifactDocument {
    fn from(artifact: Artifact) -> Self {
        let Artifact {
            tenant: _, // the caller's own
            name,
            version,
            digest,
            size,
            hooks,
            imports,
            key_id,
            call_fuel,
            memory_bytes,
            expires_at,
            admitted_at,
            admitted_by,
            warm_up,
            remarks,
            revoked,
        } = artifact;
        Self {
            name,
            version,
            digest,
            size,
            hooks,
            imports,
            key_id,
            limits: DeclaredLimits { call_fuel, memory_bytes },
            expires_at,
            admitted_at,
            admitted_by,
            warm_up: warm_up.into_iter().map(TrialCall::from).collect(),
            remarks,
            revoked: revoked.map(RevocationDocument::from),
        }
    }
}

impl From<WarmUp> for TrialCall {
    fn from(call: WarmUp) -> Self {
        let WarmUp { hook, function, fuel, micros } = call;
        Self { hook, function, fuel, micros }
    }
}

impl From<Revocation> for RevocationDocument {
    fn from(revocation: Revocation) -> Self {
        let Revocation { at, by, reason } = revocation;
        Self { at, by, reason }
    }
}

/// An upload's parts.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the schema of a multipart body, which is read part by part")]
pub(crate) struct UploadForm {
    /// The component: the exact bytes that were signed.
    #[schema(value_type = String, format = Binary)]
    component: Vec<u8>,
    /// The signature: the DSSE envelope that `tidegate sign` wrote.
    #[schema(value_type = String, format = Binary)]
    signature: Vec<u8>,
}

/// Upload an artifact
///
/// A signed component. It is admitted or refused as a whole: signature, structure, imports, compilation, trial calls. A
/// refusal (`artifact-refused`) names the rule, the place and the way out. The same bytes as the same version again give the
/// same artifact.
#[utoipa::path(post, path = "/v1/artifacts", tag = "artifacts",
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat for 24 hours", max_length = 255)),
    responses((status = 201, description = "The artifact", body = ArtifactDocument, headers(("Location" = String, description = "Its path")))),
)]
async fn upload_artifact(scope: Scope, State(api): State<Shared>, again: Repeatable, request: Request) -> Answer {
    scope.may(Permission::UploadArtifact)?;
    let limits = api.services.tenancy.limits_of(&scope.tenant).await?;
    let upload = read_upload(&api, &scope.tenant, request, limits.artifact_bytes).await?;
    let Upload { component, signature, room: _room } = upload;
    let content = [component.clone(), signature.clone()];
    let work = async {
        let artifact = api.services.registry.upload(&scope.caller, &scope.tenant, component, signature).await?;
        let location = format!("/v1/artifacts/{}/{}", artifact.name, artifact.version);
        Created::new(&ArtifactDocument::from(artifact), location)
    };
    // The parts, not the body: a client draws the boundary between them anew each time.
    again.once(&api, &scope.caller, &[&content[0], &content[1]], work).await
}

/// Which artifacts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ArtifactPage {
    /// The versions of this artifact only.
    name: Option<String>,
    /// Artifacts behind this one: `next` of the page before.
    after: Option<String>,
    /// So many at most: 1 to 1000, 100 unless told.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Artifacts by name and version.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ArtifactList {
    artifacts: Vec<ArtifactDocument>,
    /// What to give as `after` for the next page; null: this was the last.
    next: Option<String>,
}

/// List artifacts
///
/// Every version, revoked ones too.
#[utoipa::path(get, path = "/v1/artifacts", tag = "artifacts", params(ArtifactPage),
    responses((status = 200, description = "The tenant's artifacts, ascending by name and version", body = ArtifactList)),
)]
async fn list_artifacts(scope: Scope, State(api): State<Shared>, Params(page): Params<ArtifactPage>) -> Answer {
    let limit = page_length(page.limit)?;
    let name = page.name.as_deref().map(str::parse::<Name>).transpose();
    let name = name.map_err(|error| Problem::invalid("name", error.to_string()))?;
    let after = page.after.as_deref().map(|text| position(text).ok_or_else(no_position)).transpose()?;
    let after = after.as_ref().map(|(name, version)| (name.as_str(), *version));
    let found = api.services.registry.list(&scope.caller, &scope.tenant, name.as_ref(), after, limit).await?;
    let last = found.last().filter(|_| found.len() == limit);
    let next = last.map(|last| format!("{}/{}", last.name, last.version));
    json(&ArtifactList { artifacts: found.into_iter().map(ArtifactDocument::from).collect(), next })
}

fn position(text: &str) -> Option<(Name, &str)> {
    let (name, version) = text.split_once('/')?;
    let is_plain = !version.contains('/');
    is_plain.then_some((name.parse().ok()?, version))
}

fn no_position() -> Problem {
    Problem::invalid("after", "`after` is NAME/VERSION, the `next` of the page before")
}

/// Read an artifact
///
/// One version.
#[utoipa::path(get, path = "/v1/artifacts/{name}/{version}", tag = "artifacts",
    params(("name" = String, Path, description = "The artifact's name"), ("version" = String, Path, description = "Its version")),
    responses((status = 200, description = "The artifact", body = ArtifactDocument)),
)]
async fn get_artifact(
    scope: Scope,
    State(api): State<Shared>,
    Path((name, version)): Path<(String, String)>,
) -> Answer {
    json(&ArtifactDocument::from(api.services.registry.get(&scope.caller, &scope.tenant, &name, &version).await?))
}

/// Why to revoke.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Why {
    /// Why, in words for whoever looks at it later.
    #[serde(default)]
    #[param(max_length = 500)]
    reason: String,
}

/// Revoke an artifact
///
/// No job starts with it any more, and its version is not used again. Jobs that run go on. Revoking again is no error.
#[utoipa::path(delete, path = "/v1/artifacts/{name}/{version}", tag = "artifacts",
    params(
        ("name" = String, Path, description = "The artifact's name"), ("version" = String, Path, description = "Its version"), Why,
    ),
    responses((status = 200, description = "The artifact, revoked", body = ArtifactDocument)),
)]
async fn revoke_artifact(
    scope: Scope,
    State(api): State<Shared>,
    Path((name, version)): Path<(String, String)>,
    Params(why): Params<Why>,
) -> Answer {
    let reason = if why.reason.is_empty() { "no reason given" } else { &why.reason };
    let revoked = api.services.registry.revoke(&scope.caller, &scope.tenant, &name, &version, reason).await?;
    json(&ArtifactDocument::from(revoked))
}
