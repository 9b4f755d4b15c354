//! Random rounds against the naive model: any cut into rounds and calls, any number of subtasks.
//!
//! `TIDEGATE_PROCESS_SEED=<seed>` repeats one seed; every failure prints its own.

use tidegate_types::NO_CLOCK;

use super::bench::{Bench, Event, Row, numbered};
use super::hook::Scripted;
use super::model::Model;
use super::script::{Op, Ttls, plan};
use crate::operator::Operator;

const SEEDS: u64 = 120;

/// splitmix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, most: i64) -> i64 {
        i64::try_from(self.next() % u64::try_from(most).expect("positive")).expect("below")
    }

    pub(super) fn one_in(&mut self, count: i64) -> bool {
        self.below(count) == 0
    }
}

/// Rows and moves: mostly in order, some late, at times a long way on. All times are multiples of `grain`.
pub(super) fn events(random: &mut Random, grain: i64) -> Vec<Event> {
    let keys = [1, 3, 8][usize::try_from(random.below(3)).expect("few")];
    let has_clock = random.one_in(2);
    let mild = random.one_in(3);
    let (mut front, mut clock) = (10_000, if has_clock { 500_000 } else { NO_CLOCK });
    let mut events = Vec::new();
    for _ in 0..20 + random.below(150) {
        if random.one_in(2) {
            if has_clock && random.one_in(2) {
                clock += random.below(400);
            }
            let watermark = if random.one_in(3) { front - 3_000 } else { front - random.below(500) };
            events.push(Event::Move(watermark.max(0), clock));
        }
        front += if random.one_in(30) { random.below(20_000) } else { random.below(200) };
        let rows = if random.one_in(10) { 1 + random.below(3) } else { 1 };
        let row = |_| {
            let all = i64::try_from(Op::ALL.len()).expect("few");
            let op = if mild { random.below(7) } else { random.below(all) };
            let time = grain
                * (if random.one_in(5) { front - random.below(6_000) } else { front - random.below(200) })
                    .div_euclid(grain);
            let v = match Op::of(op) {
                Op::Remind | Op::Waver => grain * (random.below(3_000) - 500).div_euclid(grain),
                Op::Second => grain * (front + random.below(4_000) - 2_000).div_euclid(grain),
                Op::Wall => clock.max(0) + random.below(1_000) - 300,
                _ => random.below(9),
            };
            Row { id: 0, key: format!("k{}", random.below(keys)), op, v, time }
        };
        events.push(Event::Rows((0..rows).map(row).collect()));
    }
    if random.one_in(2) {
        events.push(Event::Move(front + 100_000, clock));
    }
    let mut highest = i64::MIN;
    for event in &mut events {
        if let Event::Move(watermark, _) = event {
            highest = highest.max(*watermark);
            *watermark = highest;
        }
    }
    numbered(events)
}

pub(super) fn ttls(random: &mut Random, grain: i64) -> Ttls {
    std::array::from_fn(|_| random.one_in(2).then(|| grain * (1 + random.below(5_000).div_euclid(grain))))
}

fn check(seed: u64) {
    let mut random = Random(seed);
    let grain = if random.one_in(2) { 1 } else { 500 };
    let ttls = ttls(&mut random, grain);
    let events = events(&mut random, grain);
    let mut model = Model::new(ttls);
    events.iter().for_each(|event| model.event(event));
    model.letters.sort();
    for _ in 0..3 {
        let parallelism = usize::try_from(1 + random.below(3)).expect("few");
        let batch_rows = [1, 2, 7, 1_000][usize::try_from(random.below(4)).expect("few")];
        let longest = if random.one_in(2) { 200 } else { 12 };
        let most = 1 + random.below(longest);
        let mut bench = Bench::new(parallelism, batch_rows, || Scripted::new(plan(ttls)));
        let mut rest = events.as_slice();
        while !rest.is_empty() {
            let cut = usize::try_from(1 + random.below(most)).expect("few").min(rest.len());
            bench.round(&rest[..cut]);
            rest = &rest[cut..];
        }
        bench.letters.sort();
        let what = format!("seed {seed}, {parallelism} subtasks, calls of {batch_rows}, rounds of up to {most}");
        for (at, (ours, due)) in bench.lines.iter().zip(&model.lines).enumerate() {
            assert_eq!(ours, due, "row {at}; {what}");
        }
        assert_eq!(bench.lines.len(), model.lines.len(), "{what}");
        assert_eq!(bench.letters, model.letters, "{what}");
        let rejected = model.letters.iter().filter(|letter| letter.row.is_some()).count() as u64;
        assert_eq!((bench.account.accepted, bench.account.rejected), (model.accepted, rejected), "{what}");
        // At the end of the input everything falls due that can: what is left is what never expires.
        bench.round(&[Event::Move(1_000_000, 900_000)]);
        let mut end = Model::new(ttls);
        events.iter().for_each(|event| end.event(event));
        end.event(&Event::Move(1_000_000, 900_000));
        let kept: usize = bench.operators.iter().map(|operator| operator.state().keys).sum();
        assert_eq!(kept, end.keys(), "{what}");
        assert_eq!(bench.lines.len(), end.lines.len(), "{what}");
    }
}

#[test]
fn any_cut_and_parallelism_gives_the_rows_of_the_naive_model() {
    #[allow(clippy::disallowed_methods, reason = "a seed to repeat is given by hand")]
    let seed = std::env::var("TIDEGATE_PROCESS_SEED").ok();
    match seed {
        Some(seed) => check(seed.parse().expect("a seed is a number")),
        None => (0..SEEDS).for_each(check),
    }
}
