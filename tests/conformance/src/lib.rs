//! The reference interpreter of docs/semantics.md and the random tests of `tidegate run` against it.
//!
//! `generate` draws a scenario from a seed, `reference` says what it means, `run` has the real command say the same,
//! `compare` looks for the first difference and `minimise` makes it small. Nothing here uses code of the engine.

pub mod check;
pub mod compare;
mod exact;
pub mod generate;
pub mod json;
pub mod minimise;
pub mod reference;
pub mod run;
pub mod scenario;
pub mod time;
