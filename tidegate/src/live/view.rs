//! Turns what was seen into lines: pure, so that tests can read what a person would.

use anstyle::{AnsiColor, Style};
use tidegate_pipeline::Pipeline;
use tidegate_types::{NO_CLOCK, PaneFields, Value, Watermark};
use tidegate_worker::RunProgress;

use super::table::{self, styled};
use super::text::{self, Cell, clip, count};
use super::windows::Windows;
use crate::console::Size;

/// The most windows that are shown: more is not read.
const MOST_ROWS: usize = 24;
/// Lines above the table, its header, and one below for the cursor.
const OTHER_LINES: usize = 6;
/// The windows that are shown at the end where there is no terminal.
const LAST_ROWS: usize = 12;
/// The columns of a page without a terminal.
const PAGE: usize = 120;
/// The cells of the bar.
const BAR: u64 = 24;

/// What the source gave so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    pub(super) records: u64,
    pub(super) bytes: u64,
    /// Records a second.
    pub(super) rate: u64,
}

/// What stays the same while a run goes on.
pub(super) struct View {
    job: String,
    fields: PaneFields,
    total_bytes: Option<u64>,
    colour: bool,
}

impl View {
    pub(super) fn new(pipeline: &Pipeline, fields: PaneFields, total_bytes: Option<u64>, colour: bool) -> Self {
        Self { job: text::clean(&pipeline.job), fields, total_bytes, colour }
    }

    /// The whole picture: progress, and the windows that changed last.
    pub(super) fn screen(
        &self,
        read: &Read,
        progress: Option<&RunProgress>,
        windows: &Windows,
        size: Size,
    ) -> Vec<String> {
        let head = format!("{}  {}{}", self.job, self.bar(read), self.amount(read));
        let rows = windows.latest(MOST_ROWS.min(size.rows.saturating_sub(OTHER_LINES)));
        let mut lines = vec![styled(&clip(&head, size.columns), Style::new().bold(), self.colour)];
        lines.push(clip(&times(progress), size.columns));
        lines.push(clip(&outcomes(progress), size.columns));
        lines.push(String::new());
        lines.extend(table::lines(&self.fields, &rows, size.columns, self.colour));
        lines
    }

    /// One line for a terminal.
    pub(super) fn status(&self, read: &Read, progress: Option<&RunProgress>, columns: usize) -> String {
        let line = format!("{}{}  {}", self.bar(read), self.amount(read), times(progress));
        styled(&clip(&line, columns), AnsiColor::Cyan.on_default(), self.colour)
    }

    /// One line for a log.
    pub(super) fn line(&self, read: &Read, progress: Option<&RunProgress>) -> String {
        format!("{}: {}; {}; {}", self.job, self.amount(read), times(progress), outcomes(progress))
    }

    /// The last windows, for a log.
    pub(super) fn last_windows(&self, windows: &Windows) -> Vec<String> {
        let rows = windows.latest(LAST_ROWS);
        if rows.is_empty() { Vec::new() } else { table::lines(&self.fields, &rows, PAGE, false) }
    }

    /// `[#####-----] ` where the size of the input is known.
    fn bar(&self, read: &Read) -> String {
        let Some(total) = self.total_bytes else { return String::new() };
        let full = usize::try_from(BAR * read.bytes.min(total) / total.max(1)).unwrap_or(0);
        let empty = usize::try_from(BAR).unwrap_or(full) - full;
        format!("[{}{}] ", "#".repeat(full), "-".repeat(empty))
    }

    fn amount(&self, read: &Read) -> String {
        let percent = self.total_bytes.map(|total| format!("{}%, ", 100 * read.bytes.min(total) / total.max(1)));
        format!(
            "{}{} records, {}, {}/s",
            percent.unwrap_or_default(),
            count(read.records),
            text::bytes(read.bytes),
            count(read.rate)
        )
    }
}

/// How far event time and processing time are, and what holds them back.
fn times(progress: Option<&RunProgress>) -> String {
    let watermark = progress.map_or(Watermark::MIN, |progress| progress.watermark);
    let mut line = format!("watermark {}", text::watermark(watermark));
    let Some(progress) = progress else { return line };
    if let Some((partition, _)) = &progress.slowest_partition {
        line.push_str(&format!(" (held back by {})", partition_name(partition)));
    }
    if progress.clock != NO_CLOCK {
        line.push_str(&format!(", clock {}", text::time(progress.clock)));
    }
    for subtasks in progress.operators.chunk_by(|a, b| a.operator == b.operator) {
        let slowest = subtasks.iter().map(|subtask| subtask.standing.watermark).min().unwrap_or(Watermark::MIN);
        if slowest < watermark {
            line.push_str(&format!(", {} at {}", text::clean(&subtasks[0].operator), text::watermark(slowest)));
        }
    }
    line
}

pub(super) fn partition_name(partition: &Value) -> String {
    match partition {
        Value::Int(number) => format!("partition {number}"),
        other => clip(&Cell::of(other.as_ref()).text, 24),
    }
}

/// What became of the records.
fn outcomes(progress: Option<&RunProgress>) -> String {
    let account = progress.map(|progress| progress.account).unwrap_or_default();
    let mut parts = vec![format!(
        "panes: {} early, {} on time, {} late",
        count(account.panes_early),
        count(account.panes_on_time),
        count(account.panes_late)
    )];
    let rest = [
        (account.filtered, "filtered"),
        (account.too_late, "too late"),
        (account.duplicate, "duplicate"),
        (account.rejected, "rejected"),
    ];
    let rest: Vec<String> =
        rest.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect();
    if !rest.is_empty() {
        parts.push(format!("records: {}", rest.join(", ")));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests;
