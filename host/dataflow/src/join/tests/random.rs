//! Random inputs: a join gives what the model of all pairs gives, however the events are cut into rounds and the keys are
//! spread over operators.
//!
//! Every seed can be run again by itself: `one(seed)`.

use tidegate_pipeline::{Join, JoinKind, JoinSide, Matching, WindowKind};
use tidegate_types::{Millis, Value};

use super::bench::{END, Event, Row, join, run_in};
use super::model::{ByKey, expected};
use super::script::{Pair, Said, Script};
use crate::StateSize;

/// SplitMix64.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From `least` to `most`, both included.
    pub(super) fn between(&mut self, least: i64, most: i64) -> i64 {
        let width = u64::try_from(most - least).expect("least is not above most") + 1;
        least + i64::try_from(self.number() % width).expect("small")
    }

    pub(super) fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        let place = usize::try_from(self.number() % choices.len() as u64).expect("small");
        choices[place].clone()
    }
}

pub(super) fn a_join(chance: &mut Chance) -> Join {
    let lateness = chance.of(&[0, 0, 3, 12]);
    if chance.between(0, 2) == 0 {
        let size = chance.between(1, 20);
        let (slide, offset) = (chance.between(1, size), chance.between(0, 7));
        let (size, slide, offset) = (Millis(size), Millis(slide), Millis(offset));
        let kind = match chance.between(0, 1) {
            0 => WindowKind::Tumbling { size, offset },
            _ => WindowKind::Sliding { size, slide, offset },
        };
        return join(JoinKind::Window(kind), Matching::Inner, lateness);
    }
    let lower = chance.between(-15, 15);
    let upper = lower + chance.of(&[0, 1, 5, 20]);
    let matching = chance.of(&[Matching::Inner, Matching::Left, Matching::Right, Matching::Full]);
    join(JoinKind::Interval { lower, upper }, matching, lateness)
}

pub(super) fn some_events(chance: &mut Chance) -> Vec<Event> {
    let keys = [Value::from("a"), Value::from("b"), Value::from(1), Value::from(1.0), Value::Null];
    let keys = &keys[..usize::try_from(chance.between(1, 5)).expect("small")];
    let mut watermark = -20;
    let mut mark = 0;
    let mut row = |chance: &mut Chance, watermark: i64| {
        mark += 1;
        let side = chance.of(&[JoinSide::Left, JoinSide::Right]);
        let time = watermark + chance.between(-12, 25);
        Row { side, key: chance.of(keys), time, mark: Value::Int(mark) }
    };
    let mut events = Vec::new();
    for _ in 0..chance.between(1, 60) {
        let moved = watermark + chance.of(&[0, 1, 2, 5, 30]);
        events.push(match chance.between(0, 9) {
            0..=1 => {
                watermark = moved;
                Event::Watermark(moved)
            }
            2 => {
                let rows = (0..chance.between(0, 4)).map(|_| row(chance, watermark)).collect();
                let moves = chance.between(0, 1) == 0;
                watermark = if moves { moved } else { watermark };
                Event::Together(rows, moves.then_some(moved))
            }
            _ => Event::Row(row(chance, watermark)),
        });
    }
    if chance.between(0, 3) > 0 {
        events.push(END);
    }
    events
}

pub(super) fn cuts(chance: &mut Chance, events: usize) -> Vec<usize> {
    let longest = chance.of(&[1, 3, 10, 100]);
    let (mut lengths, mut left) = (Vec::new(), events);
    while left > 0 {
        let length = usize::try_from(chance.between(1, longest)).expect("small").min(left);
        lengths.push(length);
        left -= length;
    }
    lengths
}

/// Whether the hook fails on a pair: it refuses some, and traps on others.
fn verdict(left: Option<i64>, right: Option<i64>) -> Option<Said> {
    match left.unwrap_or(1) * 31 + right.unwrap_or(2) * 17 {
        sum if sum % 7 == 0 => Some(Said::Trap),
        sum if sum % 11 == 0 => Some(Said::Reject),
        _ => None,
    }
}

/// A hook that makes of each pair what the projection makes, 0 for null, and fails on some.
pub(super) fn script(chance: &mut Chance) -> Script {
    let say = |pair: Pair| {
        let row = (pair.left.unwrap_or(0), pair.right.unwrap_or(0), None);
        verdict(pair.left, pair.right).unwrap_or(Said::Rows(vec![row]))
    };
    Script::new(say).with_fuel(chance.of(&[1, 5, 1 << 40]))
}

/// What the hook makes of what comes out, and how many pairs it fails on.
fn behind_hook(by_key: &ByKey) -> (ByKey, u64) {
    let mark = |value: &Value| if let Value::Int(mark) = value { Some(*mark) } else { None };
    let (mut made, mut failed) = (ByKey::new(), 0);
    for (key, rows) in by_key {
        for (event, (left, right, time, watermark)) in rows {
            if verdict(mark(left), mark(right)).is_some() {
                failed += 1;
                continue;
            }
            let [left, right] = [left, right].map(|value| Value::Int(mark(value).unwrap_or(0)));
            made.entry(key.clone()).or_default().push((*event, (left, right, *time, *watermark)));
        }
    }
    (made, failed)
}

fn one(seed: u64) {
    let chance = &mut Chance(seed);
    let (join, events) = (a_join(chance), some_events(chance));
    let expected = expected(&join, &events);
    for _ in 0..3 {
        let lengths = cuts(chance, events.len());
        let parallelism = chance.between(1, 3);
        let script = (chance.between(0, 1) == 0).then(|| script(chance));
        let (by_key, failed) = match script {
            Some(_) => behind_hook(&expected.by_key),
            None => (expected.by_key.clone(), 0),
        };
        let mut got = ByKey::new();
        let mut account = crate::Account::default();
        for subtask in 0..parallelism {
            let ran = run_in(&join, script.as_ref(), &share(&events, subtask, parallelism), &lengths);
            account += ran.account;
            for out in ran.outs {
                let shown = (out.left, out.right, out.time, out.watermark.as_millis());
                got.entry(out.key).or_default().push((out.event, shown));
            }
            if events.last() == Some(&END) {
                assert_eq!(ran.states.last(), Some(&StateSize::default()), "seed {seed}: state is left");
            }
        }
        assert_eq!(got, by_key, "seed {seed}: {join:?}\n{events:#?}\nin {lengths:?} over {parallelism}");
        let counts = (account.accepted, account.too_late, account.partly_late, account.failed_pairs);
        let expected = (expected.accepted, expected.too_late, expected.partly_late, failed);
        assert_eq!(counts, expected, "seed {seed}: {join:?}");
    }
}

/// The events as the subtask sees them that owns the keys whose encodings have this remainder.
fn share(events: &[Event], subtask: i64, parallelism: i64) -> Vec<Event> {
    let owns = |row: &Row| {
        let mut encoded = Vec::new();
        tidegate_types::key::encode_value(&mut encoded, row.key.as_ref());
        encoded.iter().map(|byte| i64::from(*byte)).sum::<i64>() % parallelism == subtask
    };
    let of = |event: &Event| match event {
        Event::Row(row) => Event::Together([row].into_iter().filter(|row| owns(row)).cloned().collect(), None),
        Event::Together(rows, moved) => Event::Together(rows.iter().filter(|row| owns(row)).cloned().collect(), *moved),
        Event::Watermark(moved) => Event::Watermark(*moved),
    };
    events.iter().map(of).collect()
}

#[test]
fn a_join_gives_what_its_definition_says() {
    (0..1500).for_each(one);
}
