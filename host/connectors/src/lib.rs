//! Sources and sinks: where records come from and where results and refused records go.
//!
//! The traits say what the engine relies on; `files` holds the ones of `tidegate run`, `log` those of deployed jobs.

mod batch;
pub mod files;
pub mod log;
pub mod position;
pub mod sink;
pub mod source;
pub mod stop;

pub use files::{
    FileResultSink, FileSideSink, FileSourceConfig, Input, OpenOutput, Output, open_files, refuse_overlaps,
};
pub use log::{Lag, LogResultSink, LogSideSink, LogSource, ReadPositions, SideByOperator, Start, Transactional};
pub use position::{PartitionPosition, SourcePosition, StreamPosition};
pub use sink::{Prepared, ResultSink, SideSink, SinkError};
pub use source::{ErrorKind, Source, SourceBatch, SourceError};
pub use stop::StopFlag;
