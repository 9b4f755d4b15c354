//! A scripted processor for tests: what it does on a row is in the row (`op`, `v`). The script is written over a view of one
//! key, so that the hook and the naive model run the same script on two engines.

use tidegate_types::hooks::{ProcessPlan, Reads, StateShape, StateSpec, TimerClock, TimerSpec};
use tidegate_types::{EventTime, Field, Kind, Millis};

pub(super) const REMIND: u32 = 0;
pub(super) const SECOND: u32 = 1;
pub(super) const WALL: u32 = 2;

/// What the script sees of one key.
pub(super) trait View {
    fn total(&mut self) -> Option<i64>;
    fn put_total(&mut self, total: i64);
    fn list(&mut self) -> Vec<(i64, Option<String>)>;
    fn append(&mut self, n: i64, text: Option<&str>);
    fn tag(&mut self, tag: &str) -> Option<i64>;
    fn put_tag(&mut self, tag: &str, n: i64);
    fn remove_tag(&mut self, tag: &str);
    fn tags(&mut self) -> Vec<(String, i64)>;
    fn clear(&mut self, state: u32);
    fn set(&mut self, timer: u32, time: EventTime);
    fn unset(&mut self, timer: u32);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Op {
    Sum,
    Append,
    Tag,
    Untag,
    Remind,
    Second,
    Wall,
    Unset,
    Clear,
    /// Writes first, and rejects then if three divides the total.
    Reject,
    /// Writes first, and fails then if the total is odd.
    FailIfOdd,
    /// Three rows, the second with a time of its own.
    Expand,
    Silent,
    /// Sets and takes back.
    Waver,
    /// Emits at a time that no row may have.
    BadTime,
}

impl Op {
    pub(super) const ALL: [Self; 15] = [
        Self::Sum,
        Self::Append,
        Self::Tag,
        Self::Untag,
        Self::Remind,
        Self::Second,
        Self::Wall,
        Self::Unset,
        Self::Clear,
        Self::Reject,
        Self::FailIfOdd,
        Self::Expand,
        Self::Silent,
        Self::Waver,
        Self::BadTime,
    ];

    pub(super) fn number(self) -> i64 {
        let place = Self::ALL.iter().position(|op| *op == self).expect("all are listed");
        i64::try_from(place).expect("few")
    }

    pub(super) fn of(number: i64) -> Self {
        Self::ALL[usize::try_from(number).expect("a number of an op")]
    }
}

/// What the script decided: rows with their own times, or none of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Emits(Vec<(String, Option<EventTime>)>),
    Rejects,
    Fails,
}

fn describe(view: &mut dyn View, what: &str) -> String {
    format!("{what} {:?} {:?} {:?}", view.total(), view.list(), view.tags())
}

pub(super) fn on_row(view: &mut dyn View, op: Op, v: i64, time: EventTime) -> Outcome {
    let total = view.total().unwrap_or(0);
    match op {
        Op::Sum => view.put_total(total + v),
        Op::Append => view.append(v, (v % 2 == 0).then_some("even")),
        Op::Tag => {
            let before = view.tag(&format!("t{}", v % 4)).unwrap_or(0);
            view.put_tag(&format!("t{}", v % 4), before + 1);
        }
        Op::Untag => view.remove_tag(&format!("t{}", v % 4)),
        Op::Remind => view.set(REMIND, time + v),
        Op::Second => view.set(SECOND, v),
        Op::Wall => view.set(WALL, v),
        Op::Unset => (REMIND..=WALL).for_each(|timer| view.unset(timer)),
        Op::Clear => (0..3).for_each(|state| view.clear(state)),
        Op::Reject | Op::FailIfOdd => {
            view.put_total(total + 1_000_001);
            view.append(-1, None);
            view.put_tag("rejected", 1);
            view.set(SECOND, time - 1_000);
            view.unset(REMIND);
            if op == Op::Reject && total % 3 == 0 {
                return Outcome::Rejects;
            }
            if op == Op::FailIfOdd && total % 2 != 0 {
                return Outcome::Fails;
            }
        }
        Op::Expand => {
            let text = describe(view, "expand");
            return Outcome::Emits(vec![(text, None), ("own".into(), Some(time + 7)), ("third".into(), None)]);
        }
        Op::Silent => {
            view.put_total(total + v);
            return Outcome::Emits(Vec::new());
        }
        Op::Waver => {
            view.set(REMIND, time - 5_000);
            view.set(REMIND, time + v);
            if v % 3 == 0 {
                view.unset(REMIND);
            }
        }
        Op::BadTime => return Outcome::Emits(vec![("never".into(), Some(EventTime::MAX))]),
    }
    Outcome::Emits(vec![(describe(view, "row"), None)])
}

pub(super) fn on_timer(view: &mut dyn View, timer: u32, time: EventTime) -> Outcome {
    let total = view.total().unwrap_or(0);
    match timer {
        REMIND => {
            if total % 7 == 3 {
                view.put_total(-1);
                view.set(SECOND, time);
                return Outcome::Fails;
            }
            if total % 3 == 0 {
                view.set(SECOND, time + 50);
            }
            view.clear(1);
            view.append(time, Some("reminded"));
            Outcome::Emits(vec![(describe(view, "remind"), None)])
        }
        SECOND => {
            view.put_total(total + 1);
            if total % 5 == 1 {
                view.set(REMIND, time);
            }
            if total % 4 == 0 {
                view.set(SECOND, time + 300);
            }
            if total % 9 == 5 {
                return Outcome::Emits(Vec::new());
            }
            Outcome::Emits(vec![(describe(view, "second"), None), ("again".into(), Some(time + 1))])
        }
        _ => {
            view.put_tag("wall", time);
            if total % 4 == 2 {
                view.put_total(total + 1);
                view.set(SECOND, time - 100);
            }
            if total % 6 == 1 {
                view.put_total(total + 3);
                view.set(WALL, time + 20);
            }
            Outcome::Emits(vec![(describe(view, "wall"), Some(time))])
        }
    }
}

/// How long the three states live.
pub(super) type Ttls = [Option<i64>; 3];

pub(super) fn plan(ttls: Ttls) -> ProcessPlan {
    let state = |name: &str, shape, fields, ttl: Option<i64>| StateSpec {
        name: name.into(),
        shape,
        fields,
        ttl: ttl.map(Millis),
    };
    let number = || Field::typed("n", Kind::Int, false);
    let timer = |name: &str, clock| TimerSpec { name: name.into(), clock };
    ProcessPlan {
        reads: Reads {
            columns: vec![Field::typed("op", Kind::Int, false), Field::typed("v", Kind::Int, false)],
            times: true,
        },
        keys: false,
        watermarks: false,
        states: vec![
            state("total", StateShape::Value, vec![number()], ttls[0]),
            state("seen", StateShape::List, vec![number(), Field::typed("text", Kind::Text, true)], ttls[1]),
            state("tags", StateShape::Map(Kind::Text), vec![number()], ttls[2]),
        ],
        timers: vec![
            timer("remind", TimerClock::Event),
            timer("second", TimerClock::Event),
            timer("wall", TimerClock::Processing),
        ],
        output: vec![Field::typed("out", Kind::Text, false)],
    }
}
