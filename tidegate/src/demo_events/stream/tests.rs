//! The stream repeats, and has every kind of record that the pipeline is about.

use super::*;

const SHAPE: Shape = Shape { start: 1_792_659_600_000, span_ms: 480_000, rate: 80 };

#[test]
fn the_same_seed_gives_the_same_stream() {
    assert_eq!(AdStream::generate(7, &SHAPE), AdStream::generate(7, &SHAPE));
    assert_ne!(AdStream::generate(7, &SHAPE).lines, AdStream::generate(8, &SHAPE).lines);
}

#[test]
fn every_kind_of_record_is_in_it() {
    let AdStream { lines, made } = AdStream::generate(1, &SHAPE);
    assert_eq!(made.events, 480 * 80);
    assert_eq!(u64::try_from(lines.len()).unwrap(), made.events + made.repeated + made.malformed);
    assert_eq!(made.impressions + made.clicks, made.events);
    let share = made.impressions * 1000 / made.events;
    assert!((965..975).contains(&share), "{share} in a thousand are impressions");
    for kind in [made.repeated, made.late, made.far_too_late, made.malformed] {
        assert!(kind > 50, "{made:?}");
    }
}

#[test]
fn lines_stand_in_order_of_arrival_and_copies_behind_their_first() {
    let AdStream { lines, .. } = AdStream::generate(1, &SHAPE);
    assert!(lines.is_sorted_by_key(|line| line.arrival));
    let mut seen = std::collections::BTreeMap::new();
    let copies = lines.iter().filter(|line| {
        let before = seen.insert(line.text.clone(), line.arrival);
        before.is_some_and(|before| before < line.arrival && line.arrival - before <= 30_000)
    });
    assert!(copies.count() > 50);
}

#[test]
fn no_event_is_further_out_of_order_than_it_should_be() {
    let AdStream { lines, made } = AdStream::generate(1, &SHAPE);
    let disorderly = lines.iter().filter(|line| {
        let event: Value = serde_json::from_str(&line.text).unwrap_or_default();
        let time = match &event["event_time"] {
            Value::Number(time) => time.as_i64(),
            Value::String(text) => tidegate_formats::parse_rfc3339(text),
            _ => None,
        };
        let named = event["event_id"].as_str().is_some_and(|id| id.starts_with("e-"));
        time.is_some_and(|time| named && line.arrival - time > 60_000)
    });
    assert_eq!(u64::try_from(disorderly.count()).unwrap(), made.late + made.far_too_late);
}
