//! JSON records to columns and back.
//!
//! An own scanner, in safe Rust: each library that was measured (docs/benchmarks.md, "Decoders") is slower, or takes
//! records that it should refuse, or both. Invariant: a record's verdict depends on its bytes, never on the fields read.

pub mod canonical;
pub mod decode;
pub mod field;
mod fill;
mod label;
pub mod pane;
mod plan;
pub mod result;
pub mod row;
mod scan;
mod shape;
pub mod side;
pub mod stamp;
mod string;
pub mod write;

#[cfg(test)]
mod arbitrary;
