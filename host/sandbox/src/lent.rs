//! A processor's state while a call has it: the checks that its imports share, and how much the call may still move.
//!
//! It is in the instance's store from just before the guest is called until just after. Invariants: a [`StateAccess`] is
//! called only with arguments that fit the plan and the call's keys; what a call may read in one answer and write in all is
//! bounded; the guest pays for it in fuel, the same on every run.

use std::sync::Arc;

use tidegate_types::hooks::{
    NoState, ProcessPlan, StateAccess, StateError, StateMisuse, StateResult, StateShape, StateSpec,
};
use wasmtime::{Result, StoreContextMut};

use crate::bindings::tidegate::job::types::{ColumnResult, ValuesResult};
use crate::config::{STATE_CALL_FUEL, STATE_ENTRY_BYTES, STATE_ENTRY_FUEL};
use crate::engine::Shared;
use crate::instance::HostState;
use crate::price::charge;

/// The store, as an import sees it.
pub(crate) type Context<'a> = StoreContextMut<'a, HostState>;

/// See the module.
pub(crate) struct Lent {
    pub(crate) access: Box<dyn StateAccess>,
    pub(crate) plan: Arc<ProcessPlan>,
    shared: Arc<Shared>,
    /// Bytes that the call was given: its arguments, and what it read since.
    given: usize,
    /// Bytes that it wrote.
    written: usize,
}

/// What a function of the state did wrong, or could not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{function}`: {error}")]
pub(crate) struct StateFailure {
    /// `keyed-state.put`.
    pub(crate) function: &'static str,
    pub(crate) error: StateError,
}

/// What an import moves across the border.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Load {
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

impl Load {
    fn fuel(self) -> u64 {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        count(self.entries).saturating_mul(STATE_ENTRY_FUEL).saturating_add(count(self.bytes))
    }
}

impl Lent {
    /// Nobody's state yet, for the calls of one hook.
    pub(crate) fn new(plan: &Arc<ProcessPlan>, shared: &Arc<Shared>) -> Self {
        Self { access: Box::new(NoState), plan: Arc::clone(plan), shared: Arc::clone(shared), given: 0, written: 0 }
    }

    /// Swaps the state in before a call (with the bytes of its arguments), or out after it.
    pub(crate) fn swap(&mut self, access: &mut Box<dyn StateAccess>, given: usize) {
        std::mem::swap(&mut self.access, access);
        (self.given, self.written) = (given, 0);
    }

    /// The most bytes of one answer.
    pub(crate) fn read_limit(&self) -> usize {
        self.shared.config.state_read_bytes
    }

    /// Counts what a call writes.
    pub(crate) fn count_written(&mut self, load: Load) -> StateResult<()> {
        let limit = self.shared.config.state_write_bytes;
        let more = load.entries.saturating_mul(STATE_ENTRY_BYTES).saturating_add(load.bytes);
        self.written = self.written.saturating_add(more);
        if self.written > limit { Err(StateMisuse::TooMuchWritten { limit }.into()) } else { Ok(()) }
    }

    /// Refuses numbers that are no keys of the call.
    pub(crate) fn check_keys(&self, keys: &[u32]) -> StateResult<()> {
        let count = self.access.keys();
        match keys.iter().find(|key| usize::try_from(**key).map_or(true, |key| key >= count)) {
            Some(key) => Err(StateMisuse::NoSuchKey { key: *key, count }.into()),
            None => Ok(()),
        }
    }
}

/// The state of this number, if it has the shape that a function is for (`value`, `list` or `map`; none: any).
pub(crate) fn state_of<'a>(plan: &'a ProcessPlan, state: u32, due: Option<&'static str>) -> StateResult<&'a StateSpec> {
    let spec = usize::try_from(state).ok().and_then(|place| plan.states.get(place));
    let spec = spec.ok_or(StateMisuse::NoSuchState { state, count: plan.states.len() })?;
    match due {
        Some(due) if spec.shape.name() != due => {
            Err(StateMisuse::WrongShape { state: spec.name.clone(), shape: spec.shape.name(), due }.into())
        }
        _ => Ok(spec),
    }
}

/// The kind of a map's keys.
pub(crate) fn map_kind(spec: &StateSpec) -> tidegate_types::Kind {
    match spec.shape {
        StateShape::Map(kind) => kind,
        StateShape::Value | StateShape::List => unreachable!("the shape was checked"),
    }
}

/// Rows that do not fit.
pub(crate) fn wrong_rows(name: &str, detail: String) -> StateError {
    StateMisuse::WrongRows { state: name.to_owned(), detail }.into()
}

/// An answer of the host's that does not fit.
pub(crate) fn wrong_answer(detail: impl std::fmt::Display) -> StateError {
    StateError::Platform { detail: format!("its answer does not fit: {detail}") }
}

/// Bytes of columns as they were lifted.
pub(crate) fn measure(columns: &[ColumnResult]) -> usize {
    let size = |column: &ColumnResult| {
        let values = match &column.values {
            ValuesResult::Bools(values) => values.len(),
            ValuesResult::Ints(values) => size_of_val(&values[..]),
            ValuesResult::Floats(values) => size_of_val(&values[..]),
            ValuesResult::Texts(texts) | ValuesResult::Bytes(texts) => {
                size_of_val(&texts.offsets[..]) + texts.data.len()
            }
        };
        values + column.present.as_ref().map_or(0, Vec::len)
    };
    columns.iter().map(size).sum()
}

/// Does the work of `function` on the lent state. `load`: what the guest gave. The work also says what it answers.
pub(crate) fn with_lent<T>(
    store: &mut Context<'_>,
    function: &'static str,
    load: Load,
    work: impl FnOnce(&mut Lent) -> StateResult<(T, Load)>,
) -> Result<T> {
    charge(store, STATE_CALL_FUEL.saturating_add(load.fuel()))?;
    let failed = |error: StateError| wasmtime::Error::from(StateFailure { function, error });
    let lent = store.data_mut().lent.as_mut().ok_or_else(|| failed(StateMisuse::NoCall.into()))?;
    let (answer, answered) = work(lent).map_err(failed)?;
    lent.given = lent.given.saturating_add(answered.bytes);
    // What a call was given decides how large its own answer may be.
    let answer_bytes = lent.shared.config.answer_bytes(lent.given);
    charge(store, answered.fuel())?;
    store.set_hostcall_fuel(answer_bytes);
    Ok(answer)
}
