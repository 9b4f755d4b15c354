//! Random scenarios: the command `tidegate run` against the reference interpreter, pane for pane.
//!
//! Pipelines of the short form, graphs, and graphs with processors, each drawn from seeds of its own: 200 by default, with
//! processors 6, since each run compiles their component. `SEED=n` replays one, `SEEDS=n` runs more (`make soak`; of
//! processors one for fifty), `FIRST=n` begins elsewhere, `WITHOUT=word` leaves out pipelines that hold a word, such as
//! `join`, and `TIDEGATE_BIN` names the command. Every difference found is printed small; the run stops after five.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tidegate_conformance::check::{Draw, check_seed};
use tidegate_conformance::generate::{graph, processors, scenario};
use tidegate_conformance::run::Binary;

#[allow(clippy::disallowed_methods, reason = "the settings of a test run come from its environment")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str) -> Option<u64> {
    setting(name).map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
fn the_engine_agrees_with_the_reference_on_random_scenarios() {
    compare(scenario, 200, 1);
}

#[test]
fn the_engine_agrees_with_the_reference_on_random_graphs() {
    compare(graph, 200, 1);
}

#[test]
fn the_engine_agrees_with_the_reference_on_random_processors() {
    compare(processors, 6, 50);
}

/// `of_each`: how many of the seeds that were asked for stand for one.
fn compare(draw: Draw, by_default: u64, of_each: u64) {
    let binary = Binary::find(setting("TIDEGATE_BIN").map(PathBuf::from)).unwrap();
    let first = number("SEED").or(number("FIRST")).unwrap_or(0);
    let count =
        if number("SEED").is_some() { 1 } else { number("SEEDS").map_or(by_default, |seeds| seeds.div_ceil(of_each)) };
    let without = setting("WITHOUT");
    let folder = tempfile::tempdir().unwrap();
    let (next, reports) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count || reports.lock().unwrap().len() >= 5 {
                return;
            }
            if (seed - first) % 500 == 499 {
                eprintln!("{} of {count} seeds", seed - first + 1);
            }
            if without.as_ref().is_some_and(|word| draw(seed).pipeline.to_string().contains(word)) {
                continue;
            }
            let own = folder.path().join(seed.to_string());
            if let Err(report) = check_seed(&binary, draw, seed, &own) {
                eprintln!("\n{report}");
                reports.lock().unwrap().push(report);
            }
            let _ = std::fs::remove_dir_all(own);
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let reports = reports.into_inner().unwrap();
    assert!(reports.is_empty(), "{} of {count} scenarios from seed {first} differ, as shown above", reports.len());
}
