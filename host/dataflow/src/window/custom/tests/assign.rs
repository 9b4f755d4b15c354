//! Which windows a row is in, and what becomes of it.

use super::job::{Case, Ran};
use super::script::{Script, ten};
use crate::Account;

/// `[0, 10)` and `[0, 20)`, and so on: windows of ten and of twenty.
fn nested() -> Script {
    Script::new(|row| {
        let start = row.time.div_euclid(20) * 20;
        Ok(vec![ten(row.time), (start, start + 20)])
    })
}

#[test]
fn a_row_in_no_window_counts_as_filtered() {
    let script = Script::new(|row| Ok(if row.mark == "none" { Vec::new() } else { vec![ten(row.time)] }));
    let ran = Case::of(script).run("a 1; a 2 mark=none; b 3 mark=none; a 4");
    assert_eq!(ran.panes, ["a [0,10) 2 ON_TIME 0! @inf"]);
    assert_eq!((ran.account.accepted, ran.account.filtered), (2, 2));
    assert!(ran.sides.is_empty());
}

#[test]
fn windows_that_share_a_start_are_two_and_fire_in_order_of_end() {
    let ran = Case::of(nested()).run("a 1; a 2; a 12 w=10");
    let expected = ["a [0,10) 2 ON_TIME 0! @10", "a [0,20) 3 ON_TIME 0! @inf", "a [10,20) 1 ON_TIME 0! @inf"];
    assert_eq!(ran.panes, expected);
}

#[test]
fn windows_in_any_order_and_named_twice_are_one_each() {
    let script = Script::new(|row| Ok(vec![(5, 50), ten(row.time), (0, 50), ten(row.time), (5, 50)]));
    let ran = Case::of(script).run("a 1");
    let expected = ["a [0,10) 1 ON_TIME 0! @inf", "a [0,50) 1 ON_TIME 0! @inf", "a [5,50) 1 ON_TIME 0! @inf"];
    assert_eq!(ran.panes, expected);
}

#[test]
fn a_row_goes_where_the_hook_says_whatever_its_time() {
    let ran = Case::of(Script::new(|_| Ok(vec![(-20, -10)]))).run("a 100; a 200");
    assert_eq!(ran.panes, ["a [-20,-10) 2 ON_TIME 0! @inf"]);
}

#[test]
fn a_window_of_all_times_has_bounds_and_fires_at_the_end() {
    let ran = Case::of(Script::new(|_| Ok(vec![(i64::MIN, i64::MAX)]))).run("a 1 w=1000; a 2");
    assert_eq!(ran.panes, [format!("a [{},{}) 2 ON_TIME 0! @inf", i64::MIN, i64::MAX)]);
}

#[test]
fn a_row_some_of_whose_windows_are_gone_is_partly_late() {
    let ran = Case::of(nested()).run("a 1 w=10; a 2; a 3 w=20; a 4");
    let expected = ["a [0,10) 1 ON_TIME 0! @10", "a [0,20) 3 ON_TIME 0! @20"];
    assert_eq!(ran.panes, expected);
    let Account { accepted, partly_late, too_late, .. } = ran.account;
    assert_eq!((accepted, partly_late, too_late), (3, 2, 1));
    assert_eq!(ran.sides, ["too-late mine #3"]);
}

#[test]
fn a_window_that_opens_after_its_end_is_late_until_it_is_gone() {
    let case = Case { lateness: 5, ..Case::of(Script::tens()) };
    let ran = case.run("b 50 w=12; a 1; a 2 w=15; a 3");
    assert_eq!(ran.panes, ["a [0,10) 1 LATE 0 @12", "a [0,10) 2 LATE 1 @12", "b [50,60) 1 ON_TIME 0! @inf"]);
    assert_eq!(ran.sides, ["too-late mine #3"]);
}

fn failing_on(mark: &'static str) -> Script {
    Script::new(move |row| if row.mark == mark { Err("trap") } else { Ok(vec![ten(row.time)]) })
}

#[test]
fn one_row_of_a_thousand_on_which_the_hook_fails_is_one_dead_letter() {
    for place in [0, 1, 500, 640, 999] {
        let line = |at| format!("a {at}{}", if at == place { " mark=bad" } else { "" });
        let lines: Vec<String> = (0..1_000).map(line).collect();
        let ran = Case::of(failing_on("bad")).run(&lines.join(";"));
        assert_eq!(ran.sides, [format!("trap mine #{place}")]);
        assert_eq!((ran.account.accepted, ran.account.rejected), (999, 1));
    }
}

#[test]
fn many_rows_on_which_the_hook_fails_cost_no_other_row() {
    let lines: Vec<String> =
        (0..300).map(|at| format!("a {at}{}", if at % 3 == 0 { " mark=bad" } else { "" })).collect();
    let ran = Case::of(failing_on("bad")).run(&lines.join(";"));
    assert_eq!((ran.account.accepted, ran.account.rejected), (200, 100));
    assert_eq!(ran.panes.len(), 30);
}

#[test]
fn a_failing_row_is_rejected_before_it_is_late_or_a_duplicate() {
    let case = Case { horizon: Some(100), ..Case::of(failing_on("bad")) };
    let ran = case.run("a 1 id=x w=10; a 2 mark=bad; a 12 id=x mark=bad; a 13 id=x; a 14 id=y");
    assert_eq!(ran.sides, ["duplicate mine #3", "trap mine #1", "trap mine #2"]);
}

#[test]
fn a_field_of_another_kind_than_the_hook_reads_is_a_type_mismatch() {
    let ran = Case::of(Script::tens()).run("a 1 mark=7; a 2");
    assert_eq!(ran.sides, ["type-mismatch mine #0"]);
    assert_eq!(ran.account.accepted, 1);
}

#[test]
fn an_identity_is_of_the_key_not_of_the_window() {
    let case = Case { horizon: Some(100), ..Case::of(nested()) };
    let ran = case.run("a 1 id=x; a 15 id=x; b 15 id=x");
    assert_eq!(ran.sides, ["duplicate mine #1"]);
    assert_eq!(ran.panes.iter().filter(|pane| pane.starts_with('b')).count(), 2);
}

#[test]
fn a_budget_that_bears_three_rows_gives_the_same() {
    let lines: Vec<String> = (0..50).map(|at| format!("a {at}")).collect();
    let (ample, scant) = (Case::of(nested()), Case::of(nested().with_fuel(3)));
    assert_eq!(scant.run(&lines.join(";")), ample.run(&lines.join(";")));
}

#[test]
fn without_decisions_the_pipelines_triggers_fire() {
    let trigger = "{early: every 2 elements, late: every_element}";
    let accumulation = "accumulating_and_retracting";
    let case = Case { lateness: 5, trigger, accumulation, ..Case::of(Script::tens()) };
    let Ran { panes, account, .. } = case.run("a 1; a 2; a 3 w=10; a 4; b 40 w=15");
    let expected = [
        "a [0,10) 2 EARLY 0 @-inf",
        "-a [0,10) 2 EARLY 0 @-inf",
        "a [0,10) 3 ON_TIME 1 @10",
        "-a [0,10) 3 ON_TIME 1 @10",
        "a [0,10) 4 LATE 2 @10",
        "b [40,50) 1 ON_TIME 0! @inf",
    ];
    assert_eq!(panes, expected);
    assert_eq!((account.panes_early, account.panes_on_time, account.panes_late, account.retractions), (1, 2, 1, 2));
}

#[test]
fn without_decisions_late_rows_that_nothing_shows_are_unshown() {
    let case = Case { lateness: 5, trigger: "{late: none}", ..Case::of(nested()) };
    let ran = case.run("a 1 w=12; a 2; a 15 w=22; a 16");
    // The row at 2 is shown by [0,20), the row at 16 by nothing: both its windows have ended.
    assert_eq!((ran.account.accepted, ran.account.unshown), (4, 1));
    assert_eq!(ran.panes, ["a [0,10) 1 ON_TIME 0 @12", "a [0,20) 3 ON_TIME 0 @22", "a [10,20) 1 ON_TIME 0 @22"]);
}
