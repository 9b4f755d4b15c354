//! What a plan may say, and what is said of one that may not.

use tidegate_types::hooks::Reads;
use tidegate_types::{Field, Kind};

use super::{Wrong, keeps, makes, reads};
use crate::bindings::tidegate::job::types::{FieldResult, Kind as WireKind, Reads as WireReads};
use crate::config::PLAN_FIELDS;

fn field(name: &str, kind: WireKind) -> FieldResult {
    FieldResult { name: name.into(), kind, nullable: false, logical: None }
}

fn json(name: &str) -> FieldResult {
    FieldResult { logical: Some("json".into()), nullable: true, ..field(name, WireKind::Text) }
}

fn asking(columns: Vec<FieldResult>) -> Option<WireReads> {
    Some(WireReads { columns, times: false })
}

/// `n: int?` and `any`, which no schema declares.
fn input() -> Vec<Field> {
    vec![Field::typed("n", Kind::Int, true), Field::dynamic("any")]
}

fn wrong<T: std::fmt::Debug>(outcome: Result<T, Wrong>) -> (String, String) {
    let Wrong { place, reason } = outcome.expect_err("the plan is wrong");
    (place, reason)
}

#[test]
fn without_a_word_all_declared_fields_and_times_are_read() {
    let all = Reads { columns: vec![Field::typed("n", Kind::Int, true)], times: true };
    assert_eq!(reads(None, &input()), Ok(all));
}

#[test]
fn undeclared_fields_are_read_as_they_are_asked_for() {
    let asked = asking(vec![
        field("any", WireKind::Float),
        field("raw", WireKind::Bytes),
        json("tags"),
        field("n", WireKind::Int),
    ]);
    let due = vec![
        Field::typed("any", Kind::Float, false),
        Field::typed("raw", Kind::Bytes, false),
        Field::dynamic("tags"),
        Field::typed("n", Kind::Int, false),
    ];
    assert_eq!(reads(asked, &input()).map(|reads| reads.columns), Ok(due));
}

#[test]
fn a_declared_field_is_read_as_what_it_is() {
    let (place, reason) = wrong(reads(asking(vec![field("x", WireKind::Int), field("n", WireKind::Text)]), &input()));
    assert_eq!(place, "reads.columns[1] (n)");
    assert_eq!(reason, "it is asked for as text, the pipeline declares int; ask for that, or change the schema");
    let (_, reason) = wrong(reads(asking(vec![json("n")]), &input()));
    assert!(reason.starts_with("it is asked for as text with the logical type json"), "{reason}");
}

#[test]
fn names_are_unique_and_bearable() {
    let twice = vec![field("a", WireKind::Int), field("b", WireKind::Int), field("a", WireKind::Text)];
    assert_eq!(
        wrong(makes("output", &twice)),
        ("output[2] (a)".into(), "the name is that of output[0]; names are unique".into())
    );
    let (_, reason) = wrong(makes("output", &[field("", WireKind::Int)]));
    assert_eq!(reason, "a name has 1 to 256 bytes");
    let (place, _) = wrong(makes("output", &[field(&"\n".repeat(300), WireKind::Int)]));
    assert!(place.len() < 600 && !place.contains('\n'), "{place}");
    let many: Vec<FieldResult> = (0..=PLAN_FIELDS).map(|n| field(&n.to_string(), WireKind::Int)).collect();
    assert_eq!(wrong(makes("output", &many)).1, "it has 1001 entries, at most 1000 are allowed");
}

#[test]
fn logical_types_that_nobody_checks_are_not_promised() {
    let decimal = FieldResult { logical: Some("decimal(9,2)".into()), ..field("price", WireKind::Text) };
    let (place, reason) = wrong(makes("output", &[decimal]));
    assert_eq!(place, "output[0] (price)");
    assert!(reason.contains("`decimal(9,2)` is not supported"), "{reason}");
}

#[test]
fn kept_fields_are_known_once_and_not_made_anew() {
    let reads = Reads { columns: vec![Field::typed("city", Kind::Text, false)], times: false };
    let output = [Field::typed("made", Kind::Int, false)];
    let keep = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        keeps(&names, &input(), &reads, &output)
    };
    assert_eq!(keep(&["any", "n", "city"]).map(|kept| kept.len()), Ok(3));
    assert_eq!(wrong(keep(&["n", "n"])), ("keep[1] (n)".into(), "it is named twice".into()));
    assert!(wrong(keep(&["made"])).1.contains("keep it or make it, not both"));
    assert!(wrong(keep(&["nowhere"])).1.contains("declare it in the pipeline's `schema`"));
}
