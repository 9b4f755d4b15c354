//! The form of what a statement says: names, version, digest, limits.
//!
//! The same names as everywhere (a tenant: `a-z 0-9 -`; a component: letters, digits and `- _ .`), so that a statement that is
//! accepted here is never refused for its spelling later.

use crate::refusal::{Refusal, quoted};
use crate::rule::Rule;
use crate::version::Version;

use super::Statement;

/// The most characters of a name.
const MAX_NAME_CHARS: usize = 63;
/// The digits of a SHA-256.
const DIGEST_DIGITS: usize = 64;

/// # Errors
/// `statement-malformed`, with the field.
pub(super) fn check(statement: &Statement) -> Result<(), Refusal> {
    let small = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    let any = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
    name("statement.predicate.tenant", &statement.tenant, small, "small letters, digits and `-`")?;
    name("statement.subject[0].name", &statement.name, any, "letters, digits, `-`, `_` and `.`")?;
    version(&statement.version)?;
    let hexadecimal = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if statement.digest.len() != DIGEST_DIGITS || !statement.digest.bytes().all(hexadecimal) {
        let reason = format!("{} is no SHA-256 in small hexadecimal digits", quoted(&statement.digest));
        return Err(wrong("statement.subject[0].digest.sha256", reason));
    }
    let limits = [("call_fuel", statement.limits.call_fuel), ("memory_bytes", statement.limits.memory_bytes)];
    match limits.iter().find(|(_, limit)| *limit == Some(0)) {
        Some((field, _)) => {
            Err(wrong(&format!("statement.predicate.limits.{field}"), "with 0 of it nothing runs".to_owned()))
        }
        None => Ok(()),
    }
}

/// The version that a text is.
pub(super) fn version(text: &str) -> Result<Version, Refusal> {
    text.parse().map_err(|error| wrong("statement.predicate.version", format!("{} is none: {error}", quoted(text))))
}

fn name(place: &str, text: &str, allowed: impl Fn(u8) -> bool, said: &str) -> Result<(), Refusal> {
    let first = text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    if first && text.len() <= MAX_NAME_CHARS && text.bytes().all(allowed) {
        return Ok(());
    }
    let reason = format!("{} is no name: 1 to 63 {said} are, the first a letter or digit", quoted(text));
    Err(wrong(place, reason))
}

fn wrong(place: &str, reason: String) -> Refusal {
    Refusal::by(Rule::StatementMalformed, place, reason, "mend it, and sign again with `tidegate sign`")
}
