//! What keeping changes costs, as ratios within one run.

use std::time::{Duration, Instant};

use super::*;

#[expect(
    clippy::disallowed_methods,
    reason = "what is measured is real time, and only ratios within a run are asserted"
)]
fn now() -> Instant {
    Instant::now()
}

/// Rounds of rows that go to so many windows each of which is touched again and again.
fn rounds(rounds: usize) -> Vec<Round> {
    const KEYS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let row = |round: usize, at: usize| {
        let at = round * 1_000 + at;
        let time = i64::try_from((at * 7_919) % 20_000).unwrap();
        row(u32::try_from(at % 1_000).unwrap(), KEYS[at % 8], time, 1)
    };
    (0..rounds)
        .map(|round| Round { rows: (0..1_000).map(|at| row(round, at)).collect(), entries: Vec::new() })
        .collect()
}

/// Works through the rounds; the least time that each has ever taken.
fn time(rounds: &[Round], keeps: bool, least: &mut [Duration]) {
    let case = Case::plain(config(tumbling(10)));
    let mut bench = case.bench();
    if keeps {
        bench.operator.keep_changes();
    }
    for (round, least) in rounds.iter().zip(least) {
        let start = now();
        bench.round(&round.rows, &round.entries);
        *least = start.elapsed().min(*least);
    }
}

/// Of several tries, taken in turns, as other work goes on beside.
#[test]
fn keeping_changes_costs_little_while_no_checkpoint_is_taken() {
    let rounds = rounds(60);
    let (mut off, mut on) = (vec![Duration::MAX; rounds.len()], vec![Duration::MAX; rounds.len()]);
    for _ in 0..15 {
        time(&rounds, false, &mut off);
        time(&rounds, true, &mut on);
    }
    let (on, off) = (on.iter().sum::<Duration>(), off.iter().sum::<Duration>());
    let ratio = on.as_secs_f64() / off.as_secs_f64();
    eprintln!("keeping changes: {ratio:.3} of the time without ({on:?}, {off:?})");
    assert!(ratio < 1.25, "{ratio:.3}");
}

/// A freeze does not grow with what is frozen, and writing comes in short calls.
#[test]
fn a_freeze_takes_no_time_and_a_write_little() {
    const WINDOWS: u32 = 500_000;
    let case = Case::plain(config(tumbling(10)));
    let mut bench = case.bench();
    bench.operator.keep_changes();
    let start = now();
    for from in (0..WINDOWS).step_by(10_000) {
        let rows: Vec<Row> = (from..from + 10_000).map(|n| row(n - from, "k", i64::from(n) * 10, 1)).collect();
        bench.round(&rows, &[]);
    }
    let filling = start.elapsed();
    let start = now();
    bench.operator.freeze();
    let freezing = start.elapsed();
    let (mut calls, mut written, mut done) = (Vec::new(), 0, false);
    while !done {
        let mut changes = Changes::default();
        let start = now();
        done = bench.operator.write(512, &mut changes);
        calls.push(start.elapsed());
        written += changes.len();
    }
    calls.sort_unstable();
    let (usual, longest) = (calls[calls.len() / 2], calls[calls.len() - 1]);
    eprintln!(
        "500,000 windows: filled in {filling:?}, frozen in {freezing:?}; 512 written in {usual:?}, at most {longest:?}"
    );
    assert_eq!(written, 500_000);
    assert!(freezing.as_secs_f64() < filling.as_secs_f64() / 100.0, "{freezing:?} of {filling:?}");
}
