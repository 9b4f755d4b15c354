//! A file as the release before wrote it is read and written on.

use rusqlite::Connection;
use tidegate_connectors::ResultSink;
use tidegate_types::{Column, PaneBatch, PaneFields, PaneInfo, PaneOp, Stamp, Stamping, Timing, Value, Watermark};

use crate::{RowQuery, SqliteTables, Writer};

/// What format 1 looked like: a table with a row, and one whose layout nobody can read.
const BEFORE: &str = r#"
    CREATE TABLE _tables (name TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, layout TEXT NOT NULL, run INTEGER NOT NULL,
        changed INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE "t" ("k", "n", window_start TEXT, window_end TEXT, pane_timing TEXT NOT NULL, pane_index INTEGER NOT NULL,
        pane_is_last INTEGER NOT NULL, watermark TEXT, changed INTEGER NOT NULL, _key BLOB NOT NULL PRIMARY KEY,
        _kinds TEXT NOT NULL, _run INTEGER NOT NULL) WITHOUT ROWID;
    CREATE UNIQUE INDEX "t:changed" ON "t" (changed);
    INSERT INTO _tables VALUES ('t', '{"keys":["k"],"values":["n"],"key":["k"]}', 3, 7), ('u', '{}', 1, 0);
    INSERT INTO t VALUES (5, 1.0, NULL, NULL, 'LATE', 2, 0, NULL, 7, ?1, 'if', 3);
    PRAGMA user_version = 1;
"#;

const ROW: &str = "{\"k\":5,\"window_start\":null,\"window_end\":null,\"n\":1.0,\
                   \"pane\":{\"timing\":\"LATE\",\"index\":2,\"is_last\":false},\"watermark\":null";

fn before() -> (tempfile::TempDir, SqliteTables) {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = SqliteTables::open(folder.path()).expect("a folder");
    let connection = Connection::open(folder.path().join("acme.db")).expect("a file");
    let mut key = Vec::new();
    tidegate_types::key::encode_value(&mut key, Value::Int(5).as_ref());
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    connection.execute_batch(&BEFORE.replace("?1", &format!("x'{hex}'"))).expect("is SQL");
    (folder, tables)
}

fn rows(tables: &SqliteTables, with: Stamp) -> Vec<String> {
    let query = RowQuery { limit: 10, with, ..RowQuery::default() };
    let page = tables.rows(&"acme".parse().expect("a name"), "t", &query).expect("reads");
    page.rows.into_iter().map(|row| String::from_utf8(row).expect("JSON")).collect()
}

#[test]
fn rows_without_versions_are_read_as_they_were_and_have_the_lowest_of_their_precedence() {
    let (_folder, tables) = before();
    assert_eq!(rows(&tables, Stamp::default()), [format!("{ROW}}}")]);
    let all = Stamp { version: true, completeness: true, generated_at: true };
    let version = "\"version\":{\"precedence\":0,\"restore_epoch\":0,\"pane_index\":2}";
    assert_eq!(rows(&tables, all), [format!("{ROW},{version},\"completeness\":\"corrected\",\"generated_at\":null}}")]);
    let listed = tables.list(&"acme".parse().expect("a name")).expect("reads");
    assert_eq!(listed.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["t"]);
}

#[test]
fn the_first_start_after_the_migration_replaces_what_is_there() {
    let (_folder, tables) = before();
    let fields = PaneFields { keys: vec!["k".into()], values: vec!["n".into()] }.into();
    let info = PaneInfo {
        window: None,
        timing: Timing::Early,
        index: 0,
        is_last: false,
        watermark: Watermark::MIN,
        op: PaneOp::Insert,
        fired_at: 0,
    };
    let panes = PaneBatch {
        keys: vec![Column::of_values([Value::Int(5).as_ref()])],
        values: vec![Column::of_values([Value::Int(9).as_ref()])],
        infos: vec![info],
        order: None,
    };
    for (precedence, shown) in [(-1, "\"n\":1.0,"), (0, "\"n\":9,")] {
        let stamping = Stamping { stamp: Stamp::default(), precedence, restore_epoch: 1 };
        let writer = Writer { job: format!("of {precedence}"), stamping };
        let acme = "acme".parse().expect("a name");
        let mut sink = tables.sink(&acme, "t", &["k".into()], &fields, writer, u64::MAX).expect("opens");
        sink.write_panes(&panes).expect("gathered");
        sink.flush().expect("flushed");
        let rows = rows(&tables, Stamp::default());
        assert!(rows.len() == 1 && rows[0].contains(shown), "{rows:?}");
    }
}

#[test]
fn a_file_of_a_newer_format_is_left_alone() {
    let (folder, tables) = before();
    let connection = Connection::open(folder.path().join("acme.db")).expect("a file");
    connection.execute_batch("PRAGMA user_version = 9").expect("is SQL");
    let error = tables.list(&"acme".parse().expect("a name")).expect_err("refused");
    let source = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(source.contains("have format 9, and this release reads up to 2"), "{source}");
}
