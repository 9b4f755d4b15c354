//! Rows that take earlier ones back: by hand, and random ones against a plain model that keeps all rows of a window.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidegate_pipeline::{Accumulation, Early, Late};
use tidegate_types::{Millis, ProgressEntry, Value};
use tidegate_windows::{WindowSpan, covering_windows, is_gone};

use super::bench::{Bench, Row, config, row, sliding, to, tumbling};
use crate::SideKind;
use crate::window::WindowConfig;

fn undoing(config: WindowConfig) -> WindowConfig {
    WindowConfig { undoes: true, ..config }
}

#[test]
fn a_row_is_taken_back_before_the_window_fires() {
    for shares_panes in [false, true] {
        let mut bench = Bench::new(undoing(WindowConfig { shares_panes, ..config(sliding(10, 5)) }));
        let first = row(0, "a", 1, 3);
        bench.round(&[first.clone(), first.back(1), row(1, "a", 1, 5)], &[to(2, 10)]);
        assert_eq!(bench.texts(), ["2 a [-5, 5) on time#0 1 5", "2 a [0, 10) on time#0 1 5"]);
        assert_eq!(bench.account.accepted, 3, "what takes a row back is a row too");
    }
}

#[test]
fn a_window_without_rows_left_stays_and_shows_a_count_of_0() {
    for shares_panes in [false, true] {
        let mut bench = Bench::new(undoing(WindowConfig { shares_panes, ..config(sliding(10, 5)) }));
        let only = row(0, "a", 7, 3);
        bench.round(&[only.clone(), only.back(1)], &[to(2, 15)]);
        assert_eq!(bench.texts(), ["2 a [0, 10) on time#0 0 null", "2 a [5, 15) on time#0 0 null"]);
    }
}

#[test]
fn what_comes_late_fires_by_itself_whether_it_adds_or_takes_back() {
    for shares_panes in [false, true] {
        let accumulation = Accumulation::AccumulatingAndRetracting;
        let config = WindowConfig { accumulation, lateness: Millis(10), shares_panes, ..config(sliding(10, 5)) };
        let mut bench = Bench::new(undoing(config));
        let first = row(0, "a", 1, 3);
        bench.round(&[first.clone(), first.back(3), row(3, "a", 1, 4)], &[to(2, 5)]);
        let expected = [
            "2 a [-5, 5) on time#0 1 3",
            "3 -a [-5, 5) on time#0 1 3",
            "3 a [-5, 5) late#1 0 null",
            "3 -a [-5, 5) late#1 0 null",
            "3 a [-5, 5) late#2 1 4",
        ];
        assert_eq!(bench.texts(), expected, "shared: {shares_panes}");
        assert_eq!(bench.account.retractions, 2);
    }
}

#[test]
fn a_row_taken_back_counts_towards_every_so_many_elements() {
    let mut bench = Bench::new(undoing(WindowConfig { early: Early::EveryElements(2), ..config(tumbling(10)) }));
    let first = row(0, "a", 1, 3);
    bench.round(&[first.clone(), first.back(1), row(2, "a", 2, 4)], &[]);
    assert_eq!(bench.texts(), ["1 a [0, 10) early#0 0 null"]);
}

#[test]
fn what_comes_too_late_takes_nothing_back() {
    let mut bench = Bench::new(undoing(config(tumbling(10))));
    let first = row(0, "a", 1, 3);
    bench.round(&[first.clone(), first.back(2)], &[to(1, 10)]);
    assert_eq!((bench.account.accepted, bench.account.too_late), (1, 1));
    assert_eq!(bench.sides[0].kind, SideKind::TooLate);
}

/// A discarding pane shows the difference to the panes before it.
#[test]
fn a_discarding_window_shows_differences() {
    for shares_panes in [false, true] {
        let accumulation = Accumulation::Discarding;
        let config = WindowConfig { accumulation, lateness: Millis(10), shares_panes, ..config(sliding(10, 5)) };
        let mut bench = Bench::new(undoing(config));
        let first = row(0, "a", 1, 3);
        bench.round(&[first.clone(), first.back(3), row(3, "a", 1, 4)], &[to(2, 5)]);
        let expected = ["2 a [-5, 5) on time#0 1 3", "3 a [-5, 5) late#1 -1 -3", "3 a [-5, 5) late#2 1 4"];
        assert_eq!(bench.texts(), expected, "shared: {shares_panes}");
    }
}

#[test]
fn a_row_that_was_rejected_is_not_taken_back() {
    for shares_panes in [false, true] {
        let config = WindowConfig { lateness: Millis(10), shares_panes, ..config(sliding(10, 5)) };
        let mut bench = Bench::new(undoing(config));
        let refused = row(1, "a", 1, i64::MAX);
        let rows = [row(0, "a", 1, 5), refused.clone(), refused.back(2), row(2, "a", 1, 7)];
        bench.round(&rows, &[to(3, 10)]);
        assert_eq!(bench.texts(), ["3 a [-5, 5) on time#0 2 12", "3 a [0, 10) on time#0 2 12"]);
        assert_eq!((bench.account.accepted, bench.account.rejected), (2, 2));
        let said: Vec<&str> = bench.sides.iter().map(|side| side.detail.as_str()).collect();
        let expected = [
            "the sum `sum` would leave the range of 64-bit integers",
            "the record that this one takes back was rejected",
        ];
        assert_eq!(said, expected);
    }
}

/// Of two equal rows one was rejected: only one is taken back.
#[test]
fn of_equal_rows_as_many_are_taken_back_as_were_accepted() {
    let mut bench = Bench::new(undoing(config(tumbling(10))));
    let row_of_max = |position| row(position, "a", 1, i64::MAX);
    let rows = [row_of_max(0), row_of_max(1), row_of_max(0).back(2), row_of_max(0).back(3)];
    bench.round(&rows, &[to(4, 10)]);
    assert_eq!(bench.texts(), ["4 a [0, 10) on time#0 0 null"]);
    assert_eq!((bench.account.accepted, bench.account.rejected), (2, 2));
}

/// One thing that happens.
#[derive(Debug, Clone)]
enum Happening {
    Row(&'static str, i64, Option<i64>),
    /// Takes one of the rows so far back that was not yet (which one, as a share of them).
    Back(f64),
    Advance(i64),
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let value = prop_oneof![
        6 => (-3i64..4).prop_map(Some),
        1 => prop::sample::select(vec![i64::MAX, i64::MIN, i64::MAX - 1, 1 << 62]).prop_map(Some),
        1 => Just(None),
    ];
    let one = prop_oneof![
        4 => (prop::sample::select(vec!["a", "b"]), -4i64..30, value).prop_map(|(key, time, value)| Happening::Row(key, time, value)),
        4 => (0.0..1.0f64).prop_map(Happening::Back),
        2 => (0i64..12).prop_map(Happening::Advance),
    ];
    prop::collection::vec(one, 1..40)
}

/// A rounds' rows and changes, one position each.
fn round_of(happenings: &[Happening]) -> (Vec<Row>, Vec<ProgressEntry>) {
    let (mut rows, mut entries, mut open): (Vec<Row>, Vec<ProgressEntry>, Vec<Row>) = Default::default();
    let mut watermark = -10;
    for (position, happening) in (0..).zip(happenings) {
        match happening {
            Happening::Row(key, time, value) => {
                let row = row(position, key, *time, value.map_or(Value::Null, Value::Int));
                open.push(row.clone());
                rows.push(row);
            }
            Happening::Back(which) => {
                let place = (open.len() as f64 * which) as usize;
                if place < open.len() {
                    rows.push(open.swap_remove(place).back(position));
                }
            }
            Happening::Advance(by) => {
                watermark += by;
                entries.push(to(position, watermark));
            }
        }
    }
    (rows, entries)
}

/// A window that keeps its rows: values and whether they are taken back.
#[derive(Debug, Default)]
struct Kept {
    rows: Vec<(Option<i64>, bool)>,
    /// Of these, those that no pane has shown.
    fresh: usize,
    index: u64,
    standing: Option<String>,
}

/// The operator by the book.
struct Model {
    config: WindowConfig,
    size: i64,
    slide: i64,
    watermark: tidegate_types::Watermark,
    /// By key, end and start.
    windows: BTreeMap<(&'static str, i64, i64), Kept>,
    refused: Vec<(&'static str, i64, Value)>,
    shown: BTreeMap<&'static str, Vec<String>>,
    counts: [u64; 3],
}

impl Model {
    fn new(config: WindowConfig, size: i64, slide: i64) -> Self {
        let (windows, refused, shown) = Default::default();
        Self { config, size, slide, watermark: tidegate_types::Watermark::MIN, windows, refused, shown, counts: [0; 3] }
    }

    /// What a window's next pane is of.
    fn contents<'a>(&self, window: &'a Kept) -> &'a [(Option<i64>, bool)] {
        let discards = self.config.accumulation == Accumulation::Discarding;
        &window.rows[if discards { window.rows.len() - window.fresh } else { 0 }..]
    }

    fn row(&mut self, row: &Row) {
        let all: Vec<WindowSpan> =
            covering_windows(row.time, Millis(self.size), Millis(self.slide), Millis(0)).collect();
        let kept: Vec<&WindowSpan> =
            all.iter().filter(|span| !is_gone(span.end, self.config.lateness, self.watermark)).collect();
        if kept.is_empty() {
            self.counts[1] += 1;
            return;
        }
        let value = if let Value::Int(value) = row.value { Some(value) } else { None };
        let same = (row.key, row.time, row.value.clone());
        let refused = row.undone.then(|| self.refused.iter().position(|other| *other == same)).flatten();
        let empty = Kept::default();
        let overflows = |span: &&WindowSpan| {
            let window = self.windows.get(&(row.key, span.end, span.start)).unwrap_or(&empty);
            let more = [(value, row.undone)];
            let total: i128 = self.contents(window).iter().chain(&more).map(signed).sum();
            i64::try_from(total).is_err()
        };
        if let Some(place) = refused {
            self.refused.remove(place);
            self.counts[2] += 1;
            return;
        }
        if kept.iter().any(overflows) {
            self.counts[2] += 1;
            if !row.undone {
                self.refused.push(same);
            }
            return;
        }
        self.counts[0] += 1;
        for span in kept {
            let window = self.windows.entry((row.key, span.end, span.start)).or_default();
            window.rows.push((value, row.undone));
            window.fresh += 1;
            if self.watermark.reached(span.end) && self.config.late == Late::EveryElement {
                self.pane((row.key, span.end, span.start), row.position, "late");
            }
        }
    }

    fn advance(&mut self, entry: &ProgressEntry) {
        let before = std::mem::replace(&mut self.watermark, entry.watermark);
        for of in self.windows.keys().copied().collect::<Vec<_>>() {
            if entry.watermark.reached(of.1) && !before.reached(of.1) {
                self.pane(of, entry.position, "on time");
            }
        }
        let (lateness, watermark) = (self.config.lateness, self.watermark);
        self.windows.retain(|of, _| !is_gone(of.1, lateness, watermark));
    }

    fn pane(&mut self, of: (&'static str, i64, i64), position: u32, timing: &str) {
        let window = &self.windows[&of];
        let rows = self.contents(window);
        let count: i64 = rows.iter().map(|(_, undone)| if *undone { -1 } else { 1 }).sum();
        let numbers: i64 =
            rows.iter().filter(|(value, _)| value.is_some()).map(|(_, undone)| if *undone { -1 } else { 1 }).sum();
        let sum: i128 = rows.iter().map(signed).sum();
        let sum = if numbers == 0 && sum == 0 { "null".to_owned() } else { sum.to_string() };
        let (key, end, start) = of;
        let text = format!("{key} [{start}, {end}) {timing}#{} {count} {sum}", window.index);
        let shown = self.shown.entry(key).or_default();
        let window = self.windows.get_mut(&of).expect("it fires");
        if let Some(standing) = window.standing.take() {
            shown.push(format!("{position} -{standing}"));
        }
        shown.push(format!("{position} {text}"));
        if self.config.accumulation == Accumulation::AccumulatingAndRetracting {
            window.standing = Some(text);
        }
        window.index += 1;
        window.fresh = 0;
    }
}

fn signed((value, undone): &(Option<i64>, bool)) -> i128 {
    let value = i128::from(value.unwrap_or(0));
    if *undone { -value } else { value }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn panes_show_what_is_left_however_windows_are_kept(
        happenings in happenings(),
        (size, slide) in prop::sample::select(vec![(10i64, 10i64), (10, 5), (10, 4), (12, 1)]),
        lateness in prop::sample::select(vec![0i64, 3, 15]),
        late in prop::sample::select(vec![Late::EveryElement, Late::None]),
        accumulation in prop::sample::select(vec![
            Accumulation::Accumulating,
            Accumulation::Discarding,
            Accumulation::AccumulatingAndRetracting,
        ]),
        cut in 0.0..1.0f64,
    ) {
        let config = undoing(WindowConfig { lateness: Millis(lateness), late, accumulation, ..config(sliding(size, slide)) });
        let (rows, entries) = round_of(&happenings);
        let mut model = Model::new(config.clone(), size, slide);
        for position in (0..).take(happenings.len()) {
            rows.iter().filter(|row| row.position == position).for_each(|row| model.row(row));
            entries.iter().filter(|entry| entry.position == position).for_each(|entry| model.advance(entry));
        }
        // As the pipeline's check has it: such sums keep windows apart.
        let apart = accumulation == Accumulation::Discarding && late == Late::None && lateness > 0 || slide == size;
        for shares_panes in [false, true] {
            let mut bench = Bench::new(WindowConfig { shares_panes: shares_panes && !apart, ..config.clone() });
            // In one round, or in two: positions go on, which an operator does not mind.
            let half = (happenings.len() as f64 * cut) as u32;
            let parts = |first| {
                let rows: Vec<Row> = rows.iter().filter(|row| (row.position < half) == first).cloned().collect();
                let entries: Vec<_> = entries.iter().filter(|entry| (entry.position < half) == first).copied().collect();
                (rows, entries)
            };
            for (rows, entries) in [parts(true), parts(false)] {
                bench.round(&rows, &entries);
            }
            let account = &bench.account;
            prop_assert_eq!([account.accepted, account.too_late, account.rejected], model.counts);
            let mut shown: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for pane in &bench.panes {
                shown.entry(if pane.key == "a" { "a" } else { "b" }).or_default().push(pane.text());
            }
            prop_assert_eq!(&shown, &model.shown, "shared: {}", shares_panes);
        }
    }
}
