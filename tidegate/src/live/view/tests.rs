//! What a person sees, line by line.

use tidegate_dataflow::task::OperatorStatus;
use tidegate_dataflow::{Account, OperatorStanding};
use tidegate_formats::parse_rfc3339;
use tidegate_types::{Column, ColumnBuilder, Kind, PaneBatch, PaneInfo, PaneOp, Timing, ValueRef};

use super::*;

const PIPELINE: &str = "
job: delays
version: 1
source: {log: l, timestamp_field: t, watermark: {strategy: ascending}}
key_by: [origin]
window: {type: tumbling, size: 1h}
aggregate: {flights: {fn: count}}
sink: {type: log, log: out}
";

fn view(total_bytes: Option<u64>, colour: bool) -> View {
    let pipeline = tidegate_pipeline::parse(PIPELINE).unwrap().pipeline;
    let fields = PaneFields { keys: vec!["origin".into()], values: vec!["flights".into()] };
    View::new(&pipeline, fields, total_bytes, colour)
}

fn column(kind: Kind, value: ValueRef<'_>) -> Column {
    let mut builder = ColumnBuilder::of_kind(kind);
    builder.push(value);
    builder.finish()
}

fn windows() -> Windows {
    let mut windows = Windows::default();
    let at = |text: &str| parse_rfc3339(text).unwrap();
    let panes = [
        ("09:00", "10:00", Timing::Late, 2, 41),
        ("10:00", "11:00", Timing::OnTime, 1, 30),
        ("11:00", "12:00", Timing::Early, 0, 5),
    ];
    for (start, end, timing, index, flights) in panes {
        let window = Some((at(&format!("2013-01-14T{start}:00Z")), at(&format!("2013-01-14T{end}:00Z"))));
        let info = PaneInfo {
            window,
            timing,
            index,
            is_last: false,
            watermark: Watermark::MIN,
            op: PaneOp::Insert,
            fired_at: 0,
        };
        let keys = vec![column(Kind::Text, ValueRef::Text("EWR"))];
        windows.note(&PaneBatch {
            keys,
            values: vec![column(Kind::Int, ValueRef::Int(flights))],
            infos: vec![info],
            order: None,
        });
    }
    windows
}

fn progress() -> RunProgress {
    RunProgress {
        account: Account {
            read: 1200,
            accepted: 1190,
            rejected: 10,
            panes_early: 1,
            panes_on_time: 1,
            panes_late: 1,
            ..Account::default()
        },
        watermark: Watermark::at(parse_rfc3339("2013-01-14T11:02:00Z").unwrap()),
        clock: parse_rfc3339("2013-01-14T11:40:30Z").unwrap(),
        slowest_partition: Some((Value::from("LGA"), Watermark::MIN)),
        bytes_read: 0,
        operators: Vec::new(),
    }
}

const READ: Read = Read { records: 1200, bytes: 250_000, rate: 800 };

#[test]
fn a_screen_shows_progress_and_windows() {
    let screen =
        view(Some(1_000_000), false).screen(&READ, Some(&progress()), &windows(), Size { columns: 90, rows: 24 });
    assert_eq!(
        screen,
        [
            "delays  [######------------------] 25%, 1,200 records, 250.0 kB, 800/s",
            "watermark 2013-01-14 11:02 (held back by LGA), clock 2013-01-14 11:40:30",
            "panes: 1 early, 1 on time, 1 late; records: 10 rejected",
            "",
            "window (UTC)            origin  pane        flights",
            "2013-01-14 11:00–12:00  EWR     ~ early #0        5",
            "2013-01-14 10:00–11:00  EWR     on time #1       30",
            "2013-01-14 09:00–10:00  EWR     late #2          41",
        ]
    );
}

#[test]
fn an_operator_that_is_behind_the_source_is_named_with_its_slowest_subtask() {
    let mut progress = progress();
    let at = |subtask, time: &str| OperatorStatus {
        operator: "window".into(),
        subtask,
        standing: OperatorStanding { watermark: Watermark::at(parse_rfc3339(time).unwrap()), clock: NO_CLOCK },
    };
    progress.operators = vec![at(0, "2013-01-14T11:02:00Z"), at(1, "2013-01-14T10:58:00Z")];
    let line = view(None, false).line(&READ, Some(&progress));
    assert!(line.contains("clock 2013-01-14 11:40:30, window at 2013-01-14 10:58;"), "{line}");
    progress.operators = vec![at(0, "2013-01-14T11:02:00Z")];
    assert!(!view(None, false).line(&READ, Some(&progress)).contains("window at"));
}

#[test]
fn a_screen_fits_every_terminal() {
    for columns in [20, 33, 47, 60, 200] {
        for rows in [6, 7, 40] {
            let screen = view(Some(1), false).screen(&READ, Some(&progress()), &windows(), Size { columns, rows });
            assert!(screen.len() < rows, "{columns}x{rows}: {screen:#?}");
            assert!(screen.iter().all(|line| text::width(line) <= columns), "{columns}x{rows}: {screen:#?}");
        }
    }
}

#[test]
fn colours_are_for_those_who_want_them() {
    let size = Size { columns: 90, rows: 24 };
    let plain = view(None, false).screen(&READ, None, &windows(), size);
    assert!(plain.iter().all(|line| !line.contains('\u{1b}')));
    let coloured = view(None, true).screen(&READ, None, &windows(), size);
    assert!(
        coloured[5].starts_with("\u{1b}[2m") && coloured[5].ends_with("\u{1b}[0m"),
        "early is dim: {:?}",
        coloured[5]
    );
}

#[test]
fn a_stream_of_unknown_size_has_no_percentage() {
    let line = view(None, false).line(&READ, None);
    assert_eq!(line, "delays: 1,200 records, 250.0 kB, 800/s; watermark none yet; panes: 0 early, 0 on time, 0 late");
}
