//! Random lives of a job: saves with faults at any call, starts with higher epochs, runs that do not know they are over.

use std::collections::BTreeMap;

use tidegate_checkpoint::{CheckpointError, CheckpointStore, ManifestId};

use crate::chance::{Chance, seeds};
use crate::job::{Content, Job};

const STEPS: u64 = 40;

struct Life {
    job: Job,
    chance: Chance,
    store: CheckpointStore,
    epoch: u64,
    next: u64,
    /// The content of every checkpoint that was tried.
    tried: BTreeMap<ManifestId, Content>,
    /// The last that was saved, and those since whose outcome is not known.
    saved: Option<ManifestId>,
    unknown: Vec<ManifestId>,
}

impl Life {
    fn new(seed: u64) -> Self {
        let job = Job::new(seed);
        let store = job.open(1).expect("nothing fails yet");
        let (tried, unknown) = (BTreeMap::new(), Vec::new());
        Self { job, chance: Chance::new(seed ^ 0xABCD), store, epoch: 1, next: 1, tried, saved: None, unknown }
    }

    fn save(&mut self) -> bool {
        self.job.work(&mut self.chance);
        let id = ManifestId { checkpoint: self.next, epoch: self.epoch };
        self.next += 1;
        let (new, content) = self.job.snapshot(id.checkpoint, &mut self.chance);
        self.tried.insert(id, content);
        match self.store.save(new) {
            Ok(kept) => {
                assert_eq!(kept.full_bytes, kept.transferred_bytes + kept.referenced_bytes);
                self.saved = Some(id);
                self.unknown.clear();
                true
            }
            Err(CheckpointError::Pointer { .. }) => {
                self.unknown.push(id);
                false
            }
            Err(CheckpointError::Store { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// A new start, as often as it takes. What it finds is what was saved last, or what may have been.
    fn start(&mut self, fault: u64) {
        self.job.faults.set(fault);
        let mut over = loop {
            self.epoch += 1;
            if let Ok(store) = self.job.open(self.epoch) {
                break std::mem::replace(&mut self.store, store);
            }
        };
        self.job.faults.set(0);
        let (new, _) = self.job.snapshot(self.next, &mut self.chance);
        assert!(matches!(over.save(new), Err(CheckpointError::Fenced { .. })), "a run whose time is over");
        self.whole();
        let latest = self.store.latest().expect("whole");
        let found = latest.as_ref().map(|manifest| manifest.id());
        assert!(found == self.saved || found.is_some_and(|id| self.unknown.contains(&id)), "{found:?}");
        let content = latest.as_ref().map(|manifest| {
            assert!(manifest.skipped.is_empty());
            let content = &self.tried[&manifest.id()];
            assert_eq!(self.job.fetched(&self.store, manifest, None), *content, "downloaded");
            let local = self.job.local();
            assert_eq!(self.job.fetched(&self.store, manifest, Some(&local)), *content, "linked where it is here");
            content.clone()
        });
        self.next = latest.map_or(1, |manifest| manifest.next_checkpoint());
        (self.saved, self.unknown) = (found, Vec::new());
        let linked = self.chance.one_in(2);
        self.job.restart(content.as_ref(), linked, &mut self.chance);
    }

    /// Nothing that is named is missing.
    fn whole(&self) {
        let there = self.job.objects();
        let missing: Vec<_> = self.job.named().into_iter().filter(|name| !there.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    /// Nothing is there that is not named.
    fn tidy(&self) {
        assert_eq!(self.job.objects(), self.job.named());
        assert!(self.job.pointers.peek().kept.len() <= 3);
    }
}

fn run(seed: u64) -> (u64, u64) {
    println!("seed {seed} (replay: SEED={seed})");
    let mut life = Life::new(seed);
    let mut failed = 0;
    for _ in 0..STEPS {
        let fault = [0, 10, 30][usize::try_from(life.chance.below(3)).expect("small")];
        if life.chance.one_in(5) {
            life.start(fault);
        } else {
            life.job.faults.set(fault);
            failed += u64::from(!life.save());
            life.job.faults.set(0);
            life.whole();
        }
    }
    life.start(0);
    // What the run before that one tried after its time is deleted at the next start.
    life.epoch += 1;
    life.store = life.job.open(life.epoch).expect("nothing fails any more");
    assert!(life.save(), "nothing fails any more");
    life.tidy();
    // What fails within a run is tidied up by that run.
    life.job.faults.set(8);
    for _ in 0..4 {
        failed += u64::from(!life.save());
    }
    life.job.faults.set(0);
    assert!(life.save(), "nothing fails any more");
    life.tidy();
    (failed, life.job.faults.dealt())
}

#[test]
fn whatever_fails_the_last_saved_checkpoint_is_there_whole_and_nothing_else_stays() {
    let (mut failed, mut dealt) = (0, 0);
    for seed in seeds(15) {
        let (of_saves, of_calls) = run(seed);
        (failed, dealt) = (failed + of_saves, dealt + of_calls);
    }
    println!("{failed} saves failed, {dealt} faults");
    assert!(dealt > 0 && failed > 0, "the faults are dealt");
}
