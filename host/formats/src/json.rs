//! JSON records to columns and back.
//!
//! An own scanner, in safe Rust: none of the libraries measured (docs/benchmarks.md, "Decoders") tells `-0` from `-0.0`,
//! keeps the last of equal keys and checks what it skips, all in one pass and straight into columns.

pub mod canonical;
pub mod decode;
pub mod field;
mod fill;
pub mod pane;
mod plan;
mod scan;
mod shape;
pub mod side;
mod string;
pub mod write;

#[cfg(test)]
mod arbitrary;
