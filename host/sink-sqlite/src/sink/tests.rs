//! Rows are the panes that were written last, whatever their keys and values; a model in memory says the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tempfile::TempDir;
use tidegate_formats::PaneEncoder;
use tidegate_types::{Column, PaneFields, PaneInfo, PaneOp, Stamp, TenantId, Timing, Value, Watermark};

use super::*;
use crate::{RowOrder, RowQuery, SqliteTables};

mod chance;
mod model;
mod versions;

/// A tenant's tables in a folder that goes away with it.
struct Place {
    folder: TempDir,
    tables: SqliteTables,
    tenant: TenantId,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let tables = SqliteTables::open(folder.path()).expect("a folder");
        Self { folder, tables, tenant: "acme".parse().expect("a name") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("acme.db")
    }

    /// A sink of the job `j` at its first start.
    fn sink(&self, key: &[&str], fields: &PaneFields) -> SqliteSink {
        self.sink_of(writer("j", 0, 1), key, fields)
    }

    fn sink_of(&self, writer: Writer, key: &[&str], fields: &PaneFields) -> SqliteSink {
        self.opened("t", writer, key, fields).expect("opens")
    }

    fn opened(&self, table: &str, by: Writer, key: &[&str], fields: &PaneFields) -> Result<SqliteSink, TableError> {
        self.tables.sink(&self.tenant, table, &owned(key), &fields.clone().into(), by, u64::MAX)
    }

    /// All rows in the order of the key, as lines.
    fn rows(&self) -> Vec<String> {
        let mut query = RowQuery { limit: 10_000, ..RowQuery::default() };
        let mut rows = Vec::new();
        loop {
            let page = self.tables.rows(&self.tenant, "t", &query).expect("there is the table");
            rows.extend(page.rows.into_iter().map(|row| String::from_utf8(row).expect("JSON")));
            query.after = page.next;
            if query.after.is_none() {
                return rows;
            }
        }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn fields(keys: &[&str], values: &[&str]) -> PaneFields {
    PaneFields { keys: owned(keys), values: owned(values) }
}

/// A start of a job with this precedence, whose rows bear no stamps.
fn writer(job: &str, precedence: i32, restore_epoch: u64) -> Writer {
    Writer { job: job.into(), stamping: Stamping { stamp: Stamp::default(), precedence, restore_epoch } }
}

/// One pane.
#[derive(Debug, Clone)]
struct Pane {
    keys: Vec<Value>,
    values: Vec<Value>,
    info: PaneInfo,
}

impl Pane {
    fn new(keys: Vec<Value>, window: Option<(i64, i64)>, index: u64, values: Vec<Value>) -> Self {
        let timing = if index == 0 { Timing::OnTime } else { Timing::Late };
        let watermark = Watermark::at(1_761_126_151_250);
        let (is_last, op, fired_at) = (index == 3, PaneOp::Insert, 1_761_126_151_900);
        let info = PaneInfo { window, timing, index, is_last, watermark, op, fired_at };
        Self { keys, values, info }
    }

    fn retraction(&self) -> Self {
        Self { info: PaneInfo { op: PaneOp::Retract, ..self.info }, ..self.clone() }
    }
}

fn batch(panes: &[Pane]) -> PaneBatch {
    let columns = |of: fn(&Pane) -> &Vec<Value>, count: usize| -> Vec<Column> {
        (0..count).map(|place| Column::of_values(panes.iter().map(|pane| of(pane)[place].as_ref()))).collect()
    };
    let first = panes.first().expect("some pane");
    PaneBatch {
        keys: columns(|pane| &pane.keys, first.keys.len()),
        values: columns(|pane| &pane.values, first.values.len()),
        infos: panes.iter().map(|pane| pane.info).collect(),
        order: None,
    }
}

/// The pane's line as a log has it, without its end.
fn line(fields: &PaneFields, pane: &Pane) -> String {
    let mut out = Vec::new();
    PaneEncoder::new(fields).encode(&batch(std::slice::from_ref(pane)), &mut out);
    String::from_utf8(out).expect("JSON").trim_end().to_owned()
}

const WINDOW: Option<(i64, i64)> = Some((1_761_126_060_000, 1_761_126_120_000));

#[test]
fn a_row_is_read_as_the_line_of_its_pane() {
    let place = Place::new();
    let names = fields(&["k"], &["i", "f", "t", "x", "b", "j", "n"]);
    let values = vec![
        Value::Int(i64::MAX),
        Value::Float(1.0),
        Value::from("it's \"quoted\"\0 and ü"),
        Value::Bytes([0, 255, 7].as_slice().into()),
        Value::Bool(true),
        Value::Json("{\"a\":[1,1.0,null]}".into()),
        Value::Null,
    ];
    let pane = Pane::new(vec![Value::from("a")], WINDOW, 3, values);
    let mut sink = place.sink(&["k"], &names);
    sink.write_panes(&batch(std::slice::from_ref(&pane))).expect("written");
    assert_eq!(place.rows(), Vec::<String>::new(), "nothing is out before the flush");
    sink.flush().expect("flushed");
    assert_eq!(place.rows(), [line(&names, &pane)]);
    let types = "SELECT typeof(i), typeof(f), typeof(t), typeof(x), typeof(b), typeof(j), typeof(n), i FROM t";
    let reader = Connection::open(place.file()).expect("a file");
    let found = reader.query_row(types, [], |row| {
        let types: Vec<String> = (0..7).map(|at| row.get(at)).collect::<Result<_, _>>()?;
        Ok((types.join(" "), row.get::<_, i64>(7)?))
    });
    assert_eq!(found.expect("a row"), ("integer real text blob integer text null".to_owned(), i64::MAX));
}

#[test]
fn a_null_key_is_replaced_like_any_other() {
    let place = Place::new();
    let names = fields(&["k"], &["n"]);
    let mut sink = place.sink(&["k", "window_start"], &names);
    let pane = |key: Value, n| Pane::new(vec![key], WINDOW, 0, vec![Value::Int(n)]);
    let global = |n| Pane::new(vec![Value::Null], None, 0, vec![Value::Int(n)]);
    for n in 0..3 {
        sink.write_panes(&batch(&[pane(Value::Null, n), pane(Value::from(""), n), global(n)])).expect("written");
        sink.flush().expect("flushed");
    }
    let expected = [global(2), pane(Value::Null, 2), pane(Value::from(""), 2)].map(|pane| line(&names, &pane));
    assert_eq!(place.rows(), expected);
}

#[test]
fn keys_of_one_number_in_three_kinds_are_three_rows() {
    let place = Place::new();
    let names = fields(&["k"], &[]);
    let mut sink = place.sink(&["k"], &names);
    let keys = [Value::Int(1), Value::Float(1.0), Value::from("1")];
    let panes: Vec<Pane> = keys.into_iter().map(|key| Pane::new(vec![key], WINDOW, 0, Vec::new())).collect();
    sink.write_panes(&batch(&panes)).expect("written");
    sink.write_panes(&batch(&panes)).expect("written");
    sink.flush().expect("flushed");
    assert_eq!(place.rows(), panes.iter().map(|pane| line(&names, pane)).collect::<Vec<_>>());
}

#[test]
fn a_retraction_deletes_the_row_that_it_speaks_of_and_no_newer_one() {
    let place = Place::new();
    let names = fields(&["k"], &["n"]);
    let pane = |index, n| Pane::new(vec![Value::Int(1)], WINDOW, index, vec![Value::Int(n)]);
    let mut sink = place.sink(&["k"], &names);
    sink.write_panes(&batch(&[pane(0, 5), pane(0, 5).retraction()])).expect("written");
    sink.flush().expect("flushed");
    assert_eq!(place.rows(), Vec::<String>::new());
    // The usual order: the row is taken back and stated again.
    sink.write_panes(&batch(&[pane(0, 5), pane(0, 5).retraction(), pane(1, 6)])).expect("written");
    sink.flush().expect("flushed");
    assert_eq!(place.rows(), [line(&names, &pane(1, 6))]);
    // The row is a newer one of the same window, and of another window with the same key.
    sink.write_panes(&batch(&[pane(0, 5).retraction()])).expect("written");
    let mut other = pane(1, 6);
    other.info.window = Some((0, 60_000));
    sink.write_panes(&batch(&[other.retraction()])).expect("written");
    sink.flush().expect("flushed");
    assert_eq!(place.rows(), [line(&names, &pane(1, 6))]);
}

#[test]
fn a_table_with_other_columns_or_another_key_is_refused_by_name() {
    let place = Place::new();
    let names = fields(&["k"], &["n"]);
    drop(place.sink(&["k"], &names));
    let refused = |key: &[&str], names: &PaneFields| {
        let error = place.opened("t", writer("j", 0, 1), key, names).err().expect("refused").to_string();
        let names = names.clone().into();
        let checked = place.tables.check(&place.tenant, "t", &owned(key), &names).expect_err("refused").to_string();
        assert_eq!(error, checked);
        error
    };
    assert_eq!(
        refused(&["k"], &fields(&["k"], &["n", "m"])),
        "table `t` is there with the fields [k, n] and the key [k], and this job writes the fields [k, n, m] and the key \
         [k]; name another table in `sink.table`"
    );
    assert!(refused(&["k", "window_start"], &names).contains("the key [k, window_start]"));
    let other = place.opened("T", writer("j", 0, 1), &["k"], &names).err().expect("refused").to_string();
    assert!(other.contains("is there as `t`"), "{other}");
    let names = names.into();
    place.tables.check(&place.tenant, "t", &owned(&["k"]), &names).expect("the same table");
    place.tables.check(&place.tenant, "u", &owned(&["k"]), &names).expect("a table that is not there");
    assert_eq!(place.tables.list(&place.tenant).expect("reads").len(), 1, "a check makes nothing");
}

#[test]
fn hostile_names_are_names() {
    let place = Place::new();
    let hostile = "x\"); DROP TABLE _tables; --";
    let names = fields(&[hostile, "select"], &["'", "order by", "\u{202e}"]);
    let values = vec![Value::Int(1), Value::Int(2), Value::Int(3)];
    let pane = Pane::new(vec![Value::from(hostile), Value::Null], WINDOW, 0, values);
    let mut sink = place.opened(hostile, writer("j", 0, 1), &[hostile], &names).expect("opens");
    // What was taken back has a table of its own.
    sink.write_panes(&batch(&[pane.clone(), pane.retraction()])).expect("written");
    sink.write_panes(&batch(std::slice::from_ref(&pane))).expect("written");
    sink.flush().expect("flushed");
    let filter = vec![(hostile.to_owned(), hostile.to_owned())];
    let query = RowQuery { limit: 10, filter, ..RowQuery::default() };
    let page = place.tables.rows(&place.tenant, hostile, &query).expect("reads");
    assert_eq!(page.rows, [line(&names, &pane).into_bytes()]);
    assert_eq!(place.tables.list(&place.tenant).expect("reads")[0].name, hostile);
}

#[test]
fn a_reader_sees_whole_transactions_while_rows_are_written() {
    let place = Place::new();
    let names = fields(&["k"], &["n"]);
    let mut sink = place.sink(&["k"], &names);
    let of = |n: i64| -> Vec<Pane> {
        (0..50).map(|key| Pane::new(vec![Value::Int(key)], WINDOW, 0, vec![Value::Int(n)])).collect()
    };
    let (tables, tenant) = (place.tables.clone(), place.tenant.clone());
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let reader = std::thread::Builder::new().name("reader".into()).spawn(move || {
        let query = RowQuery { limit: 100, ..RowQuery::default() };
        let mut seen = 0;
        while matches!(stopped.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)) {
            let page = tables.rows(&tenant, "t", &query).expect("reads");
            let numbers: std::collections::BTreeSet<String> = page
                .rows
                .iter()
                .map(|row| serde_json::from_slice::<serde_json::Value>(row).expect("JSON")["n"].to_string())
                .collect();
            assert!(numbers.len() <= 1 && (page.rows.is_empty() || page.rows.len() == 50), "{numbers:?}");
            seen += 1;
        }
        seen
    });
    let reader = reader.expect("a thread");
    for n in 0..30 {
        sink.write_panes(&batch(&of(n))).expect("written");
        sink.flush().expect("flushed");
    }
    drop(stop);
    assert!(reader.join().expect("every page was of one transaction") > 0);
}

#[test]
fn many_panes_are_written_without_a_flush() {
    let place = Place::new();
    let names = fields(&["k"], &[]);
    let mut sink = place.sink(&["k"], &names);
    let panes: Vec<Pane> = (0..9_000).map(|key| Pane::new(vec![Value::Int(key)], WINDOW, 0, Vec::new())).collect();
    sink.write_panes(&batch(&panes)).expect("written");
    assert_eq!(place.rows().len(), 9_000);
}

#[test]
fn large_panes_are_written_without_a_flush_long_before_they_are_many() {
    let place = Place::new();
    let names = fields(&["k"], &["v"]);
    let mut sink = place.sink(&["k"], &names);
    let large = Value::from("x".repeat(64 << 10).as_str());
    let mut written = 0;
    for key in 0..200 {
        sink.write(&batch(&[Pane::new(vec![Value::Int(key)], WINDOW, 0, vec![large.clone()])])).expect("written");
        let rows = place.rows().len();
        let gathered = usize::try_from(key + 1).expect("few") - rows;
        assert!(gathered * (64 << 10) < MOST_GATHERED_BYTES, "{gathered} panes are held back");
        written = rows;
    }
    assert!(written > 0, "something was written without a flush");
    // What is held back is the same whether its values are texts or of no declared kind.
    let nested = Value::Json(format!("[\"{}\"]", "y".repeat(5 << 20)).into());
    sink.write(&batch(&[Pane::new(vec![Value::Int(1_000)], WINDOW, 0, vec![nested])])).expect("written");
    assert_eq!(place.rows().len(), 201);
}

#[test]
fn changes_are_followed_page_by_page() {
    let place = Place::new();
    let names = fields(&["k"], &["n"]);
    let pane = |key, n| Pane::new(vec![Value::Int(key)], WINDOW, 0, vec![Value::Int(n)]);
    let mut sink = place.sink(&["k"], &names);
    sink.write_panes(&batch(&[pane(1, 1), pane(2, 1), pane(3, 1)])).expect("written");
    sink.flush().expect("flushed");
    let ask = |after: Option<String>, limit| {
        let query = RowQuery { order: RowOrder::Changed, after, limit, ..RowQuery::default() };
        let page = place.tables.rows(&place.tenant, "t", &query).expect("reads");
        (page.rows, page.next)
    };
    let lines = |panes: &[Pane]| panes.iter().map(|pane| line(&names, pane).into_bytes()).collect::<Vec<_>>();
    let (rows, next) = ask(None, 2);
    assert_eq!(rows, lines(&[pane(1, 1), pane(2, 1)]));
    // A row that is written again moves behind the others; another run goes on counting.
    sink.write_panes(&batch(&[pane(1, 2)])).expect("written");
    sink.flush().expect("flushed");
    let mut sink = place.sink(&["k"], &names);
    sink.write_panes(&batch(&[pane(2, 2)])).expect("written");
    sink.flush().expect("flushed");
    let (rows, next) = ask(next, 10);
    assert_eq!(rows, lines(&[pane(3, 1), pane(1, 2), pane(2, 2)]));
    assert_eq!(ask(next.clone(), 10), (Vec::new(), next));
}

#[test]
fn tables_that_have_reached_their_bytes_take_no_more_and_keep_what_they_have() {
    let place = Place::new();
    let names = fields(&["k"], &["v"]);
    let limit = 256 << 10;
    let (fields, key) = (names.clone().into(), owned(&["k"]));
    let open = |table: &str| place.tables.sink(&place.tenant, table, &key, &fields, writer("j", 0, 1), limit);
    let pane = |key: i64| Pane::new(vec![Value::Int(key)], None, 0, vec![Value::Text("x".repeat(10_000).into())]);
    let mut sink = open("t").expect("opens");
    let mut written = 0;
    let error = loop {
        sink.write_panes(&batch(&[pane(written)])).expect("gathered");
        match sink.flush() {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 1_000, "no limit is met");
    };
    assert_eq!(
        error.to_string(),
        "table `t`: the tenant's tables have used up their 262144 bytes (its limit `log_bytes`, which holds for the tables \
         too); write fewer rows, or ask a platform admin for a higher limit"
    );
    drop(sink);
    assert!(written > 5 && place.rows().len() == usize::try_from(written).expect("few"), "{written}");
    assert!(std::fs::metadata(place.file()).expect("a file").len() <= limit);
    // Rows that are there are written again, and no other table gets room that is not there.
    let mut sink = open("t").expect("opens again");
    sink.write_panes(&batch(&[pane(0)])).expect("gathered");
    sink.flush().expect("a row in place of another");
    let refused = (0..100).map(|number| open(&format!("t{number}"))).find_map(Result::err).expect("a limit is met");
    assert!(matches!(refused, TableError::Full { .. }), "{refused}");
}
