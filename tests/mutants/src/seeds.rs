//! Random scenarios against one command: the first seed at which it differs from the reference.
//!
//! The same draw, reference and comparison as `tests/conformance`, without making the difference small.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tidegate_conformance::check::{Draw, speeds};
use tidegate_conformance::compare::difference;
use tidegate_conformance::generate::{graph, processors, scenario};
use tidegate_conformance::reference::interpret;
use tidegate_conformance::run::Binary;
use tidegate_conformance::scenario::Scenario;

/// Threads that run scenarios.
const THREADS: usize = 2;

/// What random scenarios are drawn of.
pub(crate) type Sort = (&'static str, Draw);

/// Pipelines of the short form.
const SHORT: Sort = ("seed", scenario);
/// Graphs of windows and joins.
const GRAPHS: Sort = ("graph", graph);
/// Graphs with processors.
const PROCESSORS: Sort = ("processor", processors);

/// The scenarios that a fault against this section can be seen in; of no section: all.
pub(crate) fn sorts(section: Option<&str>) -> Vec<Sort> {
    match section {
        None => vec![SHORT, GRAPHS, PROCESSORS],
        Some("6" | "9") => vec![GRAPHS],
        Some("12") => vec![PROCESSORS],
        Some(_) => vec![SHORT],
    }
}

/// The first of the seeds `0..count` whose scenario comes out differently at some speed.
///
/// # Errors
/// If a scenario cannot be run at all.
pub(crate) fn first_difference(binary: &Binary, (word, draw): Sort, count: u64) -> io::Result<Option<String>> {
    let folder = tempfile::tempdir()?;
    let (next, found) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
    let work = || -> io::Result<()> {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            // Every seed before a difference is looked at, so that the first one does not depend on the threads.
            if seed >= count.min(found.load(Ordering::Relaxed)) {
                return Ok(());
            }
            let own = folder.path().join(seed.to_string());
            if differs(binary, &draw(seed), &own)? {
                found.fetch_min(seed, Ordering::Relaxed);
            }
            std::fs::remove_dir_all(own)?;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    Ok(Some(found.into_inner()).filter(|seed| *seed < u64::MAX).map(|seed| format!("{word} {seed}")))
}

fn differs(binary: &Binary, scenario: &Scenario, folder: &Path) -> io::Result<bool> {
    let expected = interpret(scenario);
    for speed in speeds() {
        let got = binary.run(scenario, folder, speed)?;
        if difference(scenario, &expected, &got).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
