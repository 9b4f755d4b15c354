//! Names: what may be a column, and that no name ends the SQL around it.

use super::*;

fn fields(keys: &[&str], values: &[&str]) -> PaneFields {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    PaneFields { keys: owned(keys), values: owned(values) }
}

fn refused(table: &str, key: &str, fields: &PaneFields) -> String {
    Layout::new(table, &[key.to_owned()], fields).expect_err("refused").to_string()
}

#[test]
fn a_field_that_cannot_be_a_column_is_named_with_the_way_out() {
    for (values, field, reason) in [
        (vec!["changed"], "changed", "platform's columns"),
        (vec!["Pane_Index"], "Pane_Index", "platform's columns"),
        (vec!["_key"], "_key", "platform's columns"),
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
    assert_eq!(Layout::read("t", &layout.stored()), Some(layout));
    assert_eq!(Layout::read("t", "{\"keys\": 1}"), None);
}
