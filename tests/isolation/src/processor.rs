//! The guest `evil` as a processor, and the state that its calls are lent.

use arrow_array::StringArray;
use tidegate_admission::TrialState;
use tidegate_sandbox::{Component, OpenError, Sandbox};
use tidegate_types::hooks::{
    Call, DueTimers, HookResult, HookRows, Mapped, ProcessHook, ProcessPlan, StateAccess, StateShape, StateSpec,
};
use tidegate_types::{Column, Field, Kind};

use crate::host::{load, options};

/// The guest's states: a count, a list of marks, a map of counts by mark.
pub const ROWS: u32 = 0;
/// See [`ROWS`].
pub const MARKS: u32 = 1;
/// See [`ROWS`].
pub const BY_MARK: u32 = 2;

/// More than any answer in these tests.
pub const ENOUGH: usize = 1 << 30;

/// The component.
///
/// # Panics
/// If it was not built.
#[must_use]
pub fn evil(sandbox: &Sandbox) -> Component {
    load(sandbox, &std::fs::read(tidegate_e2e::guest("evil")).expect("the guest can be read"))
}

/// The hook with this config, over the key `customer` (a text).
///
/// # Errors
/// As [`Component::open_processor`].
pub fn open(component: &Component, config: &str) -> Result<Box<dyn ProcessHook>, OpenError> {
    component.open_processor(config, &[Field::typed("customer", Kind::Text, false)], &[], options())
}

/// Texts without nulls.
#[must_use]
pub fn texts(values: &[&str]) -> Column {
    Column::Text(StringArray::from(values.to_vec()))
}

/// Two keys that hold nothing, of the guest's plan.
#[must_use]
pub fn two_keys() -> Box<dyn StateAccess> {
    let state = |name: &str, shape, field: &str, kind| StateSpec {
        name: name.to_owned(),
        shape,
        fields: vec![Field::typed(field, kind, false)],
        ttl: None,
    };
    let states = vec![
        state("rows", StateShape::Value, "rows", Kind::Int),
        state("marks", StateShape::List, "mark", Kind::Text),
        state("by-mark", StateShape::Map(Kind::Text), "rows", Kind::Int),
    ];
    Box::new(TrialState::new(&ProcessPlan { states, ..ProcessPlan::default() }, 2))
}

/// Gives rows with these marks, a second apart, to two keys in turn.
///
/// # Errors
/// As [`ProcessHook::process`].
pub fn process(
    hook: &mut dyn ProcessHook,
    call: Call,
    state: &mut Box<dyn StateAccess>,
    marks: &[&str],
) -> HookResult<Mapped> {
    let times = (0..).step_by(1_000).take(marks.len()).collect();
    let input = HookRows { len: marks.len(), times, columns: vec![texts(marks)] };
    let groups: Vec<u32> = [0, 1].into_iter().cycle().take(marks.len()).collect();
    hook.process(call, state, &[texts(&["ada", "bob"])], &groups, &vec![i64::MIN; marks.len()], &input)
}

/// Fires this timer of both keys.
///
/// # Errors
/// As [`ProcessHook::on_timer`].
pub fn fire(hook: &mut dyn ProcessHook, state: &mut Box<dyn StateAccess>, timer: u32) -> HookResult<Mapped> {
    let due = DueTimers { timers: vec![timer; 2], groups: vec![0, 1], times: vec![5_000, 6_000] };
    hook.on_timer(Call::USUAL, state, &[texts(&["ada", "bob"])], &due)
}
