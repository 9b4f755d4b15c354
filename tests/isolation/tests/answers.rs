//! Row 11, and the guest that returns wrong offsets or counts: an answer is checked to the last byte, and bounded.

use arrow_array::{Array, BooleanArray, Float64Array};
use tidegate_isolation::guest;
use tidegate_isolation::host::{fields, guest_failure, load, mapper, options, rows, sandbox, values};
use tidegate_isolation::mapper::{IDENTITY, identity, process};
use tidegate_isolation::measure::resident_bytes;
use tidegate_types::hooks::{Call, HookRows};
use tidegate_types::{Column, Field, Kind};

/// What is done to the answer (at 2,048) and its columns before it is given, and what the host says of it. The input is 4
/// rows, `n` of ints and `name` of texts with nulls in rows 0 and 3, and its data are `row 1row 2`.
const WRONG: &[(&str, &str)] = &[
    ("(i32.store offset=8 (i32.const 2048) (i32.const 1))", "output has 1 columns, the plan declares 2"),
    ("(i32.store offset=8 (i32.const 2048) (i32.const 0))", "output has 0 columns, the plan declares 2"),
    ("(i32.store8 (local.get $columns) (i32.const 2))", "output, field `n`: it holds floats, the plan declares int"),
    ("(i32.store8 (local.get $columns) (i32.const 9))", ""),
    ("(i32.store offset=8 (local.get $columns) (i32.const 3))", "output, field `n`: it has 3 rows, 4 are due"),
    ("(i32.store offset=4 (local.get $columns) (i32.const 0x7ffffff0))", ""),
    (
        "(i32.store8 offset=20 (local.get $columns) (i32.const 1))
         (i32.store offset=24 (local.get $columns) (i32.const 4000)) (i32.store offset=28 (local.get $columns) (i32.const 4))",
        "output, field `n`: it has nulls and is not nullable",
    ),
    // The offsets of `name` are at `$i`, its data at `$j`.
    ("(i32.store (local.get $i) (i32.const 1))", "output, field `name`: `offsets` starts at 1, not 0"),
    ("(i32.store offset=8 (local.get $i) (i32.const 11))", "`offsets` falls from 11 to 10 after row 2"),
    ("(i32.store offset=16 (local.get $i) (i32.const 11))", "`offsets` ends at 11, what it divides has 10 entries"),
    ("(i32.store offset=16 (local.get $i) (i32.const -1))", "`offsets` ends at 4294967295, what it divides has 10 entries"),
    ("(i32.store offset=40 (local.get $columns) (i32.const 4))", "`offsets` has 4 entries for 4 rows, 5 are due"),
    ("(i32.store8 offset=2 (local.get $j) (i32.const 0xff))", "it is not UTF-8 at row 1 (byte 2 of its data)"),
    // A whole character, but of two rows.
    ("(i32.store16 offset=4 (local.get $j) (i32.const 0xa9c3))", "it is not UTF-8 at row 2 (byte 5 of its data)"),
    ("(i32.store8 offset=1 (i32.load offset=56 (local.get $columns)) (i32.const 2))", "`present` is 2 at row 1, neither 0 nor 1"),
    ("(i32.store offset=60 (local.get $columns) (i32.const 3))", "`present` has 3 entries, 4 are due"),
    // At 4,000 are zeros: a list of sources, times or rejections to point to.
    (
        "(i32.store8 offset=24 (i32.const 2048) (i32.const 1))
         (i32.store offset=28 (i32.const 2048) (i32.const 4000)) (i32.store offset=32 (i32.const 2048) (i32.const 4))
         (i32.store offset=4 (i32.const 4000) (i32.const 2))",
        "output has sources that fall from 2 to 0 after row 1",
    ),
    (
        "(i32.store8 offset=24 (i32.const 2048) (i32.const 1))
         (i32.store offset=28 (i32.const 2048) (i32.const 4000)) (i32.store offset=32 (i32.const 2048) (i32.const 4))
         (i32.store offset=12 (i32.const 4000) (i32.const 4))",
        "output has a row from input row 4, there are 4",
    ),
    (
        "(i32.store8 offset=12 (i32.const 2048) (i32.const 1))
         (i32.store offset=16 (i32.const 2048) (i32.const 4000)) (i32.store offset=20 (i32.const 2048) (i32.const 3))",
        "output has 3 times for 4 rows",
    ),
    (
        "(i32.store offset=36 (i32.const 2048) (i32.const 4000)) (i32.store offset=40 (i32.const 2048) (i32.const 1))
         (i32.store (i32.const 4000) (i32.const 4))",
        "`rejected` names row 4, there are 4",
    ),
    (
        "(i32.store offset=36 (i32.const 2048) (i32.const 4000)) (i32.store offset=40 (i32.const 2048) (i32.const 2))",
        "`rejected` names row 0 after row 0; rows ascend and come once",
    ),
    (
        "(i32.store offset=36 (i32.const 2048) (i32.const 4000)) (i32.store offset=40 (i32.const 2048) (i32.const 1))",
        "row 0 is both rejected and the source of an output row (without `sources` every row is)",
    ),
];

fn tampered(tamper: &str) -> Vec<u8> {
    let places = "(local.set $i (i32.load offset=36 (local.get $columns))) (local.set $j (i32.load offset=44 (local.get $columns)))";
    guest("with-mapper", &process(&format!("{IDENTITY} {places} {tamper}")))
}

#[test]
fn every_way_to_be_malformed_is_told_and_ends_the_instance() {
    let sandbox = sandbox();
    for (tamper, says) in WRONG {
        let mut hook = mapper(&sandbox, &tampered(tamper));
        let failure = guest_failure(hook.process(Call::USUAL, &rows(0, 4)), "malformed-result");
        assert!(failure.detail.starts_with("`mapper.process`: "), "{failure}");
        assert!(failure.detail.ends_with(says), "{tamper}\n{failure}\n{says}");
        assert!(failure.fuel_used > 0);
        assert_eq!(sandbox.memory_used(), 0);
        // The same twice, also in a fresh instance.
        assert_eq!(guest_failure(hook.process(Call::HALF, &rows(0, 4)), "malformed-result"), failure);
    }
}

#[test]
fn what_is_not_wrong_is_not_refused() {
    let sandbox = sandbox();
    let rejected = "
        (i32.store8 offset=24 (i32.const 2048) (i32.const 1))
        (i32.store offset=28 (i32.const 2048) (i32.const 4000)) (i32.store offset=32 (i32.const 2048) (i32.const 4))
        (i32.store offset=12 (i32.const 4000) (i32.const 3))
        (i32.store offset=36 (i32.const 2048) (i32.const 4096)) (i32.store offset=40 (i32.const 2048) (i32.const 1))
        (i32.store (i32.const 4096) (i32.const 2))";
    let mut hook = mapper(&sandbox, &tampered(rejected));
    let answer =
        hook.process(Call::USUAL, &rows(0, 4)).expect("three rows of row 0, one of row 3, row 2 rejected").value;
    assert_eq!(answer.sources, Some(vec![0, 0, 0, 3]));
    assert_eq!((answer.rejected.len(), answer.rejected[0].row), (1, 2));
}

#[test]
fn an_answer_cannot_be_blown_up_by_naming_the_same_bytes_again_and_again() {
    let sandbox = sandbox();
    // 3,000 rejections, each with the same message of 60,000 bytes: 180 MB out of 120 KB.
    let bomb = "
        (drop (memory.grow (i32.const 4)))
        (local.set $i (i32.const 131072))
        (loop $more
          (i32.store (local.get $i) (local.get $j))
          (i32.store offset=12 (local.get $i) (i32.const 4096))
          (i32.store offset=16 (local.get $i) (i32.const 60000))
          (local.set $j (i32.add (local.get $j) (i32.const 1)))
          (local.set $i (i32.add (local.get $i) (i32.const 20)))
          (br_if $more (i32.lt_u (local.get $j) (i32.const 3000))))
        (i32.store offset=36 (i32.const 2048) (i32.const 131072)) (i32.store offset=40 (i32.const 2048) (i32.const 3000))";
    let mut hook = mapper(&sandbox, &guest("with-mapper", &process(&format!("{IDENTITY} {bomb}"))));
    let before = resident_bytes();
    for _ in 0..10 {
        let failure = guest_failure(hook.process(Call::USUAL, &rows(0, 4)), "malformed-result");
        assert!(
            failure.detail.ends_with("the answer is larger than the 262144 bytes allowed for this call"),
            "{failure}"
        );
    }
    assert!(resident_bytes() < before + 16 * 1024 * 1024);
}

#[test]
fn one_nan_goes_in_and_comes_out() {
    let fields = [Field::typed("f", Kind::Float, true), Field::typed("b", Kind::Bool, false)];
    let odd = f64::from_bits(0xfff8_0000_0000_1234);
    let input = HookRows {
        len: 4,
        times: vec![0; 4],
        columns: vec![
            Column::Float(Float64Array::from(vec![Some(odd), None, Some(-0.0), Some(f64::INFINITY)])),
            Column::Bool(BooleanArray::from(vec![true, false, false, true])),
        ],
    };
    let sandbox = sandbox();
    let mut hook = load(&sandbox, &identity()).open_mapper("null", &fields, options()).expect("the hook opens");
    let answer = hook.process(Call::USUAL, &input).expect("the call succeeds").value;
    let Column::Float(floats) = &answer.columns[0] else { panic!("a float column was due") };
    assert_eq!(floats.value(0).to_bits(), f64::NAN.to_bits());
    assert!(floats.is_null(1) && floats.value(2).is_sign_negative() && floats.value(3) == f64::INFINITY);
    assert_eq!(values(&answer.columns[1..]), values(&input.columns[1..]));

    // And what the guest makes of it: it sees the one NaN, and whatever NaN it writes is the one NaN for the host.
    let check = "
        (if (i64.ne (i64.load (i32.load offset=4 (local.get $columns))) (i64.const 0x7ff8000000000000)) (then unreachable))
        (i64.store (i32.load offset=4 (local.get $columns)) (i64.const 0x7ff0000000000001))";
    let bytes = guest("with-mapper", &process(&format!("{IDENTITY} {check}")));
    let mut hook = load(&sandbox, &bytes).open_mapper("null", &fields, options()).expect("the hook opens");
    let answer = hook.process(Call::USUAL, &input).expect("the call succeeds").value;
    let Column::Float(floats) = &answer.columns[0] else { panic!("a float column was due") };
    assert_eq!(floats.value(0).to_bits(), f64::NAN.to_bits());
}

#[test]
fn slices_and_columns_of_nulls_cross_the_border() {
    let sandbox = sandbox();
    let mut hook = mapper(&sandbox, &identity());
    let whole = rows(0, 10);
    let [Column::Int(numbers), Column::Text(names)] = &whole.columns[..] else { panic!("ints and texts were due") };
    let slice = HookRows {
        len: 4,
        times: whole.times[3..7].to_vec(),
        columns: vec![Column::Int(numbers.slice(3, 4)), Column::Text(names.slice(3, 4))],
    };
    let answer = hook.process(Call::USUAL, &slice).expect("the call succeeds").value;
    assert_eq!(values(&answer.columns), values(&slice.columns));
    let nulls = HookRows { columns: vec![slice.columns[0].clone(), Column::Null(4)], ..slice };
    let answer = hook.process(Call::USUAL, &nulls).expect("the call succeeds").value;
    assert_eq!(values(&answer.columns), values(&nulls.columns));
    assert_eq!(hook.plan().output, fields());
}
