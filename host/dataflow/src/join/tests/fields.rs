//! Which fields a join reads, shows its hook, and puts out.

use tidegate_pipeline::{JoinOutput, Matching};
use tidegate_types::hooks::{MapPlan, Reads};
use tidegate_types::{Field, Kind};

use super::bench::{hook_spec, interval};
use crate::join::{join_output, join_reads, pair_fields, unknown_pair_field};

fn text(name: &str, nullable: bool) -> Field {
    Field::typed(name, Kind::Text, nullable)
}

fn plan(reads: &[Field], keep: &[&str]) -> MapPlan {
    MapPlan {
        reads: Reads { columns: reads.to_vec(), times: false },
        keep: keep.iter().map(|name| (*name).to_owned()).collect(),
        output: vec![text("made", false)],
    }
}

#[test]
fn a_projection_reads_its_fields_and_the_keys() {
    let join = interval(0, 1, Matching::Left);
    let names = join_reads(&join, None).map(|fields| fields.into_iter().map(|field| field.name).collect::<Vec<_>>());
    assert_eq!(names, [["mark", "key"], ["mark", "id"]]);
}

#[test]
fn a_projection_puts_out_declared_kinds_null_where_a_side_may_be_missing() {
    let (left, right) = ([text("mark", false)], [text("mark", false)]);
    let output = |matching| join_output(&interval(0, 1, matching), &left, &right, None);
    assert_eq!(output(Matching::Inner), [text("l", false), text("r", false)]);
    assert_eq!(output(Matching::Left), [text("l", false), text("r", true)]);
    assert_eq!(output(Matching::Right), [text("l", true), text("r", false)]);
    assert_eq!(output(Matching::Full), [text("l", true), text("r", true)]);
    assert_eq!(
        join_output(&interval(0, 1, Matching::Full), &[], &[], None),
        [Field::dynamic("l"), Field::dynamic("r")]
    );
}

#[test]
fn a_hook_reads_the_fields_of_pairs() {
    let mut join = interval(0, 1, Matching::Left);
    join.output = JoinOutput::Hook(hook_spec());
    let plan = plan(&[text("left.a", false), text("right.a", true), text("left.key", false)], &["right.b", "left.a"]);
    let key = text("key", false);
    assert_eq!(
        join_reads(&join, Some(&plan)),
        [vec![text("a", false), key], vec![text("a", true), Field::dynamic("b"), Field::dynamic("id")]]
    );
    let (left, right) = ([text("a", false)], [text("a", false), text("b", false)]);
    let pairs = [text("left.a", false), text("right.a", true), text("right.b", true)];
    assert_eq!(pair_fields(&left, &right, Matching::Left), pairs);
    let output = [text("made", false), text("right.b", true), text("left.a", false)];
    assert_eq!(join_output(&join, &left, &right, Some(&plan)), output);
    assert_eq!(unknown_pair_field(&plan), None);
}

#[test]
fn a_field_of_neither_side_is_unknown() {
    assert_eq!(unknown_pair_field(&plan(&[text("campaign", true)], &[])), Some("campaign"));
    assert_eq!(unknown_pair_field(&plan(&[], &["left", "x"])), Some("left"));
}
