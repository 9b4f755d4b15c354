//! What a verified payload says, against the component's bytes, what is expected, and the time.

use jiff::Timestamp;

use crate::refusal::{Refusal, quoted};
use crate::rule::Rule;
use crate::statement::{Statement, WORLD, digest, require_component};

use super::CLOCK_SKEW_MS;

/// What is expected.
pub(super) struct Claims<'a> {
    pub(super) tenant: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) version: Option<&'a str>,
    pub(super) now: i64,
}

/// The component is, byte for byte, the one that was signed.
///
/// # Errors
/// `digest-mismatch`, `size-mismatch`, `not-a-component`.
pub(super) fn about_bytes(statement: &Statement, component: &[u8]) -> Result<(), Refusal> {
    let size = u64::try_from(component.len()).expect("a length fits 64 bits");
    let found = digest(component);
    if found != statement.digest {
        let reason = format!(
            "its SHA-256 is {found} ({size} bytes), and {} ({} bytes) was signed",
            statement.digest, statement.size
        );
        let mend = "take the file that was signed, or sign this one";
        return Err(Refusal::by(Rule::DigestMismatch, "component", reason, mend));
    }
    if size != statement.size {
        let reason = format!("it has {size} bytes, and {} were signed", statement.size);
        return Err(Refusal::by(Rule::SizeMismatch, "component", reason, "sign it again with `tidegate sign`"));
    }
    require_component(component)
}

/// What the statement says is what is expected, now.
///
/// # Errors
/// `tenant-mismatch`, `name-mismatch`, `version-mismatch`, `world-unsupported`, `lifetime-invalid`, `not-yet-valid`, `expired`.
pub(super) fn about_meaning(statement: &Statement, expect: &Claims<'_>) -> Result<(), Refusal> {
    equal(Rule::TenantMismatch, "statement.predicate.tenant", "tenant", &statement.tenant, expect.tenant)?;
    equal(Rule::NameMismatch, "statement.subject[0].name", "name", &statement.name, expect.name)?;
    equal(Rule::VersionMismatch, "statement.predicate.version", "version", &statement.version, expect.version)?;
    if statement.world != WORLD {
        let reason = format!("it is made for {}, and this host has `{WORLD}`", quoted(&statement.world));
        let mend = "build and sign it with the tools of this release";
        return Err(Refusal::by(Rule::WorldUnsupported, "statement.predicate.world", reason, mend));
    }
    statement.require_lifetime()?;
    if statement.issued_at > expect.now.saturating_add(CLOCK_SKEW_MS) {
        let reason = format!("it is issued at {}, and it is {}", time(statement.issued_at), time(expect.now));
        let mend = "set the clock of the machine that signs, and sign again";
        return Err(Refusal::by(Rule::NotYetValid, "statement.predicate.issued_at", reason, mend));
    }
    if expect.now >= statement.expires_at {
        let reason = format!("it counted until {}, and it is {}", time(statement.expires_at), time(expect.now));
        return Err(Refusal::by(Rule::Expired, "statement.predicate.expires_at", reason, "sign the component again"));
    }
    Ok(())
}

fn equal(rule: Rule, place: &str, what: &str, signed: &str, expected: Option<&str>) -> Result<(), Refusal> {
    match expected {
        Some(expected) if expected != signed => {
            let reason = format!("it is signed for the {what} {}, not for {}", quoted(signed), quoted(expected));
            Err(Refusal::by(
                rule,
                place,
                reason,
                format!("sign it with --{what} {expected}, or ask for what was signed"),
            ))
        }
        _ => Ok(()),
    }
}

/// A time as people write it, to the second.
fn time(ms: i64) -> String {
    match Timestamp::from_second(ms.div_euclid(1_000)) {
        Ok(time) => time.to_string(),
        Err(_) => format!("{ms} ms since the epoch"),
    }
}
