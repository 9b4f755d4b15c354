//! Drives tasks: lanes that step them, the thread that reads a source, the sinks, and the run of a job over bounded input.

mod lane;
mod reader;
mod run;
mod sinks;

pub use run::{BoundedRun, RunError, run_bounded};
pub use sinks::{Observer, Outputs, RunProgress, RunReport};
