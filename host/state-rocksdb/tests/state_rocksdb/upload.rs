//! What checkpoints upload and keep: the bytes of new files, and of all files that the last three snapshots name.

use std::collections::{BTreeMap, VecDeque};
use std::fs;

use tidegate_state::{StateBackends, StateFile, contract};

use super::{backends, put};

/// Bytes of checkpoints as an object store would count them.
#[derive(Default)]
struct Store {
    kept: VecDeque<Vec<StateFile>>,
}

/// What one checkpoint cost.
struct Cost {
    new: u64,
    full: u64,
    stored: u64,
}

impl Store {
    fn add(&mut self, files: Vec<StateFile>) -> Cost {
        let known: BTreeMap<String, u64> = self.shared();
        let is_new = |file: &&StateFile| !(file.shared && known.contains_key(&file.name));
        let new = files.iter().filter(is_new).map(|file| file.bytes).sum();
        let full = files.iter().map(|file| file.bytes).sum();
        self.kept.push_back(files);
        if self.kept.len() > 3 {
            self.kept.pop_front();
        }
        let own: u64 = self.kept.iter().flatten().filter(|file| !file.shared).map(|file| file.bytes).sum();
        Cost { new, full, stored: own + self.shared().values().sum::<u64>() }
    }

    fn shared(&self) -> BTreeMap<String, u64> {
        let shared = self.kept.iter().flatten().filter(|file| file.shared);
        shared.map(|file| (file.name.clone(), file.bytes)).collect()
    }
}

/// Checkpoints of a state of constant size, in which one key in a hundred changes between two.
fn run(keys: u64, checkpoints: u32) -> Vec<Cost> {
    let root = tempfile::tempdir().unwrap();
    let backend = backends().create(&root.path().join("a")).unwrap();
    let mut chance = contract::Chance::of_seed(keys);
    let mut entry = |number: u64| {
        // A hash, as keys of a stream have one; half of the value is compressible.
        let hash = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let group = u32::try_from(hash >> 54).unwrap();
        let value: Vec<u8> = (0..5).flat_map(|_| chance.number().to_le_bytes()).chain([7; 37]).collect();
        (contract::key(1, group, &[hash.to_be_bytes(), number.to_be_bytes()].concat()), value)
    };
    put(&*backend, (0..keys).map(&mut entry));
    let mut store = Store::default();
    store.add(backend.snapshot(&root.path().join("first")).unwrap());
    let mut chosen = contract::Chance::of_seed(1);
    let mut costs = Vec::new();
    for _ in 0..checkpoints {
        put(&*backend, (0..keys / 100).map(|_| entry(chosen.below(keys))));
        let folder = root.path().join("snapshot");
        costs.push(store.add(backend.snapshot(&folder).unwrap()));
        fs::remove_dir_all(&folder).unwrap();
    }
    costs
}

fn percent(cost: &Cost) -> f64 {
    f64::from(u32::try_from(cost.new * 10_000 / cost.full).unwrap()) / 100.0
}

#[test]
fn a_checkpoint_after_few_changes_uploads_little() {
    let mut parts: Vec<f64> = run(200_000, 50).iter().map(percent).collect();
    parts.sort_by(f64::total_cmp);
    let (median, mean) = (parts[25], parts.iter().sum::<f64>() / 50.0);
    println!("of all bytes, 50 checkpoints with 1 % changed upload: median {median} %, mean {mean:.1} %, {parts:?}");
    assert!(median <= 5.0 && mean <= 20.0, "median {median} %, mean {mean:.1} %");
}

#[test]
fn stored_bytes_do_not_grow() {
    let costs = run(20_000, 1000);
    let most = |costs: &[Cost]| costs.iter().map(|cost| cost.stored).max().unwrap();
    let (first, last) = (most(&costs[..100]), most(&costs[500..]));
    println!("most bytes stored: {first} in the first 100 of 1000 checkpoints, {last} in the last 500");
    assert!(last * 10 <= first * 12, "{first} in the first 100, {last} in the last 500");
}
