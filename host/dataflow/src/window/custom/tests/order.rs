//! Where the hook decides, each pane belongs to the row that the hook was asked about.

use tidegate_pipeline::{ComponentRef, Hook, WindowKind};
use tidegate_types::hooks::Decision;
use tidegate_types::{Millis, ProgressEntry, Watermark};

use super::script::Script;
use crate::window::tests::bench::{Bench, Shown, config, row};
use crate::window::{CustomWindows, WindowConfig};

#[test]
fn the_rows_of_one_call_fire_each_at_its_own_position_and_clock() {
    let hook = Hook {
        uid: "tens".into(),
        component: ComponentRef { name: "script".into(), version: None },
        config: Default::default(),
    };
    let script = Script::tens().deciding(|_| Ok(Decision::Fire));
    let config = WindowConfig { lateness: Millis(20), ..config(WindowKind::Custom { hook }) };
    let mut bench = Bench::with(config, Some(CustomWindows::new(script.open(), "tens".into(), 100)));
    let at = |position, watermark, clock| ProgressEntry { position, watermark: Watermark::at(watermark), clock };
    let rows = [row(1, "a", 1, 1), row(3, "b", 2, 2), row(6, "a", 12, 4), row(9, "b", 3, 8)];
    bench.round(&rows, &[at(0, 0, 100), at(2, 0, 200), at(7, 10, 300)]);
    let fired = |shown: &Shown| (shown.text(), shown.info.fired_at);
    let expected = [
        ("1 a [0, 10) early#0 1 1", 100),
        ("3 b [0, 10) early#0 1 2", 200),
        ("6 a [10, 20) early#0 1 4", 200),
        ("7 a [0, 10) on time#1 1 1", 300),
        ("7 b [0, 10) on time#1 1 2", 300),
        ("9 b [0, 10) late#2 2 10", 300),
    ];
    assert_eq!(bench.panes.iter().map(fired).collect::<Vec<_>>(), expected.map(|(text, at)| (text.to_owned(), at)));
}
