//! What the hook makes of panes.

use tidegate_types::hooks::Decision;

use super::job::Case;
use super::script::{Asked, Said, Script, Shown, ten};

/// `value` rows a pane: `0`, `1`, …
fn counted(shown: &Shown) -> Said<Vec<String>> {
    Ok((0..shown.value).map(|row| row.to_string()).collect())
}

fn always(_asked: &Asked) -> Said<Decision> {
    Ok(Decision::Fire)
}

#[test]
fn a_pane_becomes_any_number_of_rows() {
    let script = Script::tens().deciding(always).emitting(|shown| {
        let row = |at| format!("{}-{}-{at}-of-{}", shown.key, shown.timing.name(), shown.value);
        Ok((1..shown.value).map(row).collect())
    });
    let ran = Case::of(script).run("a 1; a 2; b 3");
    let expected = ["a [0,10) a-EARLY-1-of-2 EARLY 1 @-inf", "a [0,10) a-ON_TIME-1-of-2 ON_TIME 2! @inf"];
    assert_eq!(ran.panes, expected);
    assert_eq!((ran.account.panes_early, ran.account.panes_on_time), (3, 2), "firings are counted, not rows");
    assert_eq!(ran.account.unshown, 0, "a pane of no rows is one");
}

#[test]
fn all_rows_of_the_pane_before_are_retracted() {
    let case = Case {
        accumulation: "accumulating_and_retracting",
        ..Case::of(Script::tens().deciding(always).emitting(counted))
    };
    let ran = case.run("a 1; a 2 w=10");
    let expected = [
        "a [0,10) 0 EARLY 0 @-inf",
        "-a [0,10) 0 EARLY 0 @-inf",
        "a [0,10) 0 EARLY 1 @-inf",
        "a [0,10) 1 EARLY 1 @-inf",
        "-a [0,10) 0 EARLY 1 @-inf",
        "-a [0,10) 1 EARLY 1 @-inf",
        "a [0,10) 0 ON_TIME 2! @10",
        "a [0,10) 1 ON_TIME 2! @10",
    ];
    assert_eq!(ran.panes, expected);
    assert_eq!(ran.account.retractions, 3);
}

#[test]
fn a_pane_of_no_rows_takes_back_what_stood() {
    let script =
        Script::tens().deciding(always).emitting(|shown| Ok(if shown.value == 2 { vec![] } else { vec!["x".into()] }));
    let case = Case { accumulation: "accumulating_and_retracting", ..Case::of(script) };
    let ran = case.run("a 1; a 2; a 3 w=10");
    let expected = [
        "a [0,10) x EARLY 0 @-inf",
        "-a [0,10) x EARLY 0 @-inf",
        "a [0,10) x EARLY 2 @-inf",
        "-a [0,10) x EARLY 2 @-inf",
        "a [0,10) x ON_TIME 3! @10",
    ];
    assert_eq!(ran.panes, expected);
}

#[test]
fn a_pane_that_fails_keeps_its_state_and_the_next_firing_tries_again() {
    let script = Script::tens()
        .deciding(always)
        .emitting(|shown| if shown.value == 2 { Err("trap") } else { Ok(vec![format!("{}", shown.value)]) });
    let case = Case { accumulation: "accumulating_and_retracting", ..Case::of(script) };
    let ran = case.run("a 1; a 2; a 3; b 1 w=10");
    let expected = [
        "a [0,10) 1 EARLY 0 @-inf",
        "-a [0,10) 1 EARLY 0 @-inf",
        "a [0,10) 3 EARLY 1 @-inf",
        "-a [0,10) 3 EARLY 1 @-inf",
        "a [0,10) 3 ON_TIME 2! @10",
        "b [0,10) 1 EARLY 0 @-inf",
        "-b [0,10) 1 EARLY 0 @-inf",
        "b [0,10) 1 ON_TIME 1! @10",
    ];
    assert_eq!(ran.panes, expected);
    assert_eq!(ran.sides, ["pane-failed mine a [0,10)"]);
    let account = ran.account;
    assert_eq!((account.failed_panes, account.panes_early, account.rejected, account.unshown), (1, 3, 0, 0));
}

#[test]
fn a_pane_that_fails_is_not_purged_by_fire_and_purge() {
    let script = Script::tens()
        .deciding(|_| Ok(Decision::FireAndPurge))
        .emitting(|shown| if shown.value == 1 { Err("trap") } else { Ok(vec![format!("{}", shown.value)]) });
    let case = Case { lateness: 5, ..Case::of(script) };
    let ran = case.run("a 1; a 2; a 3 w=10; a 4; b 1 w=20");
    let expected = ["a [0,10) 2 EARLY 0 @-inf", "a [0,10) 2 LATE 0 @10"];
    assert_eq!(ran.panes, expected);
    // The row at 1; the row at 3, twice: by itself, and as the watermark passes the end.
    let failed = "pane-failed mine a [0,10)";
    assert_eq!(ran.sides, [failed, failed, failed, "pane-failed mine b [0,10)"]);
    assert_eq!(ran.account.unshown, 1, "the row of b");
}

#[test]
fn a_pane_that_fails_fails_no_other() {
    let script = Script::tens()
        .deciding(|asked| Ok(if asked.count == 0 { Decision::Fire } else { Decision::Wait }))
        .emitting(|shown| if shown.key.starts_with("bad") { Err("fault") } else { counted(shown) });
    let lines: Vec<String> =
        (0..200).map(|at| format!("{}{at} {at}", if at % 50 == 9 { "bad" } else { "good" })).collect();
    let ran = Case::of(script).run(&lines.join(";"));
    assert_eq!(ran.panes.len(), 196);
    assert!(ran.panes.iter().all(|pane| pane.starts_with("good")));
    assert_eq!(ran.sides.len(), 4);
    assert_eq!((ran.account.failed_panes, ran.account.panes_on_time, ran.account.unshown), (4, 196, 4));
}

#[test]
fn without_decisions_panes_of_several_watermarks_are_made_apart() {
    let trigger = "{early: every 1 elements, late: every_element}";
    let case = Case { trigger, lateness: 50, ..Case::of(Script::tens().emitting(counted)) };
    let ran = case.run("a 1; b 1 w=2; c 1 w=3; d 1; a 12 w=4; e 1 w=5");
    let expected = [
        "a [0,10) 0 EARLY 0 @-inf",
        "a [10,20) 0 EARLY 0 @3",
        "a [0,10) 0 ON_TIME 1! @inf",
        "a [10,20) 0 ON_TIME 1! @inf",
        "b [0,10) 0 EARLY 0 @-inf",
        "b [0,10) 0 ON_TIME 1! @inf",
        "c [0,10) 0 EARLY 0 @2",
        "c [0,10) 0 ON_TIME 1! @inf",
        "d [0,10) 0 EARLY 0 @3",
        "d [0,10) 0 ON_TIME 1! @inf",
        "e [0,10) 0 EARLY 0 @4",
        "e [0,10) 0 ON_TIME 1! @inf",
    ];
    assert_eq!(ran.panes, expected);
}

#[test]
fn a_budget_that_bears_two_panes_gives_the_same() {
    let lines: Vec<String> = (0..40).map(|at| format!("k{at} {at}")).collect();
    let script = || Script::new(|row| Ok(vec![ten(row.time), (0, 1_000)])).emitting(counted);
    let (ample, scant) = (Case::of(script()), Case::of(script().with_fuel(2)));
    assert_eq!(scant.run(&lines.join(";")), ample.run(&lines.join(";")));
}
