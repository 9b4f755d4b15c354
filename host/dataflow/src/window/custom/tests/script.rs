//! A window hook whose answers are closures. It fails a call as a guest does: whole.

use std::sync::{Arc, Mutex};

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{
    Answer, Assignments, Call, ComponentId, Decision, DecisionRequest, Emitted, GuestFailure, Hook, HookError,
    HookResult, HookRows, Reads, WindowHook, WindowPlan,
};
use tidegate_types::{Column, Field, Kind, PaneBatch, PaneOp, Timing, Value, ValueRef, Watermark};

/// What a closure says; an error is the code of the failure that it brings about.
pub(in crate::window) type Said<T> = Result<T, &'static str>;

type Closure<I, O> = Arc<dyn Fn(&I) -> Said<O> + Send + Sync>;

/// A row to assign.
#[derive(Debug, Clone)]
pub(in crate::window) struct Row {
    pub(in crate::window) time: i64,
    pub(in crate::window) mark: String,
}

/// A window to decide about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::window) struct Asked {
    pub(in crate::window) key: String,
    pub(in crate::window) window: (i64, i64),
    pub(in crate::window) count: u32,
    pub(in crate::window) watermark: Watermark,
}

impl Asked {
    /// Whether the watermark has reached the window's end.
    pub(in crate::window) fn has_ended(&self) -> bool {
        self.watermark.reached(self.window.1)
    }
}

/// A pane to emit.
#[derive(Debug, Clone)]
pub(in crate::window) struct Shown {
    pub(in crate::window) key: String,
    pub(in crate::window) window: (i64, i64),
    pub(in crate::window) timing: Timing,
    pub(in crate::window) index: u64,
    /// The first aggregate.
    pub(in crate::window) value: i64,
}

/// What a hook is to say.
#[derive(Clone)]
pub(in crate::window) struct Script {
    assign: Closure<Row, Vec<(i64, i64)>>,
    decide: Option<Closure<Asked, Decision>>,
    emit: Option<Closure<Shown, Vec<String>>>,
    /// How many rows, windows or panes a call bears.
    fuel: u64,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Script {
    /// A hook that assigns windows.
    pub(in crate::window) fn new(assign: impl Fn(&Row) -> Said<Vec<(i64, i64)>> + Send + Sync + 'static) -> Self {
        Self { assign: Arc::new(assign), decide: None, emit: None, fuel: 1 << 40, asked: Arc::default() }
    }

    /// A hook of windows of ten.
    pub(in crate::window) fn tens() -> Self {
        Self::new(|row| Ok(vec![ten(row.time)]))
    }

    pub(in crate::window) fn deciding(self, decide: impl Fn(&Asked) -> Said<Decision> + Send + Sync + 'static) -> Self {
        Self { decide: Some(Arc::new(decide)), ..self }
    }

    pub(in crate::window) fn emitting(
        self,
        emit: impl Fn(&Shown) -> Said<Vec<String>> + Send + Sync + 'static,
    ) -> Self {
        Self { emit: Some(Arc::new(emit)), ..self }
    }

    pub(in crate::window) fn with_fuel(self, fuel: u64) -> Self {
        Self { fuel, ..self }
    }

    /// What it was asked to decide since the last time, in order of key, window, watermark.
    pub(in crate::window) fn take_asked(&self) -> Vec<Asked> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.sort_by_key(|asked| (asked.key.clone(), asked.window, asked.watermark, asked.count));
        asked
    }

    /// The hook, opened.
    pub(in crate::window) fn open(&self) -> Box<dyn WindowHook> {
        let reads = Reads { columns: vec![Field::typed("mark", Kind::Text, true)], times: true };
        let emits = self.emit.is_some();
        let output = if emits { vec![Field::typed("made", Kind::Text, false)] } else { Vec::new() };
        let component = ComponentId { name: "script".into(), digest: "sha256:0".into() };
        Box::new(Scripted {
            script: self.clone(),
            plan: WindowPlan { reads, decides: self.decide.is_some(), emits, output },
            component: Arc::new(component),
        })
    }
}

/// The window of ten that holds a time.
pub(in crate::window) fn ten(time: i64) -> (i64, i64) {
    let start = time.div_euclid(10) * 10;
    (start, start + 10)
}

struct Scripted {
    script: Script,
    plan: WindowPlan,
    component: Arc<ComponentId>,
}

impl Scripted {
    fn answers<I, O>(&self, call: Call, inputs: &[I], closure: &Closure<I, O>) -> HookResult<Vec<O>> {
        let fuel_used = inputs.len() as u64;
        let failure = |code| HookError::Guest(GuestFailure { code, detail: "as the script says".into(), fuel_used });
        if fuel_used > self.script.fuel * u64::from(call.budgets) {
            return Err(failure("out-of-fuel"));
        }
        let value = inputs.iter().map(|input| closure(input)).collect::<Said<Vec<O>>>().map_err(failure)?;
        Ok(Answer { value, fuel_used })
    }
}

impl Hook for Scripted {
    fn component(&self) -> &Arc<ComponentId> {
        &self.component
    }

    fn fuel_budget(&self) -> u64 {
        self.script.fuel
    }
}

impl WindowHook for Scripted {
    fn plan(&self) -> &WindowPlan {
        &self.plan
    }

    fn assign(&mut self, call: Call, input: &HookRows) -> HookResult<Assignments> {
        let row = |at: usize| Row { time: input.times[at], mark: text(&input.columns[0], at) };
        let rows: Vec<Row> = (0..input.len).map(row).collect();
        let Answer { value, fuel_used } = self.answers(call, &rows, &self.script.assign)?;
        let mut made = Assignments { offsets: vec![0], ..Assignments::default() };
        for (start, end) in value.iter().map(Vec::as_slice).flat_map(|windows| windows.iter().copied()) {
            made.starts.push(start);
            made.ends.push(end);
        }
        for windows in &value {
            made.offsets.push(made.offsets[made.offsets.len() - 1] + index32(windows.len()));
        }
        Ok(Answer { value: made, fuel_used })
    }

    fn decide(&mut self, call: Call, request: &DecisionRequest) -> HookResult<Vec<Decision>> {
        let asked = |at: usize| Asked {
            key: text(&request.keys[0], at),
            window: (request.starts[at], request.ends[at]),
            count: request.counts[at],
            watermark: request.watermark,
        };
        let windows: Vec<Asked> = (0..request.starts.len()).map(asked).collect();
        let answer = self.answers(call, &windows, self.script.decide.as_ref().expect("it decides"))?;
        self.script.asked.lock().unwrap().extend(windows);
        Ok(answer)
    }

    fn emit(&mut self, call: Call, panes: &PaneBatch) -> HookResult<Emitted> {
        assert!(panes.infos.iter().all(|info| info.watermark == panes.infos[0].watermark), "one watermark a call");
        assert!(panes.infos.iter().all(|info| info.op == PaneOp::Insert));
        let shown = |at: usize| Shown {
            key: text(&panes.keys[0], at),
            window: panes.infos[at].window.expect("no window is global"),
            timing: panes.infos[at].timing,
            index: panes.infos[at].index,
            value: match panes.values[0].value(at) {
                ValueRef::Int(value) => value,
                other => panic!("{other:?} is no count"),
            },
        };
        let all: Vec<Shown> = (0..panes.infos.len()).map(shown).collect();
        let Answer { value, fuel_used } = self.answers(call, &all, self.script.emit.as_ref().expect("it emits"))?;
        let mut sources = Vec::new();
        let mut made = Vec::new();
        for (pane, rows) in value.into_iter().enumerate() {
            sources.extend(rows.iter().map(|_| index32(pane)));
            made.extend(rows.into_iter().map(|row| Value::Text(row.into())));
        }
        let column = Column::of_values(made.iter().map(Value::as_ref));
        assert_eq!(index(index32(sources.len())), column.len());
        Ok(Answer { value: Emitted { columns: vec![column], sources }, fuel_used })
    }
}

fn text(column: &Column, row: usize) -> String {
    match column.value(row) {
        ValueRef::Text(text) => text.to_owned(),
        ValueRef::Null => String::new(),
        other => panic!("{other:?} is no text"),
    }
}
