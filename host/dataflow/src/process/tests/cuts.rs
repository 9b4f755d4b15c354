//! Processors that are cut, written while they go on, and restored with another parallelism: they give what they give uncut.
//!
//! `TIDEGATE_PROCESS_SEED=<seed>` repeats one seed; every failure prints its own.

use std::collections::BTreeMap;

use tidegate_state::Changes;
use tidegate_types::stored::Stored;

use super::super::ProcessOperator;
use super::bench::{Bench, Event, GROUPS, arrive, mark};
use super::hook::Scripted;
use super::random::{Random, events, ttls};
use super::script::{Op, Ttls, plan};
use crate::changed::cutting::{Cutter, Snapshot, Subtask};
use crate::operator::Operator;

const SEEDS: u64 = 300;

impl Subtask for ProcessOperator {
    fn of(&mut self) -> &mut dyn Operator {
        self
    }
}

fn bench(parallelism: i64, batch_rows: usize, ttls: Ttls) -> Bench {
    Bench::new(usize::try_from(parallelism).expect("few"), batch_rows, || Scripted::new(plan(ttls)))
}

/// What came out by then.
#[derive(Default)]
struct Then {
    next: usize,
    lines: usize,
    letters: usize,
    account: crate::Account,
}

fn then(bench: &Bench, next: usize) -> Then {
    Then { next, lines: bench.lines.len(), letters: bench.letters.len(), account: bench.account }
}

/// The entries, but that a list is in one piece, and without the instants at which expiries are looked at: both may differ.
fn normal(snapshot: &Snapshot) -> BTreeMap<Vec<u8>, (u64, Vec<u8>)> {
    let mut all: BTreeMap<Vec<u8>, (u64, Vec<u8>)> = BTreeMap::new();
    for (key, value) in &snapshot.entries {
        match key[0] {
            1 => {
                let mut stored = Stored::new(&value[1..]);
                let latest = if stored.bool().expect("written here") { stored.i64().expect("written here") } else { 0 };
                all.insert(key.clone(), (0, latest.to_be_bytes().to_vec()));
            }
            3 => {
                let mut stored = Stored::new(&value[1..]);
                let list = all.entry(key[..key.len() - 4].to_vec()).or_default();
                list.0 += stored.u64().expect("written here");
                list.1.extend_from_slice(stored.rest());
            }
            _ => drop(all.insert(key.clone(), (0, value.clone()))),
        }
    }
    all
}

fn whole(cutter: &mut Cutter, bench: &mut Bench, piece: usize) -> Snapshot {
    cutter.freeze(&mut bench.operators);
    let mut written = std::iter::from_fn(|| Some(cutter.write(&mut bench.operators, piece)));
    written.by_ref().take(100_000).flatten().next().expect("writing comes to an end")
}

fn check(seed: u64) -> usize {
    let mut random = Random(seed);
    let grain = if random.one_in(2) { 1 } else { 500 };
    let ttls = if random.one_in(4) { [None; 3] } else { ttls(&mut random, grain) };
    let mut events = events(&mut random, grain);
    if random.one_in(2) {
        events.push(Event::Move(1_000_000, 900_000));
    }
    let mut uncut = bench(1, 1_000, ttls);
    let mut uncut_cutter = Cutter::new(&mut uncut.operators);
    let batch_rows = [1, 2, 7, 1_000][usize::try_from(random.below(4)).expect("few")];
    let mut cut = bench(1 + random.below(3), batch_rows, ttls);
    let mut cutter = Cutter::new(&mut cut.operators);
    let (piece, most) = ([1, 2, 9, 1_000][usize::try_from(random.below(4)).expect("few")], 1 + random.below(12));
    uncut.round(&events);
    let (mut at, mut restores, mut frozen) = (0, 0, None);
    while at < events.len() {
        if random.one_in(3) {
            cutter.freeze(&mut cut.operators);
            frozen = Some(then(&cut, at));
        }
        let length = usize::try_from(1 + random.below(most)).expect("few").min(events.len() - at);
        cut.round(&events[at..at + length]);
        at += length;
        if frozen.is_none() {
            continue;
        }
        let Some(snapshot) = cutter.write(&mut cut.operators, piece) else { continue };
        let then = frozen.take().expect("it is there");
        if random.one_in(3) && restores < 10 {
            let mut fresh = bench(1 + random.below(4), batch_rows, ttls);
            cutter = snapshot.restore(GROUPS, &mut fresh.operators);
            cut.lines.truncate(then.lines);
            cut.letters.truncate(then.letters);
            (fresh.lines, fresh.letters, fresh.account) = (cut.lines, cut.letters, then.account);
            (cut, at, restores) = (fresh, then.next, restores + 1);
        }
    }
    for (row, (ours, due)) in cut.lines.iter().zip(&uncut.lines).enumerate() {
        assert_eq!(ours, due, "row {row}; seed {seed}");
    }
    assert_eq!(cut.lines.len(), uncut.lines.len(), "seed {seed}");
    cut.letters.sort();
    uncut.letters.sort();
    assert_eq!((&cut.letters, cut.account), (&uncut.letters, uncut.account), "seed {seed}");
    let sizes = |bench: &Bench| {
        let states = bench.operators.iter().map(|operator| operator.state());
        states.fold((0, 0), |sum, state| (sum.0 + state.keys, sum.1 + state.entries))
    };
    assert_eq!(sizes(&cut), sizes(&uncut), "seed {seed}");
    let (ours, due) = (whole(&mut cutter, &mut cut, piece), whole(&mut uncut_cutter, &mut uncut, 1_000));
    assert_eq!(normal(&ours), normal(&due), "seed {seed}: what is stored in the end");
    for operator in cut.operators.iter().filter(|operator| operator.state().keys == 0) {
        assert_eq!(operator.state().bytes, 0, "seed {seed}");
    }
    restores
}

#[test]
fn a_processor_that_is_cut_anywhere_gives_what_it_gives_uncut() {
    #[allow(clippy::disallowed_methods, reason = "a seed to repeat is given by hand")]
    let seed = std::env::var("TIDEGATE_PROCESS_SEED").ok();
    if let Some(seed) = seed {
        check(seed.parse().expect("a seed is a number"));
        return;
    }
    let restores: usize = (0..SEEDS).map(check).sum();
    assert!(restores > 500, "{restores} restores are too few to say anything");
}

#[test]
fn state_that_is_restored_drains_to_nothing() {
    let mut first = bench(2, 10, [Some(10); 3]);
    let mut cutter = Cutter::new(&mut first.operators);
    let ops = [Op::Sum, Op::Append, Op::Tag, Op::Remind];
    let rows: Vec<Event> = (0..400).map(|at| arrive(&format!("k{}", at / 4), ops[at % 4], 7, 0)).collect();
    first.round(&rows);
    let snapshot = whole(&mut cutter, &mut first, 50);
    assert_eq!(
        snapshot.entries.len(),
        500,
        "a head, a value, a piece of a list, an entry of a map, a timer of each key"
    );
    let mut second = bench(3, 10, [Some(10); 3]);
    let mut cutter = snapshot.restore(GROUPS, &mut second.operators);
    second.round(&[mark(1_000)]);
    assert!(second.operators.iter().all(|operator| operator.state() == crate::StateSize::default()));
    assert_eq!(whole(&mut cutter, &mut second, 50).entries.len(), 0);
}

#[test]
fn a_list_is_written_piece_by_piece() {
    let mut bench = bench(1, 1_000, [None; 3]);
    let mut cutter = Cutter::new(&mut bench.operators);
    let appends: Vec<Event> = (0..1_000).map(|_| arrive("a", Op::Append, 2, 0)).collect();
    let mut written = Vec::new();
    for _ in 0..5 {
        bench.round(&appends);
        bench.operators[0].freeze();
        let mut changes = Changes::default();
        assert!(bench.operators[0].write(1_000, &mut changes));
        written.push((changes.len(), changes.bytes()));
    }
    assert!(written.iter().all(|one| *one == written[0]), "an append writes no earlier rows: {written:?}");
    bench.round(&[arrive("a", Op::Clear, 0, 0)]);
    let _ = cutter.write(&mut bench.operators, 1);
    bench.operators[0].freeze();
    let mut changes = Changes::default();
    assert!(bench.operators[0].write(1_000, &mut changes));
    assert_eq!(changes.iter().filter(|(_, value)| value.is_none()).count(), 5, "a cleared list is deleted");
}

/// Keeping changes costs next to nothing while nothing is frozen. Run by hand: it prints the ratio.
#[test]
#[ignore = "measures"]
fn keeping_changes_costs_little() {
    let ops = [Op::Sum, Op::Append, Op::Tag, Op::Remind, Op::Clear];
    let rows: Vec<Event> = (0..2_000).map(|at| arrive(&format!("k{}", at % 97), ops[at % 5], 7, 0)).collect();
    let run = |keeps: bool| {
        let mut bench = bench(1, 1_000, [Some(1_000_000); 3]);
        if keeps {
            bench.operators[0].keep_changes();
        }
        #[allow(clippy::disallowed_methods, reason = "a ratio of times within one run")]
        let start = std::time::Instant::now();
        for _ in 0..5 {
            bench.round(&rows);
            bench.lines.clear();
        }
        start.elapsed()
    };
    let least = |keeps: bool| (0..9).map(|_| run(keeps)).min().expect("nine runs");
    let (off, on) = (least(false), least(true));
    let ratio = on.as_secs_f64() / off.as_secs_f64();
    println!("on against off: {ratio:.3}");
    assert!(ratio < 1.3, "{ratio}");
}

fn small() -> Snapshot {
    let mut bench = bench(1, 10, [Some(1_000); 3]);
    let mut cutter = Cutter::new(&mut bench.operators);
    let ops = [(Op::Sum, 300), (Op::Append, 2), (Op::Append, 3), (Op::Tag, 1), (Op::Remind, 50), (Op::Wall, 77)];
    bench.round(&ops.map(|(op, v)| arrive("a", op, v, 10)));
    bench.round(&[Event::Move(7, 5)]);
    whole(&mut cutter, &mut bench, 10)
}

#[test]
fn entries_of_an_earlier_release_are_read() {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let snapshot = small();
    let entries: Vec<(String, String)> = snapshot.entries.iter().map(|(key, value)| (hex(key), hex(value))).collect();
    let expected = GOLDEN.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(entries, expected);
    assert_eq!(hex(&snapshot.heads[0]), "010e0a", "version 1, watermark 7, clock 5");
}

/// The head, the value, the list, the entry of the map, two timers.
const GOLDEN: [(&str, &str); 6] = [
    ("01000c0440610001", "01011401e40f"),
    ("02000c044061000100", "01012c01000000000000"),
    ("03000c04406100010100000000", "0102030200000000000000040000006576656e010300000000000000"),
    ("04000c0440610001024074310001", "01010100000000000000"),
    ("05000c044061000100", "0178"),
    ("05000c044061000102", "019a01"),
];

#[test]
fn entries_that_are_cut_or_changed_are_refused_or_read_but_never_panic() {
    let snapshot = small();
    for seed in 0..5_000 {
        let mut random = Random(seed);
        let mut damage = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let at = usize::try_from(random.below(i64::try_from(bytes.len()).expect("few"))).expect("few");
            match random.below(6) {
                0 => bytes.truncate(at),
                1 => bytes[at] = u8::try_from(random.below(256)).expect("a byte"),
                _ => {}
            }
            bytes
        };
        let mut bench = bench(1, 10, [Some(1_000); 3]);
        let operator = &mut bench.operators[0];
        operator.keep_changes();
        let read = operator.restore_head(&mut Stored::new(&damage(&snapshot.heads[0])));
        let read = snapshot
            .entries
            .iter()
            .fold(read, |read, (key, value)| read.and_then(|()| operator.restore(&damage(key), &damage(value))));
        if read.and_then(|()| operator.restored()).is_ok() {
            bench.round(&[arrive("a", Op::Expand, 1, 20), Event::Move(100_000, 100)]);
            bench.operators[0].freeze();
            let mut changes = Changes::default();
            while !bench.operators[0].write(100, &mut changes) {}
        }
    }
}
