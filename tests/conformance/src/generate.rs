//! Draws a scenario from a seed: a valid pipeline from the whole grammar, and events that visit its corners.
//!
//! Invariant: the same seed gives the same scenario on every machine, and wall-clock time never decides an output (a
//! processing-time trigger or an idle timeout that could fall due is drawn only with `--arrival-field`).

use crate::json::Value;
use crate::scenario::Scenario;

mod events;
pub(crate) mod graph;
mod pipeline;
#[cfg(test)]
mod tests;

/// SplitMix64: a small generator whose sequence is fixed by its definition.
pub struct Rng(u64);

impl Rng {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `from..=to`.
    pub fn within(&mut self, from: i64, to: i64) -> i64 {
        let span = u64::try_from(to - from).expect("from <= to") + 1;
        from + i64::try_from(self.next() % span).expect("spans are small")
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: i64) -> bool {
        self.within(0, 99) < percent
    }

    /// One of the given things.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        let last = i64::try_from(things.len()).expect("few things") - 1;
        &things[usize::try_from(self.within(0, last)).expect("from zero")]
    }
}

/// What the pipeline and the events have to agree on.
struct Plan {
    /// Milliseconds that times, sizes and delays are multiples of, so that boundaries are met.
    unit: i64,
    /// Where event times and arrivals begin.
    base: i64,
    arrivals: bool,
    partition_field: bool,
    files: usize,
    /// Which values the field `v` takes.
    values: events::Values,
    /// Whether keys are more than a few short texts.
    odd_keys: bool,
    /// Whether lines that are no records occur.
    broken: bool,
    /// Whether it is about sessions that meet, overlap and merge: one key, much disorder, much lateness.
    sessions: bool,
    /// Whether windows slide by a small part of their size.
    wide: bool,
    /// Whether operators may be processors.
    processors: bool,
    /// Whether it is about windows that slide and fire on time and for late elements only: much disorder and lateness.
    shared: bool,
}

/// The scenario of a seed.
pub fn scenario(seed: u64) -> Scenario {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let unit = *rng.pick(&[1, 10, 1_000, 1_000, 60_000, 3_600_000]);
    let base = *rng.pick(&[0, -20 * unit, -7, 1_792_662_060_000, 1_792_662_060_123, -1_000_000_000_000]);
    let files = *rng.pick(&[1, 1, 1, 2, 3]);
    let sessions = rng.chance(20);
    let wide = !sessions && rng.chance(5);
    let plan = Plan {
        processors: false,
        sessions,
        wide,
        shared: !sessions && !wide && rng.chance(10),
        unit,
        base,
        arrivals: rng.chance(60),
        partition_field: files == 1 && rng.chance(40),
        files,
        values: if sessions { events::Values::Small } else { *rng.pick(&events::Values::ALL) },
        odd_keys: !sessions && rng.chance(30),
        broken: !sessions && rng.chance(25),
    };
    let pipeline = pipeline::draw(rng, &plan);
    let files = events::draw(rng, &plan, &pipeline);
    Scenario {
        pipeline,
        files,
        sources: Vec::new(),
        partition_field: plan.partition_field.then(|| (*rng.pick(&["p", "p", "p", "p", "k"])).to_owned()),
        arrival_field: plan.arrivals.then(|| (*rng.pick(&["at", "at", "at", "at", "at", "ts"])).to_owned()),
    }
}

/// The graph of a seed: a pipeline of the long form, of windows and joins.
pub fn graph(seed: u64) -> Scenario {
    draw_graph(seed ^ 0x67_7261_7068, false)
}

/// The graph of a seed in which operators may be processors, with the test guest `scripted-processor` as their hook.
pub fn processors(seed: u64) -> Scenario {
    draw_graph(seed ^ 0x70_726f_6373, true)
}

fn draw_graph(seed: u64, processors: bool) -> Scenario {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let unit = *rng.pick(&[1, 10, 1_000, 1_000, 60_000]);
    let base = *rng.pick(&[0, -20 * unit, -7, 1_792_662_060_000, 1_792_662_060_123]);
    let values = [events::Values::Small, events::Values::Small, events::Values::Small, events::Values::Many];
    let all = [&values[..], &[events::Values::Moderate, events::Values::Texts]].concat();
    let plan = Plan {
        processors,
        sessions: false,
        wide: false,
        shared: rng.chance(20),
        unit,
        base,
        arrivals: rng.chance(60),
        partition_field: rng.chance(5),
        files: 1,
        values: *rng.pick(if processors { &values } else { &all[..] }),
        odd_keys: !processors && rng.chance(15),
        broken: rng.chance(15),
    };
    let graph::Drawn { pipeline, files } = graph::draw(rng, &plan);
    let sources: Vec<String> = files.iter().flat_map(|(name, n)| vec![name.clone(); *n]).collect();
    let all = pipeline.get("sources").items();
    let specs = sources.iter().map(|name| all.iter().find(|s| s.get("name").as_str() == Some(name)));
    let specs: Vec<&Value> = specs.map(|spec| spec.expect("a file is of a source")).collect();
    let lines = events::draw_graph(rng, &plan, &specs);
    Scenario {
        files: lines,
        sources,
        partition_field: plan.partition_field.then(|| "p".to_owned()),
        arrival_field: plan.arrivals.then(|| (*rng.pick(&["at", "at", "at", "at", "at", "ts"])).to_owned()),
        pipeline,
    }
}
