use proptest::collection::vec;
use proptest::prelude::*;
use tidegate_types::{Kind, Value};

use super::*;
use crate::json::arbitrary::{self, Json, text_of};

/// Records laid end to end with line feeds between them, as a source lays them.
fn laid_out<R: AsRef<[u8]>>(records: &[R]) -> (Vec<u8>, Vec<(u32, u32)>) {
    let mut data = Vec::new();
    let mut spans = Vec::new();
    for record in records {
        let start = u32::try_from(data.len()).unwrap();
        data.extend_from_slice(record.as_ref());
        spans.push((start, u32::try_from(data.len()).unwrap()));
        data.push(b'\n');
    }
    (data, spans)
}

fn decode<R: AsRef<[u8]>>(spec: DecodeSpec, records: &[R]) -> Decoded {
    let (data, spans) = laid_out(records);
    JsonDecoder::new(spec).decode(&data, &spans)
}

fn codes_of(decoded: &Decoded) -> Vec<(u32, &'static str)> {
    decoded.rejected.iter().map(|rejected| (rejected.record, rejected.code)).collect()
}

fn values_of(decoded: &Decoded, column: usize) -> Vec<Value> {
    let column = &decoded.columns[column];
    (0..column.len()).map(|row| column.value(row).to_value()).collect()
}

fn timed(fields: Vec<Field>) -> DecodeSpec {
    DecodeSpec { fields, time: Some("time".into()), ..DecodeSpec::default() }
}

#[test]
fn decodes_declared_fields_into_typed_columns() {
    let fields = vec![
        Field::typed("b", Kind::Bool, false),
        Field::typed("i", Kind::Int, false),
        Field::typed("f", Kind::Float, false),
        Field::typed("t", Kind::Text, true),
        Field::typed("y", Kind::Bytes, true),
    ];
    let records = [
        r#"{"b":true,"i":-7,"f":2,"t":"x\u0079","y":"AP8Q","time":5}"#,
        r#"{"time":"1970-01-01T00:00:01Z","y":null,"f":2.5,"i":0,"b":false}"#,
    ];
    let decoded = decode(timed(fields), &records);
    assert!(decoded.rejected.is_empty());
    assert_eq!(decoded.row_times, [5, 1_000]);
    let kinds: Vec<_> = decoded.columns.iter().map(tidegate_types::Column::kind).collect();
    assert_eq!(kinds, [Kind::Bool, Kind::Int, Kind::Float, Kind::Text, Kind::Bytes].map(Some));
    assert_eq!(values_of(&decoded, 0), [Value::Bool(true), Value::Bool(false)]);
    assert_eq!(values_of(&decoded, 1), [Value::Int(-7), Value::Int(0)]);
    assert_eq!(values_of(&decoded, 2), [Value::Float(2.0), Value::Float(2.5)]);
    assert_eq!(values_of(&decoded, 3), [Value::from("xy"), Value::Null]);
    assert_eq!(values_of(&decoded, 4), [Value::Bytes([0, 255, 16].into()), Value::Null]);
}

#[test]
fn a_malformed_record_costs_that_record_only() {
    let records: [&[u8]; 8] = [
        b"{\"time\":1}",
        b"{\"time\":2",
        b"[1]",
        b"\"x\"",
        b"",
        b"{\"time\":3}x",
        b"{\"time\":4,\"s\":\"\xff\"}",
        b"{\"time\":5}",
    ];
    let decoded = decode(timed(vec![]), &records);
    assert_eq!(decoded.rows, [0, 7]);
    assert_eq!(decoded.row_times, [1, 5]);
    assert_eq!(codes_of(&decoded), (1..=6).map(|record| (record, codes::MALFORMED)).collect::<Vec<_>>());
    assert_eq!(decoded.times, [Some(1), None, None, None, None, None, None, Some(5)]);
    assert_eq!(decoded.heard, [true, false, false, false, false, false, false, true]);
    assert_eq!(
        decoded.rejected[0].detail,
        "no JSON object: neither a comma nor the end of the array or object at byte 9"
    );
}

#[test]
fn each_kind_refuses_the_others() {
    let values = ["true", "1", "1.5", "\"x\"", "[1]", "{}", "null"];
    let fits = |kind| {
        let records: Vec<_> = values.iter().map(|value| format!("{{\"v\":{value}}}")).collect();
        let spec = DecodeSpec { fields: vec![Field::typed("v", kind, false)], ..DecodeSpec::default() };
        decode(spec, &records).rows
    };
    assert_eq!(fits(Kind::Bool), [0]);
    assert_eq!(fits(Kind::Int), [1]);
    assert_eq!(fits(Kind::Float), [1, 2]);
    assert_eq!(fits(Kind::Text), [3]);
    assert!(fits(Kind::Bytes).is_empty());
}

#[test]
fn null_and_absent_are_mismatches_unless_the_field_allows_them() {
    let records = ["{}", "{\"v\":null}"];
    let spec = |nullable| DecodeSpec { checks: vec![Field::typed("v", Kind::Int, nullable)], ..DecodeSpec::default() };
    assert_eq!(codes_of(&decode(spec(false), &records)), [(0, codes::TYPE_MISMATCH), (1, codes::TYPE_MISMATCH)]);
    let decoded = decode(spec(true), &records);
    assert_eq!(decoded.rows, [0, 1]);
    assert!(decoded.columns.is_empty());
    let detail = &decode(spec(false), &records).rejected[0].detail;
    assert_eq!(detail, "field `v` is absent; its type `int` does not allow that (`int?` would)");
}

#[test]
fn a_mismatched_record_still_tells_its_time_and_stands_before_a_bad_time() {
    let mut spec = timed(vec![Field::typed("v", Kind::Int, false)]);
    spec.arrival = Some("at".into());
    let records = [
        r#"{"v":"x","time":7,"at":1}"#,
        r#"{"v":"x","time":"soon","at":2}"#,
        r#"{"v":1,"at":"1970-01-01T00:00:00.003Z"}"#,
        r#"{"v":1,"time":1.0,"at":4.0}"#,
        r#"{"v":1,"time":"#,
    ];
    let decoded = decode(spec, &records);
    assert!(decoded.rows.is_empty());
    assert_eq!(decoded.columns[0].len(), 0);
    let codes: Vec<_> = decoded.rejected.iter().map(|rejected| rejected.code).collect();
    assert_eq!(codes, [codes::TYPE_MISMATCH, codes::TYPE_MISMATCH, codes::BAD_TIME, codes::BAD_TIME, codes::MALFORMED]);
    assert_eq!(decoded.times, [Some(7), None, None, None, None]);
    assert_eq!(decoded.heard, [true, false, false, false, false]);
    assert_eq!(decoded.arrivals, [Some(1), Some(2), Some(3), None, None]);
}

#[test]
fn without_a_time_field_every_object_is_heard() {
    let spec = DecodeSpec { fields: vec![Field::dynamic("v")], ..DecodeSpec::default() };
    let decoded = decode(spec, &["{\"v\":1}", "[]"]);
    assert_eq!(decoded.heard, [true, false]);
    assert!(decoded.times.is_empty() && decoded.row_times.is_empty() && decoded.claims.is_empty());
}

#[test]
fn reads_what_a_record_claims() {
    let mut spec = timed(vec![]);
    spec.punctuation = Some("mark".into());
    let records = [
        r#"{"time":1,"mark":true}"#,
        r#"{"time":1,"mark":false}"#,
        r#"{"time":1,"mark":9}"#,
        r#"{"time":1,"mark":"1970-01-01T00:00:09Z"}"#,
        r#"{"time":1,"mark":"later"}"#,
        r#"{"time":1,"mark":9.0}"#,
        r#"{"time":1}"#,
        r#"{"time":null,"mark":9}"#,
        r#"{"time":1,"mark":true"#,
    ];
    use Claim::{At, Nothing, OwnTime};
    let expected = [OwnTime, Nothing, At(9), At(9_000), Nothing, Nothing, Nothing, Nothing, Nothing];
    assert_eq!(decode(spec, &records).claims, expected);
}

#[test]
fn one_name_may_have_several_uses() {
    let fields =
        vec![Field::dynamic("time"), Field::typed("time", Kind::Text, false), Field::typed("raw", Kind::Bytes, false)];
    let mut spec = timed(fields);
    spec.raw = Some(2);
    let record = r#"{ "time": "1970-01-01T00:00:01Z" }"#;
    let decoded = decode(spec, &[record]);
    assert_eq!(decoded.row_times, [1_000]);
    assert_eq!(values_of(&decoded, 0), [Value::from("1970-01-01T00:00:01Z")]);
    assert_eq!(values_of(&decoded, 1), values_of(&decoded, 0));
    assert_eq!(values_of(&decoded, 2), [Value::Bytes(record.as_bytes().into())]);
}

#[test]
fn of_equal_keys_the_last_counts_even_where_it_is_worse() {
    let spec = timed(vec![Field::typed("v", Kind::Int, false)]);
    let decoded = decode(spec, &[r#"{"v":"x","time":1,"\u0076":2}"#, r#"{"v":2,"time":1,"v":"x"}"#]);
    assert_eq!(decoded.rows, [0]);
    assert_eq!(values_of(&decoded, 0), [Value::Int(2)]);
}

#[test]
fn a_record_that_is_too_long_is_refused_without_a_look() {
    let long = format!("{{\"time\":1,\"s\":\"{}\"}}", "x".repeat(MAX_RECORD_BYTES));
    let fits = format!("{{\"time\":1,\"s\":\"{}\"}}", "x".repeat(MAX_RECORD_BYTES - 17));
    assert_eq!(fits.len(), MAX_RECORD_BYTES);
    let decoded = decode(timed(vec![]), &[long, fits]);
    assert_eq!(codes_of(&decoded), [(0, codes::TOO_LARGE)]);
    assert_eq!(decoded.rows, [1]);
    assert_eq!(decoded.times, [None, Some(1)]);
}

#[test]
fn bytes_are_strict_base64() {
    let spec = DecodeSpec { fields: vec![Field::typed("v", Kind::Bytes, false)], ..DecodeSpec::default() };
    let values = ["", "AQ==", "AQ", "A===", "AR==", "-_8=", "A Q="];
    let records: Vec<_> = values.iter().map(|value| format!("{{\"v\":\"{value}\"}}")).collect();
    assert_eq!(decode(spec, &records).rows, [0, 1]);
}

/// What the pages say of one record, from its meaning: the dynamic value of each field of `a`, `b`, or nothing.
fn expected(members: &[(Vec<arbitrary::Char>, Json)], name: &str) -> Value {
    let last = members.iter().rev().find(|(key, _)| text_of(key) == name);
    last.map_or(Value::Null, |(_, json)| json.value())
}

fn written(members: &[(Vec<arbitrary::Char>, Json)], space: &str) -> String {
    let mut text = String::new();
    arbitrary::write_object(members, space, &mut text);
    text
}

fn dynamic_spec() -> DecodeSpec {
    let fields = vec![Field::dynamic("a"), Field::dynamic("b"), Field::dynamic("é"), Field::dynamic("")];
    DecodeSpec { fields, ..DecodeSpec::default() }
}

proptest! {
    #[test]
    fn decodes_what_was_meant(records in vec((arbitrary::members(), arbitrary::space()), 0..6)) {
        let texts: Vec<String> = records.iter().map(|(members, space)| written(members, space)).collect();
        let decoded = decode(dynamic_spec(), &texts);
        prop_assert!(decoded.rejected.is_empty());
        for (column, name) in ["a", "b", "é", ""].into_iter().enumerate() {
            let meant: Vec<Value> = records.iter().map(|(members, _)| expected(members, name)).collect();
            prop_assert_eq!(values_of(&decoded, column), meant);
        }
    }

    #[test]
    fn refuses_exactly_what_another_parser_refuses(
        records in vec((arbitrary::members(), arbitrary::space()).prop_flat_map(|(members, space)| {
            arbitrary::mutated(written(&members, &space))
        }), 0..6)
    ) {
        let decoded = decode(dynamic_spec(), &records);
        for (record, bytes) in (0..).zip(&records) {
            let object = serde_json::from_slice::<serde_json::Value>(bytes).is_ok_and(|value| value.is_object());
            prop_assert_eq!(decoded.rows.contains(&record), object, "{}", String::from_utf8_lossy(bytes));
        }
        prop_assert_eq!(decoded.rows.len() + decoded.rejected.len(), records.len());
    }

    #[test]
    fn batches_may_be_cut_anywhere(
        records in vec((arbitrary::members(), arbitrary::space()).prop_flat_map(|(members, space)| {
            arbitrary::mutated(written(&members, &space))
        }), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(records.len());
        let spec = || DecodeSpec {
            time: Some("time".into()),
            punctuation: Some("c".into()),
            arrival: Some("b".into()),
            ..dynamic_spec()
        };
        let whole = decode(spec(), &records);
        let mut decoder = JsonDecoder::new(spec());
        let mut parts = records.split_at(cut).0;
        let mut first = Decoded::default();
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); 4];
        for (part, before) in [(parts, 0), (records.split_at(cut).1, u32::try_from(cut).unwrap())] {
            parts = part;
            let (data, spans) = laid_out(parts);
            let decoded = decoder.decode(&data, &spans);
            first.rows.extend(decoded.rows.iter().map(|row| row + before));
            first.rejected.extend(decoded.rejected.iter().cloned().map(|mut rejected| {
                rejected.record += before;
                rejected
            }));
            for (column, values) in columns.iter_mut().enumerate() {
                values.extend(values_of(&decoded, column));
            }
            first.row_times.extend(decoded.row_times);
            first.times.extend(decoded.times);
            first.heard.extend(decoded.heard);
            first.claims.extend(decoded.claims);
            first.arrivals.extend(decoded.arrivals);
        }
        for (column, values) in columns.into_iter().enumerate() {
            prop_assert_eq!(values, values_of(&whole, column));
        }
        prop_assert_eq!(
            (first.rows, first.rejected, first.row_times, first.times, first.heard, first.claims, first.arrivals),
            (whole.rows, whole.rejected, whole.row_times, whole.times, whole.heard, whole.claims, whole.arrivals)
        );
    }
}
