//! The window hook: which phases of the trading day a trade is in, when a phase is shown, and what is shown.
//!
//! Everything follows from the config and the arguments alone. In particular the hook counts no trades: the host may
//! replace its instance at any time.

use tidegate_sdk::columns::Decision;
use tidegate_sdk::{Fault, Field, Pane, Progress, Row, Window, Windower};

use crate::calendar::{Calendar, TradingDay};
use crate::config::{Config, Late, Phase};

const DAY_MINUTES: i64 = 24 * 60;
const MINUTE: i64 = 60_000;

/// What the hook needs of a trade.
#[derive(Row, Clone, Debug)]
pub struct Executed {
    /// When it was executed, in milliseconds since the Unix epoch.
    #[row(time)]
    pub at: i64,
}

/// What the aggregates make of a phase's trades.
#[derive(Row, Clone, Debug)]
pub struct Totals {
    /// How many.
    pub trades: i64,
    /// Shares.
    pub volume: Option<i64>,
    /// Price times shares.
    pub notional_cents: Option<i64>,
    /// The price of the last trade.
    pub last_cents: Option<i64>,
}

/// A row of the result.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Session {
    /// The phase.
    pub session: String,
    /// The day, at the exchange.
    pub trading_day: String,
    /// Whether the exchange closes early on it.
    pub half_day: bool,
    /// How many trades.
    pub trades: i64,
    /// Shares.
    pub volume: i64,
    /// The volume-weighted average price.
    pub vwap_cents: Option<f64>,
    /// The price of the last trade.
    pub last_cents: Option<i64>,
}

/// The window hook.
pub struct Sessions {
    calendar: Calendar,
    phases: Vec<Phase>,
}

impl Windower for Sessions {
    type Config = Config;
    type In<'a> = Executed;
    type Windows = Vec<Window>;
    type Value<'a> = Totals;
    type Out = Session;
    const DECIDES: bool = true;
    const EMITS: bool = true;

    fn open(config: Config, _key: &[Field], _input: &[Field], _value: &[Field]) -> Result<Self, Fault> {
        let calendar = Calendar::new(&config)?;
        if config.phases.is_empty() {
            return Err(Fault::new("config.phases: name at least one"));
        }
        for (place, phase) in config.phases.iter().enumerate() {
            check(phase, &config.phases[..place], &calendar)?;
        }
        Ok(Self { calendar, phases: config.phases })
    }

    fn assign(&self, trade: Executed) -> Vec<Window> {
        let Some(day) = self.calendar.trading_day(trade.at) else { return Vec::new() };
        let holds = |window: &Window| window.start <= trade.at && trade.at < window.end;
        self.phases.iter().filter_map(|phase| day.window(phase)).filter(holds).collect()
    }

    fn decide(&self, progress: &Progress<'_>) -> Decision {
        let (phase, _) = self.phase(progress.window);
        let ended = progress.watermark >= progress.window.end;
        match (progress.count, phase.late) {
            (0, Late::Correct) => Decision::Fire,
            (0, Late::Drop) => Decision::FireAndPurge,
            (_, Late::Correct) if ended => Decision::Fire,
            (_, Late::Drop) if ended => Decision::Purge,
            _ => match phase.early {
                Some(early) if progress.watermark >= progress.window.end - early.0 * MINUTE => Decision::Fire,
                _ => Decision::Wait,
            },
        }
    }

    fn emit(&self, pane: &Pane<'_>, totals: Totals) -> Session {
        let (phase, day) = self.phase(pane.window);
        let volume = totals.volume.unwrap_or(0);
        let vwap = |notional: i64| (volume > 0).then(|| notional as f64 / volume as f64);
        Session {
            session: phase.name.clone(),
            trading_day: day.date.to_string(),
            half_day: day.closes_early,
            trades: totals.trades,
            volume,
            vwap_cents: totals.notional_cents.and_then(vwap),
            last_cents: totals.last_cents,
        }
    }
}

impl Sessions {
    /// The phase that a window is, and its day. Of phases with one window, the first.
    fn phase(&self, window: Window) -> (&Phase, TradingDay) {
        let day = self.calendar.trading_day(window.start);
        let found = day.and_then(|day| {
            let phase = self.phases.iter().find(|phase| day.window(phase) == Some(window))?;
            Some((phase, day))
        });
        found.expect("this hook assigned the window, by the same config")
    }
}

/// A phase is called as no other before it, begins and ends on its own day, and exists on every weekday with trading.
fn check(phase: &Phase, before: &[Phase], calendar: &Calendar) -> Result<(), Fault> {
    let path = format!("config.phases.{}", phase.name);
    if before.iter().any(|other| other.name == phase.name) {
        return Err(Fault::new(format!("{path}: the name stands twice")));
    }
    if before.iter().any(|other| (other.from, other.to) == (phase.from, phase.to)) {
        return Err(Fault::new(format!("{path}: another phase has the same bounds")));
    }
    for (weekday, hours) in calendar.week() {
        let (from, to) = (phase.from.on(hours), phase.to.on(hours));
        if from >= to {
            return Err(Fault::new(format!("{path}: on a {weekday} it ends before it begins")));
        }
        if from < 0 || to > DAY_MINUTES {
            return Err(Fault::new(format!("{path}: on a {weekday} it leaves the day")));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
