//! `tidegate table`: the tables that jobs write.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::http::Call;
use super::path::{part, query};
use super::read::ListArgs;
use super::settings::Connection;
use super::sheet::Sheet;
use super::{Client, read, value};
use crate::failure::Failure;

/// The most rows of a page.
const PAGE: u64 = 1000;

/// The arguments of `tidegate table`.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(subcommand)]
    pub(super) action: TableAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum TableAction {
    /// List the tables
    List(ListArgs),
    /// Show rows of a table
    Rows(RowsArgs),
}

/// The arguments of `tidegate table rows`.
#[derive(Debug, Args)]
pub(super) struct RowsArgs {
    /// The table
    name: String,
    /// Only rows whose column has this value
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = equals)]
    filter: Vec<(String, String)>,
    /// The most rows
    #[arg(long, value_name = "N", default_value = "100", conflicts_with = "watch")]
    limit: u64,
    /// Write each row as it changes, one JSON object a line, until interrupted
    #[arg(long)]
    watch: bool,
}

pub(super) fn act(client: &Client<'_>, action: &TableAction) -> Result<(), Failure> {
    match action {
        TableAction::List(args) => {
            let tables = tables(client, *args)?;
            let header = ["table", "rows", "key", "columns"];
            client.list(&tables, &header, "no tables yet: a job makes its table when it starts", |table| {
                let [name, rows] = ["/name", "/rows"].map(|at| value::text(table, at));
                vec![name, rows, value::texts(table, "/key"), value::texts(table, "/columns")]
            })
        }
        TableAction::Rows(args) if args.watch => follow(client, args),
        TableAction::Rows(args) => rows(client, args),
    }
}

/// The tables of the tenant.
pub(super) fn tables(client: &Client<'_>, args: ListArgs) -> Result<Vec<Value>, Failure> {
    read::items(client, "/v1/tables", "tables", args)
}

fn path(name: &str) -> String {
    format!("/v1/tables/{}/rows", part(name))
}

/// The rows of one page, and the position behind them.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) rows: Vec<Value>,
    pub(super) next: Option<String>,
}

/// One page of a table's rows.
pub(super) fn page(client: &Client<'_>, name: &str, pairs: &[(&str, String)]) -> Result<Page, Failure> {
    let answer = client.api.must(&Call::get(&query(&path(name), pairs)))?;
    let rows = read::lines(&answer.body)?;
    Ok(Page { rows, next: answer.header("tidegate-next").map(str::to_owned) })
}

fn rows(client: &Client<'_>, args: &RowsArgs) -> Result<(), Failure> {
    let mut found: Vec<Value> = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let left = args.limit - u64::try_from(found.len()).unwrap_or(u64::MAX);
        let mut pairs = args.pairs();
        pairs.push(("limit", left.min(PAGE).to_string()));
        pairs.extend(after.iter().map(|after| ("after", after.clone())));
        let page = page(client, &args.name, &pairs)?;
        // With a filter, a page may be empty although rows follow; then its position has moved.
        let is_last = page.rows.is_empty() && page.next == after;
        found.extend(page.rows);
        after = page.next;
        if after.is_none() || is_last || u64::try_from(found.len()).unwrap_or(u64::MAX) >= args.limit {
            break;
        }
    }
    if client.json {
        return crate::print(found.iter().map(|row| format!("{row}\n")).collect::<String>().as_bytes());
    }
    let Columns { names, pointers } = Columns::of(&table(client, &args.name)?);
    let mut sheet = Sheet::of(names);
    found.iter().for_each(|row| sheet.row(pointers.iter().map(|pointer| value::text(row, pointer)).collect()));
    let mut text = sheet.text("no rows yet");
    if after.is_some() {
        text.push_str(&format!("the first {} rows; --limit shows more\n", found.len()));
    }
    crate::print(text.as_bytes())
}

/// The table of this name.
pub(super) fn table(client: &Client<'_>, name: &str) -> Result<Value, Failure> {
    let tables = tables(client, ListArgs::default())?.into_iter().find(|table| table["name"] == json!(name));
    tables
        .ok_or_else(|| Failure::invalid(format!("there is no table {name}; `tidegate table list` shows what there is")))
}

/// The columns of a table, and where in a row's JSON each value is.
struct Columns {
    names: Vec<String>,
    pointers: Vec<String>,
}

impl Columns {
    fn of(table: &Value) -> Self {
        // When a row changed is an order, not a value of it.
        let names: Vec<String> = names(table, "columns").into_iter().filter(|name| name != "changed").collect();
        let pointers = names.iter().map(|name| pointer(name)).collect();
        Self { names, pointers }
    }
}

/// A list of names in a table's description.
pub(super) fn names(table: &Value, list: &str) -> Vec<String> {
    let names = table.get(list).and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Where a column's value stands in a row: what a pane says about itself is an object of its own.
fn pointer(column: &str) -> String {
    match column.strip_prefix("pane_") {
        Some(of_pane @ ("timing" | "index" | "is_last")) => format!("/pane/{of_pane}"),
        _ => format!("/{}", column.replace('~', "~0").replace('/', "~1")),
    }
}

/// Writes each row as it changes.
fn follow(client: &Client<'_>, args: &RowsArgs) -> Result<(), Failure> {
    let mut after: Option<String> = None;
    loop {
        let mut pairs = args.pairs();
        pairs.extend([("order", "changed".to_owned()), ("limit", PAGE.to_string())]);
        pairs.extend(after.iter().map(|after| ("after", after.clone())));
        let page = page(client, &args.name, &pairs)?;
        let is_full = u64::try_from(page.rows.len()).unwrap_or(u64::MAX) >= PAGE;
        crate::print(page.rows.iter().map(|row| format!("{row}\n")).collect::<String>().as_bytes())?;
        after = page.next.or(after);
        if !is_full {
            super::watch::pause();
        }
    }
}

impl RowsArgs {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        self.filter.iter().map(|(column, value)| ("where", format!("{column}:{value}"))).collect()
    }
}

fn equals(text: &str) -> Result<(String, String), String> {
    let (column, value) = text.split_once('=').ok_or("write it as country=VN")?;
    Ok((column.to_owned(), value.to_owned()))
}
