//! The audit trails: a tenant's for its admin and for platform admins, the platform's for the latter.

use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use tidegate_tenancy::AuditRecord;
use tidegate_types::TenantId;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::answer::json;
use crate::problem::{Answer, codes};
use crate::request::{By, Params, page_length, tenant_in_path};
use crate::services::Shared;

pub(super) const PROBLEMS: &[OperationProblems] =
    &[("tenant_audit", &[codes::NOT_FOUND, codes::INVALID_REQUEST]), ("platform_audit", &[codes::INVALID_REQUEST])];

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(tenant_audit)).routes(routes!(platform_audit))
}

/// Which entries.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EntryPage {
    /// Entries behind this position: `next` of the page before. Left out: from the oldest that is kept.
    #[serde(default)]
    after: u64,
    /// So many at most: 1 to 1000, 100 unless told.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// What somebody did.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub(crate) struct EntryDocument {
    /// Its place in the trail. Places grow, with gaps.
    position: u64,
    /// When, ms since the epoch.
    at: i64,
    /// Who: the token's subject.
    subject: String,
    /// In which role; null: the program itself.
    role: Option<String>,
    /// By which token; null: the program itself.
    token_id: Option<String>,
    /// The tenant that it concerns; null: the platform.
    tenant: Option<String>,
    /// What: a thing and a verb, such as `artifact.upload`.
    action: String,
    /// To what: a name or an id.
    target: String,
    /// What else matters, such as the limits before and after.
    detail: serde_json::Value,
}

impl From<AuditRecord> for EntryDocument {
    fn from(record: AuditRecord) -> Self {
        let AuditRecord { position, at, subject, role, token_id, tenant, action, target, detail } = record;
        let role = role.map(|role| role.as_str().to_owned());
        Self { position, at, subject, role, token_id, tenant, action, target, detail }
    }
}

/// Entries, the oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntryList {
    entries: Vec<EntryDocument>,
    /// What to give as `after` for the next page; null: this was the last for now.
    next: Option<u64>,
}

/// Read a tenant's audit trail
///
/// Who changed what. For the tenant's admin and for platform admins. The newest 100,000 entries are kept.
#[utoipa::path(get, path = "/v1/tenants/{tenant}/audit", tag = "audit",
    params(("tenant" = String, Path, description = "The tenant's name"), EntryPage),
    responses((status = 200, description = "Entries, the oldest first", body = EntryList)),
)]
async fn tenant_audit(
    by: By,
    State(api): State<Shared>,
    Path(tenant): Path<String>,
    Params(page): Params<EntryPage>,
) -> Answer {
    entries(&api, &by, Some(tenant_in_path(&tenant)?), page).await
}

/// Read the platform's audit trail
///
/// What platform admins and the program itself did. Needs a platform admin's token. The newest 100,000 entries are kept.
#[utoipa::path(get, path = "/v1/audit", tag = "audit", params(EntryPage),
    responses((status = 200, description = "Entries, the oldest first", body = EntryList)),
)]
async fn platform_audit(by: By, State(api): State<Shared>, Params(page): Params<EntryPage>) -> Answer {
    entries(&api, &by, None, page).await
}

async fn entries(api: &Shared, by: &By, tenant: Option<TenantId>, page: EntryPage) -> Answer {
    let limit = page_length(page.limit)?;
    let found = api.services.tenancy.audit_trail(&by.caller, tenant.as_ref(), page.after, limit).await?;
    let next = found.last().filter(|_| found.len() == limit).map(|last| last.position);
    json(&EntryList { entries: found.into_iter().map(EntryDocument::from).collect(), next })
}
