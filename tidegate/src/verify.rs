//! `tidegate verify`: whether a file is what a trusted key says it is. It needs no network and no running Tidegate.

use std::path::{Path, PathBuf};

use clap::Args;
use tidegate_signing::{Expectation, TrustedKey, verify};
use tidegate_types::Clock;

use crate::clock::SystemClock;
use crate::failure::Failure;
use crate::key_files;
use crate::sign::facts_of;

const VERIFY_EXAMPLES: &str = "\
Examples:
  tidegate verify delays.wasm --trust acme.pub --tenant acme
  tidegate verify delays.wasm --trust acme-2026.pub --trust acme-2027.pub --tenant acme --name delays --version 1.1.0 \\
      --signature signatures/delays-1.1.0.dsse.json

What fails is said in one line that begins with the rule, such as `digest-mismatch` or `expired`;
docs/security/signing.md explains each.
Exit status: 0 all that was printed is so; 2 the signature does not hold, or a file or a flag is wrong.";

/// The arguments of `tidegate verify`.
#[derive(Args, Clone, Debug)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// The component
    #[arg(value_name = "COMPONENT.wasm")]
    pub(crate) component: PathBuf,

    /// A public key that is trusted to sign for the tenant. Several: one of them must have signed
    #[arg(long, value_name = "FILE.pub", required = true)]
    pub(crate) trust: Vec<PathBuf>,

    /// The tenant that it must be signed for
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: String,

    /// What it must be called [default: anything]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Which version it must be [default: any]
    #[arg(long, value_name = "1.0.0")]
    pub(crate) version: Option<String>,

    /// The signature [default: COMPONENT.wasm.dsse.json]
    #[arg(long, value_name = "FILE")]
    pub(crate) signature: Option<PathBuf>,
}

/// Verifies a component; returns what was verified, in words.
///
/// # Errors
/// With the rule that it breaks, status 2.
pub(crate) fn run(args: &VerifyArgs) -> Result<String, Failure> {
    let file = |path: &Path, reason: &dyn std::fmt::Display| Failure::invalid(format!("{}: {reason}", path.display()));
    let trusted = |path: &PathBuf| -> Result<TrustedKey, Failure> {
        let key = key_files::read_public("--trust", path)?;
        Ok(TrustedKey { key, tenant: args.tenant.clone(), not_after: None, revoked: false })
    };
    let keys = args.trust.iter().map(trusted).collect::<Result<Vec<_>, _>>()?;
    let component = key_files::read_component(&args.component).map_err(|error| file(&args.component, &error))?;
    let beside = args.signature.clone().unwrap_or_else(|| key_files::envelope_of(&args.component));
    let envelope = key_files::read_envelope(&beside).map_err(|error| file(&beside, &error))?;
    let expect = Expectation {
        tenant: &args.tenant,
        name: args.name.as_deref(),
        version: args.version.as_deref(),
        now: SystemClock.now(),
        keys: &keys,
    };
    // The rule is the first word of the line, for scripts.
    let verified = verify(&envelope, &component, &expect).map_err(|refusal| Failure::invalid(refusal.to_string()))?;
    Ok(facts_of(&verified))
}
