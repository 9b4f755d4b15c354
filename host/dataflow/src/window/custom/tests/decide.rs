//! When windows fire, where the hook decides.

use tidegate_types::Watermark;
use tidegate_types::hooks::Decision;

use super::job::{Case, at};
use super::script::{Asked, Said, Script, ten};

/// Waits for the end, then shows every late row.
fn at_the_end(asked: &Asked) -> Said<Decision> {
    Ok(if asked.has_ended() { Decision::Fire } else { Decision::Wait })
}

/// One decision for rows before the end, one at it, one for late rows.
fn tens(early: Decision, on_time: Decision, late: Decision) -> Script {
    Script::tens().deciding(move |asked| {
        Ok(match (asked.count, asked.has_ended()) {
            (0, _) => on_time,
            (_, false) => early,
            (_, true) => late,
        })
    })
}

/// `key [start,end) count @watermark`
fn asked(script: &Script) -> Vec<String> {
    let line = |asked: Asked| {
        let (start, end) = asked.window;
        format!("{} [{start},{end}) {} @{}", asked.key, asked.count, at(asked.watermark))
    };
    script.take_asked().into_iter().map(line).collect()
}

#[test]
fn the_hook_is_asked_after_every_row_with_one_and_at_the_end_with_none() {
    let case = Case { lateness: 5, ..Case::of(Script::tens().deciding(at_the_end)) };
    let lines: Vec<String> = "a 1; a 2 w=3; b 4; a 5 w=12; a 6; a 7 w=15".split(';').map(super::job::json).collect();
    for batch_rows in [1, 3, 1_000] {
        case.run_cut(&lines, batch_rows, 1);
        let expected = [
            "a [0,10) 1 @-inf",
            "a [0,10) 1 @-inf",
            "a [0,10) 1 @3",
            "a [0,10) 0 @12",
            "a [0,10) 1 @12",
            "a [0,10) 1 @12",
            "b [0,10) 1 @3",
            "b [0,10) 0 @12",
        ];
        assert_eq!(asked(&case.script), expected, "{batch_rows} rows a batch");
    }
}

#[test]
fn the_hook_is_asked_about_each_window_of_a_row() {
    let script = Script::new(|row| Ok(vec![ten(row.time), (0, 20)])).deciding(at_the_end);
    let case = Case::of(script);
    case.run_cut(&[super::job::json("a 1")], 10, 1);
    assert_eq!(asked(&case.script), ["a [0,10) 1 @-inf", "a [0,10) 0 @inf", "a [0,20) 1 @-inf", "a [0,20) 0 @inf"]);
}

#[test]
fn panes_are_early_on_time_and_late_as_the_watermark_says() {
    let case = Case { lateness: 5, ..Case::of(tens(Decision::Fire, Decision::Fire, Decision::Fire)) };
    let ran = case.run("a 1; a 2 w=5; a 3 w=10; a 4 w=15");
    let expected = [
        "a [0,10) 1 EARLY 0 @-inf",
        "a [0,10) 2 EARLY 1 @-inf",
        "a [0,10) 3 EARLY 2 @5",
        "a [0,10) 3 ON_TIME 3 @10",
        "a [0,10) 4 LATE 4 @10",
    ];
    assert_eq!(ran.panes, expected);
    assert_eq!(ran.account.unshown, 0);
}

#[test]
fn the_pipelines_trigger_is_not_asked() {
    let case = Case {
        lateness: 5,
        trigger: "{early: every 1 elements, late: every_element}",
        ..Case::of(tens(Decision::Wait, Decision::Wait, Decision::Wait))
    };
    let ran = case.run("a 1; a 2 w=10; a 3");
    assert!(ran.panes.is_empty(), "{:?}", ran.panes);
    assert_eq!((ran.account.accepted, ran.account.unshown), (3, 3));
}

#[test]
fn the_host_purges_at_the_end_plus_the_lateness_whatever_the_hook_says() {
    let case = Case { lateness: 5, ..Case::of(tens(Decision::Wait, Decision::Wait, Decision::Fire)) };
    let ran = case.run("a 1 w=10; a 2 w=14; a 3 w=15; a 4");
    assert_eq!(ran.panes, ["a [0,10) 2 LATE 0 @10", "a [0,10) 3 LATE 1 @14"]);
    assert_eq!(ran.sides, ["too-late mine #3"]);
}

#[test]
fn one_advance_past_end_and_lateness_asks_before_it_purges() {
    let case = Case { lateness: 5, ..Case::of(Script::tens().deciding(at_the_end)) };
    assert_eq!(case.run("a 1; a 2 w=100; a 3").panes, ["a [0,10) 2 ON_TIME 0! @100"]);
}

#[test]
fn after_fire_and_purge_the_window_begins_again() {
    let case = Case { lateness: 5, ..Case::of(tens(Decision::FireAndPurge, Decision::Fire, Decision::FireAndPurge)) };
    let ran = case.run("a 1; a 2; b 1 w=10; a 3");
    let expected =
        ["a [0,10) 1 EARLY 0 @-inf", "a [0,10) 1 EARLY 0 @-inf", "a [0,10) 1 LATE 0 @10", "b [0,10) 1 EARLY 0 @-inf"];
    assert_eq!(ran.panes, expected, "nobody is asked at the end about a window that is gone");
    assert_eq!(ran.account.unshown, 0);
}

#[test]
fn a_purge_without_a_pane_leaves_its_records_unshown() {
    let script = tens(Decision::Wait, Decision::Purge, Decision::Purge);
    let case = Case { lateness: 5, ..Case::of(script) };
    let ran = case.run("a 1; a 2; b 1 w=10; a 3; a 4 w=20");
    assert!(ran.panes.is_empty());
    assert_eq!((ran.account.accepted, ran.account.unshown), (5, 5));
}

#[test]
fn a_record_that_was_shown_before_the_purge_is_not_unshown() {
    let script = Script::tens().deciding(|asked| {
        Ok(match (asked.watermark, asked.count) {
            (_, 0) => Decision::Purge,
            (Watermark::MIN, _) => Decision::Fire,
            _ => Decision::Wait,
        })
    });
    let ran = Case::of(script).run("a 1; a 2 w=5; a 3; a 4 w=10");
    assert_eq!(ran.panes, ["a [0,10) 1 EARLY 0 @-inf", "a [0,10) 2 EARLY 1 @-inf"]);
    assert_eq!(ran.account.unshown, 2);
}

#[test]
fn a_record_of_two_windows_is_unshown_only_if_neither_shows_it() {
    let script = Script::new(|row| Ok(vec![ten(row.time), (0, 100)])).deciding(|asked| {
        let long = asked.window.1 == 100;
        Ok(match (long, asked.key.as_str(), asked.count) {
            (false, _, 0) => Decision::Purge,
            (true, "shown", 0) => Decision::Fire,
            (true, _, 0) => Decision::Purge,
            _ => Decision::Wait,
        })
    });
    let ran = Case::of(script).run("shown 1; hidden 1; hidden 2; shown 12 w=10; hidden 50");
    assert_eq!(ran.panes, ["shown [0,100) 2 ON_TIME 0! @inf"]);
    assert_eq!((ran.account.accepted, ran.account.unshown), (5, 3));
}

#[test]
fn a_row_that_one_window_shows_and_another_purges_at_once_is_shown() {
    let script = Script::new(|row| Ok(vec![ten(row.time), (0, 100)]))
        .deciding(|asked| Ok(if asked.window.1 == 100 { Decision::FireAndPurge } else { Decision::Purge }));
    let ran = Case::of(script).run("a 1; a 2");
    assert_eq!(ran.panes, ["a [0,100) 1 EARLY 0 @-inf", "a [0,100) 1 EARLY 0 @-inf"]);
    assert_eq!(ran.account.unshown, 0);
}

fn failing(count: u32) -> Script {
    Script::tens().deciding(move |asked| {
        if asked.key.starts_with("bad") && asked.count == count { Err("trap") } else { at_the_end(asked) }
    })
}

#[test]
fn a_row_on_which_the_hook_fails_is_condemned_and_leaves_no_trace() {
    let script = Script::new(|row| {
        let ten = ten(row.time);
        Ok(if row.mark == "bad" { vec![ten, (ten.0, ten.1 + 1_000)] } else { vec![ten] })
    })
    .deciding(|asked| if asked.window.1 > 1_000 { Err("fault") } else { at_the_end(asked) });
    let case = Case { horizon: Some(100), ..Case::of(script) };
    let ran = case.run("a 1 id=x mark=bad; b 1 id=x; a 2 id=x; b 2 id=x mark=bad; c 3 id=z mark=bad; a 4");
    assert_eq!(ran.panes, ["a [0,10) 2 ON_TIME 0! @inf", "b [0,10) 1 ON_TIME 0! @inf"]);
    assert_eq!(ran.sides, ["duplicate mine #3", "fault mine #0", "fault mine #4"]);
    assert_eq!((ran.account.accepted, ran.account.duplicate, ran.account.rejected), (3, 1, 2));
}

#[test]
fn rows_that_are_condemned_cost_none_of_their_batch() {
    let line = |at: usize| format!("{}{at} {at}", if at % 10 == 7 { "bad" } else { "good" });
    let lines: Vec<String> = (0..200).map(line).collect();
    let ran = Case::of(failing(1)).run(&lines.join(";"));
    assert_eq!((ran.account.accepted, ran.account.rejected), (180, 20));
    assert_eq!((ran.panes.len(), ran.sides.len()), (180, 20));
    assert_eq!(ran.sides[0], "trap mine #107");
}

#[test]
fn a_failure_at_the_watermark_is_a_failed_pane_and_the_state_stays() {
    let case = Case { lateness: 5, ..Case::of(failing(0)) };
    let ran = case.run("bad 1; good 1; bad 2 w=10; bad 3; x 50 w=15");
    let expected = ["bad [0,10) 3 LATE 0 @10", "good [0,10) 1 ON_TIME 0 @10", "x [50,60) 1 ON_TIME 0! @inf"];
    assert_eq!(ran.panes, expected);
    assert_eq!(ran.sides, ["pane-failed mine bad [0,10)"]);
    assert_eq!((ran.account.failed_panes, ran.account.rejected, ran.account.unshown), (1, 0, 0));
}

#[test]
fn what_a_failed_decision_never_showed_is_unshown() {
    let ran = Case::of(failing(0)).run("bad 1; bad 2; good 1");
    assert_eq!(ran.panes, ["good [0,10) 1 ON_TIME 0! @inf"]);
    assert_eq!((ran.account.accepted, ran.account.unshown), (3, 2));
}

#[test]
fn windows_that_end_together_fire_in_order_of_end_then_start() {
    let script = Script::new(|row| Ok(vec![(row.time, 30), (0, row.time + 100)])).deciding(at_the_end);
    let ran = Case::of(script).run("a 9; a 3; a 5; a 3");
    let expected = [
        "a [3,30) 2 ON_TIME 0! @inf",
        "a [5,30) 1 ON_TIME 0! @inf",
        "a [9,30) 1 ON_TIME 0! @inf",
        "a [0,103) 2 ON_TIME 0! @inf",
        "a [0,105) 1 ON_TIME 0! @inf",
        "a [0,109) 1 ON_TIME 0! @inf",
    ];
    assert_eq!(ran.panes, expected);
}

#[test]
fn discarding_shows_the_records_since_the_last_pane() {
    let case = Case {
        accumulation: "discarding",
        lateness: 5,
        ..Case::of(tens(Decision::Wait, Decision::Fire, Decision::Fire))
    };
    let ran = case.run("a 1; a 2 w=10; a 3; a 4; b 50 w=15");
    let expected =
        ["a [0,10) 2 ON_TIME 0 @10", "a [0,10) 1 LATE 1 @10", "a [0,10) 1 LATE 2 @10", "b [50,60) 1 ON_TIME 0! @inf"];
    assert_eq!(ran.panes, expected);
}

#[test]
fn a_window_that_begins_again_takes_nothing_back_that_it_showed_before() {
    let case = Case {
        accumulation: "accumulating_and_retracting",
        ..Case::of(tens(Decision::FireAndPurge, Decision::Fire, Decision::Wait))
    };
    let ran = case.run("a 1; a 2");
    assert_eq!(ran.panes, ["a [0,10) 1 EARLY 0 @-inf", "a [0,10) 1 EARLY 0 @-inf"]);
    assert_eq!(ran.account.retractions, 0);
}

#[test]
fn a_budget_that_bears_two_windows_gives_the_same() {
    let lines: Vec<String> =
        (0..60).map(|at| format!("k{} {at}{}", at % 7, if at % 9 == 0 { " w=3" } else { "" })).collect();
    let script = || Script::new(|row| Ok((0..5).map(|more| (row.time, row.time + 10 + more)).collect()));
    let (ample, scant) = (script().deciding(at_the_end), script().deciding(at_the_end).with_fuel(2));
    assert_eq!(Case::of(scant).run(&lines.join(";")), Case::of(ample).run(&lines.join(";")));
}
