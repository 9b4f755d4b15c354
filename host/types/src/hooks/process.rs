//! The border to a tenant's processor: rows by key in, rows out, with state and timers that the host keeps.
//!
//! A call is given the numbers of its keys, 0, 1, 2 …, and reads and writes state by these numbers through a
//! [`StateAccess`]. Invariant: a call changes nothing but what its `StateAccess` holds, so that a caller that discards what
//! was written there has rolled back. Whoever makes the call checks every argument of the guest against the plan before a
//! `StateAccess` sees it.

use std::any::Any;

use super::{Call, Hook, HookResult, HookRows, Mapped, Reads};
use crate::column::Column;
use crate::schema::{Field, Kind};
use crate::time::{EventTime, Millis};

/// What a `processor` component said when it was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessPlan {
    /// What it reads of each row.
    pub reads: Reads,
    /// Whether calls show it the fields of their keys.
    pub keys: bool,
    /// Whether calls show it the watermark at each row.
    pub watermarks: bool,
    /// The state of each key. A state's number is its place here.
    pub states: Vec<StateSpec>,
    /// The timers of each key. A timer's number is its place here.
    pub timers: Vec<TimerSpec>,
    /// The fields that it puts out.
    pub output: Vec<Field>,
}

/// One state that every key has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateSpec {
    /// Its name, unique among the plan's states.
    pub name: String,
    /// What a key holds under it.
    pub shape: StateShape,
    /// The fields of its rows, each of one kind.
    pub fields: Vec<Field>,
    /// How long after a key's last row it is kept, in event time; more than nothing.
    pub ttl: Option<Millis>,
}

/// What a key holds under one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateShape {
    /// One row, or none.
    Value,
    /// Any number of rows, in the order in which they were appended.
    List,
    /// One row for each map key, a value of this kind that is not null. In the order of map keys, as `types::value` orders
    /// values.
    Map(Kind),
}

impl StateShape {
    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::List => "list",
            Self::Map(_) => "map",
        }
    }
}

/// One timer that every key has: at most one time is pending under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimerSpec {
    /// Its name, unique among the plan's timers.
    pub name: String,
    /// What it follows.
    pub clock: TimerClock,
}

/// What a timer follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerClock {
    /// The watermark: it is due when `W >= time`.
    Event,
    /// The job's clock: it is due when `now >= time`.
    Processing,
}

/// Timers that are due, at most one of each key. All lists have the same length.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DueTimers {
    /// The number of each timer in [`ProcessPlan::timers`].
    pub timers: Vec<u32>,
    /// The number of its key in this call.
    pub groups: Vec<u32>,
    /// The time that it was set to.
    pub times: Vec<EventTime>,
}

/// What a guest did wrong with its state. It fails the call as a [`super::GuestFailure`] of the code `malformed-result`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateMisuse {
    /// There is no call that state belongs to.
    #[error("state and timers are there during `process` and `on-timer` only")]
    NoCall,
    /// The plan declares no such state.
    #[error("there is no state {state}, the plan declares {count}")]
    NoSuchState {
        /// The number that was named.
        state: u32,
        /// How many the plan declares.
        count: usize,
    },
    /// The plan declares no such timer.
    #[error("there is no timer {timer}, the plan declares {count}")]
    NoSuchTimer {
        /// The number that was named.
        timer: u32,
        /// How many the plan declares.
        count: usize,
    },
    /// The state is of another shape than the function is for.
    #[error("state `{state}` is a {shape}, and this is for a {due}")]
    WrongShape {
        /// The state's name.
        state: String,
        /// Its shape.
        shape: &'static str,
        /// The shape that the function is for.
        due: &'static str,
    },
    /// The call has no such key.
    #[error("there is no key {key}, the call has {count}")]
    NoSuchKey {
        /// The number that was named.
        key: u32,
        /// How many keys the call has.
        count: usize,
    },
    /// Lists of different lengths, or columns that the plan does not declare.
    #[error("`{state}`: {detail}")]
    WrongRows {
        /// The state's or the timer's name.
        state: String,
        /// What is wrong.
        detail: String,
    },
    /// The call wrote more than one call may.
    #[error("the call wrote more than {limit} bytes of state; write fewer, or smaller rows")]
    TooMuchWritten {
        /// The most bytes of one call.
        limit: usize,
    },
    /// The answer would be larger than the guest may be given.
    #[error("what was asked for takes more than {limit} bytes; ask for fewer keys, or keep less under a key")]
    AnswerTooLarge {
        /// The most bytes of an answer.
        limit: usize,
    },
    /// A key would hold more than a key may.
    #[error("a key would hold more than {limit} bytes under state `{state}`; remove what is no longer needed")]
    KeyTooLarge {
        /// The state's name.
        state: String,
        /// The most bytes of a key.
        limit: usize,
    },
}

/// Why a function of a [`StateAccess`] gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The guest's own doing: the same on every run.
    #[error(transparent)]
    Misuse(#[from] StateMisuse),
    /// The host failed: never a verdict.
    #[error("the host could not reach the state: {detail}")]
    Platform {
        /// What failed.
        detail: String,
    },
}

/// The answer of a [`StateAccess`].
pub type StateResult<T> = Result<T, StateError>;

/// One row for each key that was asked for, in the order of the question.
#[derive(Debug, Clone, Default)]
pub struct StateRows {
    /// Whether there is a row.
    pub present: Vec<bool>,
    /// One per field of the state, each with as many rows as keys were asked for; null where there is none.
    pub columns: Vec<Column>,
}

/// The rows of lists, one list after the other, in the order of the question.
#[derive(Debug, Clone, Default)]
pub struct StateLists {
    /// The list of key `i` of the question is the rows `offsets[i]..offsets[i + 1]`; begins with 0.
    pub offsets: Vec<u32>,
    /// One per field of the state.
    pub columns: Vec<Column>,
}

/// The rows of maps, one map after the other, in the order of the question, each ascending by map key.
#[derive(Debug, Clone)]
pub struct StateMaps {
    /// The map of key `i` of the question is the rows `offsets[i]..offsets[i + 1]`; begins with 0.
    pub offsets: Vec<u32>,
    /// The map key of each row.
    pub map_keys: Column,
    /// One per field of the state.
    pub columns: Vec<Column>,
}

/// The state and the timers of the keys of one call, as the guest sees them while the call runs.
///
/// Every argument was checked: `state` and `timer` are places in the plan, the state is of the shape that the function is
/// for, each number in `keys` is below [`StateAccess::keys`], lists and columns have one entry for each entry of `keys`,
/// columns are of the kinds of the state's fields (an all-null one may be [`Column::Null`]), map keys are of their kind and
/// never null. A key may come several times in one list: then it is as if the function were called for each entry, one after
/// the other. What is written is read by what follows in the same call.
///
/// `limit`: the most bytes that an answer's columns may take (fixed-size values by their size, texts and bytes by their
/// lengths, and 8 for each row besides). A larger one MUST NOT be built: the answer is [`StateMisuse::AnswerTooLarge`].
///
/// It is `Any`, so that who lent a box of it can take it back as what it is.
pub trait StateAccess: Any + Send {
    /// How many keys the call has.
    fn keys(&self) -> usize;

    /// The rows of values.
    ///
    /// # Errors
    /// See [`StateError`].
    fn get(&mut self, state: u32, keys: &[u32], limit: usize) -> StateResult<StateRows>;
    /// Sets values.
    ///
    /// # Errors
    /// See [`StateError`].
    fn put(&mut self, state: u32, keys: &[u32], columns: &[Column]) -> StateResult<()>;
    /// Removes all that the keys hold under a state of any shape.
    ///
    /// # Errors
    /// See [`StateError`].
    fn clear(&mut self, state: u32, keys: &[u32]) -> StateResult<()>;

    /// Adds rows at the ends of lists.
    ///
    /// # Errors
    /// See [`StateError`].
    fn append(&mut self, state: u32, keys: &[u32], columns: &[Column]) -> StateResult<()>;
    /// The rows of lists.
    ///
    /// # Errors
    /// See [`StateError`].
    fn lists(&mut self, state: u32, keys: &[u32], limit: usize) -> StateResult<StateLists>;

    /// The rows under map keys: that of entry `i` is under `map_keys[i]` of the key `keys[i]`.
    ///
    /// # Errors
    /// See [`StateError`].
    fn map_get(&mut self, state: u32, keys: &[u32], map_keys: &Column, limit: usize) -> StateResult<StateRows>;
    /// Sets the rows under map keys.
    ///
    /// # Errors
    /// See [`StateError`].
    fn map_put(&mut self, state: u32, keys: &[u32], map_keys: &Column, columns: &[Column]) -> StateResult<()>;
    /// Removes the rows under map keys.
    ///
    /// # Errors
    /// See [`StateError`].
    fn map_remove(&mut self, state: u32, keys: &[u32], map_keys: &Column) -> StateResult<()>;
    /// All rows of maps.
    ///
    /// # Errors
    /// See [`StateError`].
    fn map_entries(&mut self, state: u32, keys: &[u32], limit: usize) -> StateResult<StateMaps>;

    /// Sets timers; each replaces the time that was pending under it.
    ///
    /// # Errors
    /// See [`StateError`].
    fn set_timer(&mut self, timer: u32, keys: &[u32], times: &[EventTime]) -> StateResult<()>;
    /// Takes back what is pending.
    ///
    /// # Errors
    /// See [`StateError`].
    fn clear_timer(&mut self, timer: u32, keys: &[u32]) -> StateResult<()>;
}

/// A tenant's own operator over the rows of one key at a time.
///
/// `state` is lent to the sandbox for the call: a placeholder stands in its place meanwhile, and it is back when the
/// function returns, after a failure too. After a failure it still holds what the guest wrote before it failed: the caller
/// discards that.
pub trait ProcessHook: Hook {
    /// What it said when it was opened.
    fn plan(&self) -> &ProcessPlan;
    /// Works on rows in order of arrival, at least one.
    ///
    /// `keys`: one column per key field with a row for each key (those of [`StateAccess::keys`]); not looked at unless the plan
    /// asks for keys. `groups`: the key's number of each row. `watermarks`: that at each row, as an integer
    /// ([`crate::Watermark::as_millis`]); empty unless the plan asks for them.
    ///
    /// # Errors
    /// See [`super::HookError`].
    fn process(
        &mut self,
        call: Call,
        state: &mut Box<dyn StateAccess>,
        keys: &[Column],
        groups: &[u32],
        watermarks: &[EventTime],
        input: &HookRows,
    ) -> HookResult<Mapped>;
    /// Works on timers that are due, at least one. The answer's sources are places in `due`, nothing is rejected, and each row
    /// made for a processing timer has a time of its own.
    ///
    /// # Errors
    /// See [`super::HookError`].
    fn on_timer(
        &mut self,
        call: Call,
        state: &mut Box<dyn StateAccess>,
        keys: &[Column],
        due: &DueTimers,
    ) -> HookResult<Mapped>;
}

/// The state of no call: what stands in place of one that is lent out. Every function is a misuse.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoState;

impl NoState {
    fn refuse<T>() -> StateResult<T> {
        Err(StateMisuse::NoCall.into())
    }
}

impl StateAccess for NoState {
    fn keys(&self) -> usize {
        0
    }

    fn get(&mut self, _state: u32, _keys: &[u32], _limit: usize) -> StateResult<StateRows> {
        Self::refuse()
    }

    fn put(&mut self, _state: u32, _keys: &[u32], _columns: &[Column]) -> StateResult<()> {
        Self::refuse()
    }

    fn clear(&mut self, _state: u32, _keys: &[u32]) -> StateResult<()> {
        Self::refuse()
    }

    fn append(&mut self, _state: u32, _keys: &[u32], _columns: &[Column]) -> StateResult<()> {
        Self::refuse()
    }

    fn lists(&mut self, _state: u32, _keys: &[u32], _limit: usize) -> StateResult<StateLists> {
        Self::refuse()
    }

    fn map_get(&mut self, _state: u32, _keys: &[u32], _map_keys: &Column, _limit: usize) -> StateResult<StateRows> {
        Self::refuse()
    }

    fn map_put(&mut self, _state: u32, _keys: &[u32], _map_keys: &Column, _columns: &[Column]) -> StateResult<()> {
        Self::refuse()
    }

    fn map_remove(&mut self, _state: u32, _keys: &[u32], _map_keys: &Column) -> StateResult<()> {
        Self::refuse()
    }

    fn map_entries(&mut self, _state: u32, _keys: &[u32], _limit: usize) -> StateResult<StateMaps> {
        Self::refuse()
    }

    fn set_timer(&mut self, _timer: u32, _keys: &[u32], _times: &[EventTime]) -> StateResult<()> {
        Self::refuse()
    }

    fn clear_timer(&mut self, _timer: u32, _keys: &[u32]) -> StateResult<()> {
        Self::refuse()
    }
}
