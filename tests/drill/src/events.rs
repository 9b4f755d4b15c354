//! Generated input: records out of order, late, far too late, sent twice and malformed.
//!
//! Invariant: a stream follows from its seed and shape alone, and stands in order of arrival.

use serde_json::{Value, json};
use tidegate_e2e::Chance;

/// The first event's time: 2026-10-22T09:00:00Z.
const START: u64 = 1_792_659_600_000;

/// What a stream is like. Times in ms of event time, shares in thousandths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Different events.
    pub(crate) events: u64,
    /// Between two events.
    pub(crate) step: u64,
    /// The largest ordinary delay.
    pub(crate) disorder: u64,
    /// How many come late, and by how much more.
    pub(crate) late: (u64, u64),
    /// How many come far too late, and by how much more.
    pub(crate) gone: (u64, u64),
    /// How many are sent a second time.
    pub(crate) repeated: u64,
    /// How many are followed by something that is no record.
    pub(crate) malformed: u64,
}

/// The lines of one partition: what `event` makes of a number and a time, in order of arrival.
pub(crate) fn lines(seed: u64, shape: Shape, mut event: impl FnMut(&mut Chance, u64, u64) -> Value) -> Vec<String> {
    let mut chance = Chance::of_seed(seed);
    let mut arriving: Vec<(u64, u64, String)> = Vec::new();
    for number in 0..shape.events {
        let time = START + number * shape.step;
        let kind = chance.below(1000);
        let beyond = if kind < shape.gone.0 {
            shape.gone.1
        } else if kind < shape.gone.0 + shape.late.0 {
            shape.late.1
        } else {
            0
        };
        let arrival = time + beyond + chance.below(shape.disorder);
        let line = event(&mut chance, number, time).to_string();
        if chance.of_thousand(shape.repeated) {
            arriving.push((arrival + 1, number, line.clone()));
        }
        if chance.of_thousand(shape.malformed) {
            arriving.push((arrival, number, malformed(&mut chance, number)));
        }
        arriving.push((arrival, number, line));
    }
    // Stable: a copy that arrives with its first stays where it is.
    arriving.sort_by_key(|(arrival, number, _)| (*arrival, *number));
    arriving.into_iter().map(|(_, _, line)| line).collect()
}

/// A line that no source takes for a record.
fn malformed(chance: &mut Chance, number: u64) -> String {
    match chance.below(3) {
        0 => format!("{{\"id\": \"broken-{number}\", \"user\": "),
        1 => format!("[{number}]"),
        _ => json!({"id": format!("timeless-{number}"), "user": "u1"}).to_string(),
    }
}

/// An ad event, as the example's hook takes it; now and then one that it refuses.
pub(crate) fn ad(chance: &mut Chance, number: u64, time: u64) -> Value {
    let click = chance.of_thousand(200);
    let country = if chance.of_thousand(10) { "nowhere" } else { ["VN", "DE", "BR"][small(chance.below(3))] };
    json!({
        "event_id": format!("e-{number}"),
        "event_time": time,
        "campaign_id": format!("c-{}", chance.below(6)),
        "country": country,
        "kind": if click { "click" } else { "impression" },
        "spend_micros": if click { 250_000 + chance.below(500_000) } else { chance.below(2_000) },
    })
}

/// A visit of one of the partition's users; now and then one with a text where a number belongs.
pub(crate) fn visit(chance: &mut Chance, number: u64, time: u64, partition: u64) -> Value {
    let share = 1.0 / f64::from(1 + u32::try_from(chance.below(97)).expect("a small number"));
    let mut visit = json!({
        "id": format!("v-{partition}-{number}"),
        "at": time,
        "user": format!("u-{partition}-{}", chance.below(8)),
        "page": format!("p-{}", chance.below(5)),
        "cents": chance.below(10_000),
        "share": share,
    });
    if chance.of_thousand(8) {
        visit["cents"] = json!("many");
    }
    visit
}

/// One side of a join: an ad of a few, so that many meet.
pub(crate) fn side(chance: &mut Chance, number: u64, time: u64, name: &str) -> Value {
    json!({
        "id": format!("{name}-{number}"),
        "at": time,
        "ad": if chance.of_thousand(20) { Value::Null } else { json!(format!("a-{}", chance.below(60))) },
        "campaign": format!("c-{}", chance.below(4)),
    })
}

/// A number of one of a few keys.
pub(crate) fn number(chance: &mut Chance, _number: u64, time: u64) -> Value {
    let key = if chance.of_thousand(20) { Value::Null } else { json!(format!("k-{}", chance.below(12))) };
    let value = if chance.of_thousand(10) { Value::Null } else { json!(chance.below(40)) };
    json!({"k": key, "v": value, "at": time})
}

fn small(number: u64) -> usize {
    usize::try_from(number).expect("a small number")
}
