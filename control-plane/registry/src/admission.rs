//! The seam to what looks into a component, compiles it and tries it out.

use async_trait::async_trait;
use bytes::Bytes;
use tidegate_signing::{DeclaredLimits, Refusal};
use tidegate_types::{Name, TenantId};

use crate::artifact::WarmUp;

/// What a tenant's hooks may use at most, where its signer declares less, less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantedLimits {
    /// Fuel of one call.
    pub call_fuel: u64,
    /// Bytes of all memories of all the tenant's instances together.
    pub memory_bytes: u64,
}

/// A component whose signature holds, and that keeps the rules about versions.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Whose it is.
    pub tenant: TenantId,
    /// What it is called.
    pub name: Name,
    /// Its version.
    pub version: String,
    /// Its exact bytes, the very buffer that the signature was checked over.
    pub component: Bytes,
    /// The SHA-256 of these bytes, 64 small hexadecimal digits.
    pub digest: String,
    /// What its signer declares.
    pub declared: DeclaredLimits,
    /// What it is granted.
    pub granted: GrantedLimits,
}

/// What came of a component.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// Its machine code, sealed by the host.
    pub image: Bytes,
    /// The hooks that it has: `mapper`, `aggregator`, `windower`.
    pub hooks: Vec<String>,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// What trial calls cost.
    pub warm_up: Vec<WarmUp>,
    /// What its tenant should know, and what a job's submission decides again.
    pub remarks: Vec<String>,
}

/// The component that an image must be of.
#[derive(Debug, Clone, Copy)]
pub struct ImageOf<'a> {
    /// The component's SHA-256, 64 small hexadecimal digits.
    pub digest: &'a str,
    /// Its size, bytes.
    pub size: u64,
}

/// Why a component is not admitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// It breaks a rule.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The host could not find out: nothing is said of the component.
    #[error("the component could not be looked at: {reason}")]
    Unavailable {
        /// What failed, for the operator.
        reason: String,
    },
}

/// Looks into components.
///
/// 1. Nothing that it does with a stranger's bytes MUST end or stop the process.
/// 2. The same bytes under the same limits get the same answer, but for `Unavailable` and the times measured.
#[async_trait]
pub trait Admission: Send + Sync + 'static {
    /// Scans, compiles, seals and tries out a component.
    async fn admit(&self, candidate: Candidate) -> Result<Admitted, AdmissionError>;

    /// Compiles a component that was admitted before once more, and seals its image.
    async fn recompile(&self, candidate: Candidate) -> Result<Bytes, AdmissionError>;

    /// Whether an image is one that this host sealed, of this component, and that it can still load.
    fn fits(&self, of: ImageOf<'_>, image: &[u8]) -> bool;
}
