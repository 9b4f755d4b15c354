//! A stored format: what changes here cannot read the checkpoints of jobs that run.

use super::*;
use crate::window::custom::tests::script::Script;
use crate::window::{CustomWindows, WindowOperator};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `key = value` of each entry, and the head.
fn stored(mut bench: Bench, rows: &[Row], entries: &[ProgressEntry]) -> Vec<String> {
    bench.operator.keep_changes();
    bench.round(rows, entries);
    bench.operator.freeze();
    let mut changes = Changes::default();
    assert!(bench.operator.write(usize::MAX, &mut changes));
    let entry =
        |(key, value): (&[u8], Option<&[u8]>)| format!("{} = {}", hex(key), value.map_or_else(String::new, hex));
    let mut texts: Vec<String> = changes.iter().map(entry).collect();
    texts.sort();
    let mut head = Vec::new();
    bench.operator.head(&mut head);
    texts.push(hex(&head));
    texts
}

fn retracting(kind: WindowKind) -> WindowConfig {
    let accumulation = Accumulation::AccumulatingAndRetracting;
    WindowConfig { accumulation, early: Early::EveryElements(2), lateness: Millis(20), ..config(kind) }
}

#[test]
fn windows_identities_and_heads_are_stored_in_these_bytes() {
    let dedup = Some(Dedup { field: "v".into(), horizon: Millis(100) });
    let bench = Bench::new(WindowConfig { dedup, ..config(tumbling(10)) });
    assert_eq!(
        stored(bench, &[row(0, "k", 5, 7)], &[to(1, 6)]),
        [
            "010006800000000000000a8000000000000000406b0001 = 01000100010202010e",
            "050006406b0001308000000000000007 = 01d201",
            "010cffffffffffffffffff010002016e0373756d"
        ]
    );
    let bench = Bench::new(retracting(WindowKind::Session { gap: Millis(5), max_duration: None }));
    assert_eq!(
        stored(bench, &[row(0, "k", 5, 7), row(1, "k", 6, 8)], &[]),
        [
            "020006406b00018000000000000005800000000000000b = 0104000101010a16000000ffffffffffffffffff01ffffffffffffffffff01020304031e010402011e",
            "01ffffffffffffffffff01ffffffffffffffffff010002016e0373756d"
        ]
    );
}

#[test]
fn slices_and_fired_windows_are_stored_in_these_bytes() {
    let config = WindowConfig { shares_panes: true, early: Early::None, ..retracting(sliding(10, 5)) };
    assert_eq!(
        stored(Bench::new(config), &[row(0, "k", 5, 7)], &[to(1, 10)]),
        [
            "030006406b00018000000000000005 = 01010202010e",
            "040006406b0001800000000000000a = 01010101001401000014ffffffffffffffffff01020302030e",
            "0114ffffffffffffffffff010002016e0373756d"
        ]
    );
}

#[test]
fn refused_rows_are_stored_in_these_bytes() {
    let bench = Bench::new(WindowConfig { undoes: true, ..config(tumbling(10)) });
    let rows = [row(0, "k", 5, i64::MAX), row(1, "k", 5, 1)];
    assert_eq!(
        stored(bench, &rows, &[]),
        [
            "010006800000000000000a8000000000000000406b0001 = 0100010001021303ffffffffffffff7f00000000000000000200",
            "060006406b0001308000000000000005406b000130800000000000000110 = 010114",
            "01ffffffffffffffffff01ffffffffffffffffff010002016e0373756d"
        ]
    );
}

#[test]
fn records_of_several_windows_are_stored_in_these_bytes() {
    use tidegate_types::hooks::Decision;
    let script = Script::new(|_| Ok(vec![(0, 10), (0, 30)]));
    let script = script.deciding(|asked| Ok(if asked.window.1 == 10 { Decision::Fire } else { Decision::Wait }));
    let custom = CustomWindows::new(script.open(), "script".into(), 10);
    let config = config(WindowKind::Custom { hook: case::hook("script") });
    let schema = std::sync::Arc::clone(&config.schema);
    let bench = Bench::of(WindowOperator::new(config, Vec::new(), Some(custom)), schema);
    assert_eq!(
        stored(bench, &[row(0, "k", 5, 7)], &[]),
        [
            "010006800000000000000a8000000000000000406b0001 = 01000001010202010e",
            "010006800000000000001e8000000000000000406b0001 = 01080100000100010202010e",
            "0700060000000000000000 = 01",
            "01ffffffffffffffffff01ffffffffffffffffff010102016e0373756d"
        ]
    );
}
