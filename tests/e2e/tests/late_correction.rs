//! The late-correction drill: a partition that is away for three hours under an allowed lateness of two.
//!
//! Two sites count items, three times an hour. `south` loses its link after 10:10, is idle from 10:55 on, so that results
//! go on without it, and brings its backlog at 13:15, in order. Which of it corrects, which is too late, and how a reader
//! sees what is complete stands below, worked out on paper. `max_delay` 5m, so a record at 13:10 puts its site at 13:05.

use serde_json::{Value, json};
use tidegate_e2e::{Finished, Folder, parsed};

const PIPELINE: &str = "
job: items
version: 1
source:
  log: counts
  timestamp_field: at
  watermark: {strategy: bounded_out_of_orderness, max_delay: 5m, idle_partition_timeout: 45m}
key_by: [item]
window: {type: tumbling, size: 1h, allowed_lateness: 2h}
trigger: {late: LATE}
accumulation: accumulating
aggregate:
  n: {fn: count}
  south: {fn: count, where: {field: site, equals: south}}
sink: {type: log, log: out}
";

/// `site`, the time of the record, and when it arrived.
fn line(site: &str, at: &str, arrival: &str) -> String {
    let time = |clock: &str| format!("2026-03-01T{clock}:00Z");
    json!({"site": site, "item": "bolt", "at": time(at), "arrival": time(arrival)}).to_string()
}

/// Everything, in order of arrival.
fn counts() -> String {
    let mut lines = Vec::new();
    for at in ["09:10", "09:30", "09:50", "10:10"] {
        lines.extend(["north", "south"].map(|site| line(site, at, at)));
    }
    // The link is down.
    for at in ["10:30", "10:50", "11:10", "11:30", "11:50", "12:10", "12:30", "12:50", "13:10"] {
        lines.push(line("north", at, at));
    }
    // It is back, with what it had kept.
    for at in ["10:30", "10:50", "11:10", "11:30", "11:50", "12:10", "12:30", "12:50", "13:10"] {
        lines.push(line("south", at, "13:15"));
    }
    for at in ["13:30", "13:50"] {
        lines.extend(["north", "south"].map(|site| line(site, at, at)));
    }
    // Two stragglers, before and after the window of 11:00 is gone.
    lines.push(line("south", "11:55", "14:05"));
    lines.extend(["north", "south"].map(|site| line(site, "14:10", "14:10")));
    lines.push(line("south", "11:58", "14:15"));
    lines.join("\n") + "\n"
}

fn run(late: &str) -> (Folder, Finished) {
    let folder = Folder::new();
    folder.write("pipeline.yaml", PIPELINE.replace("LATE", late));
    folder.write("counts.ndjson", counts());
    let done = folder.tidegate(&[
        "run",
        "pipeline.yaml",
        "--input",
        "counts.ndjson",
        "--partition-field",
        "site",
        "--arrival-field",
        "arrival",
        "--output",
        "panes.ndjson",
        "--too-late",
        "late.ndjson",
        "--report",
        "report.json",
    ]);
    let done = done.success();
    done.assert_balanced();
    (folder, done)
}

/// A pane on one line: the hour, which firing, what it counts, and the watermark.
fn told(pane: &Value) -> String {
    let clock = |field: &str| pane[field].as_str().map_or("none", |time| &time[11..16]).to_owned();
    format!(
        "{} {} {}{}: {} of which south {}, watermark {}",
        clock("window_start"),
        pane["pane"]["timing"].as_str().expect("a pane says its timing"),
        pane["pane"]["index"],
        if pane["pane"]["is_last"] == true { " last" } else { "" },
        pane["n"],
        pane["south"],
        clock("watermark"),
    )
}

fn panes(folder: &Folder) -> Vec<String> {
    parsed(&folder.read("panes.ndjson")).iter().map(told).collect()
}

#[test]
fn a_backlog_corrects_the_windows_that_are_kept() {
    let (folder, done) = run("every_element");
    let expected = [
        // Both are there: complete on time.
        "09:00 ON_TIME 0: 6 of which south 3, watermark 10:05",
        // South is idle since 10:55. From then on hours close without it.
        "10:00 ON_TIME 0: 4 of which south 1, watermark 11:05",
        "11:00 ON_TIME 0: 3 of which south 0, watermark 12:05",
        "12:00 ON_TIME 0: 3 of which south 0, watermark 13:05",
        // 13:15, the backlog. 10:00 is gone (11:00 + 2 h <= 13:05); 11:00 and 12:00 are corrected record by record.
        "11:00 LATE 1: 4 of which south 1, watermark 13:05",
        "11:00 LATE 2: 5 of which south 2, watermark 13:05",
        "11:00 LATE 3: 6 of which south 3, watermark 13:05",
        "12:00 LATE 1: 4 of which south 1, watermark 13:05",
        "12:00 LATE 2: 5 of which south 2, watermark 13:05",
        "12:00 LATE 3: 6 of which south 3, watermark 13:05",
        // 14:05, the first straggler: 11:00 is kept until the watermark is 14:00.
        "11:00 LATE 4: 7 of which south 4, watermark 13:45",
        // 14:10: the watermark passes 14:00. That says that 13:00 is complete as of now, and 11:00 for good.
        "13:00 ON_TIME 0: 6 of which south 3, watermark 14:05",
        // The end of input. Nothing can follow, and the pane says so.
        "14:00 ON_TIME 0 last: 2 of which south 1, watermark none",
    ];
    assert_eq!(panes(&folder), expected);
    assert_eq!((done.count("accepted"), done.count("too_late")), (31, 3));
    let first_correction = json!({
        "item": "bolt", "window_start": "2026-03-01T11:00:00Z", "window_end": "2026-03-01T12:00:00Z",
        "n": 4, "south": 1,
        "pane": {"timing": "LATE", "index": 1, "is_last": false}, "watermark": "2026-03-01T13:05:00Z",
    });
    assert_eq!(parsed(&folder.read("panes.ndjson"))[4], first_correction);
}

#[test]
fn what_is_too_late_is_kept_apart_with_its_place() {
    let (folder, _) = run("every_element");
    let expected =
        [("10:30", "13:15", 17), ("10:50", "13:15", 18), ("11:58", "14:15", 33)].map(|(at, arrival, offset)| {
            let record: Value = serde_json::from_str(&line("south", at, arrival)).unwrap();
            json!({"reason": "too-late", "partition": "south", "offset": offset, "record": record})
        });
    let fields = ["reason", "partition", "offset", "record"];
    let given = parsed(&folder.read("late.ndjson"));
    let shown = |letter: &Value| fields.into_iter().map(|field| (field.to_owned(), letter[field].clone())).collect();
    assert_eq!(given.iter().map(shown).collect::<Vec<Value>>(), expected);
}

#[test]
fn corrections_that_are_gathered_end_with_a_last_pane() {
    let (folder, done) = run("every 30m processing_time");
    let expected = [
        "09:00 ON_TIME 0: 6 of which south 3, watermark 10:05",
        "10:00 ON_TIME 0: 4 of which south 1, watermark 11:05",
        "11:00 ON_TIME 0: 3 of which south 0, watermark 12:05",
        "12:00 ON_TIME 0: 3 of which south 0, watermark 13:05",
        // 13:30 by the clock: one pane for each window that the backlog changed.
        "11:00 LATE 1: 6 of which south 3, watermark 13:05",
        "12:00 LATE 1: 6 of which south 3, watermark 13:05",
        // 14:10: the watermark passes 14:00 and 11:00 goes. The straggler of 14:05 is shown, and that it was the last.
        "11:00 LATE 2 last: 7 of which south 4, watermark 14:05",
        "13:00 ON_TIME 0: 6 of which south 3, watermark 14:05",
        "14:00 ON_TIME 0 last: 2 of which south 1, watermark none",
    ];
    assert_eq!(panes(&folder), expected);
    assert_eq!((done.count("accepted"), done.count("too_late"), done.count("unshown")), (31, 3, 0));
}

#[test]
fn the_report_says_that_no_max_delay_would_have_helped_the_backlog() {
    let (folder, _) = run("every_element");
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let [north, south] = report["source"]["partitions"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!(
        (&north["partition"], &north["records"], &north["lateness_ms"]["max"]),
        (&json!("north"), &json!(16), &json!(0))
    );
    // The backlog came in its own order: within the partition, only the stragglers are late, 115 and 132 minutes.
    assert_eq!((&south["records"], &south["histogram"][0]["records"]), (&json!(18), &json!(16)));
    assert_eq!(south["lateness_ms"]["max"], json!(132 * 60_000));
    assert_eq!(south["max_delay_for_999"], json!("132m"));
    let before_end = json!({
        "watermark": "2026-03-01T14:05:00Z", "clock": "2026-03-01T14:15:00Z", "lag_ms": 600_000,
        "held_back_by": {"source": "source", "partition": "north", "watermark": "2026-03-01T14:05:00Z"},
    });
    assert_eq!(report["source"]["before_end"], before_end);
    assert_eq!(report["operators"][0]["before_end"], before_end);
    assert_eq!(report["account"]["too_late"], json!(3));
}
