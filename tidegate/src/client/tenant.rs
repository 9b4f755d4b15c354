//! `tidegate tenant`: make tenants and set what they may use.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use ureq::http::Method;

use super::http::Call;
use super::path::part;
use super::read::ListArgs;
use super::settings::Connection;
use super::{Client, read, value};
use crate::failure::Failure;

/// The arguments of `tidegate tenant`.
#[derive(Debug, Args)]
pub(crate) struct TenantArgs {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(subcommand)]
    pub(super) action: TenantAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum TenantAction {
    /// Make a tenant (platform admins)
    Create {
        /// Its name
        name: String,
        /// A limit that is not the default's, such as jobs=20
        #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
        limits: Vec<(String, u64)>,
    },
    /// List the tenants (platform admins)
    List(ListArgs),
    /// Show a tenant and its limits
    Show {
        /// Its name
        name: String,
    },
    /// Set limits of a tenant (platform admins); the others stay as they are
    Limits {
        /// The tenant
        name: String,
        /// What to set, such as call_fuel=20000000
        #[arg(required = true, value_name = "NAME=N", value_parser = limit)]
        limits: Vec<(String, u64)>,
    },
    /// Delete a tenant that has no running job (platform admins). Its name is never given again
    Delete {
        /// Its name
        name: String,
    },
}

pub(super) fn act(client: &Client<'_>, action: &TenantAction) -> Result<(), Failure> {
    match action {
        TenantAction::Create { name, limits } => {
            let mut body = json!({"name": name});
            if !limits.is_empty() {
                body["limits"] = object(limits);
            }
            let bytes = body.to_string();
            let made: Value =
                client.api.must(&Call::post("/v1/tenants", "application/json", bytes.as_bytes()))?.json()?;
            client.tell(&made, |_| format!("tenant {name} is there\n"))
        }
        TenantAction::List(args) => {
            let tenants = read::items(client, "/v1/tenants", "tenants", *args)?;
            let header = ["tenant", "lanes", "jobs", "streams", "created"];
            client.list(&tenants, &header, "no tenants yet: tidegate tenant create NAME", |tenant| {
                let [id, lanes, jobs, streams] =
                    ["/name", "/limits/lanes", "/limits/jobs", "/limits/streams"].map(|at| value::text(tenant, at));
                vec![id, lanes, jobs, streams, value::time(tenant, "/created_at")]
            })
        }
        TenantAction::Show { name } => {
            let tenant: Value = client.api.must(&Call::get(&path(name)))?.json()?;
            client.tell(&tenant, shown)
        }
        TenantAction::Limits { name, limits } => set(client, name, limits),
        TenantAction::Delete { name } => {
            client.api.must(&Call::delete(&path(name)))?;
            let result = json!({"name": name, "deleted": true});
            client.tell(&result, |_| format!("tenant {name} is deleted: its tokens and keys count no more\n"))
        }
    }
}

fn path(name: &str) -> String {
    format!("/v1/tenants/{}", part(name))
}

/// Sets limits, on the version of the record that is there now.
fn set(client: &Client<'_>, name: &str, limits: &[(String, u64)]) -> Result<(), Failure> {
    let path = path(name);
    let now = client.api.must(&Call::get(&path))?;
    let body = json!({"limits": object(limits)}).to_string();
    let mut call = Call::post(&path, "application/json", body.as_bytes());
    call.method = Method::PATCH;
    if let Some(tag) = now.header("etag") {
        call = call.header("if-match", tag);
    }
    let tenant: Value = client.api.must(&call)?.json()?;
    client.tell(&tenant, shown)
}

fn shown(tenant: &Value) -> String {
    let empty = Map::new();
    let limits = tenant.get("limits").and_then(Value::as_object).unwrap_or(&empty);
    let mut facts = vec![("tenant", value::text(tenant, "/name")), ("created", value::time(tenant, "/created_at"))];
    facts.extend(limits.keys().map(|name| (name.as_str(), value::text(tenant, &format!("/limits/{name}")))));
    value::facts(&facts)
}

fn object(limits: &[(String, u64)]) -> Value {
    Value::Object(limits.iter().map(|(name, number)| (name.clone(), json!(number))).collect())
}

fn limit(text: &str) -> Result<(String, u64), String> {
    let (name, number) = text.split_once('=').ok_or("write it as jobs=20")?;
    let number = number.replace('_', "").parse().map_err(|_| "write it as jobs=20".to_owned())?;
    Ok((name.to_owned(), number))
}
