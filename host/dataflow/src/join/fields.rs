//! The fields of a join: what it reads of each input, what its hook is opened with, what comes out.
//!
//! A pair's fields are called `left.<name>` and `right.<name>`. A field of a row that may be missing is null there.

use tidegate_pipeline::{Join, JoinOutput, JoinSide, Matching};
use tidegate_types::hooks::MapPlan;
use tidegate_types::{Field, FieldType};

use super::{Both, is_outer, other};

const LEFT: &str = "left.";
const RIGHT: &str = "right.";

/// The name of a row's field in a pair.
pub(super) fn pair_name(side: JoinSide, name: &str) -> String {
    let prefix = match side {
        JoinSide::Left => LEFT,
        JoinSide::Right => RIGHT,
    };
    format!("{prefix}{name}")
}

/// The row and the field that a pair's field is of; none if the name is no pair's.
fn of_pair(name: &str) -> Option<(JoinSide, &str)> {
    let left = name.strip_prefix(LEFT).map(|name| (JoinSide::Left, name));
    left.or_else(|| name.strip_prefix(RIGHT).map(|name| (JoinSide::Right, name)))
}

/// A field that the hook reads or keeps and that no pair can have.
pub(crate) fn unknown_pair_field(plan: &MapPlan) -> Option<&str> {
    let read = plan.reads.columns.iter().map(|field| field.name.as_str());
    read.chain(plan.keep.iter().map(String::as_str)).find(|name| of_pair(name).is_none())
}

/// The fields of the left and the right input that the join reads: its keys and what pairs show. Typed where the hook asks
/// for a kind.
///
/// `plan`: what the join's hook said when it was opened.
pub(crate) fn join_reads(join: &Join, plan: Option<&MapPlan>) -> [Vec<Field>; 2] {
    let of = |side: JoinSide, keys: &[String]| {
        let mut fields = shown(join, plan, side);
        for key in keys {
            add(&mut fields, Field::dynamic(key));
        }
        fields
    };
    [of(JoinSide::Left, &join.left_key), of(JoinSide::Right, &join.right_key)]
}

/// The names of the fields that pairs show of each input's rows.
pub(super) fn needs(join: &Join, plan: Option<&MapPlan>) -> Both<Vec<String>> {
    let names = |side| shown(join, plan, side).into_iter().map(|field| field.name).collect();
    Both { left: names(JoinSide::Left), right: names(JoinSide::Right) }
}

fn shown(join: &Join, plan: Option<&MapPlan>, side: JoinSide) -> Vec<Field> {
    let mut fields = Vec::new();
    match (&join.output, plan) {
        (JoinOutput::Select(selected), _) => {
            for one in selected.iter().filter(|one| one.side == side) {
                add(&mut fields, Field::dynamic(&one.field));
            }
        }
        (JoinOutput::Hook(_), None) => {}
        (JoinOutput::Hook(_), Some(plan)) => {
            for read in &plan.reads.columns {
                if let Some((_, name)) = of_pair(&read.name).filter(|(of, _)| *of == side) {
                    add(&mut fields, Field { name: name.to_owned(), field_type: read.field_type });
                }
            }
            for keep in &plan.keep {
                if let Some((_, name)) = of_pair(keep).filter(|(of, _)| *of == side) {
                    add(&mut fields, Field::dynamic(name));
                }
            }
        }
    }
    fields
}

fn add(fields: &mut Vec<Field>, field: Field) {
    if !fields.iter().any(|other| other.name == field.name) {
        fields.push(field);
    }
}

/// The fields of pairs of rows with these fields: what a join's hook is opened with.
pub(crate) fn pair_fields(left: &[Field], right: &[Field], matching: Matching) -> Vec<Field> {
    let of = |side: JoinSide, field: &Field| {
        let field_type = in_pair(field.field_type, side, matching);
        Field { name: pair_name(side, &field.name), field_type }
    };
    let left = left.iter().map(|field| of(JoinSide::Left, field));
    left.chain(right.iter().map(|field| of(JoinSide::Right, field))).collect()
}

/// The fields of the rows that come out. `left`, `right`: the fields of the rows that arrive.
pub(crate) fn join_output(join: &Join, left: &[Field], right: &[Field], plan: Option<&MapPlan>) -> Vec<Field> {
    let find =
        |fields: &[Field], name: &str| fields.iter().find(|field| field.name == name).map(|field| field.field_type);
    match (&join.output, plan) {
        (JoinOutput::Select(selected), _) => {
            let field = |side: JoinSide, name: &str| {
                let fields = if side == JoinSide::Left { left } else { right };
                find(fields, name).map_or(FieldType::Dynamic, |declared| in_pair(declared, side, join.matching))
            };
            selected
                .iter()
                .map(|one| Field { name: one.name.clone(), field_type: field(one.side, &one.field) })
                .collect()
        }
        (JoinOutput::Hook(_), None) => Vec::new(),
        (JoinOutput::Hook(_), Some(plan)) => {
            let pairs = pair_fields(left, right, join.matching);
            let kept = plan.keep.iter().map(|name| {
                let field_type = find(&pairs, name).unwrap_or(FieldType::Dynamic);
                Field { name: name.clone(), field_type }
            });
            plan.output.iter().cloned().chain(kept).collect()
        }
    }
}

/// A field's type in pairs, where the row may be missing if rows of the other input come out without a partner.
fn in_pair(declared: FieldType, side: JoinSide, matching: Matching) -> FieldType {
    match declared {
        FieldType::Dynamic => FieldType::Dynamic,
        FieldType::Typed { kind, nullable } => {
            FieldType::Typed { kind, nullable: nullable || is_outer(matching, other(side)) }
        }
    }
}
