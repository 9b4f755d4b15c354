//! The public keys that a tenant signs its artifacts with. The tenant's admin alone manages them.

use axum::extract::{Path, Request, State};
use serde::{Deserialize, Serialize};
use tidegate_signing::PublicKey;
use tidegate_tenancy::{Permission, SigningKey};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::answer::{Created, json};
use crate::idempotency::Repeatable;
use crate::problem::{Answer, Problem, codes};
use crate::request::{By, read_json, tenant_in_path};
use crate::services::Shared;

pub(super) const PROBLEMS: &[OperationProblems] = &[
    (
        "add_key",
        &[
            codes::NOT_FOUND,
            codes::ALREADY_EXISTS,
            codes::CONFLICT,
            codes::BODY_TOO_LARGE,
            codes::UNSUPPORTED_MEDIA_TYPE,
            codes::INVALID_REQUEST,
            codes::REQUEST_TIMEOUT,
            codes::QUOTA_EXCEEDED,
            codes::REQUEST_IN_PROGRESS,
            codes::IDEMPOTENCY_KEY_REUSED,
        ],
    ),
    ("list_keys", &[codes::NOT_FOUND]),
    ("revoke_key", &[codes::NOT_FOUND, codes::CONFLICT]),
];

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(add_key, list_keys)).routes(routes!(revoke_key))
}

/// A signing key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Key)]
pub(crate) struct KeyDocument {
    /// Its id: `ed25519:` and 32 hexadecimal digits.
    id: String,
    /// The public key as `tidegate keygen` writes it.
    public_key: String,
    /// What the tenant calls it.
    label: String,
    /// When it was added, ms since the epoch.
    added_at: i64,
    /// Who added it.
    added_by: String,
    /// From when on it verifies nothing, ms since the epoch.
    not_after: Option<i64>,
    /// When it was revoked, ms since the epoch.
    revoked_at: Option<i64>,
}

impl From<SigningKey> for KeyDocument {
    fn from(key: SigningKey) -> Self {
        let SigningKey { id, public_key, label, added_at, added_by, not_after, revoked_at } = key;
        Self { id, public_key, label, added_at, added_by, not_after, revoked_at }
    }
}

/// A key to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKey {
    /// The line of the public key's file: `tidegate-public-key:v1:` and the key in base64.
    public_key: String,
    /// What the tenant calls it.
    #[serde(default)]
    label: String,
    /// From when on it shall verify nothing, ms since the epoch; left out: never.
    not_after: Option<i64>,
}

/// List of keys.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyList {
    keys: Vec<KeyDocument>,
}

/// Add a signing key
///
/// From then on artifacts that it signed for this tenant are admitted. A key belongs to one tenant for ever.
#[utoipa::path(post, path = "/v1/tenants/{tenant}/keys", tag = "keys", request_body = NewKey,
    params(
        ("tenant" = String, Path, description = "The tenant's name"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat for 24 hours", max_length = 255),
    ),
    responses((status = 201, description = "The key", body = KeyDocument, headers(("Location" = String, description = "Its path")))),
)]
async fn add_key(
    by: By,
    State(api): State<Shared>,
    Path(tenant): Path<String>,
    again: Repeatable,
    request: Request,
) -> Answer {
    let tenant = tenant_in_path(&tenant)?;
    by.caller.may(Permission::ManageKeys, &tenant)?;
    let (new, content): (NewKey, _) = read_json(&api, request).await?;
    let key: PublicKey = new.public_key.trim().parse().map_err(unreadable)?;
    let work = async {
        let added = api.services.tenancy.add_key(&by.caller, &tenant, &key, &new.label, new.not_after).await?;
        let location = format!("/v1/tenants/{tenant}/keys/{}", added.id);
        Created::new(&KeyDocument::from(added), location)
    };
    again.once(&api, &by.caller, &[&content], work).await
}

fn unreadable(error: impl std::fmt::Display) -> Problem {
    Problem::invalid("public_key", format!("public_key: {error}"))
}

/// List signing keys
///
/// Revoked ones too.
#[utoipa::path(get, path = "/v1/tenants/{tenant}/keys", tag = "keys",
    params(("tenant" = String, Path, description = "The tenant's name")),
    responses((status = 200, description = "The tenant's keys, in the order in which they were added", body = KeyList)),
)]
async fn list_keys(by: By, State(api): State<Shared>, Path(tenant): Path<String>) -> Answer {
    let tenant = tenant_in_path(&tenant)?;
    let keys = api.services.tenancy.keys(&by.caller, &tenant).await?;
    json(&KeyList { keys: keys.into_iter().map(KeyDocument::from).collect() })
}

/// Revoke a signing key
///
/// What it signed is admitted no more. Artifacts that were admitted before stay. Revoking again is no error.
#[utoipa::path(delete, path = "/v1/tenants/{tenant}/keys/{id}", tag = "keys",
    params(("tenant" = String, Path, description = "The tenant's name"), ("id" = String, Path, description = "The key's id")),
    responses((status = 200, description = "The key, revoked", body = KeyDocument)),
)]
async fn revoke_key(by: By, State(api): State<Shared>, Path((tenant, id)): Path<(String, String)>) -> Answer {
    let tenant = tenant_in_path(&tenant)?;
    let revoked = api.services.tenancy.revoke_key(&by.caller, &tenant, &id).await?;
    json(&KeyDocument::from(revoked))
}
