//! The pipeline file: parse, validate, describe.
//!
//! [`parse`] turns YAML or JSON text into a [`Pipeline`] without contradictions, or says what is wrong, where (path and
//! line) and what to do. [`check_supported`] refuses by name what this release does not run yet. Pure: no I/O, no clock.

mod check;
mod checkpointing;
mod decode;
mod duration;
mod error;
mod graph;
mod guarantee;
mod ids;
mod model;
mod nearest;
mod node;
mod parsed;
mod path;
mod place;
mod reader;
mod schema;
mod sharing;
mod supported;

pub use check::{check_custom_chain, check_outputs, check_row_outputs};
pub use checkpointing::WORST_RECOVERY;
pub use error::{ErrorCode, PipelineError, Warning};
pub use graph::{HookRole, NamedHook};
pub use guarantee::{Delivery, Guarantee, Promise, guarantee};
pub use ids::{OperatorId, OperatorKind, operator_ids};
pub use model::{
    Accumulation, Aggregate, Checkpoint, CheckpointMode, ComponentRef, Condition, Dedup, Early, Form, Format, Function,
    Hook, Join, JoinKind, JoinOutput, JoinSide, Late, Matching, Operator, OperatorSpec, Pipeline, Process, Selected,
    Sink, SinkSpec, Source, Stamp, Strategy, Trigger, Upstream, WatermarkSpec, Window, WindowKind, Windowed,
};
pub use parsed::{Parsed, parse};
pub use schema::json_schema;
pub use sharing::shares_panes;
pub use supported::check_supported;
