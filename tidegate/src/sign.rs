//! `tidegate sign`: says, signed, which version of whose component a file is, and until when.
//!
//! Invariant: what it writes was verified by the same code that will judge it, so a signature that exists was once good.

mod units;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use tidegate_componentize::{Facts, inspect};
use tidegate_formats::format_time;
use tidegate_signing::{
    Claim, DeclaredLimits, Expectation, Refusal, SecretKey, Statement, TrustedKey, Verified, sign, verify,
};
use tidegate_types::Clock;

use crate::clock::SystemClock;
use crate::failure::Failure;
use crate::key_files;

const SIGN_EXAMPLES: &str = "\
Examples:
  tidegate sign delays.wasm --key acme.key --tenant acme --name delays --version 1.0.0
  tidegate sign delays.wasm --key acme.key --tenant acme --name delays --version 1.1.0 \\
      --expires 30d --call-fuel 20000000 --memory 64MiB --out signatures/delays-1.1.0.dsse.json

The signature is over the exact bytes: build again, and sign again. A version can be uploaded once, and only versions
higher than all before it are taken (1.10.0 is higher than 1.9.0). docs/security/signing.md says what is checked.
Exit status: 0 the signature was written; 1 the machine failed; 2 the component, the key or a flag is wrong.";

/// The arguments of `tidegate sign`.
#[derive(Args, Clone, Debug)]
#[command(after_help = SIGN_EXAMPLES)]
pub(crate) struct SignArgs {
    /// The component, as `tidegate build` writes it
    #[arg(value_name = "COMPONENT.wasm")]
    pub(crate) component: PathBuf,

    /// The secret key (`tidegate keygen`)
    #[arg(long, value_name = "FILE.key")]
    pub(crate) key: PathBuf,

    /// The tenant that the component is for
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: String,

    /// What pipelines call it: NAME in `component: NAME@VERSION`
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,

    /// Its version: three numbers
    #[arg(long, value_name = "1.0.0")]
    pub(crate) version: String,

    /// How long the signature counts: a number and s, m, h or d; at most 730d
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = units::duration_ms)]
    pub(crate) expires: i64,

    /// The most fuel that a call needs [default: what the tenant may have]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) call_fuel: Option<u64>,

    /// The most memory that an instance needs, as bytes, KiB, MiB or GiB [default: what the tenant may have]
    #[arg(long, value_name = "64MiB", value_parser = units::bytes)]
    pub(crate) memory: Option<u64>,

    /// Where to write the signature [default: COMPONENT.wasm.dsse.json, where `run` and `verify` look for it]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Signs a component and writes the envelope; returns what was signed, in words.
///
/// # Errors
/// With status 2 if the component, the key or a flag is wrong, with status 1 if the envelope cannot be written.
pub(crate) fn run(args: &SignArgs) -> Result<String, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| Failure::invalid(format!("{}: {reason}", args.component.display()));
    let component = key_files::read_component(&args.component).map_err(|error| wrong(&error))?;
    let key = key_files::read_secret("--key", &args.key)?;
    let now = SystemClock.now();
    let statement = Statement::about(&component, claim(args, now)).map_err(|refusal| wrong(&refusal))?;
    let facts = inspect(&component).map_err(|error| wrong(&format!("nothing would run it: {error}")))?;
    let envelope = sign(&key, &statement).to_json();
    let verified = verify_own(&key, &envelope, &component, args, now).map_err(|refusal| wrong(&refusal))?;
    let path = args.out.clone().unwrap_or_else(|| key_files::envelope_of(&args.component));
    refuse_overlap(&path, args)?;
    write_whole(&path, &envelope)?;
    Ok(report(&verified, &facts, &args.component, &path))
}

fn claim(args: &SignArgs, now: i64) -> Claim {
    Claim {
        tenant: args.tenant.clone(),
        name: args.name.clone(),
        version: args.version.clone(),
        limits: DeclaredLimits { call_fuel: args.call_fuel, memory_bytes: args.memory },
        issued_at: now,
        expires_at: now.saturating_add(args.expires),
    }
}

/// Verifies what was just signed, as its reader will.
fn verify_own(
    key: &SecretKey,
    envelope: &[u8],
    component: &[u8],
    args: &SignArgs,
    now: i64,
) -> Result<Verified, Refusal> {
    let keys = [TrustedKey { key: key.public(), tenant: args.tenant.clone(), not_after: None, revoked: false }];
    let expect =
        Expectation { tenant: &args.tenant, name: Some(&args.name), version: Some(&args.version), now, keys: &keys };
    verify(envelope, component, &expect)
}

/// What was signed or verified, a line for each part.
pub(crate) fn facts_of(verified: &Verified) -> String {
    let Verified { statement, key_id } = verified;
    let mut text = String::new();
    let mut line = |name: &str, fact: &str| writeln!(text, "{name:<10} {fact}").expect("a String takes everything");
    line("component", &format!("{} {} of tenant {}", statement.name, statement.version, statement.tenant));
    line("sha256", &statement.digest);
    line("size", &format!("{} bytes", statement.size));
    line("world", &statement.world);
    if let Some(fuel) = statement.limits.call_fuel {
        line("call fuel", &fuel.to_string());
    }
    if let Some(bytes) = statement.limits.memory_bytes {
        line("memory", &format!("{bytes} bytes"));
    }
    line("signed", &format!("{} by {key_id}", seconds(statement.issued_at)));
    line("counts", &format!("until {}", seconds(statement.expires_at)));
    text
}

/// A time to the second.
fn seconds(ms: i64) -> String {
    format_time(ms - ms.rem_euclid(1_000))
}

fn report(verified: &Verified, facts: &Facts, component: &Path, envelope: &Path) -> String {
    let statement = &verified.statement;
    format!(
        "{}hooks      {}\nsignature  {}\n\nTry it: tidegate verify {} --tenant {} --trust FILE.pub{}\n",
        facts_of(verified),
        facts.hooks.join(", "),
        envelope.display(),
        component.display(),
        statement.tenant,
        if envelope == key_files::envelope_of(component) {
            String::new()
        } else {
            format!(" --signature {}", envelope.display())
        }
    )
}

fn refuse_overlap(path: &Path, args: &SignArgs) -> Result<(), Failure> {
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let is = |other: &Path| other.canonicalize().is_ok_and(|other| other == target);
    if is(&args.component) || is(&args.key) {
        return Err(Failure::invalid(format!(
            "--out {}: is also the component or the key; writing would destroy it",
            path.display()
        )));
    }
    Ok(())
}

/// Writes a file so that nobody ever sees half of it.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.partial", std::process::id()));
    let partial = PathBuf::from(partial);
    std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, path)).map_err(|error| {
        drop(std::fs::remove_file(&partial));
        Failure::external(format!("--out {}: {error}", path.display()))
    })
}
