//! Outputs as cargo and the figures test print them.

use super::*;

const UNITS: &str = "running 2 tests
test assign::tests::floors_negative_times ... FAILED
test assign::tests::sizes_that_the_slide_does_not_divide ... ok

failures:

---- assign::tests::floors_negative_times stdout ----
";

const FIGURES: &str = r#"running 2 tests
test windows_open_fire_and_go_as_on_paper ... FAILED

---- windows_open_fire_and_go_as_on_paper stdout ----
thread 'x' panicked at tests/conformance/tests/figures.rs:164:5:
2 differ:
engine: lateness ends at end + L exactly
{"accumulation":"discarding"}
panes of key ["a"] from place 0
  expected (1 more lines)
    {"k":"a"}

engine: keys are equal by type and value, objects in canonical form, absent is null
{"accumulation":"discarding"}
summary
"#;

#[test]
fn failed_unit_tests_are_named_by_their_last_part() {
    assert_eq!(of_units(&Some(UNITS.to_owned())), ["`floors_negative_times`"]);
    assert_eq!(of_units(&None), Vec::<String>::new());
}

#[test]
fn figures_are_named_as_they_name_themselves() {
    let names = of_figures(&Some(FIGURES.to_owned()));
    let expected = [
        "lateness ends at end + L exactly",
        "keys are equal by type and value, objects in canonical form, absent is null",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_failed_run_without_a_name_is_found_too() {
    assert_eq!(of_units(&Some("signal: 9".to_owned())), ["the run did not end"]);
}
