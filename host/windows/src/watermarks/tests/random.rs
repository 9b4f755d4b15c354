//! Random sequences of everything that can happen to a source, against a slow model that looks at every partition at
//! every instant, and against the promises that hold whatever happens. A failure names its seed.

use tidegate_types::stored::Stored;

use super::*;
use crate::chance::Chance;

const TIMEOUT: i64 = 10;
const MAX_DELAY: i64 = 3;
const MAX_DRIFT: i64 = 20;

#[derive(Clone)]
struct Modelled {
    watermark: Option<i64>,
    idle: bool,
    ended: bool,
    since: i64,
    held: Vec<HeldBy>,
}

/// The page, read slowly. The clock stands at 0 from the start.
struct Model {
    partitions: Vec<Modelled>,
    clock: i64,
    combined: Option<i64>,
}

impl Model {
    fn assign(&mut self) {
        self.partitions.push(Modelled { watermark: None, idle: false, ended: false, since: self.clock, held: vec![] });
    }

    fn active(&self) -> impl Iterator<Item = &Modelled> {
        self.partitions.iter().filter(|partition| !partition.idle && !partition.ended)
    }

    fn combine(&mut self) {
        if let Some(least) = self.active().map(|partition| partition.watermark).min() {
            self.combined = self.combined.max(least);
        }
    }

    /// Moves the clock millisecond by millisecond. Returns where the combined watermark moved.
    fn advance(&mut self, to: i64) -> Vec<(i64, Option<i64>)> {
        let mut moves = Vec::new();
        while self.clock < to {
            self.clock += 1;
            let before = self.combined;
            let mut fell = false;
            for partition in &mut self.partitions {
                let silent = partition.held.is_empty() && self.clock - partition.since >= TIMEOUT;
                if silent && !partition.ended && !partition.idle {
                    partition.idle = true;
                    fell = true;
                }
            }
            if fell {
                self.combine();
            }
            if self.combined != before {
                moves.push((self.clock, self.combined));
            }
        }
        moves
    }

    fn record(&mut self, id: usize, time: i64) {
        let clock = self.clock;
        let partition = &mut self.partitions[id];
        (partition.idle, partition.since) = (false, clock);
        partition.watermark = partition.watermark.max(Some(time - MAX_DELAY));
        self.combine();
    }

    fn hold(&mut self, id: usize, by: HeldBy) {
        let partition = &mut self.partitions[id];
        partition.held.retain(|other| *other != by);
        partition.held.push(by);
        partition.idle = false;
    }

    fn release(&mut self, id: usize, by: HeldBy) {
        let partition = &mut self.partitions[id];
        let held = !partition.held.is_empty();
        partition.held.retain(|other| *other != by);
        if held && partition.held.is_empty() {
            partition.since = self.clock;
        }
    }

    /// Which partitions drift control holds back, had it looked now.
    fn ahead(&self, id: usize) -> bool {
        let slowest = self.active().map(|partition| partition.watermark).min();
        let partition = &self.partitions[id];
        !partition.ended
            && match (slowest, partition.watermark) {
                (Some(Some(slowest)), Some(own)) => own - slowest > MAX_DRIFT,
                (Some(None), Some(_)) => true,
                _ => false,
            }
    }
}

/// A source and its model, taken the same way.
struct Pair {
    source: SourceWatermarks,
    spec: WatermarkSpec,
    model: Model,
    seed: u64,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let spec = WatermarkSpec {
            strategy: bounded(MAX_DELAY),
            idle_partition_timeout: Some(Millis(TIMEOUT)),
            max_drift: Some(Millis(MAX_DRIFT)),
        };
        let mut source = SourceWatermarks::new(&spec, 0, ClockStart::FirstArrival);
        source.advance_clock(0, |_, _| ());
        Self { source, spec, model: Model { partitions: Vec::new(), clock: 0, combined: None }, seed }
    }

    fn step(&mut self, chance: &mut Chance) {
        let count = u64::try_from(self.model.partitions.len()).unwrap();
        let draw = chance.below(100);
        if count == 0 || (draw < 3 && count < 6) {
            assert_eq!(index(self.source.assign().0), self.model.partitions.len());
            return self.model.assign();
        }
        let id = u32::try_from(chance.below(count)).unwrap();
        let (place, id) = (index(id), PartitionId(id));
        let by = [HeldBy::Backpressure, HeldBy::Pause][usize::try_from(chance.below(2)).unwrap()];
        match draw {
            // A partition that is held was already read, and gives what was read: that is legal.
            _ if draw < 55 && !self.model.partitions[place].ended => {
                let time = self.model.clock + i64::try_from(chance.below(60)).unwrap() - 30;
                self.source.hear(id);
                self.source.record(id, time, None);
                self.model.record(place, time);
            }
            55..80 => self.advance(i64::try_from(chance.below(9)).unwrap()),
            80..87 if !self.model.partitions[place].ended => {
                self.source.hold(id, by);
                self.model.hold(place, by);
            }
            87..94 => {
                self.source.release(id, by);
                self.model.release(place, by);
            }
            94..97 => self.control_drift(),
            97 => self.stand_still(i64::try_from(chance.below(30)).unwrap()),
            98 => {
                self.source.end([id]);
                self.model.partitions[place].ended = true;
                self.model.combine();
            }
            _ => self.restore(chance.below(4) == 0 && count < 6),
        }
    }

    /// Goes on with a source that is restored from what this one writes, its partitions the other way round and then back. That
    /// releases what the process held.
    fn restore(&mut self, adds: bool) {
        let count = self.model.partitions.len();
        let mut turned: Vec<Option<usize>> = (0..count).rev().map(Some).collect();
        for last in [false, true] {
            let mut bytes = Vec::new();
            self.source.write(&mut bytes);
            turned.extend((last && adds).then_some(None));
            self.source = SourceWatermarks::new(&self.spec, turned.len(), ClockStart::FirstArrival);
            let read = self.source.restore(&mut Stored::new(&bytes), &turned);
            assert_eq!(read, Ok(()), "seed {}", self.seed);
        }
        for id in 0..count {
            self.model.release(id, HeldBy::Backpressure);
            self.model.release(id, HeldBy::Pause);
        }
        if adds {
            self.model.assign();
        }
    }

    fn advance(&mut self, by: i64) {
        let to = self.model.clock + by;
        let moves = self.model.advance(to).into_iter().map(|(at, watermark)| (at, of(watermark)));
        assert_eq!(advance(&mut self.source, to), moves.collect::<Vec<_>>(), "seed {}", self.seed);
    }

    fn stand_still(&mut self, by: i64) {
        let until = self.model.clock + by;
        self.source.stood_still(self.model.clock, until);
        self.model.partitions.iter_mut().for_each(|partition| partition.since += by);
        self.model.clock = until;
        assert_eq!(advance(&mut self.source, until), [], "seed {}", self.seed);
    }

    fn control_drift(&mut self) {
        let ahead: Vec<bool> = (0..self.model.partitions.len()).map(|id| self.model.ahead(id)).collect();
        self.source.control_drift();
        for (id, ahead) in ahead.into_iter().enumerate() {
            let held = self.model.partitions[id].held.contains(&HeldBy::Drift);
            match (held, ahead) {
                (false, true) => self.model.hold(id, HeldBy::Drift),
                (true, false) => self.model.release(id, HeldBy::Drift),
                _ => {}
            }
        }
        let free = |partition: &Modelled| !partition.held.contains(&HeldBy::Drift);
        let active: Vec<&Modelled> = self.model.active().collect();
        assert!(active.is_empty() || active.into_iter().any(free), "seed {}: nobody may be read", self.seed);
    }

    fn check(&self, before: Watermark) {
        let seed = self.seed;
        assert!(self.source.combined() >= before, "seed {seed}: the watermark moved back");
        assert_eq!(self.source.combined(), of(self.model.combined), "seed {seed}, clock {}", self.model.clock);
        for (shown, modelled) in self.source.report().partitions.iter().zip(&self.model.partitions) {
            let state = match (modelled.ended, modelled.idle) {
                (true, _) => PartitionState::Ended,
                (false, true) => PartitionState::Idle,
                (false, false) => PartitionState::Active,
            };
            assert_eq!((shown.state, shown.watermark), (state, of(modelled.watermark)), "seed {seed}: {:?}", shown.id);
            let readable = !modelled.ended && modelled.held.is_empty();
            assert_eq!(self.source.may_read(shown.id), readable, "seed {seed}: {:?}", shown.id);
            assert!(shown.held_by.is_empty() || state != PartitionState::Idle, "seed {seed}: held and idle");
        }
    }
}

fn of(watermark: Option<i64>) -> Watermark {
    watermark.map_or(Watermark::MIN, Watermark::at)
}

#[test]
fn whatever_happens_the_watermark_is_the_models_and_never_moves_back() {
    for seed in 0..600 {
        let mut chance = Chance::of_seed(seed);
        let mut pair = Pair::new(seed);
        for _ in 0..120 {
            let before = pair.source.combined();
            pair.step(&mut chance);
            pair.check(before);
        }
        assert_eq!(pair.source.end_all().is_some(), pair.source.combined() == Watermark::MAX, "seed {seed}");
    }
}
