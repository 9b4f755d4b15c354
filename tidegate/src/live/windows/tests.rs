//! Which windows are kept and in which order they are shown.

use tidegate_types::{Column, ColumnBuilder, Kind, ValueRef, Watermark};

use super::*;

fn column(kind: Kind, values: &[ValueRef<'_>]) -> Column {
    let mut builder = ColumnBuilder::of_kind(kind);
    values.iter().for_each(|value| builder.push(*value));
    builder.finish()
}

/// Panes of (key, window start, value, timing, op).
fn panes(rows: &[(&str, EventTime, i64, Timing, PaneOp)]) -> PaneBatch {
    let keys: Vec<ValueRef<'_>> = rows.iter().map(|row| ValueRef::Text(row.0)).collect();
    let values: Vec<ValueRef<'_>> = rows.iter().map(|row| ValueRef::Int(row.2)).collect();
    let info = |row: &(&str, EventTime, i64, Timing, PaneOp)| PaneInfo {
        window: Some((row.1, row.1 + 10)),
        timing: row.3,
        index: 0,
        is_last: false,
        watermark: Watermark::MIN,
        op: row.4,
        fired_at: 0,
    };
    PaneBatch {
        keys: vec![column(Kind::Text, &keys)],
        values: vec![column(Kind::Int, &values)],
        infos: rows.iter().map(info).collect(),
        order: None,
    }
}

fn shown(windows: &Windows, most: usize) -> Vec<(String, Option<EventTime>, String)> {
    let of = |row: &&Row| (row.key[0].text.clone(), row.window.map(|window| window.0), row.values[0].text.clone());
    windows.latest(most).iter().map(of).collect()
}

use PaneOp::{Insert, Retract};
use Timing::{Early, Late, OnTime};

#[test]
fn a_newer_pane_takes_the_row_of_the_one_before() {
    let mut windows = Windows::default();
    windows.note(&panes(&[("a", 0, 1, Early, Insert), ("b", 0, 5, Early, Insert), ("a", 0, 2, OnTime, Insert)]));
    assert_eq!(shown(&windows, 9), [("a".into(), Some(0), "2".into()), ("b".into(), Some(0), "5".into())]);
    assert_eq!(windows.latest(9)[0].timing, OnTime);
}

#[test]
fn an_old_window_that_changes_comes_back() {
    let mut windows = Windows::default();
    windows.note(&panes(&[("a", 0, 1, OnTime, Insert), ("a", 10, 2, OnTime, Insert), ("a", 20, 3, Early, Insert)]));
    assert_eq!(shown(&windows, 2).len(), 2);
    windows.note(&panes(&[("a", 0, 9, Late, Insert)]));
    assert_eq!(shown(&windows, 2), [("a".into(), Some(20), "3".into()), ("a".into(), Some(0), "9".into())]);
}

#[test]
fn what_is_retracted_is_not_shown() {
    let mut windows = Windows::default();
    windows.note(&panes(&[("a", 0, 1, OnTime, Insert), ("a", 0, 1, OnTime, Retract)]));
    assert!(windows.latest(9).is_empty());
}

#[test]
fn memory_is_bounded() {
    let mut windows = Windows::default();
    for start in 0..5_000 {
        windows.note(&panes(&[("a", start, start, OnTime, Insert)]));
    }
    assert!(windows.rows.len() <= 2 * KEPT);
    assert_eq!(windows.latest(1)[0].window, Some((4_999, 5_009)));
}
