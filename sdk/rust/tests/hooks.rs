//! Hooks through the harness: cardinality, rejections, config, windows, and what the harness itself catches.

use std::cell::Cell;

use serde::Deserialize;
use tidegate_sdk::columns::{Decision, Timing};
use tidegate_sdk::testing::{AggregatorHarness, Group, MapperHarness, PaneInput, WindowerHarness};
use tidegate_sdk::{Aggregator, Fault, Field, Mapper, Pane, Progress, Reject, Row, Window, Windower, reject};

#[derive(Row, Clone, Debug, PartialEq)]
struct Number {
    n: i64,
}

/// Gives each number `n` times; refuses negative ones.
struct Repeat;

impl Mapper for Repeat {
    type Config = ();
    type In<'a> = Number;
    type Out<'a> = Vec<Number>;

    fn open((): (), _input: &[Field]) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn map(&self, row: Number) -> Result<Vec<Number>, Reject> {
        let times = usize::try_from(row.n).map_err(|_| reject!("negative", "{} is negative", row.n))?;
        Ok(vec![row; times])
    }
}

fn numbers(numbers: &[i64]) -> Vec<Number> {
    numbers.iter().map(|&n| Number { n }).collect()
}

#[test]
fn rows_may_make_none_one_or_several_and_say_where_they_came_from() {
    let result = MapperHarness::<Repeat>::open("null").unwrap().map(&numbers(&[1, 0, 2, -3, 1])).unwrap();
    assert_eq!(result.rows(), numbers(&[1, 2, 2, 1]));
    assert_eq!(result.sources(), [0, 2, 2, 4]);
    let rejected = result.rejected();
    assert_eq!((rejected[0].row, rejected[0].code.as_str(), rejected.len()), (3, "negative", 1));
    assert_eq!(rejected[0].message, "-3 is negative");
}

/// Answers with what it saw before: what no hook may do.
struct Forgetful {
    seen: Cell<i64>,
}

impl Mapper for Forgetful {
    type Config = ();
    type In<'a> = Number;
    type Out<'a> = Number;

    fn open((): (), _input: &[Field]) -> Result<Self, Fault> {
        Ok(Self { seen: Cell::new(0) })
    }

    fn map(&self, _row: Number) -> Result<Number, Reject> {
        self.seen.set(self.seen.get() + 1);
        Ok(Number { n: self.seen.get() })
    }
}

#[test]
#[should_panic(expected = "not repeatable")]
fn the_harness_catches_an_answer_that_depends_on_the_batch() {
    let _ = MapperHarness::<Forgetful>::open("null").unwrap().map(&numbers(&[1, 1]));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    #[serde(default)]
    least: i64,
    most: Option<i64>,
}

struct Clamp(Limits);

impl Mapper for Clamp {
    type Config = Limits;
    type In<'a> = Number;
    type Out<'a> = Number;
    const KEEP: &'static [&'static str] = &["id"];

    fn open(config: Limits, _input: &[Field]) -> Result<Self, Fault> {
        if config.most.is_some_and(|most| most < config.least) {
            return Err(Fault::new("config.most: less than config.least"));
        }
        Ok(Self(config))
    }

    fn map(&self, row: Number) -> Result<Number, Reject> {
        Ok(Number { n: row.n.clamp(self.0.least, self.0.most.unwrap_or(i64::MAX)) })
    }
}

#[test]
fn a_config_may_be_absent_where_everything_has_a_default() {
    for absent in ["null", "{}", ""] {
        let result = MapperHarness::<Clamp>::open(absent).unwrap().map(&numbers(&[-5, 5])).unwrap();
        assert_eq!(result.rows(), numbers(&[0, 5]), "{absent:?}");
    }
}

#[test]
fn a_wrong_config_refuses_the_job_and_says_why() {
    let refused = |config| MapperHarness::<Clamp>::open(config).err().expect("refused").message;
    assert!(refused(r#"{"leest": 1}"#).starts_with("config: unknown field `leest`"), "{}", refused(r#"{"leest": 1}"#));
    assert!(refused(r#"{"least": "one"}"#).contains("expected i64"));
    assert_eq!(refused(r#"{"least": 3, "most": 1}"#), "config.most: less than config.least");
}

#[test]
fn a_plan_reads_the_fields_of_its_rows_and_keeps_the_named_ones() {
    let hook = MapperHarness::<Clamp>::open("null").unwrap();
    let reads = hook.plan().reads.as_ref().expect("a row-wise hook says what it reads");
    assert_eq!((reads.columns.len(), reads.columns[0].name.as_str(), reads.times), (1, "n", false));
    assert_eq!(hook.plan().keep, ["id"]);
}

/// Counts rows per hour of its window: needs the window, and no column at all.
struct Rate;

#[derive(Row, Clone)]
struct Count {
    rows: i64,
}

#[derive(Row, Debug, PartialEq)]
struct PerHour {
    per_hour: f64,
}

impl Aggregator for Rate {
    type Config = ();
    type In<'a> = ();
    type Accumulator = Count;
    type Out = PerHour;
    const WINDOWS: bool = true;

    fn open((): (), _key: &[Field], _input: &[Field]) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn init(&self) -> Count {
        Count { rows: 0 }
    }

    fn accumulate(&self, count: &mut Count, (): ()) -> Result<(), Reject> {
        count.rows += 1;
        Ok(())
    }

    fn merge(&self, left: &mut Count, right: &Count) {
        left.rows += right.rows;
    }

    fn finish(&self, count: &Count) -> PerHour {
        PerHour { per_hour: count.rows as f64 }
    }

    fn finish_in(&self, cell: tidegate_sdk::Cell<'_>, count: &Count) -> PerHour {
        let (start, end) = cell.window();
        PerHour { per_hour: count.rows as f64 * 3_600_000.0 / (end - start) as f64 }
    }
}

#[test]
fn an_aggregate_may_ask_for_its_window_and_for_no_column() {
    let hook = AggregatorHarness::<Rate>::open("null").unwrap();
    assert!(hook.plan().windows && hook.plan().reads.as_ref().expect("it says").times, "times give the number of rows");
    let group = Group { window: (0, 1_800_000), ..Group::default() };
    let (left, _) = hook.accumulate(&group, &hook.fresh(), &[(), ()]).unwrap();
    let (right, _) = hook.accumulate(&group, &hook.fresh(), &[()]).unwrap();
    let merged = hook.merge(&left, &right).unwrap();
    assert_eq!(hook.finish(&group, &merged).unwrap(), PerHour { per_hour: 6.0 });
}

/// Sums, refusing what is over ten.
struct Sum;

impl Aggregator for Sum {
    type Config = ();
    type In<'a> = Number;
    type Accumulator = Number;
    type Out = Number;

    fn open((): (), _key: &[Field], _input: &[Field]) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn init(&self) -> Number {
        Number { n: 0 }
    }

    fn accumulate(&self, sum: &mut Number, row: Number) -> Result<(), Reject> {
        sum.n += row.n;
        if row.n > 10 { Err(reject!("too-much", "{}", row.n)) } else { Ok(()) }
    }

    fn merge(&self, left: &mut Number, right: &Number) {
        left.n += right.n;
    }

    fn finish(&self, sum: &Number) -> Number {
        sum.clone()
    }
}

#[test]
fn a_row_that_an_aggregate_refuses_leaves_no_trace() {
    let hook = AggregatorHarness::<Sum>::open("null").unwrap();
    let (sum, rejected) = hook.aggregate(&Group::default(), &numbers(&[1, 50, 2])).unwrap();
    assert_eq!((sum.n, rejected.len(), rejected[0].row), (3, 1, 1));
}

#[derive(Row, Clone)]
struct At {
    #[row(time)]
    time: i64,
}

/// Two overlapping windows of ten, later first; fires when the watermark is five past; emits twice the value.
struct Overlap;

impl Windower for Overlap {
    type Config = ();
    type In<'a> = At;
    type Windows = [Window; 2];
    type Value<'a> = Number;
    type Out = [Number; 2];
    const DECIDES: bool = true;
    const EMITS: bool = true;

    fn open((): (), _key: &[Field], _input: &[Field], _value: &[Field]) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn assign(&self, row: At) -> [Window; 2] {
        let start = row.time.div_euclid(5) * 5;
        [Window { start, end: start + 10 }, Window { start: start - 5, end: start + 5 }]
    }

    fn decide(&self, progress: &Progress<'_>) -> Decision {
        if progress.watermark >= progress.window.end + 5 { Decision::FireAndPurge } else { Decision::Wait }
    }

    fn emit(&self, pane: &Pane<'_>, value: Number) -> [Number; 2] {
        [value, Number { n: i64::from(pane.index) }]
    }
}

#[test]
fn windows_of_a_row_come_in_order_of_their_end() {
    let hook = WindowerHarness::<Overlap>::open("null").unwrap();
    let windows = hook.assign(&[At { time: 7 }, At { time: -1 }]).unwrap();
    assert_eq!(windows[0], [Window { start: 0, end: 10 }, Window { start: 5, end: 15 }]);
    assert_eq!(windows[1], [Window { start: -10, end: 0 }, Window { start: -5, end: 5 }]);
}

#[test]
fn a_window_hook_decides_and_emits() {
    let hook = WindowerHarness::<Overlap>::open("null").unwrap();
    let window = Window { start: 0, end: 10 };
    assert_eq!(hook.decide(Vec::new(), window, 1, 14).unwrap(), Decision::Wait);
    assert_eq!(hook.decide(Vec::new(), window, 0, 15).unwrap(), Decision::FireAndPurge);
    let pane = PaneInput { window, timing: Timing::Late, index: 3 };
    let emitted = hook.emit(Vec::new(), &pane, Number { n: 8 }, 15).unwrap();
    assert_eq!(emitted.rows(), numbers(&[8, 3]));
}

#[test]
fn emit_refuses_a_pane_that_lacks_its_field() {
    let value = vec![Field::nullable("n", tidegate_sdk::Kind::Int)];
    let refused =
        WindowerHarness::<Overlap>::open_with("null", Vec::new(), At::fields(), value).err().expect("refused");
    assert!(refused.message.starts_with("emit needs a Kind::Int `n` in the panes' value"), "{}", refused.message);
}
