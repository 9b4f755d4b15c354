//! Sources and sinks: where records come from and where results and refused records go.
//!
//! The traits say what the engine relies on; `files` holds the ones of `tidegate run`, `log` those of deployed jobs.

mod batch;
pub mod files;
pub mod log;
pub mod sink;
pub mod source;
pub mod stop;

<<<<<<< HEAD
pub use files::{
    FileResultSink, FileSideSink, FileSourceConfig, Input, OpenOutput, Output, open_files, refuse_overlaps,
};
pub use log::{Lag, LogResultSink, LogSideSink, LogSource, NoRoom, ReadPositions, Room, Start};
pub use sink::{ResultSink, SideSink, SinkError};
=======
pub use files::{FilePaneSink, FileSideSink, FileSourceConfig, Input, OpenOutput, Output, open_files, refuse_overlaps};
pub use log::{Lag, LogPaneSink, LogSideSink, LogSource, ReadPositions, Start};
pub use sink::{PaneSink, SideSink, SinkError};
>>>>>>> origin/main
pub use source::{ErrorKind, Source, SourceBatch, SourceError};
pub use stop::StopFlag;
