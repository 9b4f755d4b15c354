//! Signed statements about components: who says that these exact bytes are version 1.2.0 of a tenant's component, and until
//! when.
//!
//! A [`Statement`] is an in-toto Statement (v1). An [`Envelope`] is a DSSE envelope around it, signed with Ed25519. [`verify()`]
//! is the one way from bytes to a [`Verified`] statement; it works offline and refuses with the [`Rule`] that failed.
//!
//! Invariants: nothing of a payload is read before a trusted key's signature over it has been checked; the algorithm, the
//! payload type and the encoding are ours, never the envelope's. docs/security/signing.md says what each rule is for.

mod envelope;
mod json;
mod key;
mod refusal;
mod rule;
mod statement;
mod verify;
mod version;

pub use envelope::{Envelope, MAX_ENVELOPE_BYTES, PAYLOAD_TYPE, sign};
pub use key::{KeyError, KeyId, PublicKey, SecretKey};
pub use refusal::Refusal;
pub use rule::Rule;
pub use statement::{Claim, DeclaredLimits, MAX_LIFETIME_MS, PREDICATE_TYPE, Statement, WORLD, digest};
pub use verify::{
    AnyTenant, CLOCK_SKEW_MS, Expectation, TrustedKey, Verified, require_newer, verify, verify_any_tenant,
};
pub use version::{Version, VersionError};
