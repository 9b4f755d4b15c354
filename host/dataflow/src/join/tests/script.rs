//! A join hook whose answers are closures. It fails a call as a guest does: whole.

use std::sync::Arc;

use tidegate_types::batch::index32;
use tidegate_types::hooks::{
    Answer, Call, ComponentId, GuestFailure, Hook, HookError, HookResult, HookRows, MapHook, MapPlan, Mapped, Reads,
    Rejection,
};
use tidegate_types::{Column, Field, Kind, ValueRef};

/// A pair as the hook sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) left: Option<i64>,
    pub(super) right: Option<i64>,
    pub(super) time: i64,
}

/// What the hook says of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// Rows: two numbers each, and a time, or the pair's.
    Rows(Vec<(i64, i64, Option<i64>)>),
    Reject,
    Trap,
}

/// The script of a hook.
#[derive(Clone)]
pub(super) struct Script {
    say: Arc<dyn Fn(Pair) -> Said + Send + Sync>,
    /// How many pairs a call bears.
    fuel: u64,
}

impl Script {
    pub(super) fn new(say: impl Fn(Pair) -> Said + Send + Sync + 'static) -> Self {
        Self { say: Arc::new(say), fuel: 1 << 40 }
    }

    pub(super) fn with_fuel(self, fuel: u64) -> Self {
        Self { fuel, ..self }
    }

    /// The hook, opened.
    pub(super) fn open(&self) -> Box<dyn MapHook> {
        let read = |name: &str| Field::typed(name, Kind::Int, true);
        let plan = MapPlan {
            reads: Reads { columns: vec![read("right.mark"), read("left.mark")], times: true },
            keep: vec!["right.mark".into()],
            output: vec![Field::typed("a", Kind::Int, false), Field::typed("b", Kind::Int, false)],
        };
        let component = ComponentId { name: "pair".into(), digest: "sha256:0".into() };
        Box::new(Scripted { script: self.clone(), plan, component: Arc::new(component) })
    }
}

struct Scripted {
    script: Script,
    plan: MapPlan,
    component: Arc<ComponentId>,
}

impl Hook for Scripted {
    fn component(&self) -> &Arc<ComponentId> {
        &self.component
    }

    fn fuel_budget(&self) -> u64 {
        self.script.fuel
    }
}

impl MapHook for Scripted {
    fn plan(&self) -> &MapPlan {
        &self.plan
    }

    fn process(&mut self, call: Call, input: &HookRows) -> HookResult<Mapped> {
        let fuel_used = input.len as u64;
        let failure = |code| HookError::Guest(GuestFailure { code, detail: "as the script says".into(), fuel_used });
        if fuel_used > self.script.fuel * u64::from(call.budgets) {
            return Err(failure("out-of-fuel"));
        }
        let int = |column: usize, row: usize| match input.columns[column].value(row) {
            ValueRef::Int(value) => Some(value),
            ValueRef::Null => None,
            other => panic!("{other:?} is no integer"),
        };
        let (mut made, mut sources, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..input.len {
            let pair = Pair { left: int(1, row), right: int(0, row), time: input.times[row] };
            match (self.script.say)(pair) {
                Said::Trap => return Err(failure("trap")),
                Said::Reject => rejected.push(Rejection {
                    row: index32(row),
                    code: "refused".into(),
                    message: "as the script says".into(),
                }),
                Said::Rows(rows) => {
                    for (a, b, time) in rows {
                        made.push((a, b, time.unwrap_or(pair.time)));
                        sources.push(index32(row));
                    }
                }
            }
        }
        let value = Mapped {
            columns: vec![
                Column::of_values(made.iter().map(|row| ValueRef::Int(row.0))),
                Column::of_values(made.iter().map(|row| ValueRef::Int(row.1))),
            ],
            len: made.len(),
            times: Some(made.iter().map(|row| row.2).collect()),
            sources: Some(sources),
            rejected,
        };
        Ok(Answer { value, fuel_used })
    }
}
