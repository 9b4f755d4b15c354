//! The registry's own rules, over plain values: versions, quotas, declared limits.

use tidegate_signing::{DeclaredLimits, Refusal, Version, require_newer};
use tidegate_tenancy::TenantLimits;

use crate::admission::GrantedLimits;
use crate::artifact::Artifact;
use crate::error::RegistryError;
use crate::index::Index;

/// What is to be done with an upload.
#[derive(Debug)]
pub(crate) enum Decision {
    /// The version is there, with these bytes: the first answer is given again.
    AsBefore(Box<Artifact>),
    /// It is new.
    Admit,
}

/// What an upload says of itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a Version,
    pub(crate) digest: &'a str,
}

/// Decides over an upload whose signature holds.
///
/// # Errors
/// If the version was revoked, has other bytes, is not newer, or is one too many.
pub(crate) fn upload(
    offer: Offer<'_>,
    there: Option<Artifact>,
    index: &Index,
    limits: &TenantLimits,
) -> Result<Decision, RegistryError> {
    if let Some(artifact) = there {
        if artifact.digest != offer.digest {
            let (name, version) = (artifact.name, artifact.version);
            return Err(RegistryError::VersionTaken { name, version });
        }
        return match artifact.revoked {
            Some(revoked) => Err(revoked_version(offer, &revoked.reason).into()),
            None => Ok(Decision::AsBefore(Box::new(artifact))),
        };
    }
    require_newer(offer.version, index.highest(offer.name).as_ref()).map_err(RegistryError::VersionNotNewer)?;
    limits.room("artifacts", index.versions, 1)?;
    Ok(Decision::Admit)
}

fn revoked_version(offer: Offer<'_>, reason: &str) -> Refusal {
    Refusal {
        rule: "artifact-revoked",
        place: format!("{}@{}", offer.name, offer.version),
        reason: format!("this version was revoked ({reason})"),
        mend: "upload a higher version".to_owned(),
    }
}

/// These bytes were revoked, whatever they are called.
pub(crate) fn revoked_digest(digest: &str, reason: &str) -> Refusal {
    Refusal {
        rule: "digest-revoked",
        place: format!("sha256:{digest}"),
        reason: format!("these bytes were revoked ({reason})"),
        mend: "build, sign and upload a component that does not have the fault".to_owned(),
    }
}

/// What a component is granted: what its signer declares, within what the tenant has.
///
/// # Errors
/// `limits-exceed-quota`.
pub(crate) fn grant(declared: DeclaredLimits, limits: &TenantLimits) -> Result<GrantedLimits, Refusal> {
    let within = |field: &str, declared: Option<u64>, allowed: u64| match declared {
        Some(declared) if declared > allowed => Err(Refusal {
            rule: "limits-exceed-quota",
            place: format!("statement.predicate.limits.{field}"),
            reason: format!("{declared} is declared, the tenant has {allowed}"),
            mend: "declare less and sign again, or ask a platform admin to raise the tenant's limit".to_owned(),
        }),
        Some(declared) => Ok(declared),
        None => Ok(allowed),
    };
    Ok(GrantedLimits {
        call_fuel: within("call_fuel", declared.call_fuel, limits.call_fuel)?,
        memory_bytes: within("memory_bytes", declared.memory_bytes, limits.memory_bytes)?,
    })
}

/// What an admitted component is granted today: its tenant's limits may have been lowered since.
pub(crate) fn grant_now(declared: DeclaredLimits, limits: &TenantLimits) -> GrantedLimits {
    GrantedLimits {
        call_fuel: declared.call_fuel.map_or(limits.call_fuel, |declared| declared.min(limits.call_fuel)),
        memory_bytes: declared.memory_bytes.map_or(limits.memory_bytes, |declared| declared.min(limits.memory_bytes)),
    }
}
