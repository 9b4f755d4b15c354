//! Clicks joined to the impressions that they are on: the code that a tenant brings to the `campaign-attribution` job
//! (`../pipeline.yaml`).
//!
//! [`Credit`], the join hook, gets pairs of an impression and a click, and clicks without an impression.

mod credit;

pub use credit::{Attributed, Credit, Pair};

tidegate_sdk::export! {
    mapper: Credit,
}
