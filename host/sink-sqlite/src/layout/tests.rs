//! Names: what may be a column, and that no name ends the SQL around it.

use super::*;
use tidegate_types::ResultFields::Rows;

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn fields(keys: &[&str], values: &[&str]) -> ResultFields {
    PaneFields { keys: owned(keys), values: owned(values) }.into()
}

fn refused(table: &str, key: &str, fields: &ResultFields) -> String {
    Layout::new(table, &[key.to_owned()], fields).expect_err("refused").to_string()
}

#[test]
fn a_field_that_cannot_be_a_column_is_named_with_the_way_out() {
    for (values, field, reason) in [
        (vec!["changed"], "changed", "platform's columns"),
        (vec!["Pane_Index"], "Pane_Index", "platform's columns"),
        (vec!["_key"], "_key", "platform's columns"),
        (vec!["_Restore_Epoch"], "_Restore_Epoch", "platform's columns"),
        (vec!["clicks", "Clicks"], "Clicks", "capitals only"),
        (vec!["K"], "K", "capitals only"),
        (vec![""], "", "cannot name a column"),
        (vec!["a\0b"], "a\0b", "zero character"),
    ] {
        let said = refused("t", "k", &fields(&["k"], &values));
        assert!(said.starts_with(&format!("table `t`: the field `{field}` ")) && said.contains(reason), "{said}");
    }
}

#[test]
fn a_key_that_no_pane_has_is_named_with_what_there_is() {
    let said = refused("t", "city", &fields(&["k"], &["n"]));
    assert_eq!(
        said,
        "table `t`: panes have no field `city` to identify a row by; name one of k, n, window_start, window_end"
    );
}

#[test]
fn rows_without_a_window_have_a_time_and_no_window() {
    let layout = Layout::new("t", &owned(&["b"]), &Rows(owned(&["a", "b", "pane_index"]))).expect("fits");
    assert_eq!(layout.columns(), ["a", "b", "pane_index", "time", "watermark", "changed"]);
    assert_eq!(layout.parts, [KeyPart::Key(1)]);
    assert_eq!(
        refused("t", "window_end", &Rows(owned(&["a", "b"]))),
        "table `t`: rows have no field `window_end` to identify a row by; name one of a, b"
    );
    assert!(refused("t", "a", &Rows(owned(&["a", "time"]))).contains("platform's columns"));
}

#[test]
fn a_table_that_sqlite_keeps_for_itself_is_refused() {
    assert!(refused("SQLite_master", "k", &fields(&["k"], &[])).contains("names that begin with `sqlite_` are taken"));
}

#[test]
fn a_quoted_name_ends_where_it_should() {
    assert_eq!(quoted("a\"; DROP TABLE \"b"), "\"a\"\"; DROP TABLE \"\"b\"");
}

#[test]
fn a_layout_is_read_back_from_the_catalog() {
    let layout = Layout::new("t", &["k".into(), "window_end".into()], &fields(&["k", "ü\"'"], &["n"])).expect("fits");
    assert_eq!(Layout::read("t", &layout.stored()), Some(layout.clone()));
    let stamp = Stamp { version: true, completeness: false, generated_at: true };
    let stamped = layout.clone().stamped(stamp);
    assert_eq!(Layout::read("t", &stamped.stored()), Some(stamped.clone()));
    assert!(stamped != layout && stamped.is_like(&layout));
    let rows = Layout::new("t", &["a".into()], &Rows(owned(&["a", "b"]))).expect("fits").stamped(stamp);
    assert_eq!(Layout::read("t", &rows.stored()), Some(rows));
    // What the release before stored.
    let before = "{\"keys\":[\"k\",\"ü\\\"'\"],\"values\":[\"n\"],\"key\":[\"k\",\"window_end\"]}";
    assert_eq!(Layout::read("t", before), Some(layout));
    assert_eq!(Layout::read("t", "{\"keys\": 1}"), None);
}
