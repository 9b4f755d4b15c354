//! Watching a job until it ends: its state, and the rows of its table as they change.
//!
//! Asks twice a second. A platform that does not answer for a while (it is restarted) is asked again.

use std::time::Duration;

use serde_json::Value;
use tidegate_formats::parse_rfc3339;
use tidegate_types::{EventTime, Timing};

use super::http::{Call, Trouble};
use super::path::{part, query};
use super::{Client, job, read, table, value};
use crate::failure::Failure;
use crate::live::{JobProgress, JobShow, WindowRow};

/// Between two questions.
const EVERY: Duration = Duration::from_millis(500);
/// How many questions in a row may stay without an answer: half a minute.
const PATIENCE: u32 = 60;
/// The most rows of a page.
const PAGE: usize = 1000;

/// What is watched of a table of windows.
struct Windows {
    path: String,
    /// The fields of the key, without the window's.
    keys: Vec<String>,
    values: Vec<String>,
    /// The position behind the rows that were seen.
    after: Option<String>,
}

/// Shows a job until it ends; then says how it ended, and its account as the last line.
///
/// # Errors
/// If there is no such job, the platform does not answer for long, or the job failed.
pub(super) fn job(client: &Client<'_>, name: &str) -> Result<(), Failure> {
    let mut seen = job::one(client, name)?;
    let mut windows: Option<Windows> = None;
    let mut show = JobShow::new(client.console);
    loop {
        if windows.is_none() {
            windows = windows_of(client, &seen)?;
            if let Some(windows) = &windows {
                show.set_columns(windows.keys.clone(), windows.values.clone());
            }
        }
        // Whether it has ended is known before its rows are read, so none of them is missed.
        let has_ended = !matches!(seen["state"].as_str(), Some("submitted" | "running"));
        if let Some(windows) = &mut windows {
            windows.read(client, &mut show)?;
        }
        show.show(&progress(&seen));
        if has_ended {
            break;
        }
        pause();
        seen = patiently(|| client.api.ask(&Call::get(&format!("/v1/jobs/{}", part(name)))))?;
    }
    show.end(&progress(&seen));
    end(client, &seen)
}

/// Waits until the next question.
#[allow(clippy::disallowed_methods, reason = "a pause between two questions to the platform, for a person's eyes")]
pub(super) fn pause() {
    std::thread::sleep(EVERY);
}

/// Asks until there is an answer.
fn patiently(ask: impl Fn() -> Result<super::http::Answer, Trouble>) -> Result<Value, Failure> {
    let mut tries = 0;
    loop {
        match ask() {
            Ok(answer) => return answer.json(),
            Err(trouble) if trouble.may_pass() && tries < PATIENCE => {
                tries += 1;
                pause();
            }
            Err(trouble) => return Err(trouble.failure()),
        }
    }
}

/// What to watch of the job's table, once it is there.
fn windows_of(client: &Client<'_>, job: &Value) -> Result<Option<Windows>, Failure> {
    let Some(name) = job.get("table").and_then(Value::as_str) else { return Ok(None) };
    let Some(table) =
        table::tables(client, read::ListArgs::default())?.into_iter().find(|table| table["name"] == *name)
    else {
        return Ok(None);
    };
    let is_of_pane = |column: &String| {
        matches!(column.as_str(), "window_start" | "window_end" | "watermark" | "changed")
            || column.starts_with("pane_")
    };
    let keys: Vec<String> = table::names(&table, "key").into_iter().filter(|column| !is_of_pane(column)).collect();
    let values = table::names(&table, "columns");
    let values = values.into_iter().filter(|column| !is_of_pane(column) && !keys.contains(column)).collect();
    Ok(Some(Windows { path: format!("/v1/tables/{}/rows", part(name)), keys, values, after: None }))
}

impl Windows {
    /// Takes in what has changed since the last time.
    fn read(&mut self, client: &Client<'_>, show: &mut JobShow) -> Result<(), Failure> {
        loop {
            let mut pairs = vec![("order", "changed".to_owned()), ("limit", PAGE.to_string())];
            pairs.extend(self.after.iter().map(|after| ("after", after.clone())));
            let answer = match client.api.ask(&Call::get(&query(&self.path, &pairs))) {
                Ok(answer) => answer,
                // The next round asks again.
                Err(trouble) if trouble.may_pass() => return Ok(()),
                Err(trouble) => return Err(trouble.failure()),
            };
            let rows = read::lines(&answer.body)?;
            rows.iter().for_each(|row| show.note(&self.row(row)));
            self.after = answer.header("tidegate-next").map(str::to_owned).or_else(|| self.after.take());
            if rows.len() < PAGE {
                return Ok(());
            }
        }
    }

    fn row(&self, row: &Value) -> WindowRow {
        let field = |name: &String| row.get(name).cloned().unwrap_or(Value::Null);
        WindowRow {
            window: time(row, "window_start").zip(time(row, "window_end")),
            key: self.keys.iter().map(field).collect(),
            // A row that is no pane has its time only, and no newer one is due.
            timing: match row.pointer("/pane/timing").and_then(Value::as_str) {
                Some("EARLY") => Timing::Early,
                Some("ON_TIME") | None => Timing::OnTime,
                Some(_) => Timing::Late,
            },
            index: value::number(row, "/pane/index"),
            values: self.values.iter().map(field).collect(),
        }
    }
}

fn time(row: &Value, name: &str) -> Option<EventTime> {
    parse_rfc3339(row.get(name)?.as_str()?)
}

fn progress(job: &Value) -> JobProgress {
    let account = |count: &str| value::number(job, &format!("/account/{count}"));
    JobProgress {
        name: value::text(job, "/name"),
        version: value::number(job, "/version"),
        state: value::text(job, "/state"),
        read: account("read"),
        lag_records: value::number(job, "/lag/records"),
        watermark: job.get("watermark").and_then(Value::as_i64),
        panes: [account("panes/EARLY"), account("panes/ON_TIME"), account("panes/LATE")],
        too_late: account("too_late"),
        duplicate: account("duplicate"),
        rejected: account("rejected"),
    }
}

/// The account as one line, as `tidegate run` ends with it (docs/local-run.md): a graph's has two members more.
fn summary(job: &Value) -> String {
    const COUNTS: [&str; 10] = [
        "read",
        "expanded",
        "forwarded",
        "accepted",
        "filtered",
        "too_late",
        "duplicate",
        "rejected",
        "partly_late",
        "unshown",
    ];
    let of = |name: &str| format!("\"{name}\":{}", value::number(job, &format!("/account/{name}")));
    let told = |name: &str| job.pointer(&format!("/account/{name}")).is_some_and(Value::is_number);
    let counts = COUNTS.into_iter().filter(|name| *name != "forwarded" || told(name)).map(of).collect::<Vec<_>>();
    let emitted = if told("emitted") { format!(",{}", of("emitted")) } else { String::new() };
    let panes = ["EARLY", "ON_TIME", "LATE"];
    let panes = panes.map(|timing| format!("\"{timing}\":{}", value::number(job, &format!("/account/panes/{timing}"))));
    format!("{{{},\"panes\":{{{}}},{}{emitted}}}", counts.join(","), panes.join(","), of("retractions"))
}

/// How it ended.
fn end(client: &Client<'_>, job: &Value) -> Result<(), Failure> {
    let name = value::text(job, "/name");
    if client.json {
        crate::print(format!("{job}\n").as_bytes())?;
    } else {
        client.console.line("");
        job::shown(job).lines().for_each(|line| client.console.line(line));
        if job.get("account").is_some_and(Value::is_object) {
            client.console.line(&summary(job));
        }
    }
    match job["state"].as_str() {
        Some("failed") => Err(Failure::external(format!("job {name} failed: {}", value::text(job, "/reason")))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_account_has_the_keys_of_the_summary_in_their_order() {
        let job = json!({"account": {"read": 3, "accepted": 2, "rejected": 1, "panes": {"ON_TIME": 2}}});
        let expected = "{\"read\":3,\"expanded\":0,\"accepted\":2,\"filtered\":0,\"too_late\":0,\"duplicate\":0,\"rejected\":1,\
                        \"partly_late\":0,\"unshown\":0,\"panes\":{\"EARLY\":0,\"ON_TIME\":2,\"LATE\":0},\"retractions\":0}";
        assert_eq!(summary(&job), expected);
        let graph = json!({"account": {"read": 3, "forwarded": 2, "accepted": 5, "panes": {}, "emitted": 4}});
        let line = summary(&graph);
        assert!(line.starts_with("{\"read\":3,\"expanded\":0,\"forwarded\":2,\"accepted\":5,"), "{line}");
        assert!(line.ends_with(",\"retractions\":0,\"emitted\":4}"), "{line}");
    }

    #[test]
    fn a_row_of_a_table_is_a_window_with_its_newest_pane() {
        let windows =
            Windows { path: String::new(), keys: vec!["country".into()], values: vec!["n".into()], after: None };
        let row = json!({"country": "VN", "window_start": "2026-10-22T09:41:00Z", "window_end": "2026-10-22T09:42:00Z",
            "n": 7, "pane": {"timing": "EARLY", "index": 3, "is_last": false}, "watermark": null});
        let row = windows.row(&row);
        assert_eq!((row.timing, row.index, row.key, row.values), (Timing::Early, 3, vec![json!("VN")], vec![json!(7)]));
        assert_eq!(row.window, Some((1_792_662_060_000, 1_792_662_120_000)));
        let row = windows.row(&json!({"country": "VN", "n": 7, "time": "2026-10-22T09:41:00Z", "watermark": null}));
        assert_eq!(
            (row.timing, row.window, row.values),
            (Timing::OnTime, None, vec![json!(7)]),
            "a row without a window"
        );
    }
}
