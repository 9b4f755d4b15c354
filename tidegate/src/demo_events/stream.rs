//! A stream of ad events: mostly impressions, some clicks, out of order up to 30 s, some late, some far too late, some sent
//! twice, some malformed.
//!
//! Invariants: lines stand in the order in which they arrive; a copy arrives after its first, within the pipeline's horizon.

use serde::Serialize;
use serde_json::{Value, json};
use tidegate_formats::format_time;
use tidegate_types::EventTime;

use super::chance::Chance;

/// The largest ordinary disorder: what the pipeline's watermark waits for, ms.
const DISORDER: u64 = 30_000;
/// Beyond the window and the watermark's delay, within the allowed lateness, ms.
const LATE: u64 = 3 * 60_000;
/// Beyond the window, the allowed lateness and the watermark's delay, ms.
const FAR_TOO_LATE: u64 = 15 * 60_000;

const CAMPAIGNS: [&str; 5] = ["c-1042", "c-2210", "c-5519", "c-7781", "c-9003"];
const COUNTRIES: [&str; 3] = ["BR", "DE", "VN"];

/// What a stream covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// When the first event happens.
    pub(super) start: EventTime,
    /// How much time the events cover, ms.
    pub(super) span_ms: u64,
    /// Events in a second.
    pub(super) rate: u32,
}

/// A line and when it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) arrival: EventTime,
    pub(super) text: String,
}

/// How many lines of each kind there are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Made {
    pub(super) events: u64,
    impressions: u64,
    clicks: u64,
    repeated: u64,
    late: u64,
    far_too_late: u64,
    malformed: u64,
}

impl Made {
    /// The counts as one line.
    pub(super) fn line(self) -> String {
        serde_json::to_string(&self).expect("numbers are JSON")
    }
}

/// A stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AdStream {
    pub(super) lines: Vec<Line>,
    pub(super) made: Made,
}

impl AdStream {
    /// The stream that follows from a seed and a shape.
    pub(super) fn generate(seed: u64, shape: &Shape) -> Self {
        let mut chance = Chance::of_seed(seed);
        let mut stream = Self::default();
        let count = (shape.span_ms * u64::from(shape.rate) / 1000).max(1);
        for number in 0..count {
            let arrival = shape.start.saturating_add_unsigned(shape.span_ms * number / count);
            stream.add(&mut chance, number, arrival);
        }
        // Stable: a copy that arrives with its first stays behind it.
        stream.lines.sort_by_key(|line| line.arrival);
        stream
    }

    /// Adds what arrives as the event of this number: the event, and perhaps a copy and a broken line.
    fn add(&mut self, chance: &mut Chance, number: u64, arrival: EventTime) {
        let age = match chance.below(1000) {
            0..3 => FAR_TOO_LATE + chance.below(DISORDER),
            3..8 => LATE + chance.below(DISORDER),
            _ => chance.below(DISORDER),
        };
        self.made.events += 1;
        self.made.far_too_late += u64::from(age >= FAR_TOO_LATE);
        self.made.late += u64::from((LATE..FAR_TOO_LATE).contains(&age));
        let event = self.event(chance, number, arrival.saturating_sub_unsigned(age));
        let text = event.to_string();
        if age < LATE && chance.of_thousand(12) {
            let again = arrival.saturating_add_unsigned(1 + chance.below(DISORDER));
            self.lines.push(Line { arrival: again, text: text.clone() });
            self.made.repeated += 1;
        }
        self.lines.push(Line { arrival, text });
        if chance.of_thousand(4) {
            self.lines.push(Line { arrival, text: malformed(chance, event) });
            self.made.malformed += 1;
        }
    }

    fn event(&mut self, chance: &mut Chance, number: u64, time: EventTime) -> Value {
        // The first campaign is as large as two others.
        let campaign = chance.below(6).saturating_sub(1);
        let campaign = CAMPAIGNS[usize::try_from(campaign).expect("below six")];
        let is_click = !chance.of_thousand(970);
        let (kind, spend) =
            if is_click { ("click", 250_000 + chance.below(500_000)) } else { ("impression", chance.below(2_000)) };
        self.made.clicks += u64::from(is_click);
        self.made.impressions += u64::from(!is_click);
        // Ad servers write a time either way.
        let time = if chance.of_thousand(500) { json!(time) } else { json!(format_time(time)) };
        json!({
            "event_id": format!("e-{number:08}"),
            "campaign_id": campaign,
            "country": chance.one_of(&COUNTRIES),
            "event_time": time,
            "kind": kind,
            "spend_micros": spend,
        })
    }
}

/// The event spoilt: some fail when they are decoded, some the hook refuses.
fn malformed(chance: &mut Chance, mut event: Value) -> String {
    match chance.below(5) {
        0 => {
            let mut text = event.to_string();
            text.truncate(text.len() / 2);
            return text;
        }
        1 => event["event_time"] = json!("yesterday"),
        2 => event["kind"] = json!("hover"),
        3 => event["country"] = json!("Vietnam"),
        _ => event["spend_micros"] = json!("free"),
    }
    event["event_id"] = json!(format!("broken-{}", chance.below(1_000_000)));
    event.to_string()
}

#[cfg(test)]
mod tests;
