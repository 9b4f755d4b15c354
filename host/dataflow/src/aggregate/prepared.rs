//! A batch as the built-in functions see it: for each input its column and the rows that count.
//!
//! Everything that depends on a batch but not on slots is worked out here, once per batch, so that adding is one plain
//! loop. Invariant: a selected row's value is not null.

use std::sync::Arc;

use arrow_array::Array;
use tidegate_pipeline::{Condition, Function};
use tidegate_types::batch::index;
use tidegate_types::{Batch, Column, Value, ValueRef};

use super::plan::{Domain, FunctionPlan, InputPlan, Plan, kind_name};
use super::store::Change;

/// What [`super::Builtins`] knows about a batch.
#[derive(Debug)]
pub(crate) struct Prepared {
    plan: Arc<Plan>,
    inputs: Vec<Input>,
    /// Per function: how much the batch's integers can move a sum, saturating; 0 for other functions.
    magnitudes: Vec<u64>,
    /// The rows that take earlier ones back; none: no row does.
    pub(super) retractions: Option<Arc<[bool]>>,
    /// The functions that some selected row's value is wrong for.
    mismatched: Vec<usize>,
}

/// One input of a batch.
#[derive(Debug)]
pub(super) struct Input {
    /// `None`: rows are counted, whatever they hold.
    pub(super) column: Option<Column>,
    /// The rows that count.
    pub(super) selection: Selection,
}

/// Some of a batch's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selection {
    All,
    Some(Box<[bool]>),
    Nothing,
}

impl Prepared {
    pub(super) fn new(plan: &Arc<Plan>, batch: &Batch) -> Self {
        let inputs: Vec<Input> = plan.inputs.iter().map(|input| Input::new(input, batch)).collect();
        let mut mismatched = Vec::new();
        let mut magnitudes = Vec::with_capacity(plan.functions.len());
        for (place, function) in plan.functions.iter().enumerate() {
            let input = &inputs[function.input];
            if input.leaves(function.domain()) {
                mismatched.push(place);
            }
            magnitudes.push(if function.function == Function::Sum { input.magnitude() } else { 0 });
        }
        let retractions = batch.retractions.clone();
        Self { plan: Arc::clone(plan), inputs, magnitudes, retractions, mismatched }
    }

    /// Why the row must be rejected as a `type-mismatch`, whatever its windows. Cheap when the batch has no such row.
    pub(crate) fn mismatch(&self, row: u32) -> Option<String> {
        self.mismatched.iter().find_map(|place| {
            let function = &self.plan.functions[*place];
            let value = self.input(*place).selected_value(index(row))?;
            (!function.domain().contains(value)).then(|| self.describe(function, value))
        })
    }

    /// The input of the function at this place.
    pub(super) fn input(&self, function: usize) -> &Input {
        &self.inputs[self.plan.functions[function].input]
    }

    /// Whether the row is added or taken back.
    pub(super) fn change(&self, row: u32) -> Change {
        let undone = self.retractions.as_ref().is_some_and(|retractions| retractions[index(row)]);
        if undone { Change::Undo } else { Change::Add }
    }

    /// How much the batch can move a sum of the function at this place, at most.
    pub(super) fn magnitude(&self, function: usize) -> u64 {
        self.magnitudes[function]
    }

    fn describe(&self, function: &FunctionPlan, value: ValueRef<'_>) -> String {
        let field = self.plan.inputs[function.input].field.as_deref().unwrap_or_default();
        format!(
            "aggregate {name}: {verb} takes {domain}, but field {field} holds {kind}",
            name = function.name,
            verb = function.verb(),
            domain = function.domain().describe(),
            kind = kind_name(value),
        )
    }
}

impl Input {
    fn new(plan: &InputPlan, batch: &Batch) -> Self {
        let rows = batch.len();
        let mut selection = plan.condition.as_ref().map_or(Selection::All, |condition| matching(condition, batch));
        let column = plan.field.as_ref().map(|field| batch.column(field).cloned().unwrap_or(Column::Null(rows)));
        if let Some(column) = &column {
            selection.leave_out_nulls(column);
        }
        Self { column, selection }
    }

    /// The row's value if the row counts.
    pub(super) fn selected_value(&self, row: usize) -> Option<ValueRef<'_>> {
        let column = self.column.as_ref()?;
        self.selection.contains(row).then(|| column.value(row))
    }

    fn selected_rows(&self, rows: usize) -> impl Iterator<Item = usize> {
        (0..rows).filter(|row| self.selection.contains(*row))
    }

    /// Whether some selected value is outside the domain.
    fn leaves(&self, domain: Domain) -> bool {
        let Some(column) = &self.column else { return false };
        match (column.kind(), column) {
            (Some(kind), _) => !domain.contains_kind(kind) && self.selected_rows(column.len()).next().is_some(),
            (None, Column::Dynamic(array)) if domain != Domain::Any => {
                self.selected_rows(column.len()).any(|row| !domain.contains(array.values()[row].as_ref()))
            }
            (None, _) => false,
        }
    }

    /// The sum of the selected integers' distances from zero, saturating.
    fn magnitude(&self) -> u64 {
        let magnitude = |total: u64, value: i64| total.saturating_add(value.unsigned_abs());
        match &self.column {
            Some(Column::Int(array)) => {
                let values = array.values();
                self.selected_rows(values.len()).fold(0, |total, row| magnitude(total, values[row]))
            }
            Some(Column::Dynamic(array)) => {
                self.selected_rows(array.values().len()).fold(0, |total, row| match array.values()[row] {
                    Value::Int(value) => magnitude(total, value),
                    _ => total,
                })
            }
            _ => 0,
        }
    }
}

impl Selection {
    #[inline]
    pub(super) fn contains(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Some(selected) => selected[row],
            Self::Nothing => false,
        }
    }

    fn of(rows: usize, mut holds: impl FnMut(usize) -> bool) -> Self {
        let selected: Box<[bool]> = (0..rows).map(&mut holds).collect();
        if selected.contains(&true) { Self::Some(selected) } else { Self::Nothing }
    }

    fn leave_out_nulls(&mut self, column: &Column) {
        if *self == Self::Nothing || !column.has_nulls() {
            return;
        }
        let kept = std::mem::replace(self, Self::Nothing);
        if !matches!(column, Column::Null(_)) {
            *self = Self::of(column.len(), |row| kept.contains(row) && !column.is_null(row));
        }
    }
}

/// The rows that a `where` lets through.
fn matching(condition: &Condition, batch: &Batch) -> Selection {
    let Some(column) = batch.column(&condition.field) else { return Selection::Nothing };
    match (column, &condition.equals) {
        (_, Value::Null) => Selection::Nothing,
        (Column::Text(array), Value::Text(wanted)) => {
            Selection::of(array.len(), |row| array.is_valid(row) && array.value(row) == wanted.as_ref())
        }
        (Column::Int(array), Value::Int(wanted)) => {
            Selection::of(array.len(), |row| array.is_valid(row) && array.value(row) == *wanted)
        }
        (column, wanted) => {
            let wanted = wanted.as_ref();
            Selection::of(column.len(), |row| column.value(row).compare(wanted).is_eq())
        }
    }
}
