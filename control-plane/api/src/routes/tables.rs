//! Result tables: what there is, and their rows.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderName, Uri};
use serde::Serialize;
use tidegate_tenancy::Permission;
use tidegate_types::Stamp;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::answer::{json, lines, set};
use crate::problem::{Answer, Problem, codes};
use crate::request::{Scope, name_in_path};
use crate::services::Shared;
use crate::settings::DEFAULT_ROWS;
use crate::tables::{MAX_ROWS, RowOrder, RowQuery, TableInfo};

pub(super) const PROBLEMS: &[OperationProblems] =
    &[("list_tables", &[]), ("read_rows", &[codes::NOT_FOUND, codes::INVALID_REQUEST])];

/// The header with the position of the next page.
pub(crate) const NEXT: HeaderName = HeaderName::from_static("tidegate-next");

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list_tables)).routes(routes!(read_rows))
}

/// A result table.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Table)]
pub(crate) struct TableDocument {
    /// Its name.
    name: String,
    /// All columns, in the order in which a row has them.
    columns: Vec<String>,
    /// The columns that identify a row.
    key: Vec<String>,
    /// How many rows it has.
    rows: u64,
}

impl From<TableInfo> for TableDocument {
    fn from(table: TableInfo) -> Self {
        let TableInfo { name, columns, key, rows } = table;
        Self { name, columns, key, rows }
    }
}

/// Tables by name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TableList {
    tables: Vec<TableDocument>,
}

/// List tables
///
/// The tables that the tenant's jobs have made.
#[utoipa::path(get, path = "/v1/tables", tag = "tables",
    responses((status = 200, description = "The tenant's tables, ascending by name", body = TableList)),
)]
async fn list_tables(scope: Scope, State(api): State<Shared>) -> Answer {
    scope.may(Permission::ReadTables)?;
    let (tables, tenant) = (Arc::clone(&api.services.tables), scope.tenant.clone());
    let found = api.places.call(&scope.tenant, move || tables.list(&tenant)).await??;
    json(&TableList { tables: found.into_iter().map(TableDocument::from).collect() })
}

/// Read a table's rows
///
/// One JSON object a line, with the members of a pane, or of a row without a window. To follow the changes of a table, read
/// with `order=changed`, and ask again with `after` set to the `Tidegate-Next` of the answer before.
#[utoipa::path(get, path = "/v1/tables/{name}/rows", tag = "tables",
    params(
        ("name" = String, Path, description = "The table's name"),
        ("where" = Option<Vec<String>>, Query, explode,
            description = "`COLUMN:VALUE`: rows whose column has this value, compared as text (`pane_is_last:true`). May stand several times: rows that match all"),
        ("order" = Option<String>, Query, description = "`key` (unless told): ascending by the key. `changed`: by the last change, the newest last"),
        ("after" = Option<String>, Query, description = "Where to go on: `Tidegate-Next` of an answer of the same order"),
        ("limit" = Option<u64>, Query, description = "So many rows at most, 1000 unless told", minimum = 1, maximum = 10000),
        ("with" = Option<String>, Query,
            description = "What rows are to say of themselves, also if their job does not stamp them: `version`, `completeness`, `generated_at`, any of them with commas between"),
    ),
    responses((status = 200, description = "Rows", body = serde_json::Value, content_type = "application/x-ndjson", headers(
        ("Tidegate-Next" = String, description = "Where the next page starts; absent if the order is `key` and no row follows"),
    ))),
)]
async fn read_rows(scope: Scope, State(api): State<Shared>, Path(name): Path<String>, uri: Uri) -> Answer {
    scope.may(Permission::ReadTables)?;
    let table = name_in_path("table", &name)?;
    let query = row_query(&uri)?;
    let (tables, tenant) = (Arc::clone(&api.services.tables), scope.tenant.clone());
    let page = api.places.call(&scope.tenant, move || tables.rows(&tenant, &table, &query)).await??;
    let mut body = Vec::with_capacity(page.rows.iter().map(|row| row.len() + 1).sum());
    for row in &page.rows {
        body.extend_from_slice(row);
        body.push(b'\n');
    }
    let mut response = lines(body);
    if let Some(next) = page.next {
        set(&mut response, NEXT, &next);
    }
    Ok(response)
}

/// The platform's column that holds a truth.
const LAST: &str = "pane_is_last";

/// `where` may stand several times, which a struct of parameters cannot say.
fn row_query(uri: &Uri) -> Answer<RowQuery> {
    let parameters: Vec<(String, String)> = axum::extract::Query::try_from_uri(uri)
        .map_err(|_| Problem::new(codes::BAD_REQUEST, "the query parameters cannot be read"))?
        .0;
    let mut query =
        RowQuery { filter: Vec::new(), order: RowOrder::Key, after: None, limit: DEFAULT_ROWS, with: Stamp::default() };
    let mut seen = std::collections::BTreeSet::new();
    for (name, value) in parameters {
        if name != "where" && !seen.insert(name.clone()) {
            return Err(Problem::new(codes::BAD_REQUEST, format!("the parameter `{name}` stands twice")));
        }
        match name.as_str() {
            "where" => query.filter.push(condition(&value)?),
            "order" => query.order = order(&value)?,
            "after" => query.after = Some(value),
            "limit" => query.limit = limit(&value)?,
            "with" => query.with = stamp(&value)?,
            _ => {
                let name = crate::problem::shown(&name);
                let detail = format!("there is no parameter `{name}`; use where, order, after, limit and with");
                return Err(Problem::new(codes::BAD_REQUEST, detail));
            }
        }
    }
    Ok(query)
}

fn condition(text: &str) -> Answer<(String, String)> {
    let wrong = || Problem::invalid("where", "`where` is COLUMN:VALUE, such as `country:VN`");
    let (column, value) = text.split_once(':').ok_or_else(wrong)?;
    // As rows show it, or as the file has it.
    let value = match (column, value) {
        (LAST, "true" | "1") => "true",
        (LAST, "false" | "0") => "false",
        (LAST, _) => return Err(Problem::invalid("where", format!("`{LAST}` is `true` or `false`"))),
        (_, value) => value,
    };
    Ok((column.to_owned(), value.to_owned()))
}

fn order(text: &str) -> Answer<RowOrder> {
    match text {
        "key" => Ok(RowOrder::Key),
        "changed" => Ok(RowOrder::Changed),
        _ => Err(Problem::invalid("order", "`order` is `key` or `changed`")),
    }
}

fn stamp(text: &str) -> Answer<Stamp> {
    let mut stamp = Stamp::default();
    for name in text.split(',') {
        match name {
            "version" => stamp.version = true,
            "completeness" => stamp.completeness = true,
            "generated_at" => stamp.generated_at = true,
            _ => {
                return Err(Problem::invalid(
                    "with",
                    "`with` is `version`, `completeness`, `generated_at`, or several of them",
                ));
            }
        }
    }
    Ok(stamp)
}

fn limit(text: &str) -> Answer<usize> {
    let limit = text.parse().ok().filter(|limit| (1..=MAX_ROWS).contains(limit));
    limit.ok_or_else(|| Problem::invalid("limit", format!("`limit` is a number from 1 to {MAX_ROWS}")))
}
