//! Artifacts: signed components that were admitted, each version once and for ever.
//!
//! [`Registry`] takes a component and its envelope, checks the signature and the rules about versions itself, and has the rest
//! of admission done by the [`Admission`] that it is given, since it knows nothing of WebAssembly. What was admitted is a
//! document in the metadata store, and two files in the object store: the component, and the sealed image of its machine code.
//!
//! Invariants: a version's bytes never change; a version is higher than all before it; what is read from the object store is
//! used only after its digest (the component) or its seal (the image) was checked; nothing of one tenant's is at a path that
//! another one's name leads to.

mod admission;
mod artifact;
mod blobs;
mod decide;
mod error;
mod index;
mod registry;

pub use admission::{Admission, AdmissionError, Admitted, Candidate, GrantedLimits, ImageOf};
pub use artifact::{Artifact, Revocation, WarmUp};
pub use error::RegistryError;
pub use registry::{Fetched, Registry};
pub use tidegate_signing::Refusal;
