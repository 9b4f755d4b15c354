//! Whether a component of a run may be loaded: it is signed by a key that the user trusts, or the user takes it unsigned.
//!
//! Invariant: what is verified are the bytes that are loaded, and its name and version are those that the pipeline asks for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tidegate_pipeline::ComponentRef;
use tidegate_signing::{AnyTenant, Expectation, PublicKey, Refusal, TrustedKey, verify, verify_any_tenant};
use tidegate_types::Clock;

use super::given::{Given, for_component, written};
use crate::cli::RunArgs;
use crate::clock::SystemClock;
use crate::failure::Failure;
use crate::key_files;

const TRUST: &str = "--trust";
const SIGNATURE: &str = "--signature";
const NEITHER: &str = "--component: a signature by a key that you trust is asked for; name the key with --trust FILE.pub (the \
    signature stands beside the component, where `tidegate sign` writes it), or take it unsigned with --allow-unsigned, if \
    you trust where the file comes from";

/// What the user trusts.
#[derive(Debug)]
pub(super) enum Trust {
    /// Any component.
    Unsigned,
    /// Components that one of these keys has signed.
    Keys {
        /// The keys.
        keys: Vec<PublicKey>,
        /// For this tenant, if it matters.
        tenant: Option<String>,
        /// Where each component's envelope is.
        envelopes: BTreeMap<ComponentRef, PathBuf>,
    },
}

impl Trust {
    /// What the flags say, for these components and their files.
    ///
    /// # Errors
    /// If there are components and nothing is trusted, a key cannot be read, or a `--signature` is malformed or serves no
    /// component.
    pub(super) fn of(args: &RunArgs, files: &BTreeMap<ComponentRef, PathBuf>) -> Result<Self, Failure> {
        if args.trust.is_empty() {
            let asked = !files.is_empty() && !args.allow_unsigned;
            return if asked { Err(Failure::invalid(NEITHER)) } else { Ok(Self::Unsigned) };
        }
        let read = |path: &PathBuf| key_files::read_public(TRUST, path);
        let keys = args.trust.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::Keys { keys, tenant: args.tenant.clone(), envelopes: envelopes(&args.signature, files)? })
    }

    /// Whether this component, in this file and of these bytes, may be loaded.
    ///
    /// # Errors
    /// Why not, with status 2.
    pub(super) fn admit(&self, component: &ComponentRef, file: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let Self::Keys { keys, tenant, envelopes } = self else { return Ok(()) };
        let path = envelopes.get(component).expect("every component's envelope was named or taken to be beside it");
        let envelope = key_files::read_envelope(path).map_err(|error| unsigned(component, file, path, &error))?;
        judge(keys, tenant.as_deref(), component, &envelope, bytes).map_err(|refusal| {
            Failure::invalid(format!("--component {}={}: {refusal}", written(component), file.display()))
        })
    }

    /// The envelopes, so that no output is written over one.
    pub(super) fn envelopes(&self) -> Vec<&Path> {
        match self {
            Self::Keys { envelopes, .. } => envelopes.values().map(PathBuf::as_path).collect(),
            Self::Unsigned => Vec::new(),
        }
    }
}

/// Where each component's envelope is: where a flag says, else beside it.
fn envelopes(
    flags: &[String],
    files: &BTreeMap<ComponentRef, PathBuf>,
) -> Result<BTreeMap<ComponentRef, PathBuf>, Failure> {
    let parse = |flag: &String| Given::parse(SIGNATURE, flag, "FILE.dsse.json");
    let given = flags.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    if let Some(idle) = given.iter().find(|given| !files.keys().any(|component| given.is_for(component))) {
        return Err(Failure::invalid(format!(
            "{SIGNATURE} {}: the pipeline has no component of that name; write it as the pipeline does",
            idle.written()
        )));
    }
    let path = |(component, file): (&ComponentRef, &PathBuf)| {
        let given = for_component(SIGNATURE, &given, component)?;
        let path = given.map_or_else(|| key_files::envelope_of(file), |given| given.file.clone());
        Ok((component.clone(), path))
    };
    files.iter().map(path).collect()
}

fn judge(
    keys: &[PublicKey],
    tenant: Option<&str>,
    component: &ComponentRef,
    envelope: &[u8],
    bytes: &[u8],
) -> Result<(), Refusal> {
    let (name, version, now) = (Some(component.name.as_str()), component.version.as_deref(), SystemClock.now());
    match tenant {
        None => verify_any_tenant(envelope, bytes, &AnyTenant { name, version, now, keys }).map(drop),
        Some(tenant) => {
            let trusted = |key: &PublicKey| TrustedKey {
                key: key.clone(),
                tenant: tenant.to_owned(),
                not_after: None,
                revoked: false,
            };
            let keys: Vec<TrustedKey> = keys.iter().map(trusted).collect();
            verify(envelope, bytes, &Expectation { tenant, name, version, now, keys: &keys }).map(drop)
        }
    }
}

fn unsigned(component: &ComponentRef, file: &Path, envelope: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::invalid(format!(
        "--component {}={}: its signature {} cannot be read: {error}; sign it with `tidegate sign`, name the signature with \
         --signature {}=FILE, or take it unsigned with --allow-unsigned",
        written(component),
        file.display(),
        envelope.display(),
        component.name
    ))
}

#[cfg(test)]
mod tests;
