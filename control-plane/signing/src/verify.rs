//! Whether a component is what a trusted key says it is: the one way from bytes to a verified statement.
//!
//! The order is fixed: the envelope's form, then a trusted key's signature over the payload, then the payload's form, then the
//! component's bytes against it, then what it says against what is expected, then time. Invariant: no later step runs before
//! an earlier one has passed, and there is no other way to a [`Verified`].

mod claims;
mod signer;

use crate::envelope::Envelope;
use crate::key::{KeyId, PublicKey};
use crate::refusal::Refusal;
use crate::rule::Rule;
use crate::statement::Statement;
use crate::version::Version;
use claims::Claims;
use signer::Signer;

/// How far a signer's clock may be ahead of ours: 5 minutes in ms.
pub const CLOCK_SKEW_MS: i64 = 5 * 60 * 1_000;

/// A key of a tenant, and whether it still counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey {
    /// The key.
    pub key: PublicKey,
    /// Whose it is.
    pub tenant: String,
    /// From when on it counts no more, ms since the epoch.
    pub not_after: Option<i64>,
    /// Whether it was revoked. What it signed then counts no more, whenever it was signed.
    pub revoked: bool,
}

/// What a component must be, for a tenant.
#[derive(Debug, Clone, Copy)]
pub struct Expectation<'a> {
    /// Whose it must be, and whose key must have signed.
    pub tenant: &'a str,
    /// What it must be called, if that is known.
    pub name: Option<&'a str>,
    /// Which version it must be, if that is known.
    pub version: Option<&'a str>,
    /// Now, ms since the epoch.
    pub now: i64,
    /// The keys that are known, of this tenant or of others.
    pub keys: &'a [TrustedKey],
}

/// What a component must be where the keys alone decide, as in a local run. Never for what serves several tenants.
#[derive(Debug, Clone, Copy)]
pub struct AnyTenant<'a> {
    /// What it must be called, if that is known.
    pub name: Option<&'a str>,
    /// Which version it must be, if that is known.
    pub version: Option<&'a str>,
    /// Now, ms since the epoch.
    pub now: i64,
    /// The keys that are trusted.
    pub keys: &'a [PublicKey],
}

/// A statement that a trusted key has signed, and that is true of the component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The statement.
    pub statement: Statement,
    /// The key that signed it.
    pub key_id: KeyId,
}

/// Verifies a component against its envelope.
///
/// # Errors
/// The first rule that is broken, in the order of [`Rule::ALL`].
pub fn verify(envelope: &[u8], component: &[u8], expect: &Expectation<'_>) -> Result<Verified, Refusal> {
    let signers: Vec<Signer<'_>> = expect
        .keys
        .iter()
        .map(|trusted| Signer { key: &trusted.key, standing: signer::standing(trusted, expect.tenant, expect.now) })
        .collect();
    let claims = Claims { tenant: Some(expect.tenant), name: expect.name, version: expect.version, now: expect.now };
    check(envelope, component, &signers, &claims)
}

/// Verifies a component where the keys alone decide, whichever tenant it is for.
///
/// # Errors
/// As [`verify`]; the rules about tenants are not among them.
pub fn verify_any_tenant(envelope: &[u8], component: &[u8], expect: &AnyTenant<'_>) -> Result<Verified, Refusal> {
    let signers: Vec<Signer<'_>> = expect.keys.iter().map(|key| Signer { key, standing: Ok(()) }).collect();
    let claims = Claims { tenant: None, name: expect.name, version: expect.version, now: expect.now };
    check(envelope, component, &signers, &claims)
}

fn check(envelope: &[u8], component: &[u8], signers: &[Signer<'_>], claims: &Claims<'_>) -> Result<Verified, Refusal> {
    let envelope = Envelope::parse(envelope)?;
    let key_id = signer::who_signed(&envelope, signers)?.clone();
    let statement = Statement::parse(&envelope.payload)?;
    claims::about_bytes(&statement, component)?;
    claims::about_meaning(&statement, claims)?;
    Ok(Verified { statement, key_id })
}

/// A new version must be higher than the highest that was ever accepted, revoked ones included: an older one may have a hole
/// that its successor closed.
///
/// # Errors
/// `version-not-newer`.
pub fn require_newer(offered: &Version, highest: Option<&Version>) -> Result<(), Refusal> {
    match highest {
        Some(highest) if offered <= highest => {
            let reason = format!("{offered} is not higher than {highest}, which was accepted before");
            let mend = "raise the version, and sign again (versions are compared number by number)";
            Err(Refusal::by(Rule::VersionNotNewer, "statement.predicate.version", reason, mend))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
