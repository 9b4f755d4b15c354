//! An aggregate hook that adds integers and keeps the last one as text. It refuses 11 and traps on 7.

use std::sync::Arc;

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{
    Accumulated, AggregateHook, AggregatePlan, Answer, Call, Cells, ComponentId, GuestFailure, Hook, HookError,
    HookResult, HookRows, Reads, Rejection,
};
use tidegate_types::{Column, Field, Kind, Value, ValueRef};

pub(super) struct Adder {
    plan: AggregatePlan,
    component: Arc<ComponentId>,
}

impl Adder {
    pub(super) fn new() -> Self {
        let fields = vec![Field::typed("sum", Kind::Int, false), Field::typed("last", Kind::Text, true)];
        let plan = AggregatePlan {
            reads: Reads { columns: vec![Field::typed("v", Kind::Int, true)], times: false },
            keys: false,
            windows: false,
            accumulator: fields.clone(),
            initial: vec![Column::of_values([ValueRef::Int(0)]), Column::of_values([ValueRef::Null])],
            output: fields,
        };
        Self { plan, component: Arc::new(ComponentId { name: "adder".into(), digest: "sha256:0".into() }) }
    }
}

impl Hook for Adder {
    fn component(&self) -> &Arc<ComponentId> {
        &self.component
    }

    fn fuel_budget(&self) -> u64 {
        1 << 30
    }
}

fn answer<T>(value: T) -> HookResult<T> {
    Ok(Answer { value, fuel_used: 1 })
}

fn int(column: &Column, row: usize) -> Option<i64> {
    match column.value(row) {
        ValueRef::Int(value) => Some(value),
        _ => None,
    }
}

fn columns(rows: &[(i64, Value)]) -> Vec<Column> {
    vec![
        Column::of_values(rows.iter().map(|(sum, _)| ValueRef::Int(*sum))),
        Column::of_values(rows.iter().map(|(_, last)| last.as_ref())),
    ]
}

fn rows(columns: &[Column]) -> Vec<(i64, Value)> {
    let row = |row: usize| (int(&columns[0], row).expect("a sum"), columns[1].value(row).to_value());
    (0..columns[0].len()).map(row).collect()
}

impl AggregateHook for Adder {
    fn plan(&self) -> &AggregatePlan {
        &self.plan
    }

    fn accumulate(
        &mut self,
        _: Call,
        _: &Cells,
        accumulators: &[Column],
        groups: &[u32],
        input: &HookRows,
    ) -> HookResult<Accumulated> {
        let mut kept = rows(accumulators);
        let mut rejected = Vec::new();
        for (row, group) in groups.iter().enumerate() {
            let Some(value) = int(&input.columns[0], row) else { continue };
            match value {
                7 => {
                    let (code, detail) = ("trap", "seven".into());
                    return Err(HookError::Guest(GuestFailure { code, detail, fuel_used: 1 }));
                }
                11 => rejected.push(Rejection { row: index32(row), code: "eleven".into(), message: "no".into() }),
                _ => {
                    let (sum, last) = &mut kept[index(*group)];
                    *sum = sum.wrapping_add(value);
                    *last = Value::Text(value.to_string().into());
                }
            }
        }
        answer(Accumulated { accumulators: columns(&kept), rejected })
    }

    fn merge(&mut self, _: Call, left: &[Column], right: &[Column]) -> HookResult<Vec<Column>> {
        let merged = rows(left).into_iter().zip(rows(right));
        let merged: Vec<(i64, Value)> = merged
            .map(|((sum, last), (more, later))| (sum.wrapping_add(more), if later.is_null() { last } else { later }))
            .collect();
        answer(columns(&merged))
    }

    fn finish(&mut self, _: Call, _: &Cells, accumulators: &[Column]) -> HookResult<Vec<Column>> {
        answer(accumulators.to_vec())
    }
}
