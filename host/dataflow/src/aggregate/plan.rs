//! What the built-in functions of an operator need of a batch, worked out once from the pipeline.
//!
//! Functions with the same field and the same `where` share one input, so that a batch is looked over once for them all.

use tidegate_pipeline::{Aggregate, Condition, Function};
use tidegate_types::{Field, FieldType, Kind, Schema, ValueRef};

/// All functions, and the inputs that they share.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) functions: Vec<FunctionPlan>,
    pub(super) inputs: Vec<InputPlan>,
}

/// One function.
#[derive(Debug)]
pub(super) struct FunctionPlan {
    pub(super) name: String,
    pub(super) function: Function,
    /// Its place among the plan's inputs.
    pub(super) input: usize,
    /// What its field is declared to hold.
    field_type: FieldType,
}

/// A field and the rows of it that are looked at.
#[derive(Debug, PartialEq)]
pub(super) struct InputPlan {
    /// `None`: rows are counted, whatever they hold.
    pub(super) field: Option<String>,
    pub(super) condition: Option<Condition>,
}

/// Which values a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Domain {
    Any,
    Numbers,
    NumbersAndTexts,
}

impl Plan {
    pub(super) fn new(aggregates: &[Aggregate], schema: &Schema) -> Self {
        let mut plan = Self { functions: Vec::new(), inputs: Vec::new() };
        for aggregate in aggregates {
            let Aggregate::Builtin { name, function, field, condition } = aggregate else { continue };
            let field_type = field
                .as_ref()
                .and_then(|field| schema.index_of(field))
                .map_or(FieldType::Dynamic, |place| schema.fields[place].field_type);
            let input = plan.input_of(InputPlan { field: field.clone(), condition: condition.clone() });
            plan.functions.push(FunctionPlan { name: name.clone(), function: *function, input, field_type });
        }
        plan
    }

    fn input_of(&mut self, wanted: InputPlan) -> usize {
        if let Some(place) = self.inputs.iter().position(|input| *input == wanted) {
            return place;
        }
        self.inputs.push(wanted);
        self.inputs.len() - 1
    }
}

impl FunctionPlan {
    /// Which values the function takes; any other is a mismatch.
    pub(super) fn domain(&self) -> Domain {
        match self.function {
            Function::Sum | Function::Avg => Domain::Numbers,
            Function::Min | Function::Max | Function::TopK { .. } => Domain::NumbersAndTexts,
            Function::Count
            | Function::First
            | Function::Last
            | Function::CountDistinct
            | Function::ApproxCountDistinct => Domain::Any,
        }
    }

    /// The field of its column in a pane.
    pub(super) fn output_field(&self) -> Field {
        let name = self.name.as_str();
        match self.function {
            Function::Count | Function::CountDistinct | Function::ApproxCountDistinct => {
                Field::typed(name, Kind::Int, false)
            }
            Function::Avg => Field::typed(name, Kind::Float, true),
            Function::TopK { .. } => Field::dynamic(name),
            Function::Sum | Function::Min | Function::Max | Function::First | Function::Last => match self.field_type {
                FieldType::Typed { kind, .. } => Field::typed(name, kind, true),
                FieldType::Dynamic => Field::dynamic(name),
            },
        }
    }

    /// What the function does, in words.
    pub(super) fn verb(&self) -> &'static str {
        match self.function {
            Function::Count => "count",
            Function::Sum => "sum",
            Function::Min => "min",
            Function::Max => "max",
            Function::Avg => "avg",
            Function::First => "first",
            Function::Last => "last",
            Function::CountDistinct => "count_distinct",
            Function::ApproxCountDistinct => "approx_count_distinct",
            Function::TopK { .. } => "top_k",
        }
    }
}

impl Domain {
    /// Whether a value that is not null belongs to it.
    pub(super) fn contains(self, value: ValueRef<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Numbers => matches!(value, ValueRef::Int(_) | ValueRef::Float(_)),
            Self::NumbersAndTexts => matches!(value, ValueRef::Int(_) | ValueRef::Float(_) | ValueRef::Text(_)),
        }
    }

    /// Whether every value of a kind belongs to it.
    pub(super) fn contains_kind(self, kind: Kind) -> bool {
        match self {
            Self::Any => true,
            Self::Numbers => matches!(kind, Kind::Int | Kind::Float),
            Self::NumbersAndTexts => matches!(kind, Kind::Int | Kind::Float | Kind::Text),
        }
    }

    /// The values that belong to it, in words.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Numbers => "numbers",
            Self::NumbersAndTexts => "numbers and strings",
        }
    }
}

/// What to call a value's kind in a message to people who write JSON.
pub(super) fn kind_name(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "null",
        ValueRef::Bool(_) => "a boolean",
        ValueRef::Int(_) | ValueRef::Float(_) => "a number",
        ValueRef::Text(_) => "a string",
        ValueRef::Bytes(_) => "bytes",
        ValueRef::Json(text) if text.starts_with('[') => "an array",
        ValueRef::Json(_) => "an object",
    }
}
