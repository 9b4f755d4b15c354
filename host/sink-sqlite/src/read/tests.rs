//! What is asked for is given, page by page, and what is not there is named.

use rusqlite::params;
use tidegate_types::{PaneFields, Stamping};

use super::*;
use crate::{SqliteTables, Writer};

struct Place {
    _folder: tempfile::TempDir,
    tables: SqliteTables,
}

/// A table `t` of the keys 0 to 9 with values of several kinds.
fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = SqliteTables::open(folder.path()).expect("a folder");
    let fields = PaneFields { keys: vec!["k".into()], values: vec!["v".into()] }.into();
    let writer = Writer { job: "j".into(), stamping: Stamping::default() };
    let acme = "acme".parse().expect("a name");
    drop(tables.sink(&acme, "t", &["k".into()], &fields, writer, u64::MAX).expect("opens"));
    let connection = Connection::open(folder.path().join("acme.db")).expect("a file");
    for key in 0..10_i64 {
        let (kind, value): (_, &dyn rusqlite::ToSql) = match key % 3 {
            0 => ("ib", &(key % 2)),
            1 => ("it", &"true"),
            _ => ("if", &0.5),
        };
        let sql = "INSERT INTO t VALUES (?1, ?2, NULL, NULL, 'EARLY', 0, 0, NULL, ?3, ?4, ?5, 0, 0, NULL, 1)";
        let encoded = key.to_be_bytes();
        connection.execute(sql, params![key, value, 100 - key, encoded.as_slice(), kind]).expect("written");
    }
    Place { _folder: folder, tables }
}

/// A table `t` of rows with these keys, each of which is its row's own `_key`, in this order of changes.
fn place_of(texts: &[String]) -> Place {
    let place = place();
    let connection = Connection::open(place._folder.path().join("acme.db")).expect("a file");
    connection.execute_batch("DELETE FROM t; BEGIN").expect("written");
    let sql = "INSERT INTO t VALUES (?1, 1, NULL, NULL, 'EARLY', 0, 0, NULL, ?2, ?3, 'ti', 0, 0, NULL, 1)";
    for (change, text) in (1_i64..).zip(texts) {
        connection.execute(sql, params![text, change, text.as_bytes()]).expect("written");
    }
    connection.execute_batch("COMMIT").expect("written");
    place
}

/// The keys of all pages, in the order of the key; how many pages, the largest page's bytes, and the longest position.
fn walk(place: &Place, mut query: RowQuery) -> (Vec<String>, usize, usize, usize) {
    let (mut all, mut pages, mut most, mut longest) = (Vec::new(), 0, 0, 0);
    loop {
        let page = asked(place, &query).expect("reads");
        pages += 1;
        most = most.max(page.rows.iter().map(Vec::len).sum());
        longest = longest.max(page.next.as_ref().map_or(0, String::len));
        all.extend(page.rows.iter().map(|row| {
            let row: serde_json::Value = serde_json::from_slice(row).expect("JSON");
            row["k"].as_str().expect("a text").to_owned()
        }));
        query.after = page.next;
        if query.after.is_none() {
            return (all, pages, most, longest);
        }
    }
}

#[test]
fn a_page_of_long_rows_ends_at_its_bytes_and_the_next_goes_on() {
    let texts: Vec<String> = (0..50).map(|place| format!("{}{place:03}", "x".repeat(100 << 10))).collect();
    let place = place_of(&texts);
    let query = RowQuery { limit: MAX_ROWS, ..RowQuery::default() };
    let (all, pages, most, longest) = walk(&place, query.clone());
    assert_eq!(all, texts, "every row once");
    assert!(pages >= 5 && most <= MAX_PAGE_BYTES, "{pages} pages, {most} bytes");
    assert!(longest < 8 << 10, "a position of {longest} bytes");
    let changes = asked(&place, &RowQuery { order: RowOrder::Changed, ..query }).expect("reads");
    assert_eq!(changes.next, Some(changes.rows.len().to_string()));
    assert!(changes.rows.iter().map(Vec::len).sum::<usize>() <= MAX_PAGE_BYTES);
}

#[test]
fn a_row_longer_than_a_page_comes_alone() {
    let texts: Vec<String> = ["a", "b", "c"].iter().map(|text| text.repeat(MAX_PAGE_BYTES + 1)).collect();
    let (all, pages, ..) = walk(&place_of(&texts), RowQuery { limit: 2, ..RowQuery::default() });
    assert!(all == texts && pages == 3, "{} rows, {pages} pages", all.len());
}

#[test]
fn a_long_key_that_was_written_again_loses_no_row() {
    let texts: Vec<String> = (0..4).map(|place| format!("{}{place}", "x".repeat(5_000))).collect();
    let place = place_of(&texts);
    let mut query = RowQuery { limit: 2, ..RowQuery::default() };
    query.after = asked(&place, &query).expect("reads").next;
    let connection = Connection::open(place._folder.path().join("acme.db")).expect("a file");
    connection.execute("UPDATE t SET changed = 100 WHERE changed = 2", []).expect("written");
    assert_eq!(walk(&place, query).0, texts, "from the first key with the same bytes");
}

#[test]
fn a_filter_that_matches_little_looks_at_so_many_rows_a_page() {
    let texts: Vec<String> = (0..=MAX_LOOKED_AT + 5).map(|place| format!("{place:07}")).collect();
    let place = place_of(&texts);
    let last = texts.last().expect("some").clone();
    let query = RowQuery { limit: 10, filter: vec![("k".into(), last.clone())], ..RowQuery::default() };
    let first = asked(&place, &query).expect("reads");
    assert!(first.rows.is_empty() && first.next.is_some());
    let (all, pages, ..) = walk(&place, query.clone());
    assert_eq!((all, pages), (vec![last], 2));
    let changes = asked(&place, &RowQuery { order: RowOrder::Changed, ..query }).expect("reads");
    assert_eq!((changes.rows.len(), changes.next), (0, Some(MAX_LOOKED_AT.to_string())));
}

fn keys(page: &RowPage) -> Vec<i64> {
    let key = |row: &Vec<u8>| serde_json::from_slice::<serde_json::Value>(row).expect("JSON")["k"].as_i64();
    page.rows.iter().map(|row| key(row).expect("a number")).collect()
}

fn asked(place: &Place, query: &RowQuery) -> Result<RowPage, ReadError> {
    place.tables.rows(&"acme".parse().expect("a name"), "t", query)
}

#[test]
fn pages_in_the_order_of_the_key_have_every_row_once() {
    let place = place();
    let mut query = RowQuery { limit: 4, ..RowQuery::default() };
    let mut all = Vec::new();
    loop {
        let page = asked(&place, &query).expect("reads");
        all.push(keys(&page));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    assert_eq!(all, [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]]);
}

#[test]
fn the_order_of_changes_is_the_one_in_which_rows_were_written() {
    let place = place();
    let query = RowQuery { limit: 3, order: RowOrder::Changed, ..RowQuery::default() };
    let page = asked(&place, &query).expect("reads");
    assert_eq!((keys(&page), page.next.as_deref()), (vec![9, 8, 7], Some("93")));
}

#[test]
fn a_filter_compares_text_as_it_is_and_other_values_as_json() {
    let place = place();
    let matching = |column: &str, value: &str| {
        let filter = vec![(column.to_owned(), value.to_owned())];
        keys(&asked(&place, &RowQuery { limit: 100, filter, ..RowQuery::default() }).expect("reads"))
    };
    assert_eq!(matching("k", "7"), [7]);
    assert_eq!(matching("v", "true"), [1, 3, 4, 7, 9], "a bool and a text read alike");
    assert_eq!(matching("v", "0.5"), [2, 5, 8]);
    assert_eq!(matching("pane_is_last", "false").len(), 10);
    assert_eq!(matching("window_start", "null").len(), 10);
    assert_eq!(matching("v", "1' OR '1'='1"), Vec::<i64>::new());
}

#[test]
fn what_is_not_there_is_named() {
    let place = place();
    let wrong = |query: &RowQuery| asked(&place, query).expect_err("refused").to_string();
    let filter = vec![("w".to_owned(), String::new())];
    assert_eq!(
        wrong(&RowQuery { limit: 1, filter, ..RowQuery::default() }),
        "the table has no column `w`; its columns are k, window_start, window_end, v, pane_timing, pane_index, pane_is_last, \
         watermark, changed"
    );
    for (order, after) in [(RowOrder::Key, "0"), (RowOrder::Key, "zz"), (RowOrder::Key, "é"), (RowOrder::Changed, "x")]
    {
        let query = RowQuery { limit: 1, order, after: Some(after.to_owned()), ..RowQuery::default() };
        assert!(wrong(&query).starts_with("`after` is no position"), "{after}");
    }
    let (acme, other) = ("acme".parse().expect("a name"), "other".parse().expect("a name"));
    let query = RowQuery { limit: 1, ..RowQuery::default() };
    assert!(matches!(place.tables.rows(&acme, "_tables", &query), Err(ReadError::NoTable { .. })));
    assert!(matches!(place.tables.rows(&acme, "T", &query), Err(ReadError::NoTable { .. })));
    assert!(matches!(place.tables.rows(&other, "t", &query), Err(ReadError::NoTable { .. })), "another tenant's");
    assert_eq!(place.tables.list(&other).expect("reads"), []);
}

#[test]
fn tables_are_listed_with_their_columns_and_keys() {
    let place = place();
    let listed = place.tables.list(&"acme".parse().expect("a name")).expect("reads");
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].name.as_str(), listed[0].rows, &listed[0].key), ("t", 10, &vec!["k".to_owned()]));
}
