//! Departure delays by airport and hour: the code that a tenant brings to the `flight-delays` job (`../pipeline.yaml`).
//!
//! - [`Derive`], the map hook: checks each flight and derives what the windows need (route, hour of day, delayed, cancelled).
//! - [`DelaySketch`], the aggregate hook: a histogram of delays per airport and hour, shown as mean and percentiles.

mod derive;
mod sketch;

pub use derive::{Derive, Derived, Flight};
pub use sketch::{DelaySketch, Delays, Departure, Sketch};

tidegate_sdk::export! {
    mapper: Derive,
    aggregator: DelaySketch,
}
