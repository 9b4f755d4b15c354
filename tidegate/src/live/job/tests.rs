//! What a person reads while a job goes on.

use serde_json::json;

use super::*;
use crate::environment::Environment;

fn show() -> JobShow {
    let environment = Environment { can_redraw: false, stdout_is_terminal: false, colour: false };
    let mut show = JobShow::new(&Console::new(environment));
    show.set_columns(vec!["country".into()], vec!["clicks".into()]);
    show
}

fn row(country: &str, timing: Timing, clicks: i64) -> WindowRow {
    let window = Some((1_792_662_060_000, 1_792_662_120_000));
    WindowRow { window, key: vec![json!(country)], timing, index: 2, values: vec![json!(clicks)] }
}

#[test]
fn early_rows_are_marked_and_replaced_by_what_is_certain() {
    let mut show = show();
    show.note(&row("VN", Timing::Early, 7));
    show.note(&row("BR", Timing::Early, 3));
    show.note(&row("VN", Timing::OnTime, 12));
    let size = Size { columns: 100, rows: 30 };
    let screen = show.screen(&JobProgress { name: "ads".into(), version: 14, ..JobProgress::default() }, size);
    assert_eq!(
        screen[4..],
        [
            "window (UTC)            country  pane        clicks",
            "2026-10-22 09:41–09:42  BR       ~ early #2       3",
            "2026-10-22 09:41–09:42  VN       on time #2      12",
        ]
    );
}

#[test]
fn a_line_says_where_the_job_is() {
    let progress = JobProgress {
        name: "ads".into(),
        version: 14,
        state: "running".into(),
        lag_records: 1_200,
        watermark: Some(1_792_662_060_000),
        panes: [5, 4, 1],
        rejected: 2,
        ..JobProgress::default()
    };
    assert_eq!(
        show().line(&progress),
        "ads 14 is running: 0 records read, 0/s, 1,200 behind; watermark 2026-10-22 09:41; panes: 5 early \
         (~ speculative), 4 on time, 1 late; records: 2 rejected"
    );
}

#[test]
fn text_of_a_tenant_never_reaches_the_terminal_as_a_command() {
    assert_eq!(cell(&json!("a\u{1b}[2J")).text, "a\u{fffd}[2J");
    assert_eq!(cell(&json!(["\u{9b}"])).text, "[\"\u{fffd}\"]");
}
