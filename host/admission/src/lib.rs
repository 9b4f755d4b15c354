//! From a stranger's bytes to a component that may run: compiled in a process of its own, sealed, loaded and tried out.
//!
//! [`Admitter`] is the parent's side and holds the steps together; [`work`] is the child's, which the command runs as
//! `tidegate compile-worker`. Each refusal names the rule, the place, the reason and the way out.
//!
//! Invariants: no stranger's byte is compiled in the parent; the child has limits on memory, processor time, files and system
//! calls before it reads the first byte; whatever becomes of a child, the parent has an answer within its wall-clock limit.

mod admitter;
mod answer;
mod child;
mod compiler;
mod error;
mod places;
mod refusal;
mod rule;
mod trial;

pub use admitter::{Admission, Admitter, Candidate};
pub use child::work;
pub use compiler::{CompileLimits, Compiler};
pub use error::AdmitError;
pub use rule::Rule;
pub use trial::{Cost, Micros, TrialState};
