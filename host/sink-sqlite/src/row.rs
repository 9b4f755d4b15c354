//! One pane as a row and back: a row that is read gives the JSON of its pane, byte for byte.

use rusqlite::types::{ToSqlOutput, Value as Sql, ValueRef as SqlRef};
use rusqlite::{Row, ToSql};
use tidegate_formats::{format_time, write_value};
use tidegate_types::key::encode_value;
use tidegate_types::{PaneBatch, PaneInfo, ValueRef};

use crate::layout::{KeyPart, Layout, PLATFORM};

/// The letters of `_kinds`.
const NULL: u8 = b'n';
const BOOL: u8 = b'b';
const INT: u8 = b'i';
const FLOAT: u8 = b'f';
const TEXT: u8 = b't';
const BYTES: u8 = b'x';
const JSON: u8 = b'j';

/// A row's key: the encodings of its parts, one after the other.
pub(crate) fn key(layout: &Layout, panes: &PaneBatch, row: usize) -> Vec<u8> {
    let window = panes.infos[row].window;
    let mut encoded = Vec::with_capacity(16 * layout.parts.len());
    for part in &layout.parts {
        let value = match *part {
            KeyPart::Key(place) => panes.keys[place].value(row),
            KeyPart::Value(place) => panes.values[place].value(row),
            KeyPart::WindowStart => window.map_or(ValueRef::Null, |(start, _)| ValueRef::Int(start)),
            KeyPart::WindowEnd => window.map_or(ValueRef::Null, |(_, end)| ValueRef::Int(end)),
        };
        encode_value(&mut encoded, value);
    }
    encoded
}

/// A window's bounds as they are stored.
pub(crate) fn window(info: &PaneInfo) -> (Option<String>, Option<String>) {
    info.window.map_or((None, None), |(start, end)| (Some(format_time(start)), Some(format_time(end))))
}

/// A pane's index as it is stored. A window has far fewer panes.
pub(crate) fn index(info: &PaneInfo) -> i64 {
    i64::try_from(info.index).unwrap_or(i64::MAX)
}

/// The values of a row, in the order of [`Layout::upsert`].
pub(crate) fn values<'a>(
    panes: &'a PaneBatch,
    row: usize,
    key: Vec<u8>,
    changed: i64,
    run: i64,
) -> Vec<ToSqlOutput<'a>> {
    let info = &panes.infos[row];
    let fields = panes.keys.iter().chain(&panes.values).map(|column| column.value(row));
    let kinds: String = fields.clone().map(|value| char::from(kind(value))).collect();
    let (start, end) = window(info);
    let owned = |value: Sql| ToSqlOutput::Owned(value);
    let text = |text: Option<String>| owned(text.map_or(Sql::Null, Sql::Text));
    let mut values: Vec<ToSqlOutput<'a>> = fields.map(stored).collect();
    values.extend([
        text(start),
        text(end),
        ToSqlOutput::Borrowed(SqlRef::Text(info.timing.name().as_bytes())),
        owned(Sql::Integer(index(info))),
        owned(Sql::Integer(i64::from(info.is_last))),
        text(info.watermark.finite().map(format_time)),
        owned(Sql::Integer(changed)),
        owned(Sql::Blob(key)),
        owned(Sql::Text(kinds)),
        owned(Sql::Integer(run)),
    ]);
    values
}

fn kind(value: ValueRef<'_>) -> u8 {
    match value {
        ValueRef::Null => NULL,
        ValueRef::Bool(_) => BOOL,
        ValueRef::Int(_) => INT,
        ValueRef::Float(_) => FLOAT,
        ValueRef::Text(_) => TEXT,
        ValueRef::Bytes(_) => BYTES,
        ValueRef::Json(_) => JSON,
    }
}

fn stored(value: ValueRef<'_>) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        ValueRef::Null => SqlRef::Null,
        ValueRef::Bool(value) => SqlRef::Integer(i64::from(value)),
        ValueRef::Int(value) => SqlRef::Integer(value),
        ValueRef::Float(value) => SqlRef::Real(value),
        ValueRef::Text(value) | ValueRef::Json(value) => SqlRef::Text(value.as_bytes()),
        ValueRef::Bytes(value) => SqlRef::Blob(value),
    })
}

/// What a stored value was. None: it is not what its kind says.
fn read(stored: SqlRef<'_>, kind: u8) -> Option<ValueRef<'_>> {
    match (stored, kind) {
        // SQLite stores a NaN as null, and JSON shows it so.
        (SqlRef::Null, NULL | FLOAT) => Some(ValueRef::Null),
        (SqlRef::Integer(value), BOOL) => Some(ValueRef::Bool(value != 0)),
        (SqlRef::Integer(value), INT) => Some(ValueRef::Int(value)),
        (SqlRef::Real(value), FLOAT) => Some(ValueRef::Float(value)),
        (SqlRef::Text(value), TEXT) => std::str::from_utf8(value).ok().map(ValueRef::Text),
        (SqlRef::Text(value), JSON) => std::str::from_utf8(value).ok().map(ValueRef::Json),
        (SqlRef::Blob(value), BYTES) => Some(ValueRef::Bytes(value)),
        _ => None,
    }
}

/// A row that was read.
pub(crate) struct Stored<'a> {
    layout: &'a Layout,
    row: &'a Row<'a>,
    kinds: &'a [u8],
}

impl<'a> Stored<'a> {
    pub(crate) fn new(layout: &'a Layout, row: &'a Row<'a>) -> rusqlite::Result<Self> {
        let kinds = row.get_ref(Self::hidden(layout, 1))?.as_bytes()?;
        Ok(Self { layout, row, kinds })
    }

    /// The place of a column of the platform's.
    fn platform(layout: &Layout, place: usize) -> usize {
        layout.fields.keys.len() + layout.fields.values.len() + place
    }

    fn hidden(layout: &Layout, place: usize) -> usize {
        Self::platform(layout, PLATFORM.len()) + place
    }

    pub(crate) fn key(&self) -> rusqlite::Result<&'a [u8]> {
        Ok(self.row.get_ref(Self::hidden(self.layout, 0))?.as_bytes()?)
    }

    pub(crate) fn changed(&self) -> rusqlite::Result<i64> {
        self.row.get(Self::platform(self.layout, 6))
    }

    fn field(&self, place: usize) -> rusqlite::Result<ValueRef<'a>> {
        let kind = self.kinds.get(place).copied().unwrap_or(NULL);
        let stored = self.row.get_ref(place)?;
        read(stored, kind).ok_or(rusqlite::Error::InvalidColumnType(
            place,
            format!("kind {}", char::from(kind)),
            stored.data_type(),
        ))
    }

    fn of_platform(&self, place: usize) -> rusqlite::Result<ValueRef<'a>> {
        let stored = self.row.get_ref(Self::platform(self.layout, place))?;
        Ok(match stored {
            SqlRef::Text(text) => ValueRef::Text(std::str::from_utf8(text).unwrap_or_default()),
            SqlRef::Integer(value) if PLATFORM[place] == "pane_is_last" => ValueRef::Bool(value != 0),
            SqlRef::Integer(value) => ValueRef::Int(value),
            _ => ValueRef::Null,
        })
    }

    /// The value of a column that readers see; none if the table has no such column.
    pub(crate) fn column(&self, name: &str) -> rusqlite::Result<Option<ValueRef<'a>>> {
        if let Some(place) = self.layout.pane_fields().position(|field| field == name) {
            return self.field(place).map(Some);
        }
        PLATFORM.iter().position(|column| *column == name).map(|place| self.of_platform(place)).transpose()
    }

    /// The pane's JSON.
    pub(crate) fn json(&self) -> rusqlite::Result<Vec<u8>> {
        let mut out = vec![b'{'];
        let keys = self.layout.fields.keys.len();
        for (place, name) in self.layout.fields.keys.iter().enumerate() {
            member(&mut out, name, self.field(place)?);
        }
        member(&mut out, "window_start", self.of_platform(0)?);
        member(&mut out, "window_end", self.of_platform(1)?);
        for (place, name) in self.layout.fields.values.iter().enumerate() {
            member(&mut out, name, self.field(keys + place)?);
        }
        out.extend_from_slice(b"\"pane\":{");
        member(&mut out, "timing", self.of_platform(2)?);
        member(&mut out, "index", self.of_platform(3)?);
        member(&mut out, "is_last", self.of_platform(4)?);
        out.pop();
        out.extend_from_slice(b"},");
        member(&mut out, "watermark", self.of_platform(5)?);
        out.pop();
        out.push(b'}');
        Ok(out)
    }
}

/// Appends a member and a comma.
fn member(out: &mut Vec<u8>, name: &str, value: ValueRef<'_>) {
    write_value(out, ValueRef::Text(name));
    out.push(b':');
    write_value(out, value);
    out.push(b',');
}

/// A value as a filter names it: text as it is, anything else as its JSON.
pub(crate) fn filter_text(value: ValueRef<'_>) -> String {
    if let ValueRef::Text(text) = value {
        return text.to_owned();
    }
    let mut out = Vec::new();
    write_value(&mut out, value);
    let text = String::from_utf8(out).expect("JSON is UTF-8");
    match value {
        // Base64, without its quotes.
        ValueRef::Bytes(_) => text.trim_matches('"').to_owned(),
        _ => text,
    }
}

/// Binds values.
pub(crate) fn bound<'a>(values: &'a [ToSqlOutput<'a>]) -> impl Iterator<Item = &'a dyn ToSql> {
    values.iter().map(|value| value as &dyn ToSql)
}
