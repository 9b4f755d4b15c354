//! One result as a row and back: a row that is read gives the JSON of its result, byte for byte.

use rusqlite::types::{ToSqlOutput, Value as Sql, ValueRef as SqlRef};
use rusqlite::{Row, ToSql};
use tidegate_formats::{format_time, parse_rfc3339, write_stamps, write_value};
use tidegate_types::key::encode_value;
use tidegate_types::{EventTime, NO_CLOCK, Stamp, Stamping, Timing, ValueRef, Version};

use crate::layout::{KeyPart, Layout};
use crate::results::Results;

/// The letters of `_kinds`.
const NULL: u8 = b'n';
const BOOL: u8 = b'b';
const INT: u8 = b'i';
const FLOAT: u8 = b'f';
const TEXT: u8 = b't';
const BYTES: u8 = b'x';
const JSON: u8 = b'j';

/// A row's key: the encodings of its parts, one after the other.
pub(crate) fn key(layout: &Layout, results: &Results, row: usize) -> Vec<u8> {
    let window = results.window(row);
    let mut encoded = Vec::with_capacity(16 * layout.parts.len());
    for part in &layout.parts {
        let value = match *part {
            KeyPart::Key(place) => results.keys()[place].value(row),
            KeyPart::Value(place) => results.values()[place].value(row),
            KeyPart::WindowStart => window.map_or(ValueRef::Null, |(start, _)| ValueRef::Int(start)),
            KeyPart::WindowEnd => window.map_or(ValueRef::Null, |(_, end)| ValueRef::Int(end)),
        };
        encode_value(&mut encoded, value);
    }
    encoded
}

/// A window's bounds as they are stored.
pub(crate) fn window(window: Option<(EventTime, EventTime)>) -> (Option<String>, Option<String>) {
    window.map_or((None, None), |(start, end)| (Some(format_time(start)), Some(format_time(end))))
}

/// A count as it is stored. None reaches the bound.
pub(crate) fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// What a row is beside its fields.
pub(crate) struct Written<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) version: Version,
    /// The number of this change of the table.
    pub(crate) changed: i64,
    /// The number of the job among the table's writers.
    pub(crate) writer: i64,
}

/// The values of a row, in the order of [`Layout::upsert`].
pub(crate) fn values<'a>(results: &'a Results, row: usize, written: &Written<'a>) -> Vec<ToSqlOutput<'a>> {
    let fields = results.fields(row);
    let kinds: String = fields.clone().map(|value| char::from(kind(value))).collect();
    let mut values: Vec<ToSqlOutput<'a>> = fields.map(stored).collect();
    let time =
        |time: Option<EventTime>| ToSqlOutput::Owned(time.map_or(Sql::Null, |time| Sql::Text(format_time(time))));
    let number = |number: i64| ToSqlOutput::Owned(Sql::Integer(number));
    match results {
        Results::Panes(panes) => {
            let info = &panes.infos[row];
            values.extend([
                time(info.window.map(|(start, _)| start)),
                time(info.window.map(|(_, end)| end)),
                ToSqlOutput::Borrowed(SqlRef::Text(info.timing.name().as_bytes())),
                number(integer(info.index)),
                number(i64::from(info.is_last)),
            ]);
        }
        Results::Rows(rows) => values.push(time(Some(rows.times[row]))),
    }
    values.extend([
        time(results.watermark(row).finite()),
        number(written.changed),
        ToSqlOutput::Borrowed(SqlRef::Blob(written.key)),
        ToSqlOutput::Owned(Sql::Text(kinds)),
        number(i64::from(written.version.precedence)),
        number(integer(written.version.restore_epoch)),
        time(results.generated_at(row)),
        number(written.writer),
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
        let mut stored = Self { layout, row, kinds: &[] };
        stored.kinds = stored.of("_kinds")?.as_bytes()?;
        Ok(stored)
    }

    /// What a column of the platform's holds.
    fn of(&self, column: &str) -> rusqlite::Result<SqlRef<'a>> {
        let place = self.layout.place(column).ok_or_else(|| rusqlite::Error::InvalidColumnName(column.to_owned()))?;
        self.row.get_ref(place)
    }

    pub(crate) fn key(&self) -> rusqlite::Result<&'a [u8]> {
        Ok(self.of("_key")?.as_bytes()?)
    }

    pub(crate) fn changed(&self) -> rusqlite::Result<i64> {
        Ok(self.of("changed")?.as_i64()?)
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

    fn of_platform(&self, column: &str) -> rusqlite::Result<ValueRef<'a>> {
        Ok(match self.of(column)? {
            SqlRef::Text(text) => ValueRef::Text(std::str::from_utf8(text).unwrap_or_default()),
            SqlRef::Integer(value) if column == "pane_is_last" => ValueRef::Bool(value != 0),
            SqlRef::Integer(value) => ValueRef::Int(value),
            _ => ValueRef::Null,
        })
    }

    /// The value of a column that readers see; none if the table has no such column.
    pub(crate) fn column(&self, name: &str) -> rusqlite::Result<Option<ValueRef<'a>>> {
        if let Some(place) = self.layout.result_fields().position(|field| field == name) {
            return self.field(place).map(Some);
        }
        let platform = self.layout.platform().iter().find(|column| **column == name);
        platform.map(|column| self.of_platform(column)).transpose()
    }

    /// The result's JSON, with these stamps.
    pub(crate) fn json(&self, stamp: Stamp) -> rusqlite::Result<Vec<u8>> {
        let mut out = vec![b'{'];
        let keys = self.layout.fields.keys.len();
        for (place, name) in self.layout.fields.keys.iter().enumerate() {
            member(&mut out, name, self.field(place)?);
        }
        if self.layout.windowed {
            member(&mut out, "window_start", self.of_platform("window_start")?);
            member(&mut out, "window_end", self.of_platform("window_end")?);
            for (place, name) in self.layout.fields.values.iter().enumerate() {
                member(&mut out, name, self.field(keys + place)?);
            }
            out.extend_from_slice(b"\"pane\":{");
            member(&mut out, "timing", self.of_platform("pane_timing")?);
            member(&mut out, "index", self.of_platform("pane_index")?);
            member(&mut out, "is_last", self.of_platform("pane_is_last")?);
            out.pop();
            out.extend_from_slice(b"},");
        } else {
            member(&mut out, "time", self.of_platform("time")?);
        }
        member(&mut out, "watermark", self.of_platform("watermark")?);
        out.pop();
        self.write_stamps(stamp, &mut out)?;
        out.push(b'}');
        Ok(out)
    }

    fn write_stamps(&self, stamp: Stamp, out: &mut Vec<u8>) -> rusqlite::Result<()> {
        let count = |column: &str| Ok::<u64, rusqlite::Error>(u64::try_from(self.of(column)?.as_i64()?).unwrap_or(0));
        let (mut timing, mut index) = (Timing::OnTime, 0);
        if self.layout.windowed {
            let name = self.of("pane_timing")?.as_str()?;
            let all = [Timing::Early, Timing::OnTime, Timing::Late];
            timing = all.into_iter().find(|timing| timing.name() == name).unwrap_or(timing);
            index = count("pane_index")?;
        }
        let precedence = i32::try_from(self.of("_precedence")?.as_i64()?).unwrap_or(0);
        let stamping = Stamping { stamp, precedence, restore_epoch: count("_restore_epoch")? };
        let made_at = self.of("_generated_at")?.as_str_or_null()?.and_then(parse_rfc3339).unwrap_or(NO_CLOCK);
        write_stamps(out, &stamping, index, timing, made_at);
        Ok(())
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
