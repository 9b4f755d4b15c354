//! Hooks that misbehave on request: one component for all isolation tests that need no hand-made module (those are in ../wat).
//!
//! The config says what to do, in which function, and on which rows:
//!
//! ```json
//! {"evil": "loop", "in": "process", "on": "bad", "field": "mark"}
//! ```
//!
//! `evil`: an [`Evil`]; absent: none. `in`: the function that misbehaves; absent: `process`, `accumulate` and `assign`.
//! `on`: the value of `field` (text or int, as `on` is) that sets it off; absent: every call does. `field`: absent: `mark`.
//! Without the deed the hooks are honest: the mapper gives `mark` back as `echo`, the aggregator counts rows and keeps the
//! last mark, the windower assigns minutes, the processor counts the rows of each key and reports a second after the last.

mod aggregator;
mod config;
mod deed;
mod malformed;
mod mapper;
mod processor;
mod state;
mod windower;

pub use aggregator::EvilAggregator;
pub use config::{Config, Evil};
pub use mapper::EvilMapper;
pub use processor::EvilProcessor;
pub use windower::EvilWindower;

tidegate_sdk::export! {
    column_mapper: EvilMapper,
    column_aggregator: EvilAggregator,
    column_windower: EvilWindower,
    column_processor: EvilProcessor,
}
