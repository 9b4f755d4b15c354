//! The comparison finds what it is there to find.

use serde_json::json;

use super::*;
use crate::workload::workloads;

fn job(name: &str, delivery: Delivery) -> JobPlan {
    let workload = workloads().iter().find(|workload| workload.name == name).expect("it is in the list");
    JobPlan { workload, input: 0, delivery, parallelism: 1, interval: 100 }
}

/// Panes of two keys in a stream.
fn outcome(stream: &'static str, panes: &[(&str, u64)]) -> Outcome {
    let record = |(user, index): &(&str, u64)| (0, json!({"user": user, "pane": {"index": index}, "watermark": 7}));
    let account = json!({"read": 3, "accepted": 2, "too_late": 1});
    Outcome { account, outputs: BTreeMap::from([(stream, panes.iter().map(record).collect())]) }
}

fn sessions(delivery: Delivery, found: &[(&str, u64)]) -> Vec<String> {
    let expected = outcome("sessions-panes", &[("a", 0), ("b", 0), ("a", 1), ("a", 2)]);
    differences(&job("sessions", delivery), &expected, &outcome("sessions-panes", found))
}

#[test]
fn other_keys_may_stand_between_and_nothing_else_may_change() {
    let once = |found: &[(&str, u64)]| sessions(Delivery::Once, found);
    assert_eq!(once(&[("b", 0), ("a", 0), ("a", 1), ("a", 2)]), [""; 0]);
    assert_eq!(once(&[("b", 0), ("a", 1), ("a", 0), ("a", 2)]).len(), 1, "another order");
    assert_eq!(once(&[("b", 0), ("a", 0), ("a", 1)]).len(), 1, "one is missing");
    assert_eq!(once(&[("b", 0), ("a", 0), ("a", 1), ("a", 2), ("a", 2)]).len(), 1, "one is there twice");
    assert_eq!(once(&[("b", 0), ("a", 0), ("a", 1), ("a", 2), ("c", 0)]).len(), 1, "a foreign one");
}

#[test]
fn at_least_once_allows_what_a_replay_says_again_and_no_more() {
    let replayed = |found: &[(&str, u64)]| sessions(Delivery::AtLeastOnce, found);
    assert_eq!(replayed(&[("a", 0), ("a", 1), ("b", 0), ("a", 0), ("a", 1), ("a", 2)]), [""; 0]);
    assert_eq!(replayed(&[("a", 0), ("a", 0), ("b", 0), ("a", 2)]).len(), 1, "one is missing");
    assert_eq!(replayed(&[("a", 0), ("a", 2), ("a", 1), ("b", 0)]).len(), 1, "one is seen before its time");
    assert_eq!(replayed(&[("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)]).len(), 1, "a foreign one");
}

#[test]
fn an_account_has_to_add_up_and_to_be_the_same() {
    let expected = outcome("sessions-panes", &[]);
    let account = |account: Value| {
        let found = Outcome { account, ..expected.clone() };
        differences(&job("sessions", Delivery::Once), &expected, &found)
    };
    assert_eq!(account(json!({"read": 3, "accepted": 2, "too_late": 1})), [""; 0]);
    assert_eq!(account(json!({"read": 3, "accepted": 3, "too_late": 0})).len(), 1, "another account");
    assert_eq!(account(json!({"read": 3, "accepted": 2, "too_late": 0})).len(), 2, "one that does not add up");
    assert_eq!(account(Value::Null).len(), 1, "none");
}

#[test]
fn what_depends_on_how_partitions_interleave_is_left_out_and_only_that() {
    let row = |watermark: u64, visits: u64| {
        let row = json!({"user": "a", "visits": visits, "watermark": watermark});
        let outputs = BTreeMap::from([("sliding_visits", vec![(0, row)])]);
        Outcome { account: json!({}), outputs }
    };
    let compare = |found: &Outcome| differences(&job("sliding", Delivery::AtLeastOnce), &row(1, 1), found);
    assert_eq!(compare(&row(2, 1)), [""; 0]);
    assert_eq!(compare(&row(1, 2)).len(), 1);
}
