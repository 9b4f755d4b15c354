//! A process hook that runs the script, or what a test puts in its place, row by row over the state that the host lends.

use std::sync::Arc;

use tidegate_types::hooks::{
    Answer, Call, ComponentId, DueTimers, GuestFailure, Hook, HookError, HookResult, HookRows, Mapped, ProcessHook,
    ProcessPlan, Rejection, StateAccess, StateError,
};
use tidegate_types::{Column, EventTime, ValueRef};

use super::script::{Op, Outcome, View, on_row, on_timer};

/// One key of a call, over the state that the host lends.
struct Lens<'a> {
    state: &'a mut dyn StateAccess,
    key: u32,
}

const LIMIT: usize = 1 << 20;

fn texts(values: &[Option<&str>]) -> Column {
    Column::of_values(values.iter().map(|value| value.map_or(ValueRef::Null, ValueRef::Text)))
}

fn ints(values: &[i64]) -> Column {
    Column::of_values(values.iter().map(|value| ValueRef::Int(*value)))
}

fn int(column: &Column, row: usize) -> i64 {
    let ValueRef::Int(value) = column.value(row) else { panic!("{:?} is no int", column.value(row)) };
    value
}

fn text(column: &Column, row: usize) -> Option<String> {
    match column.value(row) {
        ValueRef::Text(text) => Some(text.to_owned()),
        _ => None,
    }
}

impl View for Lens<'_> {
    fn total(&mut self) -> Option<i64> {
        let rows = self.state.get(0, &[self.key], LIMIT).expect("small");
        rows.present[0].then(|| int(&rows.columns[0], 0))
    }

    fn put_total(&mut self, total: i64) {
        self.state.put(0, &[self.key], &[ints(&[total])]).expect("small");
    }

    fn list(&mut self) -> Vec<(i64, Option<String>)> {
        let lists = self.state.lists(1, &[self.key], LIMIT).expect("small");
        (0..lists.columns[0].len()).map(|row| (int(&lists.columns[0], row), text(&lists.columns[1], row))).collect()
    }

    fn append(&mut self, n: i64, text: Option<&str>) {
        self.state.append(1, &[self.key], &[ints(&[n]), texts(&[text])]).expect("small");
    }

    fn tag(&mut self, tag: &str) -> Option<i64> {
        let rows = self.state.map_get(2, &[self.key], &texts(&[Some(tag)]), LIMIT).expect("small");
        rows.present[0].then(|| int(&rows.columns[0], 0))
    }

    fn put_tag(&mut self, tag: &str, n: i64) {
        self.state.map_put(2, &[self.key], &texts(&[Some(tag)]), &[ints(&[n])]).expect("small");
    }

    fn remove_tag(&mut self, tag: &str) {
        self.state.map_remove(2, &[self.key], &texts(&[Some(tag)])).expect("small");
    }

    fn tags(&mut self) -> Vec<(String, i64)> {
        let maps = self.state.map_entries(2, &[self.key], LIMIT).expect("small");
        let entry = |row| (text(&maps.map_keys, row).expect("no map key is null"), int(&maps.columns[0], row));
        (0..maps.map_keys.len()).map(entry).collect()
    }

    fn clear(&mut self, state: u32) {
        self.state.clear(state, &[self.key]).expect("small");
    }

    fn set(&mut self, timer: u32, time: EventTime) {
        self.state.set_timer(timer, &[self.key], &[time]).expect("small");
    }

    fn unset(&mut self, timer: u32) {
        self.state.clear_timer(timer, &[self.key]).expect("small");
    }
}

/// What a test's hook does in place of the script; `None` goes on with the script.
type OnRow = dyn FnMut(&mut dyn StateAccess, u32, i64, i64, EventTime) -> Result<Option<Outcome>, StateError> + Send;
type OnTimer = dyn FnMut(&mut dyn StateAccess, u32, u32, EventTime) -> Result<Option<Outcome>, StateError> + Send;

/// A call that was made: its rows or timers, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) of_timers: bool,
    pub(super) rows: usize,
    pub(super) call: Call,
}

/// The hook.
pub(super) struct Scripted {
    pub(super) plan: ProcessPlan,
    pub(super) component: Arc<ComponentId>,
    pub(super) row: Box<OnRow>,
    pub(super) timer: Box<OnTimer>,
    /// Calls that the wall clock stops before they are through, from the end.
    pub(super) stops: u32,
    pub(super) made: Arc<std::sync::Mutex<Vec<Made>>>,
}

impl Scripted {
    pub(super) fn new(plan: ProcessPlan) -> Self {
        Self {
            plan,
            component: Arc::new(ComponentId { name: "scripted".into(), digest: "sha256:0".into() }),
            row: Box::new(|_, _, _, _, _| Ok(None)),
            timer: Box::new(|_, _, _, _| Ok(None)),
            stops: 0,
            made: Arc::default(),
        }
    }

    fn answer(
        &mut self,
        rows: Vec<(String, EventTime)>,
        sources: Vec<u32>,
        rejected: Vec<Rejection>,
    ) -> HookResult<Mapped> {
        if self.stops > 0 {
            self.stops -= 1;
            return Err(HookError::Interrupted { millis: 1 });
        }
        let len = rows.len();
        let columns = vec![texts(&rows.iter().map(|(text, _)| Some(text.as_str())).collect::<Vec<_>>())];
        let times = Some(rows.into_iter().map(|(_, time)| time).collect());
        let value = Mapped { columns, len, times, sources: Some(sources), rejected };
        Ok(Answer { value, fuel_used: u64::try_from(len).expect("few") })
    }

    fn note(&self, of_timers: bool, rows: usize, call: Call) {
        self.made.lock().expect("no test panics with it").push(Made { of_timers, rows, call });
    }
}

fn failure(code: &'static str, detail: &str) -> HookError {
    HookError::Guest(GuestFailure { code, detail: detail.into(), fuel_used: 9 })
}

fn misuse(error: &StateError) -> HookError {
    failure("malformed-result", &error.to_string())
}

impl Hook for Scripted {
    fn component(&self) -> &Arc<ComponentId> {
        &self.component
    }

    fn fuel_budget(&self) -> u64 {
        1 << 30
    }
}

impl ProcessHook for Scripted {
    fn plan(&self) -> &ProcessPlan {
        &self.plan
    }

    fn process(
        &mut self,
        call: Call,
        state: &mut Box<dyn StateAccess>,
        _keys: &[Column],
        groups: &[u32],
        _watermarks: &[EventTime],
        input: &HookRows,
    ) -> HookResult<Mapped> {
        self.note(false, input.len, call);
        let (mut rows, mut sources, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
        for (row, group) in groups.iter().enumerate() {
            let (op, v, time) = (int(&input.columns[0], row), int(&input.columns[1], row), input.times[row]);
            let own = (self.row)(state.as_mut(), *group, op, v, time).map_err(|error| misuse(&error))?;
            let outcome =
                own.unwrap_or_else(|| on_row(&mut Lens { state: state.as_mut(), key: *group }, Op::of(op), v, time));
            let row = u32::try_from(row).expect("few");
            match outcome {
                Outcome::Emits(emits) => {
                    sources.extend(emits.iter().map(|_| row));
                    rows.extend(emits.into_iter().map(|(text, own)| (text, own.unwrap_or(time))));
                }
                Outcome::Rejects => rejected.push(Rejection { row, code: "no".into(), message: "refused".into() }),
                Outcome::Fails => return Err(failure("trap", "unreachable")),
            }
        }
        self.answer(rows, sources, rejected)
    }

    fn on_timer(
        &mut self,
        call: Call,
        state: &mut Box<dyn StateAccess>,
        _keys: &[Column],
        due: &DueTimers,
    ) -> HookResult<Mapped> {
        self.note(true, due.timers.len(), call);
        let (mut rows, mut sources) = (Vec::new(), Vec::new());
        for (at, timer) in due.timers.iter().enumerate() {
            let (group, time) = (due.groups[at], due.times[at]);
            let own = (self.timer)(state.as_mut(), group, *timer, time).map_err(|error| misuse(&error))?;
            match own.unwrap_or_else(|| on_timer(&mut Lens { state: state.as_mut(), key: group }, *timer, time)) {
                Outcome::Emits(emits) => {
                    sources.extend(emits.iter().map(|_| u32::try_from(at).expect("few")));
                    rows.extend(emits.into_iter().map(|(text, own)| (text, own.unwrap_or(time))));
                }
                Outcome::Rejects | Outcome::Fails => return Err(failure("trap", "unreachable")),
            }
        }
        self.answer(rows, sources, Vec::new())
    }
}
