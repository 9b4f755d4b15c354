//! `tidegate key`: the public keys that a tenant's artifacts are signed with.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tidegate_types::Clock;

use super::http::Call;
use super::path::part;
use super::read::ListArgs;
use super::settings::Connection;
use super::{Client, read, value};
use crate::clock::SystemClock;
use crate::failure::Failure;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

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
        #[command(flatten)]
        new: NewKey,
    },
    /// Trust a new public key in place of another, which counts no longer
    Rotate {
        /// The tenant
        tenant: String,
        /// The file that `tidegate keygen` made, with the new public key
        file: PathBuf,
        /// The id of the key that it replaces
        #[arg(long, value_name = "ID")]
        replaces: String,
        #[command(flatten)]
        new: NewKey,
    },
    /// List the keys of a tenant
    List {
        /// The tenant
        tenant: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Trust a key no longer
    Revoke {
        /// The tenant
        tenant: String,
        /// The key's id
        id: String,
    },
}

/// What is said of a new key.
#[derive(Debug, Args)]
pub(super) struct NewKey {
    /// What to call it [default: the file's name]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// How long it counts, days [default: until it is revoked]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
}

pub(super) fn act(client: &Client<'_>, action: &KeyAction) -> Result<(), Failure> {
    match action {
        KeyAction::Add { tenant, file, new } => {
            let key = add(client, tenant, file, new)?;
            client.tell(&key, |key| trusted(tenant, key) + "\n")
        }
        KeyAction::Rotate { tenant, file, replaces, new } => rotate(client, tenant, file, replaces, new),
        KeyAction::List { tenant, list } => {
            let keys = read::items(client, &path(tenant), "keys", *list)?;
            let header = ["key", "label", "added", "until", "revoked"];
            client.list(&keys, &header, "no keys yet: tidegate key add TENANT FILE", |key| {
                let [id, label] = ["/id", "/label"].map(|at| value::text(key, at));
                let [added, until, revoked] = ["/added_at", "/not_after", "/revoked_at"].map(|at| value::time(key, at));
                vec![id, label, added, until, revoked]
            })
        }
        KeyAction::Revoke { tenant, id } => {
            revoke(client, tenant, id)?;
            client.tell(&json!({"id": id, "revoked": true}), |_| format!("key {id} is revoked\n"))
        }
    }
}

fn path(tenant: &str) -> String {
    format!("/v1/tenants/{}/keys", part(tenant))
}

/// The public key of a file.
fn public_key(file: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| Failure::invalid(format!("{}: {error}", file.display())))?;
    Ok(text.trim().to_owned())
}

fn add(client: &Client<'_>, tenant: &str, file: &Path, new: &NewKey) -> Result<Value, Failure> {
    let own_name = || file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let label = new.label.clone().unwrap_or_else(own_name);
    let mut body = json!({"public_key": public_key(file)?, "label": label});
    if let Some(days) = new.days {
        body["not_after"] = json!(SystemClock.now() + i64::from(days) * DAY_MS);
    }
    let body = body.to_string();
    client.api.must(&Call::post(&path(tenant), "application/json", body.as_bytes()))?.json()
}

fn revoke(client: &Client<'_>, tenant: &str, id: &str) -> Result<(), Failure> {
    client.api.must(&Call::delete(&format!("{}/{}", path(tenant), part(id)))).map(drop)
}

/// First the new one, so that at no time none counts. A rotation that broke off in between is gone through again.
fn rotate(client: &Client<'_>, tenant: &str, file: &Path, replaces: &str, new: &NewKey) -> Result<(), Failure> {
    let keys = read::items(client, &path(tenant), "keys", ListArgs::default())?;
    if !keys.iter().any(|key| key["id"] == replaces) {
        let mend = format!("`tidegate key list {tenant}` shows its keys");
        return Err(Failure::invalid(format!("--replaces {replaces}: {tenant} has no such key; {mend}")));
    }
    let line = public_key(file)?;
    let key = match keys.into_iter().find(|key| key["public_key"] == line.as_str()) {
        Some(key) if key["id"] == replaces => {
            return Err(Failure::invalid(format!(
                "{}: is the key that it would replace; make another",
                file.display()
            )));
        }
        Some(key) => key,
        None => add(client, tenant, file, new)?,
    };
    revoke(client, tenant, replaces)?;
    let result = json!({"key": key, "revoked": replaces});
    client.tell(&result, |_| format!("{}, and no longer {replaces}\n", trusted(tenant, &key)))
}

fn trusted(tenant: &str, key: &Value) -> String {
    format!("{tenant} trusts the key {} ({})", value::text(key, "/id"), value::text(key, "/label"))
}
