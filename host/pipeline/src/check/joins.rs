//! Joins: windows that are not too many, and remarks on intervals and keys that are surely not what was meant.

use tidegate_types::Millis;

use super::Fault;
use super::fields::declared;
use crate::model::{Join, JoinKind, OperatorSpec, Pipeline, WindowKind};
use crate::path::{item, key, quoted};
use crate::sharing::{MOST_APART, least_slide, windows_of_a_record};

/// How long a join may keep a row without a remark.
const LONG: Millis = Millis(86_400_000);

/// The join that an operator is, if it is one.
fn join_of(pipeline: &Pipeline, place: usize) -> Option<&Join> {
    match &pipeline.operators.get(place)?.kind {
        OperatorSpec::Join(join) => Some(join),
        OperatorSpec::Map(_) | OperatorSpec::Window(_) | OperatorSpec::Process(_) => None,
    }
}

/// The first contradiction.
pub(super) fn check(pipeline: &Pipeline) -> Result<(), Fault> {
    let joins = (0..pipeline.operators.len()).filter_map(|place| Some((place, join_of(pipeline, place)?)));
    joins.into_iter().try_for_each(|(place, join)| {
        let JoinKind::Window(WindowKind::Sliding { size, slide, .. }) = join.kind else { return Ok(()) };
        let windows = windows_of_a_record(size, slide);
        if windows <= MOST_APART {
            return Ok(());
        }
        let reason = format!(
            "a row would be in up to {windows} windows, and in a join at most {MOST_APART} may hold it; use a slide of at \
             least {}, or an interval join",
            least_slide(size, MOST_APART)
        );
        let path = key(&pipeline.operator_path(place, "join"), "window");
        Err(Fault::new(key(&path, "slide"), path, reason))
    })
}

/// The remarks on an operator, in the order of the file's keys.
pub(super) fn remarks(pipeline: &Pipeline, place: usize) -> Vec<Fault> {
    let Some(join) = join_of(pipeline, place) else { return Vec::new() };
    let keys = keys_never_meet(pipeline, place, join).into_iter();
    keys.chain(rows_are_kept_long(pipeline, place, join)).collect()
}

/// Key fields that are declared with different kinds.
fn keys_never_meet(pipeline: &Pipeline, place: usize, join: &Join) -> Vec<Fault> {
    let inputs = &pipeline.operators[place].inputs;
    let kind = |input: usize, name: &str| Some(declared(pipeline, *inputs.get(input)?, name)?.1);
    let base = pipeline.key_path(place, 1);
    let mut remarks = Vec::new();
    for (at, (left, right)) in join.left_key.iter().zip(&join.right_key).enumerate() {
        if let (Some(left_kind), Some(right_kind)) = (kind(0, left), kind(1, right))
            && left_kind != right_kind
        {
            let reason = format!(
                "{} is declared as {right_kind} and the left {} as {left_kind}: values of different kinds are never equal, so \
                 no rows meet",
                quoted(right),
                quoted(left)
            );
            remarks.push(Fault::new(item(&base, at), base.clone(), reason));
        }
    }
    remarks
}

/// An interval that keeps every row for long.
fn rows_are_kept_long(pipeline: &Pipeline, place: usize, join: &Join) -> Option<Fault> {
    let JoinKind::Interval { lower, upper } = join.kind else { return None };
    let (left, right) = (upper.max(0), (-lower).max(0));
    let kept = Millis(left.max(right) + join.allowed_lateness.0);
    if kept <= LONG {
        return None;
    }
    let path = pipeline.operator_path(place, "join");
    let bound = key(&path, if left >= right { "upper" } else { "lower" });
    let reason = format!(
        "every row of one side is kept for {kept} of event time, and results behind the join wait as long; choose a \
         shorter interval if partners come sooner"
    );
    Some(Fault::new(bound, path, reason))
}
