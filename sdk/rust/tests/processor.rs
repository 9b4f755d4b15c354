//! Process hooks through the harness: state of each shape, timers, refusals, and what the harness itself catches.

use std::cell::Cell;
use std::time::Duration;

use serde::Deserialize;
use tidegate_sdk::columns::{Clock, Shape, Value};
use tidegate_sdk::testing::{ProcessorHarness, Step};
use tidegate_sdk::{
    Fault, Fired, Key, Kind, ListState, MapState, Processor, Reject, Row, Setup, Timer, ValueState, reject,
};

#[derive(Row, Clone, Debug, PartialEq)]
struct Payment {
    amount: i64,
    #[row(time)]
    at: i64,
}

#[derive(Row, Clone, Debug, Default, PartialEq)]
struct Balance {
    sum: i64,
    marks: [u32; 2],
}

#[derive(Row, Clone, Debug, PartialEq)]
struct Told {
    what: String,
    sum: i64,
}

#[derive(Deserialize)]
struct Config {
    quiet_ms: i64,
}

/// The sum of each key, a word when it was quiet for long, and the last three amounts.
struct Sums {
    quiet_ms: i64,
    balance: ValueState<Balance>,
    recent: ListState<Kept>,
    by_amount: MapState<i64, Balance>,
    quiet: Timer,
}

// A stored row has no event time of its own, so what is kept of a payment is another struct.
#[derive(Row, Clone, Debug, PartialEq)]
struct Kept {
    amount: i64,
}

impl Processor for Sums {
    type Config = Config;
    type In<'a> = Payment;
    type Out = Vec<Told>;
    const KEYS: bool = true;
    const WATERMARKS: bool = true;

    fn open(config: Config, setup: &mut Setup<'_>) -> Result<Self, Fault> {
        assert_eq!((setup.key[0].name.as_str(), setup.input[0].name.as_str()), ("key", "amount"));
        Ok(Self {
            quiet_ms: config.quiet_ms,
            balance: setup.value("balance"),
            recent: setup.list("recent"),
            by_amount: setup.ttl(Duration::from_secs(1)).map("by-amount"),
            quiet: setup.event_timer("quiet"),
        })
    }

    fn process(&self, key: &Key<'_>, row: Payment) -> Result<Vec<Told>, Reject> {
        let Value::Text(name) = key.field(0) else { panic!("the key is a text") };
        let mut balance = self.balance.get(key).unwrap_or_default();
        balance.sum += row.amount;
        let seen = self.by_amount.get(key, &row.amount).map_or(0, |seen| seen.sum) + 1;
        self.balance.put(key, balance.clone());
        self.recent.append(key, Kept { amount: row.amount });
        self.by_amount.put(key, row.amount, Balance { sum: seen, ..Balance::default() });
        self.quiet.set(key, row.at + self.quiet_ms);
        if row.amount < 0 {
            return Err(reject!("negative", "{name} paid {}", row.amount));
        }
        let mut recent = self.recent.get(key);
        if recent.len() > 3 {
            recent.remove(0);
            self.recent.replace(key, recent.clone());
        }
        let last: i64 = recent.iter().map(|payment| payment.amount).sum();
        let what = format!("{name}: {last} of late, {seen} like it, {} in all", self.by_amount.entries(key).len());
        Ok(vec![Told { what, sum: balance.sum }])
    }

    fn on_timer(&self, key: &Key<'_>, fired: Fired) -> Vec<Told> {
        assert_eq!(fired.timer, self.quiet);
        let balance = self.balance.get(key).unwrap_or_default();
        self.balance.clear(key);
        vec![Told { what: format!("quiet at {}", fired.time), sum: balance.sum }]
    }
}

fn pay(key: &str, amount: i64, at: i64) -> Step<Payment> {
    Step::row(key, Payment { amount, at })
}

#[test]
fn a_plan_has_the_states_and_timers_that_open_sets_up() {
    let hook = ProcessorHarness::<Sums>::open(r#"{"quiet_ms": 100}"#).unwrap();
    let plan = hook.plan();
    let states: Vec<_> = plan.states.iter().map(|state| (state.name.as_str(), state.shape, state.ttl)).collect();
    assert_eq!(
        states,
        [
            ("balance", Shape::Value, None),
            ("recent", Shape::List, None),
            ("by-amount", Shape::Map(Kind::Int), Some(1000))
        ]
    );
    assert_eq!((plan.timers[0].name.as_str(), plan.timers[0].clock), ("quiet", Clock::Event));
    assert!(plan.keys && plan.watermarks && plan.reads.as_ref().unwrap().times);
}

#[test]
fn state_is_kept_by_key_from_row_to_row() {
    let hook = ProcessorHarness::<Sums>::open(r#"{"quiet_ms": 1000}"#).unwrap();
    let steps = [pay("a", 1, 10), pay("b", 5, 10), pay("a", 1, 20), pay("a", 2, 30), pay("a", 3, 40)];
    let result = hook.run(&steps).unwrap();
    let told: Vec<_> = result.rows.iter().map(|told| (told.what.as_str(), told.sum)).collect();
    assert_eq!(
        told,
        [
            ("a: 1 of late, 1 like it, 1 in all", 1),
            ("b: 5 of late, 1 like it, 1 in all", 5),
            ("a: 2 of late, 2 like it, 1 in all", 2),
            ("a: 4 of late, 1 like it, 2 in all", 4),
            ("a: 6 of late, 1 like it, 3 in all", 7),
        ]
    );
    assert_eq!(result.times, [10, 10, 20, 30, 40]);
}

#[test]
fn a_refused_row_has_written_nothing() {
    let hook = ProcessorHarness::<Sums>::open(r#"{"quiet_ms": 1000}"#).unwrap();
    let without = hook.run(&[pay("a", 1, 10), pay("a", 2, 30), Step::Watermark(2000)]).unwrap();
    let steps =
        [pay("a", -7, 5), pay("a", 1, 10), pay("a", -7, 20), pay("a", 2, 30), pay("a", -7, 900), Step::Watermark(2000)];
    let with = hook.run(&steps).unwrap();
    assert_eq!(with.rows, without.rows);
    let refused: Vec<_> = with.rejected.iter().map(|refused| (refused.row, refused.message.as_str())).collect();
    assert_eq!(refused, [(0, "a paid -7"), (2, "a paid -7"), (4, "a paid -7")]);
}

#[test]
fn timers_fire_in_order_of_time_and_a_later_time_replaces_an_earlier_one() {
    let hook = ProcessorHarness::<Sums>::open(r#"{"quiet_ms": 100}"#).unwrap();
    let steps = [pay("b", 1, 60), pay("a", 1, 10), pay("a", 1, 50), Step::Watermark(149), Step::Watermark(500)];
    let result = hook.run(&steps).unwrap();
    let fired: Vec<_> = result.rows.iter().map(|told| told.what.as_str()).skip(3).collect();
    assert_eq!(fired, ["quiet at 150", "quiet at 160"]);
    assert_eq!(result.times[3..], [150, 160]);
}

#[test]
fn a_timer_that_is_due_at_once_fires_before_the_next_row() {
    let hook = ProcessorHarness::<Sums>::open(r#"{"quiet_ms": 100}"#).unwrap();
    let steps = [Step::Watermark(500), pay("a", 1, 10), pay("a", 2, 20), pay("b", 3, 450)];
    let result = hook.run(&steps).unwrap();
    let sums: Vec<_> = result.rows.iter().map(|told| (told.what.starts_with("quiet"), told.sum)).collect();
    assert_eq!(sums, [(false, 1), (true, 1), (false, 2), (true, 2), (false, 3)]);
}

#[test]
fn what_has_a_time_to_live_is_gone_after_it() {
    let hook = ProcessorHarness::<Sums>::open(r#"{"quiet_ms": 5000}"#).unwrap();
    let kept = hook.run(&[pay("a", 1, 10), Step::Watermark(1009), pay("a", 1, 1009)]).unwrap();
    let gone = hook.run(&[pay("a", 1, 10), Step::Watermark(1010), pay("a", 1, 1010)]).unwrap();
    assert_eq!(kept.rows[1].what, "a: 2 of late, 2 like it, 1 in all");
    assert_eq!(gone.rows[1].what, "a: 2 of late, 1 like it, 1 in all");
}

/// Counts in a cell of its own: what no hook may do.
struct Forgetful {
    seen: Cell<i64>,
}

impl Processor for Forgetful {
    type Config = ();
    type In<'a> = Kept;
    type Out = Kept;

    fn open((): (), _setup: &mut Setup<'_>) -> Result<Self, Fault> {
        Ok(Self { seen: Cell::new(0) })
    }

    fn process(&self, _key: &Key<'_>, _row: Kept) -> Result<Kept, Reject> {
        self.seen.set(self.seen.get() + 1);
        Ok(Kept { amount: self.seen.get() })
    }
}

#[test]
#[should_panic(expected = "not repeatable")]
fn a_hook_that_remembers_without_state_is_caught() {
    let hook = ProcessorHarness::<Forgetful>::open("null").unwrap();
    let _ = hook.run(&[Step::row("a", Kept { amount: 1 }), Step::row("a", Kept { amount: 1 })]);
}

/// Sets its timer again whenever it fires, to the same time.
struct Endless {
    timer: Timer,
}

impl Processor for Endless {
    type Config = ();
    type In<'a> = Kept;
    type Out = Option<Kept>;

    fn open((): (), setup: &mut Setup<'_>) -> Result<Self, Fault> {
        Ok(Self { timer: setup.event_timer("again") })
    }

    fn process(&self, key: &Key<'_>, row: Kept) -> Result<Option<Kept>, Reject> {
        self.timer.set(key, row.amount);
        Ok(None)
    }

    fn on_timer(&self, key: &Key<'_>, fired: Fired) -> Option<Kept> {
        self.timer.set(key, fired.time);
        None
    }
}

#[test]
#[should_panic(expected = "without end")]
fn timers_that_set_themselves_without_end_are_caught() {
    let hook = ProcessorHarness::<Endless>::open("null").unwrap();
    let _ = hook.run(&[Step::row("a", Kept { amount: 1 }), Step::Watermark(10)]);
}

/// Keeps rows with an event time.
struct Timed;

impl Processor for Timed {
    type Config = ();
    type In<'a> = Kept;
    type Out = Kept;

    fn open((): (), setup: &mut Setup<'_>) -> Result<Self, Fault> {
        setup.list::<Payment>("payments");
        Ok(Self)
    }

    fn process(&self, _key: &Key<'_>, row: Kept) -> Result<Kept, Reject> {
        Ok(row)
    }
}

#[test]
fn what_is_kept_has_no_event_time() {
    let Err(fault) = ProcessorHarness::<Timed>::open("null") else { panic!("it opened") };
    assert!(fault.message.starts_with("state `payments`"), "{}", fault.message);
}

/// A processing timer whose rows have no time.
struct Timeless;

impl Processor for Timeless {
    type Config = ();
    type In<'a> = Kept;
    type Out = Kept;

    fn open((): (), setup: &mut Setup<'_>) -> Result<Self, Fault> {
        setup.processing_timer("soon");
        Ok(Self)
    }

    fn process(&self, _key: &Key<'_>, row: Kept) -> Result<Kept, Reject> {
        Ok(row)
    }
}

#[test]
fn rows_of_a_processing_timer_need_a_time() {
    let Err(fault) = ProcessorHarness::<Timeless>::open("null") else { panic!("it opened") };
    assert!(fault.message.contains("#[row(time)]"), "{}", fault.message);
}

tidegate_sdk::export! {
    processor: Sums,
}
