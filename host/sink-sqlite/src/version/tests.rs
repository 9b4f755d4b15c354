//! The order of versions, as a table of cases.

use super::*;

const fn version(precedence: i32, restore_epoch: u64, pane_index: u64) -> Version {
    Version { precedence, restore_epoch, pane_index }
}

const fn known(version: Version, same_window: bool, is_there: bool) -> Option<Known> {
    Some(Known { version, same_window, is_there })
}

/// What is known of the key (of the same window), what comes, and which of them is kept.
const CASES: [(Version, Version, Verdict); 14] = [
    (version(0, 0, 0), version(0, 0, 0), Verdict::Takes),
    (version(0, 0, 0), version(0, 0, 1), Verdict::Takes),
    (version(0, 0, 1), version(0, 0, 0), Verdict::Yields),
    (version(0, 1, 9), version(0, 2, 0), Verdict::Takes),
    (version(0, 2, 0), version(0, 1, 9), Verdict::Yields),
    (version(0, 9, 9), version(1, 0, 0), Verdict::Takes),
    (version(1, 0, 0), version(0, 9, 9), Verdict::Yields),
    (version(-1, 9, 9), version(0, 0, 0), Verdict::Takes),
    (version(0, 0, 0), version(-1, 9, 9), Verdict::Yields),
    (version(i32::MIN, u64::MAX, u64::MAX), version(i32::MAX, 0, 0), Verdict::Takes),
    (version(i32::MAX, 0, 0), version(i32::MIN, u64::MAX, u64::MAX), Verdict::Yields),
    (version(0, u64::MAX, 0), version(0, u64::MAX, 1), Verdict::Takes),
    (version(0, 10, 2), version(0, 9, 10), Verdict::Yields),
    (version(2, 1, 0), version(10, 0, 0), Verdict::Takes),
];

#[test]
fn the_greater_of_precedence_epoch_and_index_in_this_order_stays() {
    for (there, comes, verdict) in CASES {
        for is_there in [true, false] {
            let known = known(there, true, is_there);
            assert_eq!(insert(known, comes), verdict, "{there:?} is there: {is_there}, the row {comes:?} comes");
            assert_eq!(retract(known, comes), verdict, "{there:?} is there: {is_there}, {comes:?} is taken back");
        }
    }
}

#[test]
fn an_index_says_nothing_about_another_window() {
    let of_another = |is_there| known(version(0, 1, 5), false, is_there);
    for is_there in [true, false] {
        assert_eq!(insert(of_another(is_there), version(0, 1, 0)), Verdict::Takes, "the last one stays");
        assert_eq!(insert(of_another(is_there), version(0, 0, 9)), Verdict::Yields, "an older run's");
        assert_eq!(insert(of_another(is_there), version(-1, 9, 9)), Verdict::Yields, "a lower precedence's");
    }
    assert_eq!(retract(of_another(true), version(0, 2, 9)), Verdict::Yields, "the row of another window stays");
    assert_eq!(retract(of_another(false), version(0, 1, 0)), Verdict::Takes);
}

#[test]
fn what_is_not_known_is_written() {
    assert_eq!(insert(None, version(i32::MIN, 0, 0)), Verdict::Takes);
    assert_eq!(retract(None, version(i32::MIN, 0, 0)), Verdict::Takes);
}
