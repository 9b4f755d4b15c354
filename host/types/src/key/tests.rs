//! Golden vectors of the stored key format, and its order.

use super::*;

fn encoded(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    encode_value(&mut out, value.as_ref());
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// These are written into checkpoints. If this test fails, the format changed: raise `KEY_FORMAT_VERSION` and migrate.
#[test]
fn golden_vectors_hold_the_stored_format() {
    assert_eq!(KEY_FORMAT_VERSION, 1);
    let golden = [
        (Value::Null, "10"),
        (Value::Bool(true), "2001"),
        (Value::Int(-1), "307fffffffffffffff"),
        (Value::Int(42), "30800000000000002a"),
        (Value::Float(1.5), "38bff8000000000000"),
        (Value::Float(-0.0), "388000000000000000"),
        (Value::Float(f64::NAN), "38fff8000000000000"),
        (Value::from("c-7781"), "40632d373738310001"),
        (Value::from("a\0b"), "406100ff620001"),
        (Value::Bytes(vec![0, 255].into()), "4800ffff0001"),
        (Value::Json("{\"a\":1}".into()), "507b2261223a317d0001"),
    ];
    let hashes: Vec<String> = golden.iter().map(|(value, _)| format!("{:016x}", key_hash(&encoded(value)))).collect();
    for (value, bytes) in &golden {
        assert_eq!(hex(&encoded(value)), *bytes, "{value:?}");
    }
    assert_eq!(hashes.join(" "), GOLDEN_HASHES);
    assert_eq!(key_group(0x0123_4567_89ab_cdef, 1024), KeyGroup(0x1ef));
}

const GOLDEN_HASHES: &str = "ea3c7cc830b63826 cc0cb2634b1a4c5a cb2e9b650e762ddd 674358ad4347fb7f 683e52d063c5c956 \
    9dc2ad6d9398e74b 81fd31247cbfb06f 8466d2eb0af2cdab 5a4b97162682089f 3a6794efbec3295b cd5ae48d138f1d95";

#[test]
fn every_value_comes_back_and_the_order_is_kept() {
    let sorted = [
        Value::Null,
        Value::Bool(false),
        Value::Bool(true),
        Value::Int(i64::MIN),
        Value::Int(-1),
        Value::Int(0),
        Value::Int(i64::MAX),
        Value::Float(f64::NEG_INFINITY),
        Value::Float(-2.5),
        Value::Float(0.0),
        Value::Float(2.5),
        Value::Float(f64::NAN),
        Value::from(""),
        Value::from("\0"),
        Value::from("\0\0"),
        Value::from("\u{1}"),
        Value::from("a"),
        Value::from("a\0"),
        Value::from("aa"),
        Value::Bytes([255, 0, 255].into()),
        Value::Json("[1]".into()),
    ];
    for pair in sorted.windows(2) {
        assert!(encoded(&pair[0]) < encoded(&pair[1]), "{pair:?}");
    }
    let mut all: Vec<u8> = sorted.iter().flat_map(encoded).collect();
    let mut rest = all.as_slice();
    for value in &sorted {
        assert_eq!(decode_value(&mut rest).expect("an encoding"), *value);
    }
    assert!(rest.is_empty());
    all.truncate(all.len() - 1);
    let mut cut = &all[all.len() - 5..];
    assert!(decode_value(&mut cut).is_err());
}

#[test]
fn groups_spread_over_subtasks_in_contiguous_ranges() {
    for parallelism in [1, 2, 3, 7, 1024] {
        let owners: Vec<usize> = (0..1024).map(|group| subtask_of(KeyGroup(group), 1024, parallelism)).collect();
        assert!(owners.is_sorted());
        assert_eq!(owners.last().copied(), usize::try_from(parallelism).ok().map(|count| count - 1));
        let count = usize::try_from(parallelism).expect("few");
        for (group, owner) in (0_u32..).zip(&owners) {
            assert!(groups_of(*owner, 1024, count).contains(&group), "{group} of {parallelism}");
        }
        assert_eq!(groups_of(count - 1, 1024, count).end, 1024);
    }
}
