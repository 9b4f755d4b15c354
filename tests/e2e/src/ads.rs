//! Ad events for the pipeline of the specification's section 4.2: mostly impressions, some clicks, out of order up to 30 s,
//! some sent twice, some far too late, some malformed.
//!
//! The stream follows from its seed and stands in order of `arrival`. What becomes of each line follows from how it was made,
//! so the counts are exact.

use serde_json::{Value, json};

use crate::chance::Chance;

/// The first event's time: 2026-10-22T09:00:00Z.
const START: u64 = 1_792_659_600_000;
/// Event time between two events, ms.
const STEP: u64 = 150;
/// The watermark's delay and the largest ordinary disorder, ms.
const DISORDER: u64 = 30_000;
/// Beyond the window and the watermark's delay, within the lateness, ms.
const LATE: u64 = 3 * 60_000;
/// Beyond the window, its lateness and the watermark's delay, ms.
const FAR_TOO_LATE: u64 = 13 * 60_000;

/// A stream of ad events.
#[derive(Debug, Default)]
pub struct Ads {
    /// JSON lines in order of arrival.
    pub lines: Vec<String>,
    /// How many lines are no valid record.
    pub malformed: u64,
    /// How many lines arrive after their window closed, and while it takes late records.
    pub late: u64,
    /// How many lines arrive so late that their windows are gone.
    pub far_too_late: u64,
    /// How many lines repeat one that was sent at most a minute before.
    pub repeated: u64,
}

impl Ads {
    /// The stream of a seed; `events` is the number of different ones.
    pub fn generate(seed: u64, events: u64) -> Self {
        let mut chance = Chance::of_seed(seed);
        let mut ads = Self::default();
        let mut arriving: Vec<(u64, u64, String)> = Vec::new();
        // After the last event the watermark stands still, and what comes then is not late.
        let can_be_late = events / 4..events.saturating_sub(FAR_TOO_LATE / STEP);
        for number in 0..events {
            let time = START + number * STEP;
            let delay = match chance.below(1000) {
                0..3 if can_be_late.contains(&number) => FAR_TOO_LATE,
                3..10 if can_be_late.contains(&number) => LATE + chance.below(DISORDER),
                _ => chance.below(DISORDER),
            };
            let event = event(&mut chance, number, time, time + delay);
            if delay >= FAR_TOO_LATE {
                ads.far_too_late += 1;
            } else if delay >= LATE {
                ads.late += 1;
            } else if chance.of_thousand(10) {
                // The copy comes after the first, while the window is open or takes late records.
                let again = time + delay + 1 + chance.below(60_000);
                let mut copy = event.clone();
                copy["arrival"] = json!(again);
                arriving.push((again, number, copy.to_string()));
                ads.repeated += 1;
            }
            arriving.push((time + delay, number, event.to_string()));
            if chance.of_thousand(3) {
                arriving.push((time + delay, number, malformed(&mut chance, number, time + delay)));
                ads.malformed += 1;
            }
        }
        // Stable: a copy that arrives with its first stays behind it.
        arriving.sort_by_key(|(arrival, number, _)| (*arrival, *number));
        ads.lines = arriving.into_iter().map(|(_, _, line)| line).collect();
        ads
    }

    /// The stream as a file.
    pub fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

fn event(chance: &mut Chance, number: u64, time: u64, arrival: u64) -> Value {
    let country = match chance.below(4) {
        0 => "VN",
        1 => "DE",
        2 => "BR",
        _ => "é \"ß\\",
    };
    let mut event = json!({
        "event_id": format!("e-{number:08}"),
        "campaign_id": format!("c-{:04}", chance.below(40)),
        "country": country,
        "shard": chance.below(3),
        "arrival": arrival,
    });
    // Both ways to write a time.
    event["event_time"] = if chance.of_thousand(500) { json!(time) } else { json!(rfc3339(time)) };
    if chance.of_thousand(970) {
        event["impressions"] = json!(1);
        event["spend_micros"] = json!(chance.below(2_000));
    } else {
        event["clicks"] = json!(1);
        event["spend_micros"] =
            if chance.of_thousand(100) { Value::Null } else { json!(250_000 + chance.below(500_000)) };
    }
    if chance.of_thousand(20) {
        event["country"] = Value::Null;
    }
    event
}

/// A line that is rejected when it is decoded, whether or not fields are declared.
fn malformed(chance: &mut Chance, number: u64, arrival: u64) -> String {
    match chance.below(4) {
        0 => format!("{{\"event_id\": \"broken-{number}\", \"campaign_id\": "),
        1 => format!("[{number}]"),
        2 => {
            json!({"event_id": format!("timeless-{number}"), "campaign_id": "c-0001", "arrival": arrival}).to_string()
        }
        _ => json!({"event_id": format!("zoneless-{number}"), "campaign_id": "c-0001", "event_time": "2026-10-22T09:00:00", "shard": 0})
            .to_string(),
    }
}

/// A time of the stream's day as RFC 3339, with two digits of fraction where it has milliseconds.
fn rfc3339(time: u64) -> String {
    let of_day = time % 86_400_000;
    let (hours, minutes, seconds, millis) =
        (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1_000 % 60, of_day % 1_000);
    assert_eq!(time / 86_400_000, START / 86_400_000, "the stream is within one day");
    format!("2026-10-22T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z")
}
