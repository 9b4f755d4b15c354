//! `tidegate token`: tokens that people and machines ask with.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::http::Call;
use super::path::part;
use super::read::ListArgs;
use super::settings::Connection;
use super::{Client, read, value};
use crate::failure::Failure;

/// The arguments of `tidegate token`.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(subcommand)]
    pub(super) action: TokenAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum TokenAction {
    /// Issue a token of a tenant. It is shown once
    Create {
        /// The tenant
        tenant: String,
        /// What it may do
        #[arg(long, value_parser = ["tenant-admin", "developer", "viewer"])]
        role: String,
        /// Who will use it: a person or a machine. It stands in the audit trail
        #[arg(long, value_name = "NAME")]
        subject: Option<String>,
        /// How long it is good for, hours
        #[arg(long, value_name = "N", default_value = "24")]
        hours: u32,
        /// Write it to this file, for its owner only, in place of standard output
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the tokens of a tenant (never their text)
    List {
        /// The tenant
        tenant: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Make a token useless
    Revoke {
        /// The tenant
        tenant: String,
        /// The token's id
        id: String,
    },
}

pub(super) fn act(client: &Client<'_>, action: &TokenAction) -> Result<(), Failure> {
    match action {
        TokenAction::Create { tenant, role, subject, hours, output } => {
            let subject = subject.clone().unwrap_or_else(|| format!("{role} of {tenant}"));
            let body = json!({"role": role, "subject": subject, "ttl_ms": u64::from(*hours) * 3_600_000});
            create(client, tenant, &body, output.as_deref())
        }
        TokenAction::List { tenant, list } => {
            let tokens = read::items(client, &path(tenant), "tokens", *list)?;
            let header = ["token", "role", "subject", "expires", "revoked"];
            client.list(&tokens, &header, "no tokens", |token| {
                let [id, role, subject] = ["/id", "/role", "/subject"].map(|at| value::text(token, at));
                vec![id, role, subject, value::time(token, "/expires_at"), value::time(token, "/revoked_at")]
            })
        }
        TokenAction::Revoke { tenant, id } => {
            client.api.must(&Call::delete(&format!("{}/{}", path(tenant), part(id))))?;
            client.tell(&json!({"id": id, "revoked": true}), |_| format!("token {id} is revoked\n"))
        }
    }
}

fn path(tenant: &str) -> String {
    format!("/v1/tenants/{}/tokens", part(tenant))
}

fn create(client: &Client<'_>, tenant: &str, body: &Value, output: Option<&Path>) -> Result<(), Failure> {
    let bytes = body.to_string();
    let issue = || client.api.must(&Call::post(&path(tenant), "application/json", bytes.as_bytes()))?.json::<Value>();
    let Some(file) = output else {
        return client.tell(&issue()?, |issued| format!("{}\n", value::text(issued, "/token")));
    };
    // Before the token is asked for: its text is given once.
    let mut saved = open_new(file)?;
    let issued = issue().and_then(|issued| match writeln!(saved, "{}", value::text(&issued, "/token")) {
        Ok(()) => Ok(issued),
        Err(error) => Err(Failure::external(format!("--output {}: {error}", file.display()))),
    });
    let mut issued = issued.inspect_err(|_| drop(std::fs::remove_file(file)))?;
    // A secret stands in one place.
    issued.as_object_mut().map(|issued| issued.remove("token"));
    client.tell(&issued, |issued| {
        let [role, until] = [value::text(body, "/role"), value::time(issued, "/expires_at")];
        format!("{}: a token of {tenant} for a {role}, until {until}\n", file.display())
    })
}

/// A new file that only its owner reads.
fn open_new(file: &Path) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(file).map_err(|error| {
        Failure::invalid(format!("--output {}: {error}; name a file that is not there yet", file.display()))
    })
}
