//! The borders to tenants' code, as traits: what the engine asks of a hook, and what a call may answer.
//!
//! The sandbox implements them over WebAssembly components. Contract, for every hook:
//! 1. One call works on a whole batch, column by column, and has a fuel budget that does not depend on its rows.
//! 2. A call writes nothing but its answer: a caller that discards the answer has rolled back.
//! 3. What a hook keeps between calls is a cache. The host may drop, duplicate or replace its instance at any time.
//! 4. An answer is checked before it is returned: counts, offsets, presence, UTF-8, ascending sources, kinds. A malformed
//!    one is a [`GuestFailure`] of the code `malformed-result`.
//! 5. After any failure the instance is gone, and the next call has a fresh one.

use std::sync::Arc;

use crate::column::Column;
use crate::schema::Field;
use crate::time::{EventTime, Watermark};

mod process;
pub use process::{
    DueTimers, NoState, ProcessHook, ProcessPlan, StateAccess, StateError, StateLists, StateMaps, StateMisuse,
    StateResult, StateRows, StateShape, StateSpec, TimerClock, TimerSpec,
};

/// How one call is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Whether the call needs an instance that has not been called before.
    pub fresh_instance: bool,
    /// How many times the hook's fuel budget the call may use: 1, or 2 for a call that may condemn a record.
    pub budgets: u32,
}

impl Call {
    /// The usual call.
    pub const USUAL: Self = Self { fresh_instance: false, budgets: 1 };
    /// A call on one half of a batch whose call failed.
    pub const HALF: Self = Self { fresh_instance: true, budgets: 1 };
    /// The only call that condemns a record.
    pub const VERDICT: Self = Self { fresh_instance: true, budgets: 2 };
}

/// Which component a hook runs, as dead letters name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentId {
    /// `name` or `name@version`, as the pipeline names it.
    pub name: String,
    /// `sha256:…` of the component's exact bytes.
    pub digest: String,
}

/// The guest's own doing: deterministic, so that a replay condemns the same records.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct GuestFailure {
    /// `trap`, `out-of-fuel`, `fault` or `malformed-result`.
    pub code: &'static str,
    /// What happened, in words for the tenant.
    pub detail: String,
    /// Fuel that the call used.
    pub fuel_used: u64,
}

/// Why a call gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// The guest failed. Only this may condemn a record.
    #[error(transparent)]
    Guest(#[from] GuestFailure),
    /// The wall-clock backstop stopped the call: try again; it says nothing about the records.
    #[error("the call was stopped after {millis} ms of wall-clock time")]
    Interrupted {
        /// The backstop, ms.
        millis: u64,
    },
    /// The host failed the call (for instance, the tenant's memory total is used up): never a verdict.
    #[error("the host could not make the call: {detail}")]
    Platform {
        /// What failed.
        detail: String,
    },
}

/// An answer, and what it cost.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    /// The answer.
    pub value: T,
    /// Fuel that the call used.
    pub fuel_used: u64,
}

/// The result of a call.
pub type HookResult<T> = Result<Answer<T>, HookError>;

/// The columns and times that a hook reads, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reads {
    /// Fields of one kind each.
    pub columns: Vec<Field>,
    /// Whether it reads the event times.
    pub times: bool,
}

/// Rows given to a hook: exactly what it reads.
#[derive(Debug, Clone)]
pub struct HookRows {
    /// The number of rows.
    pub len: usize,
    /// Empty unless the hook reads times.
    pub times: Vec<EventTime>,
    /// One per field of [`Reads::columns`], each of that field's kind (an all-null one may be [`Column::Null`]).
    pub columns: Vec<Column>,
}

/// A row that the guest refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The row of the call's input.
    pub row: u32,
    /// The guest's code.
    pub code: String,
    /// The guest's words.
    pub message: String,
}

/// What every hook has.
pub trait Hook: Send {
    /// The component.
    fn component(&self) -> &Arc<ComponentId>;
    /// The fuel budget of one call (times [`Call::budgets`]).
    fn fuel_budget(&self) -> u64;
}

/// What a `mapper` component said when it was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MapPlan {
    /// What it reads.
    pub reads: Reads,
    /// Input fields that ride along unchanged.
    pub keep: Vec<String>,
    /// The fields that it puts out.
    pub output: Vec<Field>,
}

/// Rows that a mapper made.
#[derive(Debug, Clone)]
pub struct Mapped {
    /// One per output field.
    pub columns: Vec<Column>,
    /// The number of rows.
    pub len: usize,
    /// None: each row keeps its source row's time.
    pub times: Option<Vec<EventTime>>,
    /// The input row of each row, ascending; none: row `i` came from input row `i` (then `len` is the input's).
    pub sources: Option<Vec<u32>>,
    /// Input rows refused; they appear in no source. Ascending, each row at most once.
    pub rejected: Vec<Rejection>,
}

/// A stateless hook: rows in, rows out.
pub trait MapHook: Hook {
    /// What it said when it was opened.
    fn plan(&self) -> &MapPlan;
    /// One batch.
    ///
    /// # Errors
    /// See [`HookError`].
    fn process(&mut self, call: Call, input: &HookRows) -> HookResult<Mapped>;
}

/// What an `aggregator` component said when it was opened.
#[derive(Debug, Clone)]
pub struct AggregatePlan {
    /// What it reads.
    pub reads: Reads,
    /// Whether calls show it each accumulator's key.
    pub keys: bool,
    /// Whether calls show it each accumulator's window.
    pub windows: bool,
    /// The accumulator's fields.
    pub accumulator: Vec<Field>,
    /// A fresh accumulator: columns of one row.
    pub initial: Vec<Column>,
    /// The fields of a pane's value.
    pub output: Vec<Field>,
}

/// The key and window of each accumulator row; empty where the plan does not ask for it.
#[derive(Debug, Clone, Default)]
pub struct Cells {
    /// One column per key field.
    pub keys: Vec<Column>,
    /// Window starts, ms.
    pub starts: Vec<EventTime>,
    /// Window ends, ms.
    pub ends: Vec<EventTime>,
}

/// The answer of `accumulate`.
#[derive(Debug, Clone)]
pub struct Accumulated {
    /// All accumulators, in the order given.
    pub accumulators: Vec<Column>,
    /// If not empty, the accumulators are to be discarded and the call made again without these rows.
    pub rejected: Vec<Rejection>,
}

/// A keyed aggregate whose accumulators the host keeps.
pub trait AggregateHook: Hook {
    /// What it said when it was opened.
    fn plan(&self) -> &AggregatePlan;
    /// Adds row `i` of `input` to accumulator `groups[i]`.
    ///
    /// # Errors
    /// See [`HookError`].
    fn accumulate(
        &mut self,
        call: Call,
        cells: &Cells,
        accumulators: &[Column],
        groups: &[u32],
        input: &HookRows,
    ) -> HookResult<Accumulated>;
    /// Combines accumulators row by row; `left` belongs to the earlier window.
    ///
    /// # Errors
    /// See [`HookError`].
    fn merge(&mut self, call: Call, left: &[Column], right: &[Column]) -> HookResult<Vec<Column>>;
    /// The values of panes, row by row.
    ///
    /// # Errors
    /// See [`HookError`].
    fn finish(&mut self, call: Call, cells: &Cells, accumulators: &[Column]) -> HookResult<Vec<Column>>;
}

/// What a `windower` component said when it was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WindowPlan {
    /// What it reads.
    pub reads: Reads,
    /// Whether it decides when windows fire.
    pub decides: bool,
    /// Whether it makes a firing's records.
    pub emits: bool,
    /// The fields of the records that it emits.
    pub output: Vec<Field>,
}

/// The windows of each row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assignments {
    /// Row `i` is in the windows `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<u32>,
    /// Window starts, ms.
    pub starts: Vec<EventTime>,
    /// Window ends, ms; each after its start.
    pub ends: Vec<EventTime>,
}

/// What a tenant decides about a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Wait,
    /// A pane.
    Fire,
    /// A pane, and the window is gone.
    FireAndPurge,
    /// The window is gone.
    Purge,
}

/// Windows that a tenant decides about.
#[derive(Debug, Clone)]
pub struct DecisionRequest {
    /// One column per key field.
    pub keys: Vec<Column>,
    /// Window starts, ms.
    pub starts: Vec<EventTime>,
    /// Window ends, ms.
    pub ends: Vec<EventTime>,
    /// Rows added to each window; 0 when the watermark passed its end.
    pub counts: Vec<u32>,
    /// The operator's watermark.
    pub watermark: Watermark,
}

/// Rows that a windower emits for panes.
#[derive(Debug, Clone)]
pub struct Emitted {
    /// One per output field.
    pub columns: Vec<Column>,
    /// The pane of each row, ascending.
    pub sources: Vec<u32>,
}

/// A tenant's own windows.
pub trait WindowHook: Hook {
    /// What it said when it was opened.
    fn plan(&self) -> &WindowPlan;
    /// Which windows each row is in.
    ///
    /// # Errors
    /// See [`HookError`].
    fn assign(&mut self, call: Call, input: &HookRows) -> HookResult<Assignments>;
    /// When windows fire.
    ///
    /// # Errors
    /// See [`HookError`].
    fn decide(&mut self, call: Call, request: &DecisionRequest) -> HookResult<Vec<Decision>>;
    /// What a firing emits.
    ///
    /// # Errors
    /// See [`HookError`].
    fn emit(&mut self, call: Call, panes: &crate::pane::PaneBatch) -> HookResult<Emitted>;
}
