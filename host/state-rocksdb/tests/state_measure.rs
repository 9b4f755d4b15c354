//! What checkpoints and restores of a large state cost, as a table. `tests/bench/state.sh` runs it; `docs/benchmarks.md` has
//! what came out. The environment changes the run: `ENTRIES`, `CHECKPOINTS`, `EVERY_MS` and `FOLDER` (the disk).

#![allow(clippy::unwrap_used, reason = "a measurement ends by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tidegate_state::contract::{Chance, change, key};
use tidegate_state::{Changes, SnapshotPart, StateBackend, StateBackends, StateFile};
use tidegate_state_rocksdb::{RocksBackends, RocksOptions};

const GROUPS: u32 = 1024;
/// Entries that an operator hands over at a time.
const STEP: u64 = 10_000;
/// Bytes of a value: with its key, of 19 bytes, an entry has 200. Half of them are random.
const VALUE: usize = 181;

#[expect(clippy::disallowed_methods, reason = "a measurement is told its size by the environment")]
fn told(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

#[expect(clippy::disallowed_methods, reason = "this measures time")]
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}

/// A subtask of two: one half of the groups.
struct Subtask {
    name: String,
    groups: Range<u32>,
    backend: Box<dyn StateBackend>,
    last: Vec<StateFile>,
}

/// The entry of a number, with a new value.
fn entry(number: u64, chance: &mut Chance) -> (Vec<u8>, [u8; VALUE]) {
    let hash = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let group = u32::try_from(hash >> 54).unwrap();
    let mut value = [0; VALUE];
    for place in (0..VALUE / 2).step_by(8) {
        value[place..place + 8].copy_from_slice(&chance.number().to_le_bytes());
    }
    (key(1, group, &[hash.to_be_bytes(), number.to_be_bytes()].concat()), value)
}

/// Applies entries of these numbers to the subtasks that have their groups.
fn apply(subtasks: &[Subtask], numbers: impl Iterator<Item = u64>, chance: &mut Chance) {
    let mut changes = [Changes::default(), Changes::default()];
    let hand_over = |changes: &mut [Changes; 2]| {
        for (subtask, changes) in subtasks.iter().zip(changes) {
            subtask.backend.apply(&std::mem::take(changes)).unwrap();
        }
    };
    for (count, number) in (1..).zip(numbers) {
        let (key, value) = entry(number, chance);
        // The first bit of a group says whose it is.
        change(&mut changes[usize::from(key[1] >> 1)], &key, Some(&value));
        if count % STEP == 0 {
            hand_over(&mut changes);
        }
    }
    hand_over(&mut changes);
}

/// What a checkpoint of all subtasks cost.
struct Cost {
    snapshot: Duration,
    new: u64,
    full: u64,
}

fn checkpoint(root: &Path, subtasks: &mut [Subtask], number: u64) -> Cost {
    let mut cost = Cost { snapshot: Duration::ZERO, new: 0, full: 0 };
    for subtask in subtasks {
        let folder = root.join(format!("chk-{number}-{}", subtask.name));
        let (took, files) = timed(|| subtask.backend.snapshot(&folder).unwrap());
        let known: BTreeMap<&str, u64> = subtask.last.iter().map(|file| (file.name.as_str(), file.bytes)).collect();
        let new = files.iter().filter(|file| !(file.shared && known.contains_key(file.name.as_str())));
        cost.snapshot += took;
        cost.new += new.map(|file| file.bytes).sum::<u64>();
        cost.full += files.iter().map(|file| file.bytes).sum::<u64>();
        subtask.last = files;
        if number > 0 {
            let before = root.join(format!("chk-{}-{}", number - 1, subtask.name));
            fs::remove_dir_all(before).unwrap();
        }
    }
    cost
}

/// Reads every entry of a backend, as an operator that is restored does.
fn read(backend: &dyn StateBackend) -> u64 {
    let mut entries = 0;
    let scanned = backend.scan(&[], None, &mut |key, value| {
        black_box((key, value));
        entries += 1;
        ControlFlow::Continue(())
    });
    scanned.unwrap();
    entries
}

/// Restores to so many subtasks: the time until all are open, that of reading all entries, and how many those are.
fn restore(backends: &RocksBackends, root: &Path, parts: &[SnapshotPart], count: u32) -> (Duration, Duration, u64) {
    let (mut open, mut scan, mut entries) = (Duration::ZERO, Duration::ZERO, 0);
    for number in 0..count {
        let groups = GROUPS * number / count..GROUPS * (number + 1) / count;
        let same: Vec<_> = parts.iter().filter(|part| part.groups == groups).cloned().collect();
        let parts = if same.is_empty() { parts } else { &same };
        let folder = root.join(format!("restored-{number}"));
        let (took, backend) = timed(|| backends.restore(&folder, parts, groups).unwrap());
        open += took;
        let (took, read) = timed(|| read(&*backend));
        scan += took;
        entries += read;
    }
    (open, scan, entries)
}

/// Copies the snapshots' folders, as `cp -r` does it; and then makes the copies durable.
fn copy(root: &Path, parts: &[SnapshotPart]) -> [Duration; 2] {
    let to = root.join("copy");
    fs::create_dir(&to).unwrap();
    let folders = || parts.iter().map(|part| &part.folder);
    let (copied, ()) = timed(|| {
        assert!(Command::new("cp").arg("-r").args(folders()).arg(&to).status().unwrap().success());
    });
    let (synced, ()) = timed(|| {
        for folder in folders() {
            for file in fs::read_dir(to.join(folder.file_name().unwrap())).unwrap() {
                fs::File::open(file.unwrap().path()).unwrap().sync_all().unwrap();
            }
        }
    });
    fs::remove_dir_all(&to).unwrap();
    [copied, copied + synced]
}

fn median<T: Copy + PartialOrd>(list: impl Iterator<Item = T>) -> T {
    let mut list: Vec<T> = list.collect();
    list.sort_by(|a, b| a.partial_cmp(b).unwrap());
    list[list.len() / 2]
}

fn row(what: &str, value: impl std::fmt::Display) {
    println!("| {what} | {value} |");
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

/// `part` in hundredths of a per cent of `whole`, as per cent.
fn percent(part: u64, whole: u64) -> f64 {
    f64::from(u32::try_from(part * 10_000 / whole).unwrap()) / 100.0
}

#[test]
#[ignore = "a measurement: tests/bench/state.sh"]
#[expect(clippy::disallowed_methods, reason = "the environment names the disk")]
fn measure() {
    let folder = match std::env::var_os("FOLDER") {
        Some(place) => tempfile::tempdir_in(place),
        None => tempfile::tempdir(),
    };
    let folder = folder.unwrap();
    let root = folder.path();
    let (entries, checkpoints) = (told("ENTRIES", 5_000_000), told("CHECKPOINTS", 50));
    println!("\n| {entries} entries of 200 bytes, 2 subtasks | |\n|---|---|");
    let backends = RocksBackends::new(&RocksOptions::default());
    // First: what others leave to be used again would hide what these take.
    idle(&backends, root);
    let parts = checkpointed(&backends, root, entries, checkpoints);
    restored(&backends, root, &parts, entries);
}

/// Resident memory of this process, bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
}

/// Many small subtasks at once, each with a snapshot.
fn idle(backends: &RocksBackends, root: &Path) {
    const COUNT: u32 = 200;
    let before = resident();
    let mut chance = Chance::of_seed(3);
    let (took, small) = timed(|| {
        let one = |number: u32| {
            let backend = backends.create(&root.join(format!("small-{number}"))).unwrap();
            let mut changes = Changes::default();
            for number in 0..100 {
                let (key, value) = entry(number, &mut chance);
                change(&mut changes, &key, Some(&value));
            }
            backend.apply(&changes).unwrap();
            backend.snapshot(&root.join(format!("small-chk-{number}"))).unwrap();
            backend
        };
        (0..COUNT).map(one).collect::<Vec<_>>()
    });
    row("a database of 100 entries: made and snapshotted", seconds(took / COUNT));
    let each = resident().saturating_sub(before) / u64::from(COUNT) / 1024;
    row("a database of 100 entries: memory", format!("{each} KiB"));
    drop(small);
}

/// Fills the subtasks, takes the checkpoints, and gives the last.
fn checkpointed(backends: &RocksBackends, root: &Path, entries: u64, checkpoints: u64) -> Vec<SnapshotPart> {
    let subtask = |number: u32| {
        let name = number.to_string();
        let groups = GROUPS / 2 * number..GROUPS / 2 * (number + 1);
        let backend = backends.create(&root.join(format!("state-{name}"))).unwrap();
        Subtask { name, groups, backend, last: Vec::new() }
    };
    let mut subtasks = [subtask(0), subtask(1)];
    let mut chance = Chance::of_seed(1);
    let (filled, ()) = timed(|| apply(&subtasks, 0..entries, &mut chance));
    let full = checkpoint(root, &mut subtasks, 0);
    row("first checkpoint: applying", seconds(filled));
    row("first checkpoint: snapshot", seconds(full.snapshot));

    let mut chosen = Chance::of_seed(2);
    let mut costs = Vec::new();
    // Time for merging, as between two checkpoints. Nothing is ever sent.
    let (_nobody, pause) = channel::<()>();
    for number in 1..=checkpoints {
        let numbers = (0..entries / 100).map(|_| chosen.below(entries));
        let (applied, ()) = timed(|| apply(&subtasks, numbers, &mut chance));
        costs.push((applied, checkpoint(root, &mut subtasks, number)));
        let _ = pause.recv_timeout(Duration::from_millis(told("EVERY_MS", 2000)));
    }
    let parts: Vec<f64> = costs.iter().map(|(_, cost)| percent(cost.new, cost.full)).collect();
    row("1 % changed: applying, median", seconds(median(costs.iter().map(|(applied, _)| *applied))));
    row("1 % changed: snapshot, median", seconds(median(costs.iter().map(|(_, cost)| cost.snapshot))));
    row("1 % changed: snapshot, longest", seconds(costs.iter().map(|(_, cost)| cost.snapshot).max().unwrap()));
    let count = f64::from(u32::try_from(checkpoints).unwrap());
    let (median, mean) = (median(parts.iter().copied()), parts.iter().sum::<f64>() / count);
    row("1 % changed: new bytes of all, median", format!("{median} %"));
    row("1 % changed: new bytes of all, mean", format!("{mean:.1} %"));
    let last = costs.last().expect("there is a checkpoint at least").1.full;
    row("bytes of an entry on disk, after the last", percent(last, entries * 100));
    let part = |subtask: &Subtask| SnapshotPart {
        folder: root.join(format!("chk-{checkpoints}-{}", subtask.name)),
        groups: subtask.groups.clone(),
    };
    subtasks.iter().map(part).collect()
}

/// Three times each, in turn, so that all find the same machine.
fn restored(backends: &RocksBackends, root: &Path, parts: &[SnapshotPart], entries: u64) {
    let mut rounds = Vec::new();
    for _ in 0..3 {
        let [copied, synced] = copy(root, parts);
        let (open, scan, read) = restore(backends, root, parts, 2);
        let (other_open, other_scan, other_read) = restore(backends, root, parts, 3);
        assert!(read == entries && other_read == entries, "every entry is restored");
        rounds.push([copied, synced, open, scan, other_open, other_scan]);
    }
    let of = |place: usize| median(rounds.iter().map(|round| round[place]));
    let to_copy = |time: Duration| format!("{} ({:.2})", seconds(time), time.as_secs_f64() / of(0).as_secs_f64());
    row("`cp -r` of the snapshots, to memory (beside each: times this)", to_copy(of(0)));
    row("the same, to the disk", to_copy(of(1)));
    row("restore to 2 subtasks: open", to_copy(of(2)));
    row("restore to 2 subtasks: read all entries", to_copy(of(3)));
    row("restore to 3 subtasks: open", to_copy(of(4)));
    row("restore to 3 subtasks: read all entries", to_copy(of(5)));
}
