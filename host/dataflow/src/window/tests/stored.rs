//! What is stored is what is there: a run that is cut between two rounds, written while it goes on, and restored into other
//! subtasks gives what the uncut run gives.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidegate_pipeline::{Accumulation, Dedup, Early, Late, WindowKind};
use tidegate_state::Changes;
use tidegate_types::stored::Stored;
use tidegate_types::{Millis, ProgressEntry, Value, ValueRef, Watermark, key_group, key_hash, subtask_of};

use super::bench::{Bench, Row, config, row, sliding, to, tumbling};
use crate::Account;
use crate::operator::Operator;
use crate::window::WindowConfig;

mod case;
mod cost;
mod golden;
mod hook;

use case::{Case, Round};

/// Entries by key: what a state backend keeps.
type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// The subtasks of an operator.
struct Machine {
    subtasks: Vec<Bench>,
    max_parallelism: u32,
    /// Panes by key, in order of emission.
    panes: BTreeMap<String, Vec<String>>,
    sides: Vec<String>,
}

impl Machine {
    fn new(case: &Case, subtasks: usize) -> Self {
        let subtasks: Vec<Bench> = (0..subtasks).map(|_| case.bench()).collect();
        Self { subtasks, max_parallelism: case.config.max_parallelism, panes: BTreeMap::new(), sides: Vec::new() }
    }

    fn owner(&self, encoded: &[u8]) -> usize {
        let group = key_group(key_hash(encoded), self.max_parallelism);
        subtask_of(group, self.max_parallelism, u32::try_from(self.subtasks.len()).unwrap())
    }

    fn round(&mut self, number: usize, round: &Round) {
        for subtask in 0..self.subtasks.len() {
            let own = |row: &&Row| self.owner(&encoded(row.key)) == subtask;
            let rows: Vec<Row> = round.rows.iter().filter(own).cloned().collect();
            let bench = &mut self.subtasks[subtask];
            bench.arrived = u64::try_from(number * 1_000).unwrap();
            bench.round(&rows, &round.entries);
            for pane in std::mem::take(&mut bench.panes) {
                let text = format!("{} {:?}", pane.text(), pane.info);
                self.panes.entry(pane.key).or_default().push(text);
            }
            for side in std::mem::take(&mut bench.sides) {
                let pane = side.pane.as_ref().map(|pane| (&pane.key, pane.window));
                self.sides.push(format!("{number} {:?} {} {} {pane:?}", side.kind, side.reason, side.detail));
            }
        }
    }

    fn account(&self) -> Account {
        let mut all = Account::default();
        self.subtasks.iter().for_each(|bench| all += bench.account);
        all
    }

    /// Keys, windows and identities kept.
    fn kept(&self) -> (usize, usize, usize) {
        let sizes = self.subtasks.iter().map(|bench| bench.operator.state());
        sizes.fold((0, 0, 0), |(keys, windows, identities), size| {
            (keys + size.keys, windows + size.windows, identities + size.identities)
        })
    }

    fn keep_changes(&mut self) {
        self.subtasks.iter_mut().for_each(|bench| bench.operator.keep_changes());
    }

    /// Freezes; the heads.
    fn freeze(&mut self) -> Vec<Vec<u8>> {
        let head = |bench: &mut Bench| {
            bench.operator.freeze();
            let mut head = Vec::new();
            bench.operator.head(&mut head);
            head
        };
        self.subtasks.iter_mut().map(head).collect()
    }

    /// Writes so many entries of each subtask. Returns whether all is written, and how many changes there were.
    fn write(&mut self, entries: usize, into: &mut Entries) -> (bool, usize) {
        let (mut all, mut count) = (true, 0);
        for bench in &mut self.subtasks {
            let mut changes = Changes::default();
            all &= bench.operator.write(entries, &mut changes);
            count += changes.len();
            for (key, value) in changes.iter() {
                match value {
                    Some(value) => into.insert(key.to_vec(), value.to_vec()),
                    None => into.remove(key),
                };
            }
        }
        (all, count)
    }

    fn write_all(&mut self, into: &mut Entries) -> usize {
        let (mut count, mut all) = (0, false);
        while !all {
            let (done, more) = self.write(7, into);
            (all, count) = (done, count + more);
        }
        count
    }

    /// Fresh subtasks with this state.
    fn restored(case: &Case, subtasks: usize, heads: &[Vec<u8>], entries: &Entries) -> Self {
        let mut machine = Self::new(case, subtasks);
        machine.keep_changes();
        let all = u32::try_from(subtasks).unwrap();
        for (place, bench) in machine.subtasks.iter_mut().enumerate() {
            for head in heads {
                let mut head = Stored::new(head);
                bench.operator.restore_head(&mut head).expect("a head");
                head.end().expect("all of it");
            }
            for (key, value) in entries {
                let (_, group, _) = tidegate_state::group_of(key).expect("a key");
                if subtask_of(group, case.config.max_parallelism, all) == place {
                    bench.operator.restore(key, value).expect("an entry");
                }
            }
            bench.operator.restored().expect("whole");
        }
        machine
    }
}

fn encoded(key: &str) -> Vec<u8> {
    let mut encoded = Vec::new();
    tidegate_types::key::encode_value(&mut encoded, ValueRef::Text(key));
    encoded
}

/// What came of a run: panes by key, sides in any order, the account.
type Ran = (BTreeMap<String, Vec<String>>, Vec<String>, Account);

fn ran(machines: Vec<Machine>) -> Ran {
    let mut all = Ran::default();
    for machine in machines {
        all.2 += machine.account();
        all.1.extend(machine.sides);
        for (key, panes) in machine.panes {
            all.0.entry(key).or_default().extend(panes);
        }
    }
    all.1.sort();
    all
}

/// Runs a case whole and cut, and compares.
fn check(case: &Case) -> Result<(), TestCaseError> {
    let mut whole = Machine::new(case, 1);
    let mut kept = Vec::new();
    for (number, round) in case.rounds.iter().enumerate() {
        kept.push(whole.kept());
        whole.round(number, round);
    }
    kept.push(whole.kept());
    let mut now = Machine::new(case, case.parallelism(0));
    now.keep_changes();
    let mut entries = Entries::new();
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, cut) in case.cuts.iter().enumerate() {
        for number in from..*cut {
            if case.freezes[number] {
                // A checkpoint that may be overtaken by the next before all of it is written.
                now.freeze();
                now.write(case.piece, &mut entries);
            }
            now.round(number, &case.rounds[number]);
        }
        prop_assert_eq!(now.kept(), kept[*cut], "before round {}", cut);
        let heads = now.freeze();
        // What is put out from here on is made again by the restored run.
        let (panes, sides) = (std::mem::take(&mut now.panes), std::mem::take(&mut now.sides));
        let accounts: Vec<Account> = now.subtasks.iter().map(|bench| bench.account).collect();
        let mut written = false;
        for number in *cut..(*cut + case.beyond).min(case.rounds.len()) {
            now.round(number, &case.rounds[number]);
            written = now.write(case.piece, &mut entries).0;
        }
        if !written {
            now.write_all(&mut entries);
        }
        (now.panes, now.sides) = (panes, sides);
        now.subtasks.iter_mut().zip(accounts).for_each(|(bench, account)| bench.account = account);
        parts.push(now);
        now = Machine::restored(case, case.parallelism(at + 1), &heads, &entries);
        prop_assert_eq!(now.kept(), kept[*cut], "restored before round {}", cut);
        let nothing = now.freeze();
        prop_assert_eq!(nothing.len(), now.subtasks.len());
        prop_assert_eq!(now.write_all(&mut Entries::new()), 0, "what was restored is stored and unchanged");
        from = *cut;
    }
    for number in from..case.rounds.len() {
        now.round(number, &case.rounds[number]);
    }
    prop_assert_eq!(Some(&now.kept()), kept.last());
    parts.push(now);
    prop_assert_eq!(ran(parts), ran(vec![whole]));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn a_run_that_is_cut_and_restored_gives_what_the_uncut_run_gives(seed in any::<u64>()) {
        let case = Case::of_seed(seed);
        check(&case).map_err(|error| TestCaseError::fail(format!("{}: {error}", case.kind)))?;
    }

    /// Entries and heads with bytes changed or cut off are refused, or make an operator that was never there: no panic.
    #[test]
    fn damaged_entries_never_panic(seed in any::<u64>(), flips in prop::collection::vec((any::<u64>(), 1u8..), 1..4)) {
        let case = Case::of_seed(seed);
        let mut machine = Machine::new(&case, 1);
        machine.keep_changes();
        let half = case.rounds.len() / 2;
        (0..half).for_each(|number| machine.round(number, &case.rounds[number]));
        let heads = machine.freeze();
        let mut entries = Entries::new();
        machine.write_all(&mut entries);
        let damaged = |bytes: &[u8], cut: bool| {
            let mut bytes = bytes.to_vec();
            for (place, mask) in flips.iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
                let place = usize::try_from(place % bytes.len() as u64).unwrap();
                if cut {
                    bytes.truncate(place.max(1));
                } else {
                    bytes[place] ^= mask;
                }
            }
            bytes
        };
        let mut fresh = case.bench();
        fresh.operator.restore_head(&mut Stored::new(&heads[0])).expect("a head");
        let _refused = case.bench().operator.restore_head(&mut Stored::new(&damaged(&heads[0], false)));
        for (at, (key, value)) in entries.iter().enumerate() {
            let (key, value) = match at % 4 {
                0 => (damaged(key, false), value.clone()),
                1 => (key.clone(), damaged(value, false)),
                2 => (key.clone(), damaged(value, true)),
                _ => (damaged(key, true), value.clone()),
            };
            if fresh.operator.restore(&key, &value).is_err() {
                // An operator is not used after an error.
                fresh = case.bench();
            }
        }
        let _fits = fresh.operator.restored();
    }
}

/// The random jobs do have what they are to try.
#[test]
fn random_jobs_have_entries_of_every_kind() {
    let mut kinds: BTreeMap<u8, usize> = BTreeMap::new();
    for seed in (1..400).map(|seed: u64| seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
        let case = Case::of_seed(seed);
        let mut machine = Machine::new(&case, 1);
        machine.keep_changes();
        let mut entries = Entries::new();
        for (number, round) in case.rounds.iter().enumerate() {
            machine.round(number, round);
            machine.freeze();
            machine.write_all(&mut entries);
            entries.keys().for_each(|key| *kinds.entry(key[0]).or_default() += 1);
        }
        let left: Vec<u8> = entries.keys().map(|key| key[0]).filter(|kind| *kind != 5).collect();
        assert_eq!((left.len(), machine.kept().1), (0, 0), "{}", case.kind);
    }
    assert_eq!(kinds.keys().copied().collect::<Vec<u8>>(), [1, 2, 3, 4, 5, 6, 7], "{kinds:?}");
    assert!(kinds.values().all(|count| *count > 20), "{kinds:?}");
}

/// How many changes each checkpoint has.
#[test]
fn a_checkpoint_has_what_changed_since_the_last() {
    let config =
        WindowConfig { dedup: Some(Dedup { field: "v".into(), horizon: Millis(100) }), ..config(tumbling(10)) };
    let case = Case::plain(config);
    let mut machine = Machine::new(&case, 2);
    machine.keep_changes();
    let mut entries = Entries::new();
    let at = |rows: Vec<Row>, entries: Vec<ProgressEntry>| Round { rows, entries };
    machine.round(0, &at(vec![row(0, "a", 1, 1), row(1, "b", 2, 2), row(2, "a", 12, 3)], vec![]));
    machine.freeze();
    assert_eq!((machine.write_all(&mut entries), entries.len()), (6, 6), "three windows and three identities");
    machine.round(1, &at(vec![row(0, "a", 3, 4)], vec![]));
    machine.freeze();
    assert_eq!((machine.write_all(&mut entries), entries.len()), (2, 7), "a window and an identity");
    machine.freeze();
    assert_eq!(machine.write_all(&mut entries), 0);
    machine.round(2, &at(vec![row(0, "c", 4, 5)], vec![to(1, 10)]));
    machine.freeze();
    assert_eq!(
        (machine.write_all(&mut entries), entries.len()),
        (3, 6),
        "two windows went; one came and went; an identity"
    );
    let heads = machine.freeze();
    let mut again = Machine::restored(&case, 3, &heads, &entries);
    again.round(3, &at(vec![row(0, "b", 14, 6)], vec![]));
    again.freeze();
    assert_eq!((again.write_all(&mut entries), entries.len()), (2, 8), "after a restore, too");
}

/// Without windows that went before, memory is what it was.
#[test]
fn memory_is_what_it_was_after_a_restore() {
    let mut kinds = vec![(tumbling(10), false), (sliding(20, 5), true), (sliding(20, 5), false)];
    kinds.push((WindowKind::Session { gap: Millis(1), max_duration: None }, false));
    for (kind, shares_panes) in kinds {
        let dedup = Some(Dedup { field: "v".into(), horizon: Millis(100) });
        let case = Case::plain(WindowConfig { shares_panes, dedup, ..config(kind) });
        let mut machine = Machine::new(&case, 1);
        machine.keep_changes();
        let keys = ["a", "b", "c", "d"];
        let rows: Vec<Row> =
            (0..60).map(|n: u32| row(n, keys[n as usize % 4], i64::from(n) * 3, i64::from(n))).collect();
        machine.round(0, &Round { rows, entries: Vec::new() });
        let heads = machine.freeze();
        let mut entries = Entries::new();
        machine.write_all(&mut entries);
        let restored = Machine::restored(&case, 1, &heads, &entries);
        assert_eq!(restored.subtasks[0].operator.state(), machine.subtasks[0].operator.state());
    }
}
