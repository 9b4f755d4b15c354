//! `tidegate audit`: who changed what.

use clap::Args;
use serde_json::Value;

use super::path::part;
use super::read::ListArgs;
use super::settings::Connection;
use super::{Client, read, value};
use crate::failure::Failure;

/// The arguments of `tidegate audit`.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// The tenant [default: the platform's own trail, for platform admins]
    tenant: Option<String>,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn act(client: &Client<'_>, args: &AuditArgs) -> Result<(), Failure> {
    let path = match &args.tenant {
        Some(tenant) => format!("/v1/tenants/{}/audit", part(tenant)),
        None => "/v1/audit".to_owned(),
    };
    let entries = read::items(client, &path, "entries", args.list)?;
    let header = ["when", "who", "role", "action", "target", "detail"];
    client.list(&entries, &header, "nothing was changed yet", |entry| {
        let [who, role, action, target] = ["/subject", "/role", "/action", "/target"].map(|at| value::text(entry, at));
        let detail = entry.get("detail").filter(|detail| !detail.is_null()).map_or_else(String::new, Value::to_string);
        vec![value::time(entry, "/at"), who, role, action, target, detail]
    })
}
