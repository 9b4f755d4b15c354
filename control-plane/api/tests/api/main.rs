//! The API, driven in process: every route, every problem, two tenants, repeated requests, and requests at random.
//!
//! Each answer is checked against the OpenAPI document (`harness/conforms.rs`), so the document cannot say what is not so.
#![expect(clippy::unwrap_used, reason = "what is not there fails the test, beside the place")]

mod artifacts;
mod bodies;
mod document;
mod harness;
mod idempotency;
mod isolation;
mod jobs;
mod problems;
mod random;
mod records;
mod streams;
mod tables;
mod tenants;
