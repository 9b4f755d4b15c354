//! Joins in `tidegate run` and in SQLite: the same pairs, and the same rows without a partner.
//!
//! SQL knows nothing of watermarks, so the database is given the one that each line was judged against: the least of what
//! both files had come to before the line, in their one order of arrival.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::{Value, json};
use tidegate_e2e::{Chance, Finished, Folder, parsed};

const SEED: u64 = 7;
/// The first event's time: 2026-10-22T09:00:00Z.
const START: i64 = 1_792_659_600_000;
/// How far watermarks stay behind, ms.
const DELAY: i64 = 10_000;

/// A line of one of the two files.
struct Line {
    /// 0: impressions, 1: clicks.
    file: usize,
    id: i64,
    key: Option<i64>,
    campaign: String,
    at: i64,
    arrival: i64,
}

impl Line {
    fn text(&self) -> String {
        let name = ["impression", "click"][self.file];
        let mut line = json!({name: self.id, "campaign": self.campaign, "at": self.at, "arrival": self.arrival});
        if let Some(key) = self.key {
            line["key"] = json!(key);
        }
        line.to_string() + "\n"
    }
}

/// Both streams in order of arrival: impressions, and clicks on them up to three minutes later, some before; some of
/// both out of order beyond the watermarks' delay, some without a key, some keys of one side only.
fn lines() -> Vec<Line> {
    println!("seed {SEED}");
    let mut chance = Chance::of_seed(SEED);
    let mut below = |bound: i64| i64::try_from(chance.below(u64::try_from(bound).unwrap())).unwrap();
    let mut lines = Vec::new();
    for number in 0..4_000 {
        let file = usize::from(below(3) == 0);
        let disorder = if below(20) == 0 { 40_000 } else { 8_000 };
        let arrival = START + number * 300;
        let at = arrival - below(disorder);
        // An impression's key is new; a click has the key of one of the last impressions, or of one to come.
        let key = match (file, below(30)) {
            (_, 0) => None,
            (0, _) => Some(number / 2),
            _ => Some((number + 60 - below(400)) / 2),
        };
        lines.push(Line { file, id: number, key, campaign: format!("c-{}", below(5)), at, arrival });
    }
    lines
}

/// The watermark before each line, in order; the least and the greatest integer for the infinities.
fn watermarks(lines: &[Line]) -> Vec<i64> {
    let last = [0, 1].map(|file| lines.iter().rposition(|line| line.file == file).unwrap());
    let mut of = [i64::MIN; 2];
    let mut before = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        before.push(of[0].min(of[1]));
        of[line.file] = of[line.file].max(line.at - DELAY);
        if last.contains(&place) {
            // A file ends right after its last line.
            of[line.file] = i64::MAX;
        }
    }
    before
}

fn database(lines: &[Line]) -> Connection {
    let mut database = Connection::open_in_memory().unwrap();
    let table =
        "CREATE TABLE line (file INTEGER, id INTEGER, key INTEGER, campaign TEXT, at INTEGER, watermark INTEGER)";
    database.execute(table, ()).unwrap();
    let inserts = database.transaction().unwrap();
    for (line, watermark) in lines.iter().zip(watermarks(lines)) {
        let row = (i64::try_from(line.file).unwrap(), line.id, line.key, &line.campaign, line.at, watermark);
        inserts.execute("INSERT INTO line VALUES (?1, ?2, ?3, ?4, ?5, ?6)", row).unwrap();
    }
    inserts.commit().unwrap();
    database.execute("CREATE INDEX by_key ON line (file, key)", ()).unwrap();
    database
}

/// A join.
#[derive(Debug, Clone, Copy)]
struct Case {
    matching: &'static str,
    /// Seconds.
    lower: i64,
    upper: i64,
    lateness: i64,
}

const CASES: [Case; 7] = [
    Case { matching: "inner", lower: 0, upper: 120, lateness: 0 },
    Case { matching: "left", lower: 0, upper: 120, lateness: 0 },
    Case { matching: "right", lower: 0, upper: 120, lateness: 20 },
    Case { matching: "full", lower: 0, upper: 120, lateness: 20 },
    Case { matching: "full", lower: -30, upper: 30, lateness: 5 },
    Case { matching: "full", lower: 5, upper: 60, lateness: 0 },
    Case { matching: "full", lower: -60, upper: -5, lateness: 0 },
];

impl Case {
    fn pipeline(self, more: &str) -> String {
        let Self { matching, lower, upper, lateness } = self;
        let source = |name: &str| {
            format!(
                "  - name: {name}\n    log: {name}\n    timestamp_field: at\n\
                 \x20   watermark: {{strategy: bounded_out_of_orderness, max_delay: {DELAY}ms}}\n"
            )
        };
        let (left, right) = (source("impressions"), source("clicks"));
        format!(
            "job: pairs\nversion: 1\nsources:\n{left}{right}operators:\n  - name: pairs\n    join:\n      type: interval\n\
             \x20     left: {{input: impressions, key_by: [key]}}\n      right: {{input: clicks, key_by: [key]}}\n\
             \x20     matching: {matching}\n      lower: {lower}s\n      upper: {upper}s\n      allowed_lateness: {lateness}s\n\
             \x20     select: {{impression: left.impression, click: right.click, key: left.key, campaign: right.campaign}}\n\
             {more}"
        )
    }

    /// The pairs: impression, click, the greater time.
    fn query(self, columns: &str) -> String {
        let Self { matching, lower, upper, lateness } = self;
        let in_time =
            |file: i64| format!("(SELECT * FROM line WHERE file = {file} AND at + {lateness} * 1000 >= watermark)");
        format!(
            "SELECT {columns} FROM {} AS l {matching} JOIN {} AS r\n\
             ON l.key = r.key AND r.at BETWEEN l.at + {lower} * 1000 AND l.at + {upper} * 1000",
            in_time(0),
            in_time(1)
        )
    }
}

/// A folder with both files.
fn prepared(lines: &[Line]) -> Folder {
    let folder = Folder::new();
    for (file, name) in ["impressions.ndjson", "clicks.ndjson"].into_iter().enumerate() {
        folder.write(name, lines.iter().filter(|line| line.file == file).map(Line::text).collect::<String>());
    }
    folder
}

fn run(folder: &Folder, pipeline: &str, more: &[&str]) -> Finished {
    folder.write("pipeline.yaml", pipeline);
    let files =
        ["--input", "impressions=impressions.ndjson", "--input", "clicks=clicks.ndjson", "--too-late", "late.ndjson"];
    folder.tidegate(&[&["run", "pipeline.yaml", "--arrival-field", "arrival"], &files[..], more].concat()).success()
}

/// Impression, click and time of each row, sorted.
type Pairs = Vec<(Option<i64>, Option<i64>, i64)>;

fn by_sql(database: &Connection, case: Case) -> Pairs {
    let query = case.query("l.id, r.id, max(coalesce(l.at, r.at), coalesce(r.at, l.at))");
    let mut query = database.prepare(&query).unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let mut pairs: Pairs = query.query_map((), row).unwrap().collect::<rusqlite::Result<_>>().unwrap();
    pairs.sort_unstable();
    pairs
}

fn by_tidegate(output: &str) -> Pairs {
    let row = |line: &Value| (line["impression"].as_i64(), line["click"].as_i64(), millis(&line["time"]));
    let mut pairs: Pairs = parsed(output).iter().map(row).collect();
    pairs.sort_unstable();
    pairs
}

/// A time of the streams' day, ms.
fn millis(time: &Value) -> i64 {
    let text = time.as_str().unwrap_or_else(|| panic!("{time} is no time"));
    assert!(text.starts_with("2026-10-22T") && text.ends_with('Z'), "{text}");
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().unwrap();
    let seconds = number(11, 13) * 3_600 + number(14, 16) * 60 + number(17, 19);
    let fraction = if text.len() > 20 { number(20, 23) } else { 0 };
    START - START % 86_400_000 + seconds * 1_000 + fraction
}

#[test]
fn pairs_and_rows_without_a_partner_are_what_sql_computes() {
    let lines = lines();
    let database = database(&lines);
    let folder = prepared(&lines);
    for case in CASES {
        let pipeline = case.pipeline("sinks:\n  - {input: pairs, type: log, log: pairs-out}\n");
        let expected = by_sql(&database, case);
        assert!(expected.iter().any(|(left, right, _)| left.is_some() && right.is_some()), "{case:?}");
        for cut in [&["--parallelism", "1"][..], &["--parallelism", "3", "--batch-rows", "7"]] {
            let done = run(&folder, &pipeline, cut);
            assert!(by_tidegate(&done.stdout) == expected, "{case:?} {cut:?}: {} pairs", expected.len());
            let in_time = lines
                .iter()
                .zip(watermarks(&lines))
                .filter(|(line, watermark)| line.at + case.lateness * 1000 >= *watermark)
                .count();
            assert!(in_time < lines.len(), "some lines are too late");
            let counts = ["read", "accepted", "too_late", "emitted"].map(|key| done.count(key));
            let expected = [lines.len(), in_time, lines.len() - in_time, expected.len()];
            assert_eq!(counts, expected.map(|count| u64::try_from(count).unwrap()), "{case:?} {cut:?}");
            assert_eq!(parsed(&folder.read("late.ndjson")).len(), lines.len() - in_time, "{case:?} {cut:?}");
        }
    }
}

/// A join holds its watermark back for as long as a row can still come out: nothing of it is late for a window behind it.
#[test]
fn windows_over_a_join_are_what_sql_computes() {
    let lines = lines();
    let database = database(&lines);
    let folder = prepared(&lines);
    let more = "  - name: per_minute\n    input: pairs\n    key_by: [campaign]\n    window: {type: tumbling, size: 1m}\n\
                \x20   aggregate: {rows: {fn: count}, clicks: {fn: count, field: click}, impressions: {fn: count, field: impression}}\n\
                sinks:\n  - {input: per_minute, type: log, log: minutes}\n";
    for case in CASES {
        let done = run(&folder, &case.pipeline(more), &["--parallelism", "2"]);
        let minute = "max(coalesce(l.at, r.at), coalesce(r.at, l.at)) / 60000 * 60000";
        let columns = format!("coalesce(r.campaign, ''), {minute}, count(*), count(r.id), count(l.id)");
        let query = case.query(&columns) + "\nGROUP BY 1, 2";
        let mut query = database.prepare(&query).unwrap();
        let row = |row: &rusqlite::Row<'_>| {
            let key: (String, i64) = (row.get(0)?, row.get(1)?);
            Ok((key, [row.get::<_, i64>(2)?, row.get(3)?, row.get(4)?]))
        };
        let expected: BTreeMap<_, _> = query.query_map((), row).unwrap().collect::<rusqlite::Result<_>>().unwrap();
        let pane = |pane: &Value| {
            let key = (pane["campaign"].as_str().unwrap_or_default().to_owned(), millis(&pane["window_start"]));
            (key, ["rows", "clicks", "impressions"].map(|field| pane[field].as_i64().unwrap()))
        };
        let panes: Vec<_> = parsed(&done.stdout).iter().map(pane).collect();
        assert_eq!(panes.len(), expected.len(), "{case:?}: each window once");
        assert_eq!(panes.into_iter().collect::<BTreeMap<_, _>>(), expected, "{case:?}");
        let late = parsed(&folder.read("late.ndjson"));
        assert!(late.iter().all(|line| line["operator"] == "pairs"), "{case:?}");
    }
}

/// Rows in each of their windows that was not gone when they came, met by window.
fn window_query(size: i64, slide: i64, lateness: i64) -> String {
    let rows = |file: i64| {
        format!(
            "(SELECT line.*, at / {slide} * {slide} - step * {slide} AS start FROM line, step\n\
             WHERE file = {file} AND step < {size} / {slide} AND start + {size} + {lateness} > watermark)"
        )
    };
    format!(
        "WITH step AS (SELECT value AS step FROM generated)\n\
         SELECT l.id, r.id, l.start + {size} - 1 FROM {} AS l JOIN {} AS r ON l.key = r.key AND l.start = r.start",
        rows(0),
        rows(1)
    )
}

#[test]
fn pairs_of_windows_are_what_sql_computes() {
    let lines = lines();
    let database = database(&lines);
    database.execute_batch("CREATE TABLE generated (value); INSERT INTO generated VALUES (0), (1), (2)").unwrap();
    let folder = prepared(&lines);
    for (size, slide, lateness) in
        [(60_000, 60_000, 0), (60_000, 60_000, 15_000), (60_000, 20_000, 0), (60_000, 20_000, 15_000)]
    {
        let window = if size == slide {
            format!("{{type: tumbling, size: {size}ms}}")
        } else {
            format!("{{type: sliding, size: {size}ms, slide: {slide}ms}}")
        };
        let case = Case { matching: "inner", lower: 0, upper: 0, lateness: 0 };
        let pipeline = case.pipeline("sinks:\n  - {input: pairs, type: log, log: pairs-out}\n");
        let pipeline = pipeline.replace("type: interval", &format!("type: window\n      window: {window}"));
        let pipeline = pipeline.replace("      matching: inner\n      lower: 0s\n      upper: 0s\n", "");
        let pipeline = pipeline.replace("allowed_lateness: 0s", &format!("allowed_lateness: {lateness}ms"));
        let mut query = database.prepare(&window_query(size, slide, lateness)).unwrap();
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let mut expected: Pairs = query.query_map((), row).unwrap().collect::<rusqlite::Result<_>>().unwrap();
        expected.sort_unstable();
        assert!(!expected.is_empty());
        for cut in [&["--parallelism", "1"][..], &["--parallelism", "3", "--batch-rows", "7"]] {
            let done = run(&folder, &pipeline, cut);
            assert!(by_tidegate(&done.stdout) == expected, "{window} {lateness} {cut:?}: {} pairs", expected.len());
            let gone = |line: &Line, watermark: i64| line.at / slide * slide + size + lateness <= watermark;
            let late = lines.iter().zip(watermarks(&lines)).filter(|(line, watermark)| gone(line, *watermark)).count();
            assert_eq!(done.count("too_late"), u64::try_from(late).unwrap(), "{window} {lateness}");
        }
    }
}

/// Once the watermark has passed, nothing of what a join kept is left.
#[test]
fn the_state_of_a_join_drains() {
    let lines = lines();
    let folder = prepared(&lines);
    let windows = "type: window, left: {input: impressions, key_by: [key]}, right: {input: clicks, key_by: [key]}";
    let select = "select: {impression: left.impression, click: right.click}";
    let more = format!(
        "  - name: minutes\n    join: {{{windows}, window: {{type: sliding, size: 1m, slide: 20s}}, {select}}}\n\
         sinks:\n  - {{input: pairs, type: log, log: pairs-out}}\n  - {{input: minutes, type: log, log: minutes-out}}\n"
    );
    let outputs = ["--output", "pairs=pairs.ndjson", "--output", "minutes=minutes.ndjson", "--report", "report.json"];
    run(&folder, &CASES[3].pipeline(&more), &outputs);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let of = |name: &str| {
        let operators = report["operators"].as_array().unwrap();
        operators.iter().find(|operator| operator["id"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))
    };
    for name in ["pairs", "minutes"] {
        let [rows, bytes] = ["join_rows", "bytes"].map(|count| of(name)["peak"][count].as_u64().unwrap());
        assert!(rows > 100 && bytes > 100 * rows, "{name} kept {rows} rows, {bytes} bytes");
        assert_eq!((&of(name)["state"]["bytes"], &of(name)["state"]["keys"]), (&json!(0), &json!(0)), "{name}");
    }
}
