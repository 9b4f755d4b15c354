//! What is signed: an in-toto Statement (v1) about one component, with Tidegate's predicate.
//!
//! Invariants: a statement that was made by [`Statement::about`] or read by `parse` names things by names that are safe to
//! show and to use as paths; it is written in one way, byte for byte.

mod form;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::json;
use crate::refusal::{Refusal, quoted};
use crate::rule::Rule;
use crate::version::Version;

/// The type of every statement (in-toto attestation framework, v1).
pub(crate) const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// The type of what a statement says of a component.
pub const PREDICATE_TYPE: &str = "https://tidegate.example/component/v1";
/// The world that components are made for: the package of the contract, without the patch.
pub const WORLD: &str = "tidegate:job@0.1";
/// The longest life of a statement: 730 days in ms.
pub const MAX_LIFETIME_MS: i64 = 730 * 24 * 60 * 60 * 1_000;

/// The first bytes of a component in the binary format.
const COMPONENT_PREAMBLE: [u8; 8] = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
/// The first bytes of a core module.
const MODULE_PREAMBLE: [u8; 8] = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/// A statement: these bytes are this version of this tenant's component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Whose component it is.
    pub tenant: String,
    /// What it is called; pipelines refer to it as `name@version`.
    pub name: String,
    /// Its version, as [`Version`] reads it.
    pub version: String,
    /// SHA-256 of its exact bytes, 64 small hexadecimal digits.
    pub digest: String,
    /// How many bytes it has.
    pub size: u64,
    /// The world that it is made for.
    pub world: String,
    /// What it says it needs.
    pub limits: DeclaredLimits,
    /// When the statement was made, ms since the epoch.
    pub issued_at: i64,
    /// From when on it does not count any more, ms since the epoch.
    pub expires_at: i64,
}

/// What a component says that it needs at most. The tenant's own limits bound it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DeclaredLimits {
    /// Fuel of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_fuel: Option<u64>,
    /// Bytes of memory of an instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// What its signer says of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Whose it is.
    pub tenant: String,
    /// What it is called.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it needs.
    pub limits: DeclaredLimits,
    /// Now, ms since the epoch.
    pub issued_at: i64,
    /// Until when this is to count, ms since the epoch.
    pub expires_at: i64,
}

/// The digest of a component: SHA-256 of its exact bytes, 64 small hexadecimal digits.
#[must_use]
pub fn digest(component: &[u8]) -> String {
    Sha256::digest(component).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Statement {
    /// The statement that makes this claim about these bytes.
    ///
    /// # Errors
    /// `not-a-component`; `statement-malformed` if a name, the version or a limit is none; `lifetime-invalid`.
    pub fn about(component: &[u8], claim: Claim) -> Result<Self, Refusal> {
        require_component(component)?;
        let statement = Self {
            digest: digest(component),
            size: u64::try_from(component.len()).expect("a length fits 64 bits"),
            world: WORLD.to_owned(),
            tenant: claim.tenant,
            name: claim.name,
            version: claim.version,
            limits: claim.limits,
            issued_at: claim.issued_at,
            expires_at: claim.expires_at,
        };
        form::check(&statement)?;
        statement.require_lifetime()?;
        Ok(statement)
    }

    /// The bytes that are signed.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let document = Document {
            kind: STATEMENT_TYPE,
            subject: [Subject { name: &self.name, digest: Digests { sha256: &self.digest } }],
            predicate_type: PREDICATE_TYPE,
            predicate: Predicate {
                tenant: &self.tenant,
                version: &self.version,
                size: self.size,
                world: &self.world,
                limits: self.limits,
                issued_at: self.issued_at,
                expires_at: self.expires_at,
            },
        };
        serde_json::to_vec(&document).expect("texts and numbers are JSON")
    }

    /// Reads a statement. Only for a payload whose signature has been checked.
    ///
    /// # Errors
    /// `statement-malformed`, `duplicate-field`, `unknown-field`, `statement-type`, `predicate-type`.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Refusal> {
        let mut root = json::read(payload, "statement", Rule::StatementMalformed)?;
        pinned(&mut root, "_type", STATEMENT_TYPE, Rule::StatementType)?;
        pinned(&mut root, "predicateType", PREDICATE_TYPE, Rule::PredicateType)?;
        let subjects = root.objects("subject")?;
        let [mut subject] = <[json::Object; 1]>::try_from(subjects).map_err(|subjects| {
            let reason = format!("it has {} subjects, and exactly one is expected", subjects.len());
            Refusal::by(Rule::StatementMalformed, "statement.subject", reason, "sign each component by itself")
        })?;
        let name = subject.text("name")?;
        let mut digests = subject.object("digest")?;
        let digest = digests.text("sha256")?;
        digests.end()?;
        subject.end()?;
        let mut predicate = root.object("predicate")?;
        root.end()?;
        let mut limits = predicate.object("limits")?;
        let declared = DeclaredLimits {
            call_fuel: limits.number_if_there("call_fuel")?,
            memory_bytes: limits.number_if_there("memory_bytes")?,
        };
        limits.end()?;
        let statement = Self {
            tenant: predicate.text("tenant")?,
            name,
            version: predicate.text("version")?,
            digest,
            size: predicate.number("size")?,
            world: predicate.text("world")?,
            limits: declared,
            issued_at: predicate.time("issued_at")?,
            expires_at: predicate.time("expires_at")?,
        };
        predicate.end()?;
        form::check(&statement)?;
        Ok(statement)
    }

    /// The version as numbers.
    ///
    /// # Errors
    /// `statement-malformed` if it is none, which a parsed statement's is not.
    pub fn version(&self) -> Result<Version, Refusal> {
        form::version(&self.version)
    }

    /// # Errors
    /// `lifetime-invalid`.
    pub(crate) fn require_lifetime(&self) -> Result<(), Refusal> {
        let lifetime = self.expires_at.saturating_sub(self.issued_at);
        if lifetime > 0 && lifetime <= MAX_LIFETIME_MS {
            return Ok(());
        }
        let reason = if lifetime > 0 { "it would count for more than 730 days" } else { "it ends before it begins" };
        Err(Refusal::by(
            Rule::LifetimeInvalid,
            "statement.expires_at",
            reason,
            "sign for up to 730 days (--expires 90d)",
        ))
    }
}

/// The bytes begin as a component does.
///
/// # Errors
/// `not-a-component`, with what they are instead.
pub(crate) fn require_component(bytes: &[u8]) -> Result<(), Refusal> {
    if bytes.starts_with(&COMPONENT_PREAMBLE) {
        return Ok(());
    }
    let (found, mend) = if bytes.starts_with(&MODULE_PREAMBLE) {
        ("it is a core module", "make a component of it with `tidegate build`")
    } else if bytes.starts_with(b"\x7fELF") {
        ("it is a native or precompiled image", "hand in the component that it was made from")
    } else if bytes.trim_ascii_start().starts_with(b"(") {
        ("it is WebAssembly text", "hand in the binary component that `tidegate build` writes")
    } else {
        ("it is no WebAssembly component in the binary format", "hand in the file that `tidegate build` writes")
    };
    Err(Refusal::by(Rule::NotAComponent, "component, bytes 0 to 7", found, mend))
}

fn pinned(root: &mut json::Object, key: &str, expected: &str, rule: Rule) -> Result<(), Refusal> {
    let found = root.text(key)?;
    if found == expected {
        return Ok(());
    }
    let reason = format!("it is {}, and only `{expected}` is accepted", quoted(&found));
    Err(Refusal::by(rule, root.place_of(key), reason, "make the signature with `tidegate sign`"))
}

/// The statement's document. The order of the fields here is the order on the wire.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "_type")]
    kind: &'static str,
    subject: [Subject<'a>; 1],
    #[serde(rename = "predicateType")]
    predicate_type: &'static str,
    predicate: Predicate<'a>,
}

#[derive(Serialize)]
struct Subject<'a> {
    name: &'a str,
    digest: Digests<'a>,
}

#[derive(Serialize)]
struct Digests<'a> {
    sha256: &'a str,
}

#[derive(Serialize)]
struct Predicate<'a> {
    tenant: &'a str,
    version: &'a str,
    size: u64,
    world: &'a str,
    limits: DeclaredLimits,
    issued_at: i64,
    expires_at: i64,
}

#[cfg(test)]
mod tests;
