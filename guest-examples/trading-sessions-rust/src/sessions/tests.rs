//! Assignment, decisions and rows through the harness: no host and no WebAssembly.

use tidegate_sdk::Window;
use tidegate_sdk::columns::{Decision, Timing};
use tidegate_sdk::testing::{PaneInput, WindowerHarness};

use super::{Executed, Session, Sessions, Totals};

/// The config of `pipeline.yaml`, without the year's other holidays.
pub(crate) const CONFIG: &str = r#"{
    "utc_offsets": [{"from": "2026-03-08", "minutes": -240}, {"from": "2026-11-01", "minutes": -300}],
    "hours": {
        "monday": {"opens": "09:30", "closes": "16:00"},
        "tuesday": {"opens": "09:30", "closes": "16:00"},
        "wednesday": {"opens": "09:30", "closes": "16:00"},
        "thursday": {"opens": "09:30", "closes": "16:00"},
        "friday": {"opens": "09:30", "closes": "16:00"}
    },
    "holidays": ["2026-11-26"],
    "half_days": {"2026-11-27": "13:00"},
    "phases": [
        {"name": "pre-market", "from": "04:00", "to": "open", "late": "drop"},
        {"name": "regular", "from": "open", "to": "close", "early": "10m"},
        {"name": "closing", "from": "close-30m", "to": "close"},
        {"name": "extended", "from": "04:00", "to": "close+4h"}
    ]
}"#;

const MINUTE: i64 = 60_000;
/// 2026-11-25T00:00:00-05:00, a Wednesday.
const WEDNESDAY: i64 = 1_795_582_800_000;
/// Two days later: a half day.
const FRIDAY: i64 = WEDNESDAY + 2 * 1_440 * MINUTE;

fn hook() -> WindowerHarness<Sessions> {
    WindowerHarness::open(CONFIG).unwrap()
}

/// `h:mm` to `h:mm` of a day.
fn window(day: i64, from: (i64, i64), to: (i64, i64)) -> Window {
    let at = |(hour, minute): (i64, i64)| day + (60 * hour + minute) * MINUTE;
    Window { start: at(from), end: at(to) }
}

fn assigned(times: &[i64]) -> Vec<Vec<Window>> {
    let rows: Vec<Executed> = times.iter().map(|at| Executed { at: *at }).collect();
    hook().assign(&rows).unwrap()
}

#[test]
fn a_trade_is_in_every_phase_that_holds_it() {
    let extended = window(WEDNESDAY, (4, 0), (20, 0));
    let regular = window(WEDNESDAY, (9, 30), (16, 0));
    let cases = [
        ((3, 59), vec![]),
        ((4, 0), vec![window(WEDNESDAY, (4, 0), (9, 30)), extended]),
        ((9, 30), vec![regular, extended]),
        ((15, 30), vec![regular, window(WEDNESDAY, (15, 30), (16, 0)), extended]),
        ((16, 0), vec![extended]),
        ((20, 0), vec![]),
    ];
    let times: Vec<i64> = cases.iter().map(|((hour, minute), _)| WEDNESDAY + (60 * hour + minute) * MINUTE).collect();
    assert_eq!(assigned(&times), cases.map(|(_, windows)| windows));
}

#[test]
fn on_a_holiday_and_at_weekends_a_trade_is_in_no_window() {
    let noon = 720 * MINUTE;
    let [thursday, saturday] = [1, 3].map(|days| WEDNESDAY + days * 1_440 * MINUTE + noon);
    assert_eq!(assigned(&[thursday, saturday]), [vec![], vec![]]);
}

#[test]
fn on_a_half_day_the_phases_follow_the_early_close() {
    let at = FRIDAY + (12 * 60 + 45) * MINUTE;
    let expected =
        vec![window(FRIDAY, (9, 30), (13, 0)), window(FRIDAY, (12, 30), (13, 0)), window(FRIDAY, (4, 0), (17, 0))];
    assert_eq!(assigned(&[at]), [expected]);
}

#[test]
fn in_summer_the_same_hours_are_an_hour_earlier_in_utc() {
    // 2026-10-30 is a Friday; its midnight is at 04:00Z.
    let friday = WEDNESDAY - 26 * 1_440 * MINUTE - 60 * MINUTE;
    let noon = friday + 720 * MINUTE;
    assert_eq!(assigned(&[noon]), [vec![window(friday, (9, 30), (16, 0)), window(friday, (4, 0), (20, 0))]]);
}

#[test]
fn a_phase_is_shown_early_near_its_end_then_at_it_then_corrected() {
    let hook = hook();
    let regular = window(WEDNESDAY, (9, 30), (16, 0));
    let decide = |count, before_end: i64| hook.decide(Vec::new(), regular, count, regular.end - before_end).unwrap();
    assert_eq!(decide(1, 10 * MINUTE + 1), Decision::Wait);
    assert_eq!(decide(1, 10 * MINUTE), Decision::Fire);
    assert_eq!(decide(0, 0), Decision::Fire);
    assert_eq!(decide(1, -1), Decision::Fire);
}

#[test]
fn a_phase_whose_late_trades_are_dropped_is_final_at_its_end() {
    let hook = hook();
    let pre_market = window(WEDNESDAY, (4, 0), (9, 30));
    let decide = |count, watermark| hook.decide(Vec::new(), pre_market, count, watermark).unwrap();
    assert_eq!(decide(1, i64::MIN), Decision::Wait);
    assert_eq!(decide(1, pre_market.end - 1), Decision::Wait);
    assert_eq!(decide(0, pre_market.end), Decision::FireAndPurge);
    assert_eq!(decide(1, pre_market.end), Decision::Purge);
}

#[test]
fn a_row_names_session_and_day_and_has_the_weighted_price() {
    let pane = PaneInput { window: window(FRIDAY, (12, 30), (13, 0)), timing: Timing::OnTime, index: 0 };
    let totals = Totals { trades: 2, volume: Some(40), notional_cents: Some(5_001), last_cents: Some(130) };
    let emitted = hook().emit(Vec::new(), &pane, totals, pane.window.end).unwrap();
    let expected = Session {
        session: "closing".to_owned(),
        trading_day: "2026-11-27".to_owned(),
        half_day: true,
        trades: 2,
        volume: 40,
        vwap_cents: Some(125.025),
        last_cents: Some(130),
    };
    assert_eq!(emitted.rows(), [expected]);
}

fn refusal(from: &str, to: &str) -> String {
    let config = CONFIG.replacen(from, to, 1);
    assert_ne!(config, CONFIG, "`{from}` is not in the config");
    WindowerHarness::<Sessions>::open(&config).err().expect("refused").message
}

#[test]
fn a_config_that_makes_no_sense_refuses_the_job() {
    let cases = [
        (r#""monday""#, r#""moonday""#, "config.hours: `moonday` is no weekday"),
        (r#""closes": "16:00""#, r#""closes": "09:00""#, "config.hours.monday: it closes before it opens"),
        ("2026-11-27", "2026-11-26", "config.half_days.2026-11-26: the exchange is shut on that day"),
        ("13:00", "09:00", "config.half_days.2026-11-27: that is not between the opening and the usual close"),
        ("2026-11-01", "2026-02-01", "config.utc_offsets: name at least one day, each later than the one before"),
        (r#""name": "closing""#, r#""name": "regular""#, "config.phases.regular: the name stands twice"),
        (r#""close-30m""#, r#""open""#, "config.phases.closing: another phase has the same bounds"),
        (r#""close+4h""#, r#""close+9h""#, "config.phases.extended: on a monday it leaves the day"),
        (r#""to": "open""#, r#""to": "open-6h""#, "config.phases.pre-market: on a monday it ends before it begins"),
    ];
    for (from, to, message) in cases {
        assert_eq!(refusal(from, to), message);
    }
    assert!(refusal("2026-11-26", "26 November").contains("write it as 2026-11-27"));
    assert!(refusal("close-30m", "near the close").contains("is no bound"));
    assert!(refusal("\"late\"", "\"tardy\"").contains("unknown field `tardy`"));
}
