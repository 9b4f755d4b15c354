//! What a shop tells its customers about their orders: the code that a tenant brings to the `notifications` job
//! (`../pipeline.yaml`).
//!
//! - [`order`]: the stages of an order and what each event says, in plain functions.
//! - [`Notify`], the process hook: the state of each order, its timers, and what was sent.

mod notify;
pub mod order;

pub use notify::{Notification, Notify, OrderEvent};

tidegate_sdk::export! {
    processor: Notify,
}
