//! The stored form of accumulators: golden bytes, and bytes that are none of ours.

use proptest::prelude::*;

use super::*;

/// Every slot of `before`, written and read into `fresh`. They hold the same bytes, and are stored as the same.
pub(super) fn stored_again(before: &Builtins, mut fresh: Builtins, slots: usize) -> Builtins {
    fresh.reserve(slots);
    for slot in 0..u32::try_from(slots).unwrap() {
        let mut written = Vec::new();
        before.write(slot, &mut written);
        let mut stored = Stored::new(&written);
        fresh.read(slot, &mut stored).expect("it was just written");
        assert_eq!(stored.end(), Ok(()));
        let mut again = Vec::new();
        fresh.write(slot, &mut again);
        assert_eq!(again.len(), written.len());
    }
    fresh
}

/// All functions, over `v`.
fn all() -> Vec<Aggregate> {
    let functions = [
        ("count", Function::Count),
        ("sum", Function::Sum),
        ("avg", Function::Avg),
        ("min", Function::Min),
        ("max", Function::Max),
        ("first", Function::First),
        ("last", Function::Last),
        ("distinct", Function::CountDistinct),
        ("about", Function::ApproxCountDistinct),
        ("top", Function::TopK { k: 2 }),
    ];
    functions.into_iter().map(|(name, wanted)| function(name, wanted, Some("v"))).collect()
}

/// Those of them that take rows back.
fn undoable() -> Vec<Aggregate> {
    all()
        .into_iter()
        .filter(|aggregate| ["count", "sum", "avg", "distinct", "top"].contains(&aggregate.name()))
        .collect()
}

fn holding(mut builtins: Builtins, values: &[Value]) -> Builtins {
    let records: Vec<Record> =
        (3..).zip(values).map(|(time, value)| Record { time, values: vec![value.clone()] }).collect();
    let batch = batch(&["v"], 9, &records);
    builtins.reserve(1);
    let prepared = builtins.prepare(&batch);
    let rows: Vec<u32> = (0..u32::try_from(records.len()).unwrap()).collect();
    builtins.add(&prepared, &batch, &Additions { rows: &rows, slots: &vec![0; rows.len()] });
    builtins
}

fn written(builtins: &Builtins) -> Vec<u8> {
    let mut out = Vec::new();
    builtins.write(0, &mut out);
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A stored format: what changes here cannot read the checkpoints of jobs that run.
#[test]
fn accumulators_are_stored_in_these_bytes() {
    let plain = |values: &[Value]| hex(&written(&holding(Builtins::new(&all(), &Schema::default()), values)));
    let undone = |values: &[Value]| hex(&written(&holding(Builtins::undoing(&undoable(), &Schema::default()), values)));
    let (int, float) = ([Value::Int(5)], [Value::Float(0.5)]);
    let expected = [
        "010001000200000100010001000100000000",
        "010202010a03010a0202030a02030a04030a060904030a060903010a000c0201070c0308010849d73b1b04010a0200",
        "01022c02000000000000000000000000000000000101010000000000000000000000000000000000000000000000002d0200\
         0000000000000000000000000000000101010000000000000000000000000000000000000000000000000209040000000000\
         00e03f0904000000000000e03f0b04000000000000e03f06090b04000000000000e03f06090c00010938bfe0000000000000\
         0c0201070c030801083b44b9120d00010938bfe000000000000002",
        "0102130305000000000000000000000000000000020014030500000000000000000000000000000002000204010a020004010a0200",
        "0102310300000000000000000000000000000000020102000000010100000000000000000000000000000000000000000000\
         0000320300000000000000000000000000000000020102000000010100000000000000000000000000000000000000000000\
         0000020d00010938bfe0000000000000020d00010938bfe000000000000002",
    ];
    assert_eq!([plain(&[]), plain(&int), plain(&float), undone(&int), undone(&float)], expected);
}

/// Sums of every form, tables of integers and of others, sketches that are a list, a set and registers.
fn kept() -> impl Strategy<Value = Vec<Value>> {
    let value = prop_oneof![
        any::<i64>().prop_map(Value::Int),
        (-3i64..3).prop_map(Value::Int),
        prop::sample::select(vec![0.5, -1e300, 1e-300, f64::INFINITY, f64::NAN]).prop_map(Value::Float),
        "[a-c]{0,3}".prop_map(|text| Value::Text(text.into())),
    ];
    let some = prop::collection::vec(value, 0..40);
    let many = Just((0..3_000).map(Value::Int).collect::<Vec<_>>());
    prop_oneof![9 => some, 1 => many]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn bytes_that_are_damaged_are_refused_or_read_but_never_panic(
        values in kept(),
        undoes in any::<bool>(),
        cut in 0.0..1.0f64,
        flips in prop::collection::vec((0.0..1.0f64, 1u8..), 0..4),
    ) {
        let fresh = || if undoes { Builtins::undoing(&undoable(), &Schema::default()) } else { Builtins::new(&all(), &Schema::default()) };
        let mut bytes = written(&holding(fresh(), &values));
        for (place, mask) in flips {
            let place = (place * bytes.len() as f64) as usize;
            bytes[place] ^= mask;
        }
        let read = |bytes: &[u8]| {
            let mut builtins = fresh();
            builtins.reserve(1);
            let mut stored = Stored::new(bytes);
            if builtins.read(0, &mut stored).is_ok() {
                let records = [Record { time: 0, values: vec![Value::Float(1.5)] }];
                let batch = batch(&["v"], 0, &records);
                let prepared = builtins.prepare(&batch);
                if prepared.mismatch(0).is_none() && !builtins.may_overflow(&prepared) {
                    builtins.finish(&[0]);
                }
            }
        };
        read(&bytes);
        read(&bytes[..(cut * bytes.len() as f64) as usize]);
    }
}

#[test]
fn what_was_cut_is_refused() {
    let bytes = written(&holding(Builtins::new(&all(), &Schema::default()), &[Value::Int(5), Value::Float(0.5)]));
    for length in 0..bytes.len() {
        let mut builtins = Builtins::new(&all(), &Schema::default());
        builtins.reserve(1);
        assert!(builtins.read(0, &mut Stored::new(&bytes[..length])).is_err(), "{length} bytes");
    }
}
