//! Stages by name, and what is told at each.

use super::*;

#[test]
fn stages_have_the_names_of_their_events() {
    for (name, stage) in Stage::NAMES {
        assert_eq!((Stage::of_kind(name), stage.name()), (Some(stage), name));
    }
    assert_eq!(Stage::of_kind("Placed"), None);
    assert!(Stage::Placed < Stage::Paid && Stage::Delivered < Stage::Cancelled);
}

#[test]
fn an_order_waits_for_something_until_it_is_shipped() {
    let waits: Vec<_> = Stage::NAMES.iter().filter_map(|(name, stage)| stage.reminder().map(|_| *name)).collect();
    assert_eq!(waits, ["placed", "paid"]);
    assert_eq!(Template::Delayed.effect_id("o-7"), "o-7/delayed");
}
