use tidegate_types::Field;

use super::*;
use crate::decoded::codes;

#[test]
fn gives_each_record_as_it_is() {
    let fields = vec![Field::dynamic("other"), Field::typed(RAW_FIELD, Kind::Bytes, false)];
    let decoded = RawDecoder::new(fields).decode(b"a\xff\nbc", &[(0, 2), (3, 5), (5, 5)]);
    assert_eq!(decoded.rows, [0, 1, 2]);
    assert_eq!(decoded.heard, [true; 3]);
    assert!(decoded.columns[0].is_null(2));
    let raw: Vec<_> = (0..3).map(|row| decoded.columns[1].value(row).to_value()).collect();
    assert_eq!(raw, [&b"a\xff"[..], b"bc", b""].map(|bytes| tidegate_types::Value::Bytes(bytes.into())));
    assert!(decoded.times.is_empty());
}

#[test]
fn refuses_a_record_that_is_too_long() {
    let data = vec![b'x'; MAX_RECORD_BYTES + 1];
    let end = u32::try_from(data.len()).unwrap();
    let decoded = RawDecoder::new(vec![Field::dynamic(RAW_FIELD)]).decode(&data, &[(0, end), (0, end - 1)]);
    assert_eq!(decoded.rows, [1]);
    assert_eq!(decoded.heard, [false, true]);
    assert_eq!((decoded.rejected[0].record, decoded.rejected[0].code), (0, codes::TOO_LARGE));
}
