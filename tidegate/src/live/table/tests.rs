//! Columns that fit and columns that do not.

use super::*;

fn row(key: &str, values: &[(&str, bool)]) -> Vec<Cell> {
    let values = values.iter().map(|(text, is_number)| Cell { text: (*text).to_owned(), is_number: *is_number });
    [Cell::text("2013-01-14 11:00–12:00"), Cell::text(key)].into_iter().chain(values).collect()
}

#[test]
fn columns_that_do_not_fit_are_left_out_at_the_right() {
    let header = row("origin", &[("pane", false), ("first", false), ("second", false)]);
    let rows = vec![row("EWR", &[("on time", false), ("12345678", true), ("87654321", true)])];
    assert_eq!(widths(&header, &rows, 80), (vec![22, 6, 7, 8, 8], true));
    assert_eq!(widths(&header, &rows, 58), (vec![22, 6, 7, 8], false));
    // What is left is wide enough to say something.
    assert_eq!(widths(&header, &rows, 49), (vec![22, 6, 7, 6], false));
    assert_eq!(widths(&header, &rows, 20), (vec![18], false));
}

#[test]
fn a_column_is_never_wider_than_one_can_read() {
    let header = row("origin", &[("pane", false)]);
    let rows = vec![row(&"x".repeat(500), &[("on time", false)])];
    assert_eq!(widths(&header, &rows, 200).0, [22, WIDEST, 7]);
}
