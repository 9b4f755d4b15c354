//! The flights in `tidegate run` and in SQLite: the same windows, row for row.
//!
//! SQL knows nothing of watermarks, so the query computes the one that each line was judged against, from the lines before
//! it in the file: the least over the airports of the greatest scheduled departure so far, less the delay.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::Value;
use tidegate_e2e::{Folder, flights, last_per_window, parsed};

const PIPELINE: &str = "
job: delays
version: 1
source:
  log: flights
  timestamp_field: event_time
  watermark: {strategy: bounded_out_of_orderness, max_delay: 45m}
key_by: [origin, carrier]
window: {type: tumbling, size: 1h, allowed_lateness: 2h}
trigger: {early: every 10m processing_time, late: every_element}
accumulation: accumulating
aggregate:
  flights: {fn: count}
  departed: {fn: count, where: {field: status, equals: departed}}
  known: {fn: count, field: dep_delay_min}
  delay: {fn: sum, field: dep_delay_min}
  least: {fn: min, field: dep_delay_min}
  most: {fn: max, field: dep_delay_min}
  mean: {fn: avg, field: dep_delay_min}
  places: {fn: count_distinct, field: dest}
sink: {type: log, log: delays-out}
";

const FIELDS: [&str; 8] = ["flights", "departed", "known", "delay", "least", "most", "mean", "places"];

/// The lines, each with the watermark before it. Times are seconds; no flight has a fraction of one.
const JUDGED: &str = "
CREATE TABLE judged AS
WITH event AS (
    SELECT n, text, text ->> 'origin' AS origin, text ->> 'carrier' AS carrier, text ->> 'status' AS status,
        text ->> 'dest' AS dest, text ->> 'dep_delay_min' AS delay, unixepoch(text ->> 'event_time') AS t
    FROM line
), newest AS (
    SELECT *,
        max(CASE origin WHEN 'EWR' THEN t END) OVER before AS ewr,
        max(CASE origin WHEN 'JFK' THEN t END) OVER before AS jfk,
        max(CASE origin WHEN 'LGA' THEN t END) OVER before AS lga
    FROM event
    WINDOW before AS (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT *, t - t % 3600 AS start, t - t % 3600 + 3600 AS stop,
    -- NULL, and so no watermark, while an airport has no flight yet.
    coalesce(min(ewr, jfk, lga) - 45 * 60, -1) AS watermark
FROM newest";

/// What the windows of the flights that were judged in time come to; `?1` is the lateness that is still in time.
const WINDOWS: &str = "
SELECT origin, carrier, strftime('%Y-%m-%dT%H:%M:%SZ', start, 'unixepoch'),
    count(*), sum(status = 'departed'), count(delay), sum(delay), min(delay), max(delay), avg(delay), count(DISTINCT dest)
FROM judged
WHERE watermark < stop + ?1
GROUP BY origin, carrier, start";

/// Key and window start, and the values as JSON.
type Rows = BTreeMap<String, Vec<Value>>;

fn database(events: &str) -> Connection {
    let mut database = Connection::open_in_memory().unwrap();
    database.execute("CREATE TABLE line (n INTEGER PRIMARY KEY, text TEXT)", ()).unwrap();
    let lines = database.transaction().unwrap();
    for line in events.lines() {
        lines.execute("INSERT INTO line (text) VALUES (?1)", [line]).unwrap();
    }
    lines.commit().unwrap();
    database.execute(JUDGED, ()).unwrap();
    database
}

fn by_sql(database: &Connection, lateness_seconds: i64) -> Rows {
    let mut query = database.prepare(WINDOWS).unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let key = [row.get::<_, String>(0)?, row.get(1)?, row.get(2)?].join(" ");
        let value = |at: usize| {
            Ok(match row.get_ref(3 + at)? {
                rusqlite::types::ValueRef::Null => Value::Null,
                rusqlite::types::ValueRef::Integer(value) => value.into(),
                rusqlite::types::ValueRef::Real(value) => value.into(),
                other => panic!("{other:?}"),
            })
        };
        Ok((key, (0..FIELDS.len()).map(value).collect::<rusqlite::Result<_>>()?))
    };
    query.query_map([lateness_seconds], row).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn by_tidegate<'a>(panes: impl IntoIterator<Item = &'a Value>) -> Rows {
    let text = |pane: &Value, field: &str| pane[field].as_str().unwrap().to_owned();
    let row = |pane: &Value| {
        let key = ["origin", "carrier", "window_start"].map(|field| text(pane, field)).join(" ");
        (key, FIELDS.iter().map(|field| pane[*field].clone()).collect())
    };
    let mut rows = Rows::new();
    for (key, values) in panes.into_iter().map(row) {
        assert!(rows.insert(key.clone(), values).is_none(), "two panes of {key}");
    }
    rows
}

#[track_caller]
fn assert_same(ours: &Rows, theirs: &Rows) {
    assert!(!theirs.is_empty());
    for key in theirs.keys().chain(ours.keys()) {
        assert_eq!(ours.get(key), theirs.get(key), "{key}: Tidegate, then SQLite, as {FIELDS:?}");
    }
}

#[test]
fn windows_are_what_sql_computes() {
    let events = flights::events();
    let database = database(&events);
    let folder = Folder::new();
    folder.write("pipeline.yaml", PIPELINE);
    folder.write("flights.ndjson", &events);
    let done = folder.tidegate(&[
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
        "--parallelism",
        "2",
    ]);
    let done = done.success();
    done.assert_balanced();
    let panes = folder.read("panes.ndjson");

    // As each window closed.
    let all = parsed(&panes);
    let on_time = all.iter().filter(|pane| pane["pane"]["timing"] == "ON_TIME");
    assert_same(&by_tidegate(on_time), &by_sql(&database, 0));
    // After the last correction.
    let last = last_per_window(&panes, &["origin", "carrier"]);
    assert_same(&by_tidegate(last.values()), &by_sql(&database, 2 * 3600));
    // What came later than that.
    let mut late = database.prepare("SELECT n - 1 FROM judged WHERE watermark >= stop + 7200 ORDER BY n").unwrap();
    let late: Vec<i64> = late.query_map((), |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
    let ours = parsed(&folder.read("late.ndjson"));
    let mut ours: Vec<i64> = ours.iter().map(|line| line["offset"].as_i64().unwrap()).collect();
    // Their order is fixed for each key only.
    ours.sort_unstable();
    assert!(!late.is_empty(), "some flights are more than two hours late");
    assert_eq!(ours, late);
    assert_eq!(done.count("too_late"), u64::try_from(late.len()).unwrap());
}
