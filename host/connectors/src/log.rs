//! Streams of the log as sources and sinks of deployed jobs.

mod by_operator;
mod positions;
mod resume;
mod side;
mod sink;
mod source;
mod surplus;
mod transactional;
mod writer;

pub use by_operator::SideByOperator;
pub use positions::{Lag, ReadPositions};
pub use side::LogSideSink;
pub use sink::LogResultSink;
pub use source::{LogSource, Start};
pub use transactional::Transactional;

#[cfg(test)]
mod tests;
