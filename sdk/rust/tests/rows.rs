//! Row structs: every field type goes into columns and comes back; what does not fit says so.

use tidegate_sdk::columns::{Column, Value};
use tidegate_sdk::row::{ColumnSink, ColumnSource, ReadRow, WriteRow};
use tidegate_sdk::{Fault, Kind, Row};

#[derive(Row, Clone, Debug, PartialEq)]
struct Everything<'a> {
    flag: bool,
    whole: i64,
    real: f64,
    borrowed: &'a str,
    owned: String,
    raw: &'a [u8],
    blob: Vec<u8>,
    #[row(name = "type")]
    kind: Option<&'a str>,
    maybe: Option<i64>,
    perhaps: Option<bool>,
    buckets: [u32; 3],
    #[row(time)]
    at: i64,
}

fn write<R: WriteRow>(rows: Vec<R>) -> (Vec<Column>, Vec<i64>) {
    let mut writer = R::writer(rows.len());
    rows.into_iter().for_each(|row| row.write(&mut writer));
    let mut sink = ColumnSink::default();
    R::finish(writer, &mut sink);
    sink.into_parts()
}

fn read<'a, R: ReadRow<'a>>(columns: &'a [Column], times: &'a [i64], rows: usize) -> Result<Vec<R>, Fault> {
    let reader = R::reader(&mut ColumnSource::in_order(times, columns))?;
    Ok((0..rows).map(|row| R::read(&reader, row)).collect())
}

fn sample() -> Vec<Everything<'static>> {
    let full = Everything {
        flag: true,
        whole: i64::MIN,
        real: -0.5,
        borrowed: "naïve",
        owned: "日本".to_owned(),
        raw: &[0, 255],
        blob: vec![],
        kind: Some(""),
        maybe: Some(7),
        perhaps: Some(false),
        buckets: [1, 0, u32::MAX],
        at: -1,
    };
    let empty = Everything { flag: false, borrowed: "", kind: None, maybe: None, perhaps: None, at: 5, ..full.clone() };
    vec![full, empty]
}

#[test]
fn every_type_comes_back_as_it_went() {
    let (columns, times) = write(sample());
    assert_eq!(times, [-1, 5]);
    assert_eq!(read::<Everything<'_>>(&columns, &times, 2).unwrap(), sample());
}

#[test]
fn fields_have_the_names_kinds_and_nullability_of_the_struct() {
    let fields = Everything::fields();
    let listed: Vec<_> = fields.iter().map(|field| (field.name.as_str(), field.kind, field.nullable)).collect();
    assert_eq!(listed.len(), 11, "the time is no column");
    assert_eq!(listed[0], ("flag", Kind::Bool, false));
    assert_eq!(listed[7], ("type", Kind::Text, true));
    assert_eq!(listed[10], ("buckets", Kind::Bytes, false));
    const { assert!(Everything::TIME) };
}

#[test]
fn a_column_without_nulls_carries_no_presence() {
    let (columns, _) = write(vec![sample().remove(0)]);
    assert!(columns.iter().all(|column| column.present.is_none()));
}

#[test]
fn a_null_is_marked_and_reads_as_none() {
    let (columns, _) = write(sample());
    assert_eq!(columns[8].present.as_deref(), Some(&[1, 0][..]));
    assert_eq!(columns[8].value(1), Value::Null);
}

#[test]
fn a_column_of_another_kind_is_a_fault_that_names_it() {
    #[derive(Row, Debug)]
    struct Wanted {
        distance: i64,
    }
    let columns = [Column::from_texts(["far"])];
    let fault = read::<Wanted>(&columns, &[], 1).unwrap_err();
    assert_eq!(fault.message, "column `distance`: expected a column of Kind::Int, got one of Kind::Text");
    assert_eq!(read::<Wanted>(&[], &[], 0).unwrap_err().message, "there is no column `distance`");
}

#[test]
fn an_array_of_another_length_is_a_fault() {
    #[derive(Row, Debug)]
    struct Sketch {
        buckets: [f64; 2],
    }
    let columns = [Column::from_bytes([vec![0_u8; 16], vec![0_u8; 8]])];
    let fault = read::<Sketch>(&columns, &[], 2).unwrap_err();
    assert_eq!(fault.message, "column `buckets`: row 1 has 8 bytes where an array of 2 has 16");
}

#[test]
fn text_that_is_not_utf8_is_a_fault() {
    #[derive(Row, Debug)]
    struct Named {
        name: String,
    }
    let bytes = Column::from_bytes([[0xFF_u8]]);
    let tidegate_sdk::columns::Values::Bytes(bytes) = bytes.values else { panic!("a bytes column") };
    let columns = [Column::new(tidegate_sdk::columns::Values::Texts(bytes))];
    assert!(
        read::<Named>(&columns, &[], 1).unwrap_err().message.starts_with("column `name`: a text column: invalid utf-8")
    );
}
