//! Whose signature is on an envelope, and whether that counts.
//!
//! - A signature that names no key we know is ignored: while keys are exchanged, somebody else may trust it.
//! - A signature that names a key we know must be that key's, or the envelope is refused: nothing honest makes another one.
//! - At least one signature must be by a key of the tenant that is neither revoked nor expired.

use crate::envelope::Envelope;
use crate::key::{KeyId, PublicKey};
use crate::refusal::{Refusal, quoted};
use crate::rule::Rule;

use super::TrustedKey;

/// A key that is known.
pub(super) struct Signer<'a> {
    pub(super) key: &'a PublicKey,
    /// Why its signature does not count, if it does not.
    pub(super) standing: Result<(), Refusal>,
}

/// Whether a key's signatures count for this tenant, now.
pub(super) fn standing(trusted: &TrustedKey, tenant: &str, now: i64) -> Result<(), Refusal> {
    let place = format!("key {}", trusted.key.id());
    let refuse = |rule, reason: &str, mend: &str| Err(Refusal::by(rule, place.clone(), reason, mend));
    if trusted.tenant != tenant {
        return refuse(Rule::KeyOfAnotherTenant, "it is not a key of this tenant", "sign with a key of the tenant");
    }
    if trusted.revoked {
        return refuse(Rule::KeyRevoked, "the key was revoked", "sign with another key of the tenant");
    }
    match trusted.not_after {
        Some(end) if now >= end => {
            refuse(Rule::KeyExpired, "the key's time is over", "register a new key, and sign with that")
        }
        _ => Ok(()),
    }
}

/// The first key that signed and counts.
///
/// # Errors
/// `signature-invalid` if a signature is not that of the key that it names; `key-not-trusted` if no known key is named;
/// otherwise why the first known key does not count.
pub(super) fn who_signed<'a>(envelope: &Envelope, signers: &[Signer<'a>]) -> Result<&'a KeyId, Refusal> {
    let message = envelope.signed_bytes();
    let mut counts = None;
    let mut refused = None;
    for (at, signed) in envelope.signatures.iter().enumerate() {
        for signer in signers.iter().filter(|signer| signer.key.id().as_str() == signed.key_id) {
            if !signer.key.has_signed(&message, &signed.signature) {
                return Err(invalid(at, signer.key.id()));
            }
            match &signer.standing {
                Ok(()) => counts = counts.or(Some(signer.key.id())),
                Err(refusal) => refused = refused.or_else(|| Some(refusal.clone())),
            }
        }
    }
    counts.ok_or_else(|| refused.unwrap_or_else(|| not_trusted(envelope)))
}

fn invalid(at: usize, id: &KeyId) -> Refusal {
    let place = format!("envelope.signatures[{at}].sig");
    let reason = format!("it is not the signature of {id} over this payload");
    Refusal::by(Rule::SignatureInvalid, place, reason, "the statement or the signature was changed; sign again")
}

fn not_trusted(envelope: &Envelope) -> Refusal {
    let named: Vec<String> = envelope.signatures.iter().map(|signed| quoted(&signed.key_id)).collect();
    let reason = format!("no trusted key is among those that signed: {}", named.join(", "));
    let mend = "sign with a trusted key, or trust the public key of the one that signed";
    Refusal::by(Rule::KeyNotTrusted, "envelope.signatures", reason, mend)
}
