//! `tidegate artifact`: hand components in, and look at what admission made of them.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::http::Call;
use super::path::part;
use super::read::ListArgs;
use super::settings::Connection;
use super::{Client, read, value};
use crate::failure::Failure;

/// The arguments of `tidegate artifact`.
#[derive(Debug, Args)]
pub(crate) struct ArtifactArgs {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(subcommand)]
    pub(super) action: ArtifactAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum ArtifactAction {
    /// Hand in a signed component
    Push {
        /// The component
        component: PathBuf,
        /// Its signature [default: COMPONENT.wasm.dsse.json, where `tidegate sign` writes it]
        #[arg(long, value_name = "FILE")]
        signature: Option<PathBuf>,
    },
    /// List the artifacts
    List(ListArgs),
    /// Show a version of an artifact
    Show {
        /// name@version
        #[arg(value_name = "NAME@VERSION", value_parser = versioned)]
        artifact: (String, String),
    },
    /// Let no new job use a version of an artifact
    Revoke {
        /// name@version
        #[arg(value_name = "NAME@VERSION", value_parser = versioned)]
        artifact: (String, String),
    },
}

pub(super) fn act(client: &Client<'_>, action: &ArtifactAction) -> Result<(), Failure> {
    match action {
        ArtifactAction::Push { component, signature } => push(client, component, signature.as_deref()),
        ArtifactAction::List(args) => {
            let artifacts = read::items(client, "/v1/artifacts", "artifacts", *args)?;
            let header = ["artifact", "version", "bytes", "hooks", "digest", "admitted", "revoked"];
            client.list(&artifacts, &header, "no artifacts yet: tidegate artifact push FILE", |artifact| {
                let [name, version, size] = ["/name", "/version", "/size"].map(|at| value::text(artifact, at));
                let hooks = value::texts(artifact, "/hooks");
                let admitted = value::time(artifact, "/admitted_at");
                vec![name, version, size, hooks, value::short(artifact, "/digest"), admitted, revoked(artifact)]
            })
        }
        ArtifactAction::Show { artifact } => {
            let artifact: Value = client.api.must(&Call::get(&path(artifact)))?.json()?;
            client.tell(&artifact, shown)
        }
        ArtifactAction::Revoke { artifact } => {
            client.api.must(&Call::delete(&path(artifact)))?;
            let (name, version) = artifact;
            let result = json!({"name": name, "version": version, "revoked": true});
            client.tell(&result, |_| format!("{name}@{version} is revoked: no new job uses it\n"))
        }
    }
}

fn path((name, version): &(String, String)) -> String {
    format!("/v1/artifacts/{}/{}", part(name), part(version))
}

fn push(client: &Client<'_>, component: &Path, signature: Option<&Path>) -> Result<(), Failure> {
    let signature = signature.map_or_else(|| crate::key_files::envelope_of(component), Path::to_owned);
    let read = |path: &Path, how: &str| {
        std::fs::read(path).map_err(|error| Failure::invalid(format!("{}: {error}; {how}", path.display())))
    };
    let bytes = read(component, "`tidegate build` makes a component")?;
    let envelope = read(&signature, "`tidegate sign` makes a signature")?;
    let form = Form::of(&[("component", &bytes), ("signature", &envelope)]);
    let artifact: Value = client.api.must(&Call::post("/v1/artifacts", &form.media_type, &form.body))?.json()?;
    client.tell(&artifact, |artifact| {
        let [name, version] = ["/name", "/version"].map(|at| value::text(artifact, at));
        let hooks = value::texts(artifact, "/hooks");
        format!("{name}@{version} is admitted; hooks: {hooks}\n")
    })
}

fn shown(artifact: &Value) -> String {
    value::facts(&[
        ("artifact", format!("{}@{}", value::text(artifact, "/name"), value::text(artifact, "/version"))),
        ("digest", value::text(artifact, "/digest")),
        ("bytes", value::text(artifact, "/size")),
        ("hooks", value::texts(artifact, "/hooks")),
        ("signed with", value::text(artifact, "/key_id")),
        ("admitted", value::time(artifact, "/admitted_at")),
        ("revoked", revoked(artifact)),
    ])
}

fn revoked(artifact: &Value) -> String {
    value::yes(artifact, "/revoked")
}

fn versioned(text: &str) -> Result<(String, String), String> {
    let (name, version) = text.split_once('@').ok_or("write it as name@1.0.0")?;
    Ok((name.to_owned(), version.to_owned()))
}

/// A multipart form (RFC 7578) of parts with names of ours.
struct Form {
    media_type: String,
    body: Vec<u8>,
}

impl Form {
    fn of(parts: &[(&str, &[u8])]) -> Self {
        // A line that stands in no part.
        let boundary = (0_u64..)
            .map(|number| format!("tidegate-part-{number}"))
            .find(|boundary| parts.iter().all(|(_, bytes)| !contains(bytes, boundary.as_bytes())))
            .expect("one of so many texts is in no file");
        let mut body = Vec::new();
        for (name, bytes) in parts {
            let head = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n"
            );
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        Self { media_type: format!("multipart/form-data; boundary={boundary}"), body }
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_is_never_in_a_part() {
        let form = Form::of(&[("component", b"x--tidegate-part-0--"), ("signature", b"y")]);
        assert_eq!(form.media_type, "multipart/form-data; boundary=tidegate-part-1");
        let expected = "--tidegate-part-1\r\nContent-Disposition: form-data; name=\"component\"; filename=\"component\"\r\n\
                        Content-Type: application/octet-stream\r\n\r\nx--tidegate-part-0--\r\n";
        assert!(form.body.starts_with(expected.as_bytes()));
        assert!(form.body.ends_with(b"\r\n\r\ny\r\n--tidegate-part-1--\r\n"));
    }

    #[test]
    fn an_artifact_is_named_with_its_version() {
        assert_eq!(versioned("ads@1.0.0"), Ok(("ads".into(), "1.0.0".into())));
        assert!(versioned("ads").is_err());
    }
}
