//! What a fraud model wants to know about each payment of a customer: the code that a tenant brings to the `fraud-features`
//! job (`../pipeline.yaml`).
//!
//! - [`Watch`], the process hook: what it keeps of each customer, and when it speaks.
//! - [`features`]: what follows from a payment and the ones before it, in plain functions.

pub mod features;
mod watch;

pub use watch::{Money, Told, Watch};

tidegate_sdk::export! {
    processor: Watch,
}
