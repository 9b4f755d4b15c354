//! One seed from end to end: draw, interpret, run at several speeds, compare, and on a difference report it small.
//!
//! Invariant: a report holds all that is needed to see the difference again: the seed, a folder with the minimised
//! scenario, and the command.

use std::fs;
use std::io;
use std::iter;
use std::path::Path;

use crate::compare::{Difference, difference};
use crate::minimise::minimise;
use crate::reference::{Outcome, interpret};
use crate::run::{Binary, Speed};
use crate::scenario::Scenario;

/// Sizes of batches at which every scenario runs; `--parallelism` "changes speed, never output" either.
pub const BATCH_ROWS: [usize; 4] = [1, 2, 7, 1000];

/// Numbers of tasks at which every scenario runs.
pub const PARALLELISM: [usize; 2] = [1, 3];

/// The speeds of one scenario: each size of batch with one task, each other number of tasks at one size, and a run whose
/// state is taken out and put back every few records, into other numbers of tasks.
pub fn speeds() -> Vec<Speed> {
    let one = BATCH_ROWS.map(|batch_rows| Speed { batch_rows, parallelism: 1, restore_every: None });
    let more = PARALLELISM.into_iter().filter(|n| *n > 1);
    let more = more.map(|parallelism| Speed { batch_rows: 7, parallelism, restore_every: None });
    let restored = Speed { batch_rows: 2, parallelism: 2, restore_every: Some(3) };
    one.into_iter().chain(more).chain([restored]).collect()
}

/// Draws a scenario from a seed: [`scenario`](crate::generate::scenario) or [`graph`](crate::generate::graph()).
pub type Draw = fn(u64) -> Scenario;

/// Checks the scenario drawn from a seed; an error is a report for people.
///
/// # Errors
/// The difference between reference and engine, minimised, or why the run could not be made.
pub fn check_seed(binary: &Binary, draw: Draw, seed: u64, folder: &Path) -> Result<(), String> {
    check(binary, &draw(seed), folder).map_err(|report| format!("seed {seed} (replay: SEED={seed})\n{report}"))
}

/// Checks one scenario at every speed.
///
/// # Errors
/// As [`check_seed`].
pub fn check(binary: &Binary, scenario: &Scenario, folder: &Path) -> Result<(), String> {
    let expected = interpret(scenario);
    for speed in speeds() {
        let found = differs(binary, scenario, folder, (speed, &expected))
            .map_err(|e| format!("cannot run {:?}: {e}", binary.path()))?;
        if let Some(first) = found {
            return Err(report(binary, scenario, folder, (speed, &first)));
        }
    }
    Ok(())
}

fn differs(
    binary: &Binary,
    scenario: &Scenario,
    folder: &Path,
    (speed, expected): (Speed, &Outcome),
) -> io::Result<Option<Difference>> {
    let got = binary.run(scenario, folder, speed)?;
    Ok(difference(scenario, expected, &got))
}

/// Whether a run's difference is of the same sort, so that minimising does not wander off.
fn same_sort(a: &Difference, b: &Difference) -> bool {
    a.kind == b.kind && (a.kind != "exit" || a.text == b.text)
}

fn report(binary: &Binary, scenario: &Scenario, folder: &Path, found: (Speed, &Difference)) -> String {
    let (speed, first) = found;
    let mut last = first.clone();
    let small = minimise(scenario.clone(), &mut |candidate| match differs(
        binary,
        candidate,
        folder,
        (speed, &interpret(candidate)),
    ) {
        Ok(Some(now)) if same_sort(first, &now) => {
            last = now;
            true
        }
        _ => false,
    });
    let kept = std::env::temp_dir()
        .join(format!("tidegate-difference-{}", folder.file_name().map_or("x".into(), |n| n.to_string_lossy())));
    let args = binary.args(&small, &kept, speed);
    let args = args.map(|args| args.join(" ")).unwrap_or_else(|e| format!("(not written: {e})"));
    let expected = interpret(&small);
    let lines =
        expected.lines.iter().flat_map(|(output, lines)| lines.iter().map(move |line| format!("{output}: {line}\n")));
    let _ = fs::write(kept.join("expected.txt"), format!("{}{}\n", lines.collect::<String>(), expected.summary));
    let names = small.sources.iter().map(|name| format!("of {name}\n    ")).chain(iter::repeat(String::new()));
    let input: Vec<String> = small.files.iter().zip(names).map(|(lines, name)| name + &lines.join("\n    ")).collect();
    format!(
        "{speed:?}, minimised to\n  pipeline {}\n  input\n    {}\n{}\nreplay: cd {} && {} {args}",
        small.pipeline,
        input.join("\n    --- next file ---\n    "),
        last.text,
        kept.display(),
        binary.path().display(),
    )
}
