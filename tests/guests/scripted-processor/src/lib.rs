//! A process hook that does what its config says, for the comparison of the engine with the reference interpreter.
//!
//! It keeps a value, a list and a map for each key, with or without an end of their life, sets both sorts of timers, and refuses
//! or forgets at the values that the config names. Invariant: the reference says the same in its own words
//! (tests/conformance/src/reference/process.rs); what is changed here is changed there.

use std::time::Duration;

use serde::Deserialize;
use tidegate_sdk::{Fault, Fired, Key, ListState, MapState, Processor, Reject, Row, Setup, Timer, ValueState, reject};

/// The script. Times and durations in milliseconds; what is left out is not done.
#[derive(Deserialize)]
pub struct Script {
    /// How long the value is kept.
    seen_ttl: Option<u64>,
    /// How long the list and the map are kept.
    ttl: Option<u64>,
    /// The event timer is set to so long after each row.
    event: Option<i64>,
    /// The processing timer is set to so long after each row.
    processing: Option<i64>,
    /// How often the event timer is set again after it fired, without a row between.
    #[serde(default)]
    again: i64,
    /// What is added to the time of output rows.
    #[serde(default)]
    shift: i64,
    /// Rows with this `v` are refused, after all was written.
    reject: Option<i64>,
    /// Rows with this `v` take all states and timers of their key away.
    forget: Option<i64>,
    /// Rows with this `v` have no output.
    silent: Option<i64>,
}

/// A row as it comes.
#[derive(Row)]
pub struct In {
    k: Option<String>,
    v: Option<i64>,
    #[row(time)]
    at: i64,
}

/// What comes of a row or a timer.
#[derive(Row)]
pub struct Out {
    k: Option<String>,
    what: String,
    rows: i64,
    total: i64,
    like: i64,
    distinct: i64,
    #[row(time)]
    at: i64,
}

/// The value: the key's name, its rows, and how often the event timer fired since the last of them.
#[derive(Row, Clone, Default)]
pub struct Seen {
    k: Option<String>,
    rows: i64,
    fired: i64,
}

/// A row of the list and the map.
#[derive(Row, Clone)]
pub struct Number {
    n: i64,
}

/// The hook.
pub struct Scripted {
    script: Script,
    seen: ValueState<Seen>,
    values: ListState<Number>,
    by_value: MapState<i64, Number>,
    event: Timer,
    processing: Timer,
}

impl Scripted {
    fn out(&self, key: &Key<'_>, what: &str, like: i64, time: i64) -> Out {
        let Seen { k, rows, .. } = self.seen.get(key).unwrap_or_default();
        Out {
            k,
            what: what.to_owned(),
            rows,
            total: self.values.get(key).iter().map(|value| value.n).sum(),
            like,
            distinct: i64::try_from(self.by_value.entries(key).len()).unwrap_or(i64::MAX),
            at: time + self.script.shift,
        }
    }
}

impl Processor for Scripted {
    type Config = Script;
    type In<'a> = In;
    type Out = Option<Out>;

    fn open(script: Script, setup: &mut Setup<'_>) -> Result<Self, Fault> {
        let seen = setup.ttl(Duration::from_millis(script.seen_ttl.unwrap_or(0))).value("seen");
        setup.ttl(Duration::from_millis(script.ttl.unwrap_or(0)));
        let (values, by_value) = (setup.list("values"), setup.map("by-value"));
        let (event, processing) = (setup.event_timer("event"), setup.processing_timer("processing"));
        Ok(Self { script, seen, values, by_value, event, processing })
    }

    fn process(&self, key: &Key<'_>, row: In) -> Result<Option<Out>, Reject> {
        let rows = self.seen.get(key).map_or(0, |seen| seen.rows) + 1;
        self.seen.put(key, Seen { k: row.k, rows, fired: 0 });
        let mut like = 0;
        if let Some(v) = row.v {
            like = self.by_value.get(key, &v).map_or(0, |number| number.n) + 1;
            self.values.append(key, Number { n: v });
            self.by_value.put(key, v, Number { n: like });
        }
        if let Some(delay) = self.script.event {
            self.event.set(key, row.at + delay);
        }
        if let Some(delay) = self.script.processing {
            self.processing.set(key, row.at + delay);
        }
        if row.v.is_some() && row.v == self.script.reject {
            return Err(reject!("refused", "as the script says"));
        }
        let out = self.out(key, "row", like, row.at);
        if row.v.is_some() && row.v == self.script.forget {
            self.seen.clear(key);
            self.values.clear(key);
            self.by_value.clear(key);
            self.event.clear(key);
            self.processing.clear(key);
        }
        let silent = row.v.is_some() && row.v == self.script.silent;
        Ok(Some(out).filter(|_| !silent))
    }

    fn on_timer(&self, key: &Key<'_>, fired: Fired) -> Option<Out> {
        if fired.timer == self.processing {
            return Some(self.out(key, "processing", 0, fired.time));
        }
        let out = self.out(key, "event", 0, fired.time);
        if let (Some(seen), Some(delay)) = (self.seen.get(key), self.script.event)
            && seen.fired < self.script.again
        {
            self.seen.put(key, Seen { fired: seen.fired + 1, ..seen });
            self.event.set(key, fired.time + delay);
        }
        Some(out)
    }
}

tidegate_sdk::export! {
    processor: Scripted,
}
