//! Random work on the backends of several subtasks and on a model, which have to agree: changes, snapshots, and restores of
//! any snapshot with any number of subtasks.

use std::ops::Range;
use std::path::Path;

use super::{Chance, Model, Subject, all, change, key, of_groups, share};
use crate::{Changes, SnapshotPart, StateBackend, StateBackends, group_of};

const STEPS: u32 = 60;
const GROUPS: u32 = 37;
const MOST_SUBTASKS: u32 = 5;
/// Different keys in a group.
const KEYS: u64 = 40;

/// Runs the work of a seed below `root`; the seed is printed, so that a failure can be replayed (`SEED=n`).
///
/// # Panics
/// If a backend does what the model does not.
pub fn random(backends: &dyn StateBackends, root: &Path, seed: u64) {
    println!("seed {seed} (replay: SEED={seed})");
    let subject = Subject { backends, root };
    let mut run =
        Run { subject, chance: Chance::of_seed(seed), running: Vec::new(), model: Model::new(), taken: Vec::new() };
    run.start(0, &[], Model::new());
    for step in 1..=STEPS {
        match run.chance.below(100) {
            0..55 => run.apply(),
            55..70 => run.read(),
            70..88 => run.snapshot(step),
            _ => run.restore(step),
        }
    }
    run.compare();
}

/// A subtask: its key groups and their entries.
type Subtask = (Range<u32>, Box<dyn StateBackend>);

struct Run<'a> {
    subject: Subject<'a>,
    chance: Chance,
    running: Vec<Subtask>,
    model: Model,
    /// Snapshots of all subtasks, and what was in them.
    taken: Vec<(Vec<SnapshotPart>, Model)>,
}

impl Run<'_> {
    fn key(&mut self) -> Vec<u8> {
        let namespace = [0, 3, 255][self.chance.place(3)];
        let group = self.chance.below32(GROUPS);
        let rest = self.chance.below(KEYS).to_be_bytes();
        key(namespace, group, &rest[7 - self.chance.place(2)..])
    }

    fn subtask(&self, key: &[u8]) -> usize {
        let group = group_of(key).expect("keys have groups").1.0;
        self.running.iter().position(|(groups, _)| groups.contains(&group)).expect("every group is somebody's")
    }

    fn apply(&mut self) {
        let mut changes: Vec<Changes> = self.running.iter().map(|_| Changes::default()).collect();
        for _ in 0..self.chance.below(300) {
            let key = self.key();
            let (len, byte) = (self.chance.place(200), self.chance.number().to_le_bytes()[0]);
            let value = (!self.chance.percent(25)).then(|| vec![byte; len]);
            change(&mut changes[self.subtask(&key)], &key, value.as_deref());
            match value {
                Some(value) => drop(self.model.insert(key, value)),
                None => drop(self.model.remove(&key)),
            }
        }
        for ((_, backend), changes) in self.running.iter().zip(&changes) {
            backend.apply(changes).expect("applied");
        }
    }

    fn read(&mut self) {
        for _ in 0..20 {
            let key = self.key();
            let got = self.running[self.subtask(&key)].1.get(&key).expect("read");
            assert_eq!(got.as_ref(), self.model.get(&key));
        }
        self.compare();
    }

    fn snapshot(&mut self, step: u32) {
        let mut parts = Vec::new();
        for (number, (groups, backend)) in self.running.iter().enumerate() {
            let name = format!("snapshot-{step}-{number}");
            parts.push(self.subject.snapshot(&**backend, &name, groups.clone()).0);
        }
        self.taken.push((parts, self.model.clone()));
    }

    /// Goes on from any snapshot, as a restored job does.
    fn restore(&mut self, step: u32) {
        if self.taken.is_empty() {
            return;
        }
        let place = self.chance.place(self.taken.len());
        let (mut parts, model) = self.taken[place].clone();
        if self.chance.percent(50) {
            parts.reverse();
        }
        self.start(step, &parts, model);
        self.compare();
    }

    fn start(&mut self, step: u32, parts: &[SnapshotPart], model: Model) {
        let as_before = self.chance.percent(40) && !parts.is_empty();
        let before = u32::try_from(parts.len()).expect("a few");
        let count = if as_before { before } else { 1 + self.chance.below32(MOST_SUBTASKS) };
        let reuse = self.chance.percent(50);
        self.running.clear();
        for number in 0..count {
            let groups = share(GROUPS, number, count);
            // A restored job may find the folders of the run before.
            let name = if reuse { format!("run-{number}") } else { format!("run-{step}-{number}") };
            self.running.push((groups.clone(), self.subject.restore(&name, parts, groups)));
        }
        self.model = model;
    }

    fn compare(&self) {
        for (groups, backend) in &self.running {
            assert!(all(&**backend) == of_groups(&self.model, groups), "groups {groups:?}");
        }
    }
}
