//! `tidegate key`: the public keys that a tenant's artifacts are signed with.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::http::Call;
use super::path::part;
use super::settings::Connection;
use super::{Client, read, value};
use crate::failure::Failure;

/// The arguments of `tidegate key`.
#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(subcommand)]
    pub(super) action: KeyAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeyAction {
    /// Trust a public key for a tenant's artifacts
    Add {
        /// The tenant
        tenant: String,
        /// The file that `tidegate keygen` made, with the public key
        file: PathBuf,
        /// What to call it
        #[arg(long, value_name = "NAME")]
        label: Option<String>,
    },
    /// List the keys of a tenant
    List {
        /// The tenant
        tenant: String,
    },
    /// Trust a key no longer
    Revoke {
        /// The tenant
        tenant: String,
        /// The key's id
        id: String,
    },
}

pub(super) fn act(client: &Client<'_>, action: &KeyAction) -> Result<(), Failure> {
    match action {
        KeyAction::Add { tenant, file, label } => add(client, tenant, file, label.as_deref()),
        KeyAction::List { tenant } => {
            let keys = read::items(client, &path(tenant), "keys")?;
            let header = ["key", "label", "added", "revoked"];
            client.list(&keys, &header, "no keys yet: tidegate key add TENANT FILE", |key| {
                let [id, label] = ["/id", "/label"].map(|at| value::text(key, at));
                vec![id, label, value::time(key, "/added_at"), value::time(key, "/revoked_at")]
            })
        }
        KeyAction::Revoke { tenant, id } => {
            client.api.must(&Call::delete(&format!("{}/{}", path(tenant), part(id))))?;
            client.tell(&json!({"id": id, "revoked": true}), |_| format!("key {id} is revoked\n"))
        }
    }
}

fn path(tenant: &str) -> String {
    format!("/v1/tenants/{}/keys", part(tenant))
}

fn add(client: &Client<'_>, tenant: &str, file: &Path, label: Option<&str>) -> Result<(), Failure> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| Failure::invalid(format!("{}: {error}", file.display())))?;
    let own_name = || file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let label = label.map_or_else(own_name, str::to_owned);
    let body = json!({"public_key": text.trim(), "label": label}).to_string();
    let key: Value = client.api.must(&Call::post(&path(tenant), "application/json", body.as_bytes()))?.json()?;
    client.tell(&key, |key| format!("{tenant} trusts the key {} ({label})\n", value::text(key, "/id")))
}
