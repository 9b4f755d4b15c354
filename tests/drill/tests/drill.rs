//! Kills at random moments, and one at every fault point. `make drill RUNS=200` is this test, longer.
//!
//! `RUNS=n`: so many random drills, and all points. `FIRST=n`: from this seed on. `SEED=n`: this one alone. `FAULT=name`: this
//! point alone. `DAMAGE=yes SEED=n`: a drill that damages checkpoints.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tidegate_drill::{Directed, Plan, References, Report, Summary, Template, drill};
use tidegate_faults::POINTS;

/// Random drills of an ordinary test run.
const RUNS: u64 = 3;
/// The points of an ordinary test run: where most can be lost or doubled.
const FEW: [&str; 3] = ["pointer.swap.after", "sink.commit.before", "transaction.commit.after"];
/// Drills side by side.
const SIDE_BY_SIDE: usize = 2;

/// A drill to do.
enum Task {
    Random(u64),
    Damaging(u64),
    At(&'static str, u64),
}

#[test]
fn what_comes_out_after_kills_is_what_comes_out_without() {
    let tasks = tasks();
    let template = Template::new();
    let references = References::new(&template);
    let (next, summary) = (AtomicUsize::new(0), Mutex::new(Summary::default()));
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE.min(tasks.len()) {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for report in perform(task, &references) {
                        print!("{report}");
                        summary.lock().expect("no drill panicked").add(&report);
                    }
                }
            });
        }
    });
    let summary = summary.into_inner().expect("no drill panicked");
    println!("{summary}");
    assert!(summary.is_clean(), "some drills differ");
    if number("RUNS").is_some() || text("FAULT").is_some() {
        assert_eq!(summary.not_reached(), [""; 0], "no process came to these points");
    }
}

fn tasks() -> Vec<Task> {
    let (runs, seed, first) = (number("RUNS"), number("SEED"), number("FIRST").unwrap_or(0));
    if let Some(fault) = text("FAULT") {
        let point = POINTS.iter().find(|point| **point == fault);
        let point = point.unwrap_or_else(|| panic!("there is no fault point {fault}; there are {}", POINTS.join(", ")));
        let seeds = seed.map_or(first..first + runs.unwrap_or(1), |seed| seed..seed + 1);
        return seeds.map(|seed| Task::At(point, seed)).collect();
    }
    if let Some(seed) = seed {
        return vec![if text("DAMAGE").is_some() { Task::Damaging(seed) } else { Task::Random(seed) }];
    }
    let points = if runs.is_some() { POINTS } else { &FEW };
    let directed = points.iter().zip(first..).map(|(point, seed)| Task::At(point, seed));
    let random = (first..first + runs.unwrap_or(RUNS)).map(Task::Random);
    let damaging = (first..first + runs.map_or(1, |runs| runs / 10)).map(Task::Damaging);
    directed.chain(random).chain(damaging).collect()
}

/// A drill; of a point as many as it takes until a process dies there.
fn perform(task: &Task, references: &References<'_>) -> Vec<Report> {
    match task {
        Task::Random(seed) => vec![drill(&Plan::random(*seed), references)],
        Task::Damaging(seed) => vec![drill(&Plan::damaging(*seed), references)],
        Task::At(point, seed) => {
            let mut reports = Vec::new();
            for directed in attempts(point, *seed) {
                reports.push(drill(&Plan::directed(*seed, directed), references));
                if reports.last().is_some_and(|report| report.struck || !report.differences.is_empty()) {
                    break;
                }
            }
            reports
        }
    }
}

/// Where else to try if no process dies: what only happens after a start on old data does not happen in the first one, and
/// there is nothing to abort unless a process died between staging and committing.
fn attempts(point: &str, seed: u64) -> Vec<Directed> {
    let at = |count, process, ahead: Option<&str>| Directed {
        point: point.to_owned(),
        count,
        process,
        ahead: ahead.map(str::to_owned),
    };
    if point.starts_with("transaction.abort.") {
        let ahead = ["transaction.stage.after:2", "transaction.commit.before:2", "manifest.put.before:3"];
        return ahead.iter().map(|ahead| at(1, 1, Some(ahead))).collect();
    }
    if point.starts_with("restore.") {
        return vec![at(1 + seed % 4, 1, None), at(1, 1, None)];
    }
    vec![at(1 + seed % 6, 0, None), at(1, 0, None), at(1, 1, None)]
}

fn number(name: &str) -> Option<u64> {
    let text = text(name)?;
    Some(text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}

#[allow(clippy::disallowed_methods, reason = "a test may be given seeds to replay")]
fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}
