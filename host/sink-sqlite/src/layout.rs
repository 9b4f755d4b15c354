//! What a table looks like: the columns of the panes' fields, those that say which firing a row is, and the row's key.
//!
//! A field's column has no declared type, so that SQLite stores every value as it is: an integer as a 64-bit integer, a
//! float as a float (`1.0` does not become `1`), text and bytes as such. What SQLite has no type for is in `_kinds`: a bool is
//! stored as 0 or 1, an array or object as its canonical JSON text, and `_kinds` says so for each field of each row. Rows
//! are identified by `_key`, the encoding of the key's values (the one that state is keyed by): null is a value like any
//! other there, and `1`, `1.0` and `"1"` are three keys. Invariant: every name stands quoted wherever SQL holds it.

use serde_json::{Value as Json, json};
use tidegate_types::PaneFields;

use crate::error::TableError;

/// The columns that say which window and firing a row is, and in which order rows changed.
pub(crate) const PLATFORM: [&str; 7] =
    ["window_start", "window_end", "pane_timing", "pane_index", "pane_is_last", "watermark", "changed"];
/// The columns that no reader sees.
const HIDDEN: [&str; 3] = ["_key", "_kinds", "_run"];
/// SQLite's own bound is 2,000.
const MOST_FIELDS: usize = 1_900;

/// Where a part of a row's key is in a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyPart {
    Key(usize),
    Value(usize),
    WindowStart,
    WindowEnd,
}

/// A table's columns and key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub(crate) table: String,
    pub(crate) fields: PaneFields,
    pub(crate) key: Vec<String>,
    pub(crate) parts: Vec<KeyPart>,
}

impl Layout {
    /// The layout of a table for panes with these fields, whose rows are identified by the fields of `key`.
    ///
    /// # Errors
    /// If the table's name, a field's or the key's cannot be.
    pub fn new(table: &str, key: &[String], fields: &PaneFields) -> Result<Self, TableError> {
        if table.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_")) {
            return Err(TableError::ReservedTable { table: table.to_owned() });
        }
        check_fields(table, fields)?;
        let parts = key.iter().map(|name| part(table, name, fields)).collect::<Result<_, _>>()?;
        Ok(Self { table: table.to_owned(), fields: fields.clone(), key: key.to_vec(), parts })
    }

    /// The fields of the panes: the key's, then the values.
    pub(crate) fn pane_fields(&self) -> impl Iterator<Item = &String> {
        self.fields.keys.iter().chain(&self.fields.values)
    }

    /// The columns that readers see, in the order of a pane's members.
    pub(crate) fn columns(&self) -> Vec<String> {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut columns = self.fields.keys.clone();
        columns.extend(named(&PLATFORM[..2]));
        columns.extend(self.fields.values.iter().cloned());
        columns.extend(named(&PLATFORM[2..]));
        columns
    }

    /// The statements that make the table.
    pub(crate) fn create(&self) -> String {
        let fields: String = self.pane_fields().map(|field| format!("{}, ", quoted(field))).collect();
        let table = quoted(&self.table);
        let index = quoted(&format!("{}:changed", self.table));
        format!(
            "CREATE TABLE {table} ({fields}window_start TEXT, window_end TEXT, pane_timing TEXT NOT NULL, pane_index INTEGER \
             NOT NULL, pane_is_last INTEGER NOT NULL, watermark TEXT, changed INTEGER NOT NULL, _key BLOB NOT NULL PRIMARY KEY, \
             _kinds TEXT NOT NULL, _run INTEGER NOT NULL) WITHOUT ROWID;
             CREATE UNIQUE INDEX {index} ON {table} (changed);"
        )
    }

    /// The statement that writes a row: the fields, then [`PLATFORM`], then [`HIDDEN`].
    pub(crate) fn upsert(&self) -> String {
        let others = PLATFORM.into_iter().chain(HIDDEN).map(str::to_owned);
        let columns: Vec<String> = self.pane_fields().map(|field| quoted(field)).chain(others).collect();
        let places = vec!["?"; columns.len()].join(", ");
        format!("INSERT OR REPLACE INTO {} ({}) VALUES ({places})", quoted(&self.table), columns.join(", "))
    }

    /// The statement that takes a row back: its key, run, index and window.
    pub(crate) fn retract(&self) -> String {
        format!(
            "DELETE FROM {} WHERE _key = ? AND _run = ? AND pane_index = ? AND window_start IS ? AND window_end IS ?",
            quoted(&self.table)
        )
    }

    /// The start of a statement that reads rows: the fields, then [`PLATFORM`], then [`HIDDEN`].
    pub(crate) fn select(&self) -> String {
        let others = PLATFORM.into_iter().chain(HIDDEN).map(str::to_owned);
        let columns: Vec<String> = self.pane_fields().map(|field| quoted(field)).chain(others).collect();
        format!("SELECT {} FROM {}", columns.join(", "), quoted(&self.table))
    }

    /// As it stands in the catalog.
    pub(crate) fn stored(&self) -> String {
        json!({"keys": self.fields.keys, "values": self.fields.values, "key": self.key}).to_string()
    }

    /// Reads what stands in the catalog. None: it is not what this program writes.
    pub(crate) fn read(table: &str, stored: &str) -> Option<Self> {
        let stored: Json = serde_json::from_str(stored).ok()?;
        let names = |member: &str| -> Option<Vec<String>> {
            stored.get(member)?.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
        };
        let fields = PaneFields { keys: names("keys")?, values: names("values")? };
        Self::new(table, &names("key")?, &fields).ok()
    }

    /// For a message: what the table holds.
    pub(crate) fn describe(&self) -> String {
        let all: Vec<&str> = self.pane_fields().map(String::as_str).collect();
        format!("the fields [{}] and the key [{}]", all.join(", "), self.key.join(", "))
    }
}

fn check_fields(table: &str, fields: &PaneFields) -> Result<(), TableError> {
    let wrong = |field: &String, reason: &str| {
        Err(TableError::Field { table: table.to_owned(), field: field.clone(), reason: reason.to_owned() })
    };
    let all: Vec<&String> = fields.keys.iter().chain(&fields.values).collect();
    if let Some(field) = all.get(MOST_FIELDS) {
        return wrong(field, "is one too many: a table has at most 1,900; aggregate less, or write to a log");
    }
    for (place, field) in all.iter().enumerate() {
        if field.is_empty() || field.contains('\0') {
            return wrong(field, "cannot name a column (it is empty or has a zero character); rename it in a map hook");
        }
        if PLATFORM.iter().chain(&HIDDEN).any(|taken| taken.eq_ignore_ascii_case(field)) {
            return wrong(field, "has the name of one of the platform's columns; give it another name");
        }
        if all[..place].iter().any(|other| other.eq_ignore_ascii_case(field)) {
            return wrong(field, "differs from another field in capitals only, and columns cannot; rename one");
        }
    }
    Ok(())
}

fn part(table: &str, name: &String, fields: &PaneFields) -> Result<KeyPart, TableError> {
    let place = |names: &[String]| names.iter().position(|field| field == name);
    match name.as_str() {
        "window_start" => Ok(KeyPart::WindowStart),
        "window_end" => Ok(KeyPart::WindowEnd),
        _ => place(&fields.keys).map(KeyPart::Key).or_else(|| place(&fields.values).map(KeyPart::Value)).ok_or_else(
            || {
                let known: Vec<&str> = fields
                    .keys
                    .iter()
                    .chain(&fields.values)
                    .map(String::as_str)
                    .chain(["window_start", "window_end"])
                    .collect();
                TableError::KeyField { table: table.to_owned(), field: name.clone(), known: known.join(", ") }
            },
        ),
    }
}

/// A name as SQL takes it, whatever is in it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests;
