//! The last words of a watched run: what came of every record, where it is, and what to look at next.

use std::time::Duration;

use tidegate_connectors::Output;
use tidegate_dataflow::Account;
use tidegate_worker::RunReport;

use super::lateness;
use super::text::count;
use crate::run::Outputs;

/// The lines, without the summary, which comes after them.
pub(super) fn lines(report: &RunReport, outputs: &Outputs, took: Duration) -> Vec<String> {
    let account = &report.account;
    let mut lines = vec![
        String::new(),
        format!(
            "{} records in {}.{} s: {} accepted, {} filtered, {} too late, {} duplicate, {} rejected.",
            count(account.read),
            took.as_secs(),
            took.subsec_millis() / 100,
            count(account.accepted),
            count(account.filtered),
            count(account.too_late),
            count(account.duplicate),
            count(account.rejected),
        ),
    ];
    let panes = account.panes_early + account.panes_on_time + account.panes_late + account.retractions;
    let rows = account.emitted;
    let what = if rows > 0 { "results" } else { "panes" };
    match outputs.results.as_slice() {
        [output] => lines.push(place(what, panes + rows, Some(output), "")),
        several => {
            let names: Vec<String> = several.iter().map(Output::name).collect();
            lines.push(format!("  {what:<13}{:>9}  in {}", count(panes + rows), names.join(", ")));
        }
    }
    lines.push(place("too late", account.too_late, outputs.too_late.as_ref(), "--too-late"));
    lines.push(place("duplicates", account.duplicate, outputs.duplicates.as_ref(), "--duplicates"));
    lines.push(place(
        "dead letters",
        account.rejected + account.failed_panes + account.failed_timers,
        outputs.dead_letters.as_ref(),
        "--dead-letter",
    ));
    if let Some(file) = &outputs.report {
        lines.push(format!("  {:<13}{:>9}  in {}", "report", "", file.name()));
    }
    lines.extend(report.sources.iter().flat_map(lateness::lines));
    lines.extend(next(account, outputs));
    lines
}

/// One output: what it is, how much is in it, where it is.
fn place(what: &str, records: u64, output: Option<&Output>, flag: &str) -> String {
    let at = match output {
        Some(output) => format!("in {}", output.name()),
        None if records > 0 => format!("counted only; {flag} FILE keeps them"),
        None => String::new(),
    };
    format!("  {what:<13}{:>9}  {at}", count(records)).trim_end().to_owned()
}

/// Commands that show more, for files that have something in them.
fn next(account: &Account, outputs: &Outputs) -> Vec<String> {
    let mut commands = Vec::new();
    if let [Output::File(path), ..] = outputs.results.as_slice() {
        let file = quoted(&path.display().to_string());
        if account.panes_on_time > 0 {
            commands.push((format!("grep ON_TIME {file} | tail"), "what was known when each window closed"));
        }
        if account.panes_late > 0 {
            commands.push((format!("grep LATE {file} | tail"), "what late records changed after that"));
        }
    }
    if let (Some(Output::File(path)), true) = (&outputs.dead_letters, account.rejected > 0) {
        let file = quoted(&path.display().to_string());
        commands
            .push((format!("grep -o '\"reason\": *\"[^\"]*\"' {file} | sort | uniq -c"), "why records were rejected"));
    }
    if commands.is_empty() {
        return Vec::new();
    }
    let widest = commands.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let shown = commands.into_iter().map(|(command, what)| format!("  {command:<widest$}   {what}"));
    [String::from("Look next at:")].into_iter().chain(shown).collect()
}

/// A file's name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,=:@%".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use tidegate_types::{NO_CLOCK, Watermark};
    use tidegate_windows::{SourceReport, Standing};

    use super::*;

    #[test]
    fn says_where_everything_is() {
        let account = Account {
            read: 27_004,
            accepted: 26_990,
            too_late: 4,
            rejected: 10,
            panes_early: 3,
            panes_on_time: 2,
            panes_late: 1,
            ..Account::default()
        };
        let outputs = Outputs {
            results: vec![Output::from_flag("my panes.ndjson")],
            too_late: None,
            dead_letters: Some(Output::from_flag("dead.ndjson")),
            duplicates: None,
            report: None,
        };
        let lines = lines(&of(account), &outputs, Duration::from_millis(14_950));
        let expected = [
            "",
            "27,004 records in 14.9 s: 26,990 accepted, 0 filtered, 4 too late, 0 duplicate, 10 rejected.",
            "  panes                6  in my panes.ndjson",
            "  too late             4  counted only; --too-late FILE keeps them",
            "  duplicates           0",
            "  dead letters        10  in dead.ndjson",
            "Look next at:",
        ];
        assert_eq!(lines[..7], expected);
        let commands = ["grep ON_TIME 'my panes.ndjson' | tail  ", "grep LATE 'my panes.ndjson' | tail  ", "grep -o "];
        assert_eq!(lines.len(), expected.len() + commands.len());
        for (line, command) in lines[7..].iter().zip(commands) {
            assert!(line.trim_start().starts_with(command), "{line}");
        }
    }

    /// The report of a run with this account, whose source had no partition.
    fn of(account: Account) -> RunReport {
        let now = Standing { watermark: Watermark::MAX, clock: NO_CLOCK, slowest: None };
        let watermarks = SourceReport { now, before_end: None, partitions: Vec::new() };
        let source = tidegate_dataflow::SourceReport { source: "source".into(), partitions: Vec::new(), watermarks };
        RunReport { account, sources: vec![source], operators: Vec::new() }
    }

    #[test]
    fn a_name_is_quoted_for_a_shell() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted("out/panes-1.ndjson"), "out/panes-1.ndjson");
    }
}
