//! Kill the process, again and again on one folder: what was acknowledged is there once, in order; a batch is there whole
//! or not at all; sending again makes no duplicates.
//!
//! The child is this test binary, run again for one ignored test. It prints every acknowledgement, and what it wrote into
//! the pipe before it was killed still arrives. `SEED=n` replays a run's moments, as far as moments can be replayed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crash {
    pub(crate) mod check;
    pub(crate) mod child;
    pub(crate) mod transactions;
    pub(crate) mod work;
}

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crash::transactions::Checkpoints;
use crash::work::{Ack, COUNTED, UNCOUNTED};
use tidegate_log::contract::{Chance, seeds};

const ROUNDS: u32 = 12;

#[test]
#[ignore = "the child of the other tests"]
fn child() {
    crash::child::run();
}

/// What the parent remembers of all rounds.
#[derive(Default)]
struct Memory {
    acks: Vec<Ack>,
    /// By counting producer: the next sequence to send.
    next: BTreeMap<String, u64>,
    checkpoints: Checkpoints,
}

#[test]
fn acknowledged_records_survive_kills_once_and_in_order() {
    for seed in seeds(1) {
        println!("seed {seed} (replay: SEED={seed})");
        let folder = tempfile::tempdir().unwrap();
        let (mut chance, mut memory) = (Chance::of_seed(seed), Memory::default());
        for round in 0..ROUNDS {
            // Now and then the kill comes while the log is being opened.
            let acks = if chance.percent(15) { 0 } else { 1 + chance.below(150) };
            kill_after(folder.path(), round, acks, &mut memory);
            crash::check::check(folder.path(), &memory.acks);
            memory.checkpoints.check(folder.path());
        }
        println!("{} items committed in transactions", memory.checkpoints.committed);
        assert!(memory.checkpoints.committed > 20, "the writer of transactions did something");
        assert!(memory.acks.len() > 100, "the rounds did something: {} acknowledgements", memory.acks.len());
        let repeated = memory.acks.iter().filter(|ack| ack.repeated).count();
        println!(
            "{} acknowledgements, {repeated} of batches that an earlier round had left in doubt",
            memory.acks.len()
        );
        assert!(repeated > 0, "no kill left a batch in doubt that was there: the kills come at harmless moments");
    }
}

/// Runs the child until it has acknowledged so many batches, then kills it.
fn kill_after(folder: &Path, round: u32, acks: u64, memory: &mut Memory) {
    let command = crash::child::command(folder, round, &memory.next, &memory.checkpoints);
    let mut child = { command }.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = 0;
    let mut killed = false;
    // Reading on to the end of the pipe: acknowledgements that were under way when the child was killed count too.
    for line in lines {
        let line = line.unwrap();
        assert!(!line.starts_with("error "), "{line}");
        if memory.checkpoints.hear(&line) {
            continue;
        }
        if let Some(ack) = Ack::parse(&line) {
            seen += 1;
            if ack.producer.starts_with(COUNTED) {
                assert_eq!(memory.next.get(&ack.producer).copied().unwrap_or(0), ack.sequence);
                memory.next.insert(ack.producer.clone(), ack.sequence + 1);
            } else {
                assert!(ack.producer.starts_with(UNCOUNTED));
            }
            memory.acks.push(ack);
        }
        if seen >= acks && !killed {
            child.kill().unwrap();
            killed = true;
        }
    }
    child.wait().unwrap();
    assert!(killed, "the child ended by itself after {seen} acknowledgements");
}

#[test]
fn a_kill_at_each_point_of_a_transaction_loses_and_repeats_nothing() {
    for seed in seeds(1) {
        println!("seed {seed} (replay: SEED={seed})");
        let folder = tempfile::tempdir().unwrap();
        let (mut chance, mut checkpoints) = (Chance::of_seed(seed), Checkpoints::default());
        let points = tidegate_faults::POINTS.iter().filter(|point| point.starts_with("transaction."));
        for (round, point) in (0..).zip(points.cycle().take(4 * 6)) {
            let fault = format!("{point}:{}", 1 + chance.below(20));
            let mut command = crash::child::command(folder.path(), round, &BTreeMap::new(), &checkpoints);
            let output = command.env("FAULT", &fault).output().unwrap();
            assert!(!output.status.success(), "{fault} was not reached");
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(
                !text.contains("panicked") && output.stderr.is_empty(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            for line in text.lines() {
                checkpoints.hear(line);
            }
            checkpoints.check(folder.path());
        }
        assert!(checkpoints.committed > 100, "{} items", checkpoints.committed);
    }
}

#[test]
fn a_failed_write_stops_the_log_and_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let inner = crash::child::command(folder.path(), 0, &BTreeMap::new(), &Checkpoints::default());
    // Files may have 400 KiB: the write-ahead log reaches that in the middle of a write.
    let mut child = Command::new("sh");
    child.arg("-c").arg("trap '' XFSZ; ulimit -f 800; exec \"$@\"").arg("sh").arg(inner.get_program());
    child.args(inner.get_args()).envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = child.env("FULL_DISK", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let acks: Vec<Ack> = text.lines().filter_map(Ack::parse).collect();
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error ")).collect();
    assert!(acks.len() > 5, "{text}");
    assert!(errors.first().is_some_and(|error| error.contains("the log cannot write")), "{errors:?}");
    assert!(errors.iter().any(|error| error.contains("takes nothing since a write failed")), "{errors:?}");
    crash::check::check(folder.path(), &acks);
}
