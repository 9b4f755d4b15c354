//! Impressions, clicks and spend of ad campaigns by the minute: the code that a tenant brings to the `campaign-metrics` job
//! (`../pipeline.yaml`).
//!
//! [`Classify`], the map hook, checks each ad event and turns its kind into the columns that the pipeline counts.

mod classify;

pub use classify::{AdEvent, Classified, Classify};

tidegate_sdk::export! {
    mapper: Classify,
}
