//! The host's side of admission in tests: components compiled by real children of the command under test.

use std::sync::Arc;

use tidegate_admission::{Admission, AdmitError, Admitter, Candidate, CompileLimits, Compiler};
use tidegate_sandbox::{ComponentDigest, ImageKey, Sandbox};
use tidegate_signing::Refusal;

use crate::host::sandbox;

/// Fuel of a call and bytes of memory that most tests grant.
pub const FUEL: u64 = 80_000_000;
/// See [`FUEL`].
pub const MEMORY: u64 = 512 << 20;

/// Admission with the usual limits.
#[must_use]
pub fn admitter() -> Admitter {
    admitter_to(&sandbox(), CompileLimits::default())
}

/// Admission to a sandbox.
#[must_use]
pub fn admitter_to(sandbox: &Sandbox, limits: CompileLimits) -> Admitter {
    let compiler = Compiler::new(tidegate_e2e::binary(), limits);
    // What calls take by the clock is measured elsewhere.
    Admitter::new(sandbox.clone(), key(), compiler, Arc::new(|| 0))
}

/// The key of these tests' seals.
#[must_use]
pub fn key() -> ImageKey {
    ImageKey::new([0x5e; 32])
}

/// A component of a tenant with these limits.
#[must_use]
pub fn candidate(component: &[u8], call_fuel: u64, memory_bytes: u64) -> Candidate<'_> {
    let digest = ComponentDigest::of(component);
    Candidate { owner: "acme", name: "guest@1.0.0", component, digest, call_fuel, memory_bytes }
}

/// Admits a component.
///
/// # Errors
/// As [`Admitter::admit`].
pub fn admit(component: &[u8]) -> Result<Admission, AdmitError> {
    admitter().admit(&candidate(component, FUEL, MEMORY))
}

/// The refusal that was due.
///
/// # Panics
/// If it is none.
pub fn refusal<T: std::fmt::Debug>(answer: Result<T, AdmitError>) -> Refusal {
    match answer {
        Err(AdmitError::Refused(refusal)) => refusal,
        other => panic!("a refusal was due, not {other:?}"),
    }
}
