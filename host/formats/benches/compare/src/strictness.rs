//! What each library refuses, for records whose one wanted field `a` is fine and whose skipped field `b` is not.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use serde::Deserialize;
use tidegate_formats::{DecodeSpec, Decoder};

/// The wanted field; serde skips the others.
#[derive(Deserialize)]
struct Wanted {
    #[serde(rename = "a")]
    _a: i64,
}

/// Texts that are no record, by what is wrong with them.
const CASES: [(&str, &[u8]); 8] = [
    ("bytes that are no UTF-8, skipped", b"{\"a\":1,\"b\":\"\xff\"}"),
    ("a control character, skipped", b"{\"a\":1,\"b\":\"\x01\"}"),
    ("an unknown escape, skipped", br#"{"a":1,"b":"\q"}"#),
    ("half of a surrogate pair, skipped", br#"{"a":1,"b":"\ud800"}"#),
    ("a leading zero, skipped", br#"{"a":1,"b":01}"#),
    ("1e999, skipped", br#"{"a":1,"b":1e999}"#),
    ("a trailing comma", br#"{"a":1,}"#),
    ("text after the record", br#"{"a":1} x"#),
];

/// Whether a decoder takes a record.
type Accepts = fn(&[u8]) -> bool;

const DECODERS: [(&str, Accepts); 6] = [
    ("serde_json", |record| serde_json::from_slice::<Wanted>(record).is_ok()),
    ("sonic-rs", |record| sonic_rs::from_slice::<Wanted>(record).is_ok()),
    ("sonic-rs lazy", |record| sonic_rs::to_object_iter(record).all(|member| member.is_ok())),
    ("simd-json", |record| simd_json::to_tape(&mut record.to_vec()).is_ok()),
    ("arrow-json", arrow),
    ("own", |record| !decode(record).rows.is_empty()),
];

fn arrow(record: &[u8]) -> bool {
    let schema = Schema::new(vec![Field::new("a", DataType::Int64, true)]);
    let mut decoder = arrow_json::ReaderBuilder::new(Arc::new(schema)).build_decoder().expect("a decoder");
    decoder.decode(record).is_ok() && decoder.flush().is_ok_and(|rows| rows.is_some_and(|rows| rows.num_rows() == 1))
}

fn decode(record: &[u8]) -> tidegate_formats::Decoded {
    let fields = vec![tidegate_types::Field::dynamic("a")];
    let spans = [(0, record.len() as u32)];
    Decoder::json(DecodeSpec { fields, ..DecodeSpec::default() }).decode(record, &spans)
}

/// Prints which decoders take what they should refuse, and what they make of some numbers.
pub fn print() {
    for (case, record) in CASES {
        let lax: Vec<&str> = DECODERS.iter().filter(|(_, accepts)| accepts(record)).map(|(name, _)| *name).collect();
        println!("  {case:36} taken by: {}", if lax.is_empty() { "none".to_owned() } else { lax.join(", ") });
    }
    let zero = |record: &[u8]| decode(record).columns[0].value(0).to_value();
    println!(
        "  -0 and -0.0 in serde_json: {:?}",
        ["-0", "-0.0"].map(|text| serde_json::from_str::<serde_json::Value>(text))
    );
    println!("  -0 and -0.0 in sonic-rs: {:?}", ["-0", "-0.0"].map(|text| sonic_rs::from_str::<sonic_rs::Value>(text)));
    println!(
        "  -0 and -0.0 in simd-json: {:?}",
        ["-0", "-0.0"].map(|text| simd_json::to_owned_value(&mut text.as_bytes().to_vec()))
    );
    println!("  -0 and -0.0 in own: {:?}", [br#"{"a":-0}"#.as_slice(), br#"{"a":-0.0}"#].map(zero));
    let near = "8.988465674311585e307";
    println!(
        "  {near}, correctly rounded in serde_json: {}",
        serde_json::from_str::<f64>(near).ok() == near.parse().ok()
    );
}
