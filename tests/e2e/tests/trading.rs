//! The example `guest-examples/trading-sessions-rust`: windows, decisions and rows by a hook in WebAssembly, against the
//! same computed here, pane for pane.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_e2e::{CUTS, Finished, Folder, all_outputs, guest, parsed};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest-examples/trading-sessions-rust")
}

/// A folder with the example's pipeline and its trades.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("pipeline.yaml", fs::read(example().join("pipeline.yaml")).expect("the example has a pipeline"));
    folder.write("trades.ndjson", fs::read(example().join("data/trades.ndjson")).expect("the example has data"));
    folder
}

fn run(folder: &Folder, more: &[&str]) -> Finished {
    let component = format!("trading-sessions={}", guest("trading-sessions").display());
    folder.run_to_files("trades.ndjson", &component, more)
}

/// Milliseconds of an RFC 3339 text in whole seconds.
fn millis(text: &str) -> i64 {
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().expect("digits");
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    // Days since 0000-03-01, so that the leap day is a year's last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    let seconds = number(11, 13) * 3_600 + number(14, 16) * 60 + number(17, 19);
    let zone = match &text[19..] {
        "Z" => 0,
        zone => zone[..3].parse::<i64>().expect("an offset in hours") * HOUR,
    };
    (days * 86_400 + seconds) * 1_000 - zone
}

/// A phase of the trading day, in hours since midnight.
#[derive(Clone, Copy)]
struct Phase {
    name: &'static str,
    from: f64,
    to: f64,
    early: i64,
    drops_late: bool,
}

/// The phases of a day of the example, `extended` or not. The exchange is shut on the other days of its data.
fn phases(day: &str, extended: bool) -> Vec<Phase> {
    let close = match day {
        "2026-11-26" | "2026-11-28" => return Vec::new(),
        "2026-11-27" => 13.0,
        _ => 16.0,
    };
    let phase = |name, from, to| Phase { name, from, to, early: -1, drops_late: false };
    let mut phases = vec![
        Phase { drops_late: true, ..phase("pre-market", 4.0, 9.5) },
        Phase { early: 10 * MINUTE, ..phase("regular", 9.5, close) },
        phase("closing", close - 0.5, close),
    ];
    if extended {
        phases.push(phase("extended", 4.0, close + 4.0));
    }
    phases
}

#[derive(Clone)]
struct Trade {
    number: usize,
    at: i64,
    price: i64,
    quantity: i64,
}

/// A session of a symbol: by symbol, end, start.
type Place = (String, i64, i64);

struct Session {
    phase: Phase,
    day: String,
    trades: Vec<Trade>,
    index: u64,
    has_ended: bool,
}

/// The pipeline of the example, by hand.
#[derive(Default)]
struct ByHand {
    watermark: Option<i64>,
    sessions: BTreeMap<Place, Session>,
    seen: BTreeSet<String>,
    held: BTreeMap<usize, usize>,
    shown: BTreeSet<usize>,
    /// For each symbol.
    panes: BTreeMap<String, Vec<Value>>,
    counts: BTreeMap<&'static str, u64>,
}

const LATENESS: i64 = 2 * HOUR;

impl ByHand {
    fn add(&mut self, count: &'static str, number: u64) {
        *self.counts.entry(count).or_default() += number;
    }

    fn reached(&self, time: i64) -> bool {
        self.watermark.is_some_and(|watermark| watermark >= time)
    }

    fn trade(&mut self, number: usize, line: &Value, extended: bool) {
        let text = |field: &str| line[field].as_str().expect("a text");
        let (symbol, executed, day) = (text("symbol").to_owned(), text("executed_at"), &text("executed_at")[..10]);
        let at = millis(executed);
        // The exchange writes its own local time.
        let midnight = millis(&format!("{day}T00:00:00{}", &executed[19..]));
        let [price, quantity] = ["price_cents", "quantity"].map(|field| line[field].as_i64().expect("an integer"));
        if price <= 0 {
            return self.add("rejected", 1);
        }
        let bound = |hours: f64| midnight + (hours * 3_600_000.0).round() as i64;
        let all: Vec<(i64, i64, Phase)> = phases(day, extended)
            .into_iter()
            .map(|phase| (bound(phase.to), bound(phase.from), phase))
            .filter(|(end, start, _)| (*start..*end).contains(&at))
            .collect();
        let mut kept: Vec<_> = all.iter().filter(|(end, _, _)| !self.reached(end + LATENESS)).collect();
        kept.sort_by_key(|(end, start, _)| (*end, *start));
        match (all.is_empty(), kept.is_empty()) {
            (true, _) => return self.add("filtered", 1),
            (_, true) => return self.add("too_late", 1),
            _ => {}
        }
        // No trade comes twice with twelve hours of event time between: the horizon does not matter.
        if !self.seen.insert(text("trade_id").to_owned()) {
            return self.add("duplicate", 1);
        }
        self.add("accepted", 1);
        self.add("partly_late", u64::from(kept.len() < all.len()));
        self.held.insert(number, kept.len());
        let mut drops = Vec::new();
        for (end, start, phase) in &kept {
            let (has_ended, nearly) = (self.reached(*end), self.reached(end - phase.early));
            let place = (symbol.clone(), *end, *start);
            let session = self.sessions.entry(place.clone()).or_insert_with(|| Session {
                phase: *phase,
                day: day.to_owned(),
                trades: Vec::new(),
                index: 0,
                has_ended,
            });
            session.trades.push(Trade { number, at, price, quantity });
            match (has_ended, phase.drops_late) {
                (true, true) => drops.push(place),
                (true, false) => self.show(&place, "LATE"),
                (false, _) if phase.early >= 0 && nearly => self.show(&place, "EARLY"),
                (false, _) => {}
            }
        }
        for place in drops {
            self.purge(&place);
        }
    }

    fn advance(&mut self, to: i64) {
        if self.watermark.is_some_and(|watermark| to <= watermark) {
            return;
        }
        self.watermark = Some(to);
        let due: Vec<Place> = self.sessions.keys().filter(|(_, end, _)| *end <= to).cloned().collect();
        let mut done = Vec::new();
        for place in due {
            let session = self.sessions.get_mut(&place).expect("it is kept");
            let drops_late = session.phase.drops_late;
            if !std::mem::replace(&mut session.has_ended, true) {
                self.show(&place, "ON_TIME");
                if drops_late {
                    done.push(place);
                    continue;
                }
            }
            if self.reached(place.1.saturating_add(LATENESS)) {
                done.push(place);
            }
        }
        for place in done {
            self.purge(&place);
        }
    }

    fn show(&mut self, place: &Place, timing: &'static str) {
        let (is_last, watermark) = (self.reached(place.1 + LATENESS), self.watermark);
        let session = self.sessions.get_mut(place).expect("it is kept");
        let sum = |of: fn(&Trade) -> i64| session.trades.iter().map(of).sum::<i64>();
        let (volume, notional) = (sum(|trade| trade.quantity), sum(|trade| trade.price * trade.quantity));
        let last = session.trades.iter().max_by_key(|trade| trade.at).expect("a session has trades");
        let pane = json!({
            "symbol": place.0, "start": place.2, "end": place.1,
            "session": session.phase.name, "trading_day": session.day, "half_day": session.day == "2026-11-27",
            "trades": session.trades.len(), "volume": volume,
            "vwap_cents": notional as f64 / volume as f64,
            "last_cents": last.price,
            "pane": {"timing": timing, "index": session.index, "is_last": is_last},
            "watermark": watermark.filter(|watermark| *watermark < i64::MAX),
        });
        session.index += 1;
        self.shown.extend(session.trades.iter().map(|trade| trade.number));
        self.panes.entry(place.0.clone()).or_default().push(pane);
        self.add(timing, 1);
    }

    fn purge(&mut self, place: &Place) {
        for trade in self.sessions.remove(place).expect("it is kept").trades {
            let held = self.held.get_mut(&trade.number).expect("a session holds it");
            *held -= 1;
            let unshown = *held == 0 && !self.shown.contains(&trade.number);
            self.add("unshown", u64::from(unshown));
        }
    }
}

fn by_hand(trades: &str, extended: bool) -> ByHand {
    let mut by_hand = ByHand::default();
    for (number, line) in parsed(trades).iter().enumerate() {
        by_hand.add("read", 1);
        by_hand.trade(number, line, extended);
        by_hand.advance(millis(line["executed_at"].as_str().expect("a text")) - 2 * MINUTE);
    }
    by_hand.advance(i64::MAX);
    by_hand
}

/// The panes of each symbol, times in milliseconds.
fn panes(text: &str) -> BTreeMap<String, Vec<Value>> {
    let mut panes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for mut pane in parsed(text) {
        for (from, to) in [("window_start", "start"), ("window_end", "end"), ("watermark", "watermark")] {
            let time = pane.as_object_mut().and_then(|pane| pane.remove(from)).expect("a pane has it");
            pane[to] = time.as_str().map_or(Value::Null, |time| millis(time).into());
        }
        panes.entry(pane["symbol"].as_str().expect("a text").to_owned()).or_default().push(pane);
    }
    panes
}

fn assert_as_by_hand(folder: &Folder, done: &Finished, extended: bool) {
    let expected = by_hand(&folder.read("trades.ndjson"), extended);
    let counted = |key: &str| expected.counts.get(key).copied().unwrap_or(0);
    for count in ["read", "accepted", "filtered", "too_late", "duplicate", "rejected", "partly_late", "unshown"] {
        assert_eq!(done.count(count), counted(count), "{count}: {}", done.summary());
    }
    for timing in ["EARLY", "ON_TIME", "LATE"] {
        assert_eq!(done.count(&format!("panes.{timing}")), counted(timing), "{timing}");
    }
    let found = panes(&folder.read("panes.ndjson"));
    for (symbol, expected) in &expected.panes {
        assert_eq!(found[symbol].len(), expected.len(), "{symbol}");
        for (found, expected) in found[symbol].iter().zip(expected) {
            assert_eq!(found, expected);
        }
    }
    assert_eq!(found.len(), expected.panes.len());
}

#[test]
fn the_example_gives_what_a_computation_by_hand_gives() {
    let folder = prepared();
    let done = run(&folder, &[]);
    assert_as_by_hand(&folder, &done, true);
    // The data has what the example is about.
    for count in ["filtered", "too_late", "duplicate", "rejected", "partly_late", "panes.EARLY", "panes.LATE"] {
        assert!(done.count(count) > 0, "{count}: {}", done.summary());
    }
    assert_eq!(done.count("unshown"), 0, "the extended session shows every trade");
}

#[test]
fn trades_that_come_too_late_for_a_final_session_are_unshown() {
    let folder = prepared();
    let pipeline = folder.read("pipeline.yaml");
    let extended = pipeline.lines().find(|line| line.contains("name: extended")).unwrap();
    folder.write("pipeline.yaml", pipeline.replace(extended, ""));
    let done = run(&folder, &[]);
    assert_as_by_hand(&folder, &done, false);
    assert!(done.count("unshown") > 0, "{}", done.summary());
    for more in CUTS {
        assert_eq!(run(&folder, more).summary(), done.summary(), "{more:?}");
    }
}

#[test]
fn batches_parallelism_and_fresh_instances_change_nothing() {
    let folder = prepared();
    let usual = all_outputs(&folder, &run(&folder, &[]), "symbol");
    for more in CUTS {
        assert_eq!(all_outputs(&folder, &run(&folder, more), "symbol"), usual, "{more:?}");
    }
}

#[test]
fn a_calendar_that_makes_no_sense_is_refused_with_its_place() {
    let folder = prepared();
    folder.write("pipeline.yaml", folder.read("pipeline.yaml").replace("monday:", "moonday:"));
    let component = format!("trading-sessions={}", guest("trading-sessions").display());
    let args = ["run", "pipeline.yaml", "--input", "trades.ndjson", "--component", &component, "--allow-unsigned"];
    let done = folder.tidegate(&args);
    let refusal = done.refusal();
    assert!(refusal.starts_with("invalid-pipeline: window (line "), "{refusal}");
    assert!(refusal.contains("config.hours: `moonday` is no weekday"), "{refusal}");
}
