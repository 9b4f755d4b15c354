//! A job on the platform as a person watches it: where it is, and its table's windows while they change.
//!
//! Whoever asks the API hands in what it answered; this only shows. Without a terminal it writes a line of progress every two
//! seconds, and the last windows at the end.

use anstyle::Style;
use serde_json::Value;
use tidegate_types::{EventTime, PaneFields, Timing, ValueRef};

use super::table::{self, styled};
use super::text::{self, Cell, clip, count};
use super::windows::{Row, Windows};
use super::{LINES, rate::Stopwatch};
use crate::console::{Console, Size, terminal_size};

/// The most windows that are shown: more is not read.
const MOST_ROWS: usize = 24;
/// Lines above the table, its header, and one below for the cursor.
const OTHER_LINES: usize = 6;
/// The windows that are shown at the end where there is no terminal.
const LAST_ROWS: usize = 12;
/// The columns of a page without a terminal.
const PAGE: usize = 120;

/// How far a job is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JobProgress {
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) state: String,
    pub(crate) read: u64,
    pub(crate) lag_records: u64,
    pub(crate) watermark: Option<EventTime>,
    /// Early, on-time and late panes.
    pub(crate) panes: [u64; 3],
    pub(crate) too_late: u64,
    pub(crate) duplicate: u64,
    pub(crate) rejected: u64,
}

/// One row of a table of windows.
#[derive(Debug, Clone)]
pub(crate) struct WindowRow {
    pub(crate) window: Option<(EventTime, EventTime)>,
    pub(crate) key: Vec<Value>,
    pub(crate) timing: Timing,
    pub(crate) index: u64,
    pub(crate) values: Vec<Value>,
}

/// What is shown of a job.
pub(crate) struct JobShow {
    console: Console,
    fields: PaneFields,
    windows: Windows,
    stopwatch: Stopwatch,
    /// When the last line was written, where there is no terminal; the stopwatch's time.
    last_line: Option<std::time::Duration>,
}

impl JobShow {
    /// A show of a job without a table, until it is told of one.
    pub(crate) fn new(console: &Console) -> Self {
        Self {
            console: console.clone(),
            fields: PaneFields::default(),
            windows: Windows::default(),
            stopwatch: Stopwatch::start(),
            last_line: None,
        }
    }

    /// The job's table has these key and value columns.
    pub(crate) fn set_columns(&mut self, keys: Vec<String>, values: Vec<String>) {
        self.fields = PaneFields { keys, values };
    }

    /// Takes the newest pane of a window in.
    pub(crate) fn note(&mut self, row: &WindowRow) {
        let cells = |values: &[Value]| values.iter().map(cell).collect();
        let WindowRow { window, timing, index, .. } = *row;
        let (key, values) = (cells(&row.key), cells(&row.values));
        self.windows.note_row(Row { window, key, timing, index, values, changed: 0 });
    }

    /// Shows how it stands.
    pub(crate) fn show(&mut self, progress: &JobProgress) {
        self.stopwatch.note(progress.read);
        if self.console.environment().can_redraw {
            let size = terminal_size();
            self.console.draw(self.screen(progress, size), size);
        } else if self.last_line.is_none_or(|last| self.stopwatch.elapsed() - last >= LINES) {
            self.last_line = Some(self.stopwatch.elapsed());
            self.console.line(&self.line(progress));
        }
    }

    /// Shows how it ended; the last picture stays.
    pub(crate) fn end(mut self, progress: &JobProgress) {
        self.last_line = None;
        self.show(progress);
        self.console.keep_region();
        let rows = self.windows.latest(LAST_ROWS);
        if !self.console.environment().can_redraw && !rows.is_empty() {
            table::lines(&self.fields, &rows, PAGE, false).iter().for_each(|line| self.console.line(line));
        }
    }

    fn screen(&self, progress: &JobProgress, size: Size) -> Vec<String> {
        let colour = self.console.environment().colour;
        let rows = self.windows.latest(MOST_ROWS.min(size.rows.saturating_sub(OTHER_LINES)));
        let mut lines = vec![styled(&clip(&self.head(progress), size.columns), Style::new().bold(), colour)];
        lines.push(clip(&times(progress), size.columns));
        lines.push(clip(&outcomes(progress), size.columns));
        if !self.fields.values.is_empty() {
            lines.push(String::new());
            lines.extend(table::lines(&self.fields, &rows, size.columns, colour));
        }
        lines
    }

    fn line(&self, progress: &JobProgress) -> String {
        format!("{}; {}; {}", self.head(progress), times(progress), outcomes(progress))
    }

    fn head(&self, progress: &JobProgress) -> String {
        format!(
            "{} {} is {}: {} records read, {}/s, {} behind",
            text::clean(&progress.name),
            progress.version,
            text::clean(&progress.state),
            count(progress.read),
            count(self.stopwatch.rate()),
            count(progress.lag_records),
        )
    }
}

fn times(progress: &JobProgress) -> String {
    match progress.watermark {
        Some(watermark) => format!("watermark {}", text::time(watermark)),
        None if progress.state == "finished" => "watermark end of input".to_owned(),
        None => "watermark none yet".to_owned(),
    }
}

fn outcomes(progress: &JobProgress) -> String {
    let [early, on_time, late] = progress.panes.map(count);
    let mut line = format!("panes: {early} early (~ speculative), {on_time} on time, {late} late");
    let rest = [(progress.too_late, "too late"), (progress.duplicate, "duplicate"), (progress.rejected, "rejected")];
    let rest: Vec<String> =
        rest.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect();
    if !rest.is_empty() {
        line.push_str(&format!("; records: {}", rest.join(", ")));
    }
    line
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::of(ValueRef::Null),
        Value::Bool(value) => Cell::of(ValueRef::Bool(*value)),
        Value::String(text) => Cell::of(ValueRef::Text(text)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Cell::of(ValueRef::Int(int)),
            (None, Some(float)) => Cell::of(ValueRef::Float(float)),
            (None, None) => Cell::text(number.to_string()),
        },
        Value::Array(_) | Value::Object(_) => Cell::text(text::clean(&value.to_string())),
    }
}

#[cfg(test)]
mod tests;
