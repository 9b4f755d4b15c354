//! What a table looks like: the columns of the results' fields, those that say which result a row is, and the row's key.
//!
//! A field's column has no declared type, so that SQLite stores every value as it is: an integer as a 64-bit integer, a
//! float as a float (`1.0` does not become `1`), text and bytes as such. What SQLite has no type for is in `_kinds`: a bool is
//! stored as 0 or 1, an array or object as its canonical JSON text, and `_kinds` says so for each field of each row. Rows
//! are identified by `_key`, the encoding of the key's values (the one that state is keyed by): null is a value like any
//! other there, and `1`, `1.0` and `"1"` are three keys. Beside each row stands its version, and in a second table that of
//! each key whose row was taken back. Invariant: every name stands quoted wherever SQL holds it.

use serde_json::{Value as Json, json};
use tidegate_types::{PaneFields, ResultFields, Stamp};

use crate::error::TableError;

/// The columns that say which window and firing a pane is, and in which order rows changed.
const OF_PANES: [&str; 7] =
    ["window_start", "window_end", "pane_timing", "pane_index", "pane_is_last", "watermark", "changed"];
/// The same of rows without a window.
const OF_ROWS: [&str; 3] = ["time", "watermark", "changed"];
/// The columns that no reader sees: what tells a row, and its version.
const HIDDEN: [&str; 6] = ["_key", "_kinds", "_precedence", "_restore_epoch", "_generated_at", "_writer"];
/// How [`HIDDEN`] is declared.
const HIDDEN_TYPES: &str = "_key BLOB NOT NULL PRIMARY KEY, _kinds TEXT NOT NULL, _precedence INTEGER NOT NULL, \
                            _restore_epoch INTEGER NOT NULL, _generated_at TEXT, _writer INTEGER NOT NULL";
/// SQLite's own bound is 2,000.
const MOST_FIELDS: usize = 1_900;

/// Where a part of a row's key is in a result.
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
    /// Of rows without a window, `keys` are all fields.
    pub(crate) fields: PaneFields,
    /// Whether the results are panes.
    pub(crate) windowed: bool,
    pub(crate) key: Vec<String>,
    pub(crate) parts: Vec<KeyPart>,
    /// What rows say of themselves when they are read, unless more is asked for.
    pub(crate) stamp: Stamp,
}

impl Layout {
    /// The layout of a table for results with these fields, whose rows are identified by the fields of `key`.
    ///
    /// # Errors
    /// If the table's name, a field's or the key's cannot be.
    pub fn new(table: &str, key: &[String], fields: &ResultFields) -> Result<Self, TableError> {
        if table.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_")) {
            return Err(TableError::ReservedTable { table: table.to_owned() });
        }
        let (fields, windowed) = match fields {
            ResultFields::Panes(fields) => (fields.clone(), true),
            ResultFields::Rows(fields) => (PaneFields { keys: fields.clone(), values: Vec::new() }, false),
        };
        let mut layout = Self {
            table: table.to_owned(),
            fields,
            windowed,
            key: key.to_vec(),
            parts: Vec::new(),
            stamp: Stamp::default(),
        };
        layout.check_fields()?;
        layout.parts = key.iter().map(|name| layout.part(name)).collect::<Result<_, _>>()?;
        Ok(layout)
    }

    /// The same, whose rows bear these stamps.
    #[must_use]
    pub fn stamped(mut self, stamp: Stamp) -> Self {
        self.stamp = stamp;
        self
    }

    /// Whether a table of the one layout is a table of the other.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        *self == other.clone().stamped(self.stamp)
    }

    /// The fields of the results: of panes the key's, then the values.
    pub(crate) fn result_fields(&self) -> impl Iterator<Item = &String> {
        self.fields.keys.iter().chain(&self.fields.values)
    }

    /// The columns beside the fields that readers see.
    pub(crate) fn platform(&self) -> &'static [&'static str] {
        if self.windowed { &OF_PANES } else { &OF_ROWS }
    }

    /// The columns that readers see, in the order of a result's members.
    pub(crate) fn columns(&self) -> Vec<String> {
        // A pane's window stands before its values.
        let (before, behind) = self.platform().split_at(if self.windowed { 2 } else { 0 });
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut columns = self.fields.keys.clone();
        columns.extend(named(before));
        columns.extend(self.fields.values.iter().cloned());
        columns.extend(named(behind));
        columns
    }

    /// All columns as they are stored: the fields, the platform's, the hidden ones.
    fn stored_columns(&self) -> String {
        let fields = self.result_fields().map(|field| quoted(field));
        let others = self.platform().iter().chain(&HIDDEN).map(|name| (*name).to_owned());
        fields.chain(others).collect::<Vec<_>>().join(", ")
    }

    /// The place of a column among the stored ones.
    pub(crate) fn place(&self, column: &str) -> Option<usize> {
        let others = self.platform().iter().chain(&HIDDEN).copied();
        self.result_fields().map(String::as_str).chain(others).position(|name| name == column)
    }

    /// The table of keys whose row was taken back.
    fn gone(&self) -> String {
        quoted(&format!("{}:gone", self.table))
    }

    /// The statements that make the table.
    pub(crate) fn create(&self) -> String {
        let fields: String = self.result_fields().map(|field| format!("{}, ", quoted(field))).collect();
        let table = quoted(&self.table);
        let index = quoted(&format!("{}:changed", self.table));
        let platform = if self.windowed {
            "window_start TEXT, window_end TEXT, pane_timing TEXT NOT NULL, pane_index INTEGER NOT NULL, \
             pane_is_last INTEGER NOT NULL, watermark TEXT, changed INTEGER NOT NULL"
        } else {
            "time TEXT NOT NULL, watermark TEXT, changed INTEGER NOT NULL"
        };
        format!(
            "CREATE TABLE {table} ({fields}{platform}, {HIDDEN_TYPES}) WITHOUT ROWID;
             CREATE UNIQUE INDEX {index} ON {table} (changed);
             {}",
            self.create_gone()
        )
    }

    /// The statement that makes the table of keys whose row was taken back.
    pub(crate) fn create_gone(&self) -> String {
        if !self.windowed {
            return String::new();
        }
        format!(
            "CREATE TABLE {} (_key BLOB NOT NULL PRIMARY KEY, window_start TEXT, window_end TEXT, pane_index INTEGER NOT NULL, \
             _precedence INTEGER NOT NULL, _restore_epoch INTEGER NOT NULL) WITHOUT ROWID;",
            self.gone()
        )
    }

    /// The statement that writes a row: all stored columns in order.
    pub(crate) fn upsert(&self) -> String {
        let places =
            vec!["?"; self.fields.keys.len() + self.fields.values.len() + self.platform().len() + HIDDEN.len()];
        let (table, columns) = (quoted(&self.table), self.stored_columns());
        format!("INSERT OR REPLACE INTO {table} ({columns}) VALUES ({})", places.join(", "))
    }

    /// The statement that gives the version of a key's row, and whether it is of this window: key, start, end.
    pub(crate) fn known_row(&self) -> String {
        self.known(&quoted(&self.table))
    }

    /// The same of the retraction that took a key's row away; none where rows are never taken back.
    pub(crate) fn known_gone(&self) -> Option<String> {
        self.windowed.then(|| self.known(&self.gone()))
    }

    fn known(&self, table: &str) -> String {
        let of_window = if self.windowed {
            "pane_index, window_start IS ?2 AND window_end IS ?3"
        } else {
            // All parameters are named, so that all can be bound.
            "0, ?2 IS ?3"
        };
        format!("SELECT _precedence, _restore_epoch, {of_window} FROM {table} WHERE _key = ?1")
    }

    /// The statement that takes a key's row away.
    pub(crate) fn delete_row(&self) -> String {
        format!("DELETE FROM {} WHERE _key = ?", quoted(&self.table))
    }

    /// The statement that forgets the retraction of a key's row.
    pub(crate) fn delete_gone(&self) -> String {
        format!("DELETE FROM {} WHERE _key = ?", self.gone())
    }

    /// The statement that notes a retraction: key, window, index, precedence, epoch.
    pub(crate) fn put_gone(&self) -> String {
        format!("INSERT OR REPLACE INTO {} VALUES (?, ?, ?, ?, ?, ?)", self.gone())
    }

    /// The start of a statement that reads rows: all stored columns in order.
    pub(crate) fn select(&self) -> String {
        format!("SELECT {} FROM {}", self.stored_columns(), quoted(&self.table))
    }

    /// As it stands in the catalog.
    pub(crate) fn stored(&self) -> String {
        let stamp = stamp_names(self.stamp);
        if self.windowed {
            json!({"keys": self.fields.keys, "values": self.fields.values, "key": self.key, "stamp": stamp}).to_string()
        } else {
            json!({"fields": self.fields.keys, "key": self.key, "stamp": stamp}).to_string()
        }
    }

    /// Reads what stands in the catalog. None: it is not what this program writes.
    pub(crate) fn read(table: &str, stored: &str) -> Option<Self> {
        let stored: Json = serde_json::from_str(stored).ok()?;
        let names = |member: &str| -> Option<Vec<String>> {
            stored.get(member)?.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
        };
        let fields = match names("fields") {
            Some(fields) => ResultFields::Rows(fields),
            None => ResultFields::Panes(PaneFields { keys: names("keys")?, values: names("values")? }),
        };
        let has = |name: &str| names("stamp").is_some_and(|stamp| stamp.iter().any(|other| other == name));
        let [version, completeness, generated_at] = STAMPS.map(has);
        let layout = Self::new(table, &names("key")?, &fields).ok()?;
        Some(layout.stamped(Stamp { version, completeness, generated_at }))
    }

    /// For a message: what the table holds.
    pub(crate) fn describe(&self) -> String {
        let all: Vec<&str> = self.result_fields().map(String::as_str).collect();
        let what = if self.windowed { "the fields" } else { "rows without a window, the fields" };
        format!("{what} [{}] and the key [{}]", all.join(", "), self.key.join(", "))
    }

    fn check_fields(&self) -> Result<(), TableError> {
        let wrong = |field: &String, reason: &str| {
            Err(TableError::Field { table: self.table.clone(), field: field.clone(), reason: reason.to_owned() })
        };
        let all: Vec<&String> = self.result_fields().collect();
        if let Some(field) = all.get(MOST_FIELDS) {
            return wrong(field, "is one too many: a table has at most 1,900; aggregate less, or write to a log");
        }
        for (place, field) in all.iter().enumerate() {
            if field.is_empty() || field.contains('\0') {
                return wrong(
                    field,
                    "cannot name a column (it is empty or has a zero character); rename it in a map hook",
                );
            }
            if self.platform().iter().chain(&HIDDEN).any(|taken| taken.eq_ignore_ascii_case(field)) {
                return wrong(field, "has the name of one of the platform's columns; give it another name");
            }
            if all[..place].iter().any(|other| other.eq_ignore_ascii_case(field)) {
                return wrong(field, "differs from another field in capitals only, and columns cannot; rename one");
            }
        }
        Ok(())
    }

    fn part(&self, name: &String) -> Result<KeyPart, TableError> {
        let place = |names: &[String]| names.iter().position(|field| field == name);
        let window = match name.as_str() {
            "window_start" if self.windowed => Some(KeyPart::WindowStart),
            "window_end" if self.windowed => Some(KeyPart::WindowEnd),
            _ => None,
        };
        let field =
            || place(&self.fields.keys).map(KeyPart::Key).or_else(|| place(&self.fields.values).map(KeyPart::Value));
        window.or_else(field).ok_or_else(|| {
            let bounds = self.platform().iter().take(if self.windowed { 2 } else { 0 }).copied();
            let known: Vec<&str> = self.result_fields().map(String::as_str).chain(bounds).collect();
            let what = if self.windowed { "panes" } else { "rows" };
            TableError::KeyField { table: self.table.clone(), what, field: name.clone(), known: known.join(", ") }
        })
    }
}

/// The names of the stamps, in the order of a record's members.
pub(crate) const STAMPS: [&str; 3] = ["version", "completeness", "generated_at"];

fn stamp_names(stamp: Stamp) -> Vec<&'static str> {
    let set = [stamp.version, stamp.completeness, stamp.generated_at];
    STAMPS.into_iter().zip(set).filter(|(_, set)| *set).map(|(name, _)| name).collect()
}

/// A name as SQL takes it, whatever is in it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests;
