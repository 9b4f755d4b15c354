//! Rows as structs: how a struct's fields become columns, and back.
//!
//! `#[derive(Row)]` implements [`Row`], [`ReadRow`] and [`WriteRow`]. Readers are made once per batch (the columns' kinds
//! and UTF-8 are checked then), so reading a row is a handful of loads and allocates nothing where the struct borrows.

use crate::columns::{Column, Fault, Field, Kind};

mod emit;
mod field;

pub use emit::Emit;
pub use field::{Element, Scalar};

/// A struct whose fields are columns. Derive it:
///
/// ```
/// use tidegate_sdk::Row;
///
/// #[derive(Row)]
/// struct Flight<'a> {
///     carrier: &'a str,                  // text
///     #[row(name = "dep_delay_min")]
///     delay: Option<i64>,                // int, may be null
///     cancelled: bool,                   // bool
///     #[row(time)]
///     scheduled: i64,                    // the row's event time, in ms since the Unix epoch: no column
/// }
///
/// let names: Vec<_> = Flight::fields().into_iter().map(|field| field.name).collect();
/// assert_eq!(names, ["carrier", "dep_delay_min", "cancelled"]);
/// ```
///
/// | type of the field | kind | |
/// |---|---|---|
/// | `bool` | bool | |
/// | `i64` | int | |
/// | `f64` | float | |
/// | `&'a str`, `String` | text | the first borrows from the batch |
/// | `&'a [u8]`, `Vec<u8>` | bytes | the first borrows from the batch |
/// | `[u32; N]`, `[i64; N]`, `[f64; N]` | bytes | little-endian, for buckets and registers |
/// | `Option<T>` of these | the same, nullable | |
///
/// A struct has at most one lifetime. The same struct may be read and written.
/// `#[row(logical = "decimal(10,2)")]` refines a kind, as far as the host knows it.
pub use tidegate_sdk_macros::Row;

/// A struct whose fields are columns. [Derive it](macro@Row).
pub trait Row {
    /// Whether one of the fields is the row's event time.
    const TIME: bool;

    /// The columns, in the order of the struct's fields.
    fn fields() -> Vec<Field>;
}

/// A row that can be read out of columns which live for `'a`.
pub trait ReadRow<'a>: Row + Sized {
    /// The columns, opened.
    type Reader;

    /// Opens the columns of a batch. A column of the wrong kind is a fault.
    fn reader(columns: &mut ColumnSource<'a>) -> Result<Self::Reader, Fault>;

    /// Reads one row. Panics where there is none.
    fn read(reader: &Self::Reader, row: usize) -> Self;
}

/// A row that can be written into columns.
pub trait WriteRow: Row + Sized {
    /// The columns, growing.
    type Writer;

    /// Empty columns with room for `rows` rows.
    fn writer(rows: usize) -> Self::Writer;

    /// Adds a row.
    fn write(self, writer: &mut Self::Writer);

    /// Hands the finished columns over.
    fn finish(writer: Self::Writer, columns: &mut ColumnSink);
}

/// A type that a struct's field may have.
pub trait FieldType {
    /// The kind of its column.
    const KIND: Kind;
    /// Whether rows may be null.
    const NULLABLE: bool;
}

/// A field that can be read out of a column which lives for `'a`.
pub trait ReadField<'a>: FieldType + Sized {
    /// The column, opened.
    type Reader;

    /// Opens a column.
    fn reader(column: &'a Column) -> Result<Self::Reader, Fault>;

    /// Reads one row. Panics where there is none.
    fn get(reader: &Self::Reader, row: usize) -> Self;
}

/// A field that can be written into a column.
pub trait WriteField: FieldType {
    /// The column, growing.
    type Writer;

    /// An empty column with room for `rows` rows.
    fn writer(rows: usize) -> Self::Writer;

    /// Adds a row.
    fn put(self, writer: &mut Self::Writer);

    /// The finished column.
    fn finish(writer: Self::Writer) -> Column;
}

/// The columns that a row is read from: by position, as the host sends what the hook asked for, or by name.
#[derive(Debug)]
pub struct ColumnSource<'a> {
    times: &'a [i64],
    columns: &'a [Column],
    named: Option<&'a [Field]>,
    next: usize,
}

impl<'a> ColumnSource<'a> {
    /// Columns in the order of the row's fields.
    pub fn in_order(times: &'a [i64], columns: &'a [Column]) -> Self {
        Self { times, columns, named: None, next: 0 }
    }

    /// Columns in an order of their own, found by their names.
    pub fn by_name(columns: &'a [Column], fields: &'a [Field]) -> Self {
        Self { times: &[], columns, named: Some(fields), next: 0 }
    }

    /// The event times; empty where the hook asked for none.
    pub fn times(&self) -> &'a [i64] {
        self.times
    }

    /// Opens the next field's column.
    pub fn field<T: ReadField<'a>>(&mut self, name: &str) -> Result<T::Reader, Fault> {
        let place = match self.named {
            Some(fields) => fields.iter().position(|field| field.name == name),
            None => Some(self.next),
        };
        self.next += 1;
        let column = place.and_then(|place| self.columns.get(place));
        let column = column.ok_or_else(|| Fault::new(format!("there is no column `{name}`")))?;
        T::reader(column).map_err(|fault| Fault::new(format!("column `{name}`: {}", fault.message)))
    }
}

/// Collects the columns that rows were written into.
#[derive(Debug, Default)]
pub struct ColumnSink {
    pub(crate) times: Option<Vec<i64>>,
    pub(crate) columns: Vec<Column>,
}

impl ColumnSink {
    /// Takes the rows' event times.
    pub fn times(&mut self, times: Vec<i64>) {
        self.times = Some(times);
    }

    /// Takes the next column.
    pub fn column(&mut self, column: Column) {
        self.columns.push(column);
    }

    /// The columns, and the event times, which are empty where the row has none.
    pub fn into_parts(self) -> (Vec<Column>, Vec<i64>) {
        (self.columns, self.times.unwrap_or_default())
    }
}

/// The field that a struct's field is.
#[doc(hidden)]
pub fn describe<T: FieldType>(name: &str, logical: Option<&str>) -> Field {
    Field { name: name.to_owned(), kind: T::KIND, nullable: T::NULLABLE, logical: logical.map(str::to_owned) }
}

/// Writes rows into columns.
pub(crate) fn to_columns<R: WriteRow>(rows: impl IntoIterator<Item = R>) -> ColumnSink {
    let rows = rows.into_iter();
    let mut writer = R::writer(rows.size_hint().0);
    rows.for_each(|row| row.write(&mut writer));
    let mut columns = ColumnSink::default();
    R::finish(writer, &mut columns);
    columns
}

/// Reads all rows.
pub(crate) fn from_columns<'a, R: ReadRow<'a>>(
    columns: &'a [Column],
    times: &'a [i64],
    rows: usize,
) -> Result<Vec<R>, Fault> {
    let reader = R::reader(&mut ColumnSource::in_order(times, columns))?;
    Ok((0..rows).map(|row| R::read(&reader, row)).collect())
}

/// No columns at all: for hooks that need no input, or make no output.
impl Row for () {
    const TIME: bool = false;

    fn fields() -> Vec<Field> {
        Vec::new()
    }
}

impl ReadRow<'_> for () {
    type Reader = ();

    fn reader(_columns: &mut ColumnSource<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn read((): &(), _row: usize) {}
}

impl WriteRow for () {
    type Writer = ();

    fn writer(_rows: usize) {}

    fn write(self, (): &mut ()) {}

    fn finish((): (), _columns: &mut ColumnSink) {}
}
