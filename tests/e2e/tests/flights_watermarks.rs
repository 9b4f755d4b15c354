//! The flights with per-partition watermarks by airport and idle nights, worked out in plain Rust from the same file.
//!
//! Nothing of the engine is used: the watermark that each line meets is computed here, line by line, as
//! docs/semantics.md, section 2, says it. From it follows each pane, each too-late record and the report's lateness.

use std::collections::BTreeMap;

use serde_json::Value;
use tidegate_e2e::{Finished, Folder, flights, last_per_window, parsed};

const PIPELINE: &str = "
job: delays
version: 1
source:
  log: flights
  timestamp_field: event_time
  watermark: {strategy: bounded_out_of_orderness, max_delay: 30m, idle_partition_timeout: 1h}
key_by: [origin, carrier]
window: {type: tumbling, size: 1h, allowed_lateness: LATENESS}
trigger: {late: every_element}
accumulation: accumulating
aggregate:
  flights: {fn: count}
  delay: {fn: sum, field: dep_delay_min}
  worst: {fn: max, field: dep_delay_min}
sink: {type: log, log: delays-out}
";

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const MAX_DELAY: i64 = 30 * MINUTE;
const IDLE_TIMEOUT: i64 = HOUR;

/// A key and the start of a window of it.
type Window = (String, String, i64);

/// A line and the watermark that it met; none: minus infinity.
type Line<'a> = (&'a Flight, Option<i64>);

/// A line of the file.
struct Flight {
    origin: String,
    carrier: String,
    time: i64,
    arrival: i64,
    delay: Option<i64>,
}

impl Flight {
    fn of(line: &Value) -> Self {
        let text = |field: &str| line[field].as_str().expect("a text").to_owned();
        Self {
            origin: text("origin"),
            carrier: text("carrier"),
            time: millis(&text("event_time")),
            arrival: millis(&text("arrival")),
            delay: line["dep_delay_min"].as_i64(),
        }
    }

    fn window(&self) -> Window {
        (self.origin.clone(), self.carrier.clone(), self.time.div_euclid(HOUR) * HOUR)
    }

    fn window_end(&self) -> i64 {
        self.window().2 + HOUR
    }
}

/// `2013-01-31T23:59:00Z` as milliseconds since 1970.
fn millis(time: &str) -> i64 {
    let number = |from: usize, to: usize| time[from..to].parse::<i64>().expect("digits");
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    assert!((year, time.len()) == (2013, 20) && time.ends_with('Z'), "{time}");
    assert!(month <= 2, "flights of January, some of them after midnight: {time}");
    let days = 15_706 + (month - 1) * 31 + day - 1;
    ((days * 24 + number(11, 13)) * 60 + number(14, 16)) * MINUTE + number(17, 19) * 1000
}

/// What is known of an airport.
#[derive(Default)]
struct Airport {
    newest: Option<i64>,
    heard: i64,
    idle: bool,
}

/// The watermark that each line met, and each value that it ever had, ascending. None: minus infinity.
struct Judged {
    met: Vec<Option<i64>>,
    values: Vec<i64>,
    /// How often an airport fell idle.
    fell_idle: u32,
}

fn least(airports: &BTreeMap<&str, Airport>) -> Option<Option<i64>> {
    airports.values().filter(|airport| !airport.idle).map(|airport| airport.newest.map(|time| time - MAX_DELAY)).min()
}

fn judge(flights: &[Flight]) -> Judged {
    let mut airports: BTreeMap<&str, Airport> = BTreeMap::new();
    for flight in flights {
        airports.insert(&flight.origin, Airport { heard: flights[0].arrival, ..Airport::default() });
    }
    let mut judged = Judged { met: Vec::new(), values: Vec::new(), fell_idle: 0 };
    let mut watermark: Option<i64> = None;
    let mut clock = flights[0].arrival;
    for flight in flights {
        clock = clock.max(flight.arrival);
        loop {
            let due = |airport: &Airport| (!airport.idle).then_some(airport.heard + IDLE_TIMEOUT);
            let Some(instant) = airports.values().filter_map(due).min().filter(|instant| *instant <= clock) else {
                break;
            };
            for airport in airports.values_mut().filter(|airport| due(airport) == Some(instant)) {
                airport.idle = true;
                judged.fell_idle += 1;
            }
            watermark = watermark.max(least(&airports).flatten());
            judged.values.extend(watermark);
        }
        judged.met.push(watermark);
        let airport = airports.get_mut(flight.origin.as_str()).expect("all airports are known");
        (airport.heard, airport.idle) = (clock, false);
        airport.newest = airport.newest.max(Some(flight.time));
        watermark = watermark.max(least(&airports).flatten());
        judged.values.extend(watermark);
    }
    judged
}

fn prepared(lateness: &str) -> (Folder, Vec<Flight>) {
    let folder = Folder::new();
    let events = flights::events();
    folder.write("pipeline.yaml", PIPELINE.replace("LATENESS", lateness));
    folder.write("flights.ndjson", &events);
    let flights = parsed(&events).iter().map(Flight::of).collect();
    (folder, flights)
}

fn run(folder: &Folder, more: &[&str]) -> Finished {
    let args = [
        "run",
        "pipeline.yaml",
        "--input",
        "flights.ndjson",
        "--partition-field",
        "origin",
        "--arrival-field",
        "arrival",
        "--output",
        "panes.ndjson",
        "--too-late",
        "late.ndjson",
        "--report",
        "report.json",
    ];
    let done = folder.tidegate(&[&args, more].concat()).success();
    done.assert_balanced();
    done
}

/// What a pane shows of a window's flights.
fn values(flights: &[&Flight]) -> [Option<i64>; 3] {
    let delays = || flights.iter().filter_map(|flight| flight.delay);
    [i64::try_from(flights.len()).ok(), delays().next().map(|_| delays().sum()), delays().max()]
}

fn shown(pane: &Value) -> [Option<i64>; 3] {
    ["flights", "delay", "worst"].map(|field| pane[field].as_i64())
}

fn window_of(pane: &Value) -> Window {
    let text = |field: &str| pane[field].as_str().expect("a text").to_owned();
    (text("origin"), text("carrier"), millis(&text("window_start")))
}

/// Timing, index, whether it is the last, the watermark (none at the end), and the values.
type Pane = (&'static str, u64, bool, Option<i64>, [Option<i64>; 3]);

/// The panes of one window, from its flights in order of arrival, each with the watermark that it met.
fn panes_of(flights: &[Line<'_>], values_of_watermark: &[i64], lateness: i64) -> Vec<Pane> {
    let end = flights[0].0.window_end();
    let in_time = |met: Option<i64>| met.is_none_or(|met| met < end);
    let mut panes: Vec<Pane> = Vec::new();
    let mut so_far: Vec<&Flight> = Vec::new();
    let before_end: Vec<&Flight> = flights.iter().filter(|(_, met)| in_time(*met)).map(|(flight, _)| *flight).collect();
    if !before_end.is_empty() {
        let passed = values_of_watermark.iter().copied().find(|value| *value >= end);
        let is_last = passed.is_none_or(|passed| passed >= end + lateness);
        panes.push(("ON_TIME", 0, is_last, passed, values(&before_end)));
        so_far = before_end;
    }
    let first = u64::from(!so_far.is_empty());
    for (index, (flight, met)) in (first..).zip(flights.iter().filter(|(_, met)| !in_time(*met))) {
        so_far.push(flight);
        panes.push(("LATE", index, false, *met, values(&so_far)));
    }
    panes
}

#[test]
fn every_pane_and_every_too_late_record_is_what_arithmetic_says() {
    let (folder, flights) = prepared("3h");
    let judged = judge(&flights);
    assert!(judged.fell_idle > 0, "nights are idle");
    let lateness = 3 * HOUR;
    let gone = |(flight, met): &Line<'_>| met.is_some_and(|met| flight.window_end() + lateness <= met);
    let lines: Vec<Line<'_>> = flights.iter().zip(judged.met.iter().copied()).collect();
    let done = run(&folder, &[]);

    let too_late: Vec<usize> = (0..lines.len()).filter(|line| gone(&lines[*line])).collect();
    let given = parsed(&folder.read("late.ndjson"));
    let offset = |letter: &Value| usize::try_from(letter["offset"].as_u64().unwrap()).unwrap();
    assert_eq!(given.iter().map(offset).collect::<Vec<_>>(), too_late);
    assert_eq!(done.count("too_late"), u64::try_from(too_late.len()).unwrap());

    let mut windows: BTreeMap<Window, Vec<Line<'_>>> = BTreeMap::new();
    for line in lines.into_iter().filter(|line| !gone(line)) {
        windows.entry(line.0.window()).or_default().push(line);
    }
    let panes = parsed(&folder.read("panes.ndjson"));
    let mut given: BTreeMap<Window, Vec<Pane>> = BTreeMap::new();
    for pane in &panes {
        let timing = if pane["pane"]["timing"] == "ON_TIME" { "ON_TIME" } else { "LATE" };
        let index = pane["pane"]["index"].as_u64().unwrap();
        let watermark = pane["watermark"].as_str().map(millis);
        let pane_of = (timing, index, pane["pane"]["is_last"] == true, watermark, shown(pane));
        given.entry(window_of(pane)).or_default().push(pane_of);
    }
    assert!(windows.keys().eq(given.keys()));
    for (window, flights) in &windows {
        assert_eq!(given[window], panes_of(flights, &judged.values, lateness), "{window:?}");
    }
}

#[test]
fn final_values_are_those_of_a_batch_computation() {
    for (lateness, whole) in [("3h", false), ("2d", true)] {
        let (folder, flights) = prepared(lateness);
        let done = run(&folder, &[]);
        assert_eq!(done.count("too_late") == 0, whole, "two days cover the largest disorder, three hours do not");
        let late: Vec<u64> =
            parsed(&folder.read("late.ndjson")).iter().map(|letter| letter["offset"].as_u64().unwrap()).collect();
        let mut batch: BTreeMap<Window, Vec<&Flight>> = BTreeMap::new();
        for (_, flight) in (0..).zip(&flights).filter(|(offset, _)| !late.contains(offset)) {
            batch.entry(flight.window()).or_default().push(flight);
        }
        let last = last_per_window(&folder.read("panes.ndjson"), &["origin", "carrier"]);
        let last: BTreeMap<_, _> = last.values().map(|pane| (window_of(pane), shown(pane))).collect();
        let batch: BTreeMap<_, _> = batch.iter().map(|(window, flights)| (window.clone(), values(flights))).collect();
        assert_eq!(last, batch, "allowed_lateness {lateness}");
    }
}

#[test]
fn the_report_shows_the_lateness_that_the_file_has() {
    let (folder, flights) = prepared("3h");
    run(&folder, &[]);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let mut lateness: BTreeMap<&str, (i64, Vec<i64>)> = BTreeMap::new();
    for flight in &flights {
        let (newest, behind) = lateness.entry(&flight.origin).or_insert((flight.time, Vec::new()));
        behind.push((*newest - flight.time).max(0));
        *newest = flight.time.max(*newest);
    }
    let partitions = report["source"]["partitions"].as_array().unwrap();
    assert_eq!(partitions.len(), lateness.len());
    for partition in partitions {
        let (newest, behind) = lateness.get_mut(partition["partition"].as_str().unwrap()).unwrap();
        behind.sort_unstable();
        assert_eq!(partition["newest"].as_str().map(millis), Some(*newest));
        assert_eq!(partition["watermark"].as_str().map(millis), Some(*newest - MAX_DELAY));
        assert_eq!(partition["records"].as_u64(), u64::try_from(behind.len()).ok());
        assert_eq!(partition["lateness_ms"]["max"].as_i64(), behind.last().copied());
        for (name, per_mille) in [("p50", 500), ("p90", 900), ("p99", 990), ("p999", 999)] {
            let exact = behind[(behind.len() * per_mille).div_ceil(1000) - 1];
            let shown = partition["lateness_ms"][name].as_i64().unwrap();
            assert!((exact..=exact + exact / 128).contains(&shown), "{name}: {shown}, not {exact}");
        }
        let buckets = partition["histogram"].as_array().unwrap();
        let within = |bucket: &Value| {
            let range = bucket["from_ms"].as_i64().unwrap()..=bucket["to_ms"].as_i64().unwrap();
            behind.iter().filter(|lateness| range.contains(lateness)).count()
        };
        let counted: Vec<_> = buckets.iter().map(|bucket| bucket["records"].as_u64().unwrap()).collect();
        assert_eq!(counted.iter().sum::<u64>(), u64::try_from(behind.len()).unwrap());
        let expected: Vec<_> = buckets.iter().map(|bucket| u64::try_from(within(bucket)).unwrap()).collect();
        assert_eq!(counted, expected);
    }
    let values = judge(&flights).values;
    assert_eq!(report["source"]["before_end"]["watermark"].as_str().map(millis), values.last().copied());
}

#[test]
fn the_report_does_not_depend_on_batches_or_parallelism() {
    let (folder, _) = prepared("3h");
    let report = |more: &[&str]| {
        run(&folder, more);
        let mut report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
        let subtasks = report["operators"].as_array_mut().unwrap();
        for subtask in subtasks.iter_mut() {
            let (state, place) = (subtask["state"].clone(), subtask["subtask"].clone());
            assert_eq!((&state["keys"], &state["windows"]), (&0.into(), &0.into()), "{place}: everything is purged");
            *subtask = subtask["before_end"].take();
        }
        subtasks.dedup();
        report
    };
    let usual = report(&[]);
    assert_eq!(usual["operators"][0]["watermark"], usual["source"]["before_end"]["watermark"]);
    for more in [["--batch-rows", "1"].as_slice(), &["--batch-rows", "1000", "--parallelism", "3"]] {
        assert_eq!(report(more), usual, "{more:?}");
    }
}

/// The numbers of docs/watermarks.md, which are those of the whole month.
#[test]
fn the_page_on_watermarks_says_what_the_flights_need() {
    let (folder, flights) = prepared("3h");
    if flights.len() != 27_004 {
        return; // Only the part that the example ships is at hand.
    }
    run(&folder, &[]);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let need = |at: usize| report["source"]["partitions"][at]["max_delay_for_999"].as_str().unwrap();
    assert_eq!([need(0), need(1), need(2)], ["291m", "272m", "287m"], "EWR, LGA, JFK");
    let page = include_str!("../../../docs/watermarks.md");
    for max_delay in ["0s", "15m", "30m", "60m", "120m", "291m"] {
        folder.write(
            "pipeline.yaml",
            PIPELINE.replace("LATENESS", "3h").replace("max_delay: 30m", &format!("max_delay: {max_delay}")),
        );
        let done = run(&folder, &[]);
        let row =
            format!("| `{max_delay}` | {} | {} |", grouped(done.count("panes.LATE")), grouped(done.count("too_late")));
        assert!(page.contains(&row), "docs/watermarks.md does not have the row {row}");
    }
}

/// A count below a million with its thousands apart.
fn grouped(count: u64) -> String {
    if count < 1000 { count.to_string() } else { format!("{},{:03}", count / 1000, count % 1000) }
}
