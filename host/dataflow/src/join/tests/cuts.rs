//! Joins that are cut, written while they go on, and restored with another parallelism: they give what they give uncut.
//!
//! Every seed can be run again by itself: `one(seed)`.

use std::collections::BTreeMap;

use tidegate_pipeline::{Join, Matching};
use tidegate_state::Changes;
use tidegate_types::{Value, key_group, key_hash, subtask_of};

use super::bench::{END, Event, GROUPS, Out, Ran, Row, interval, left, new_ran, operator, right, round, windows};
use super::random::{Chance, a_join, cuts, script, some_events};
use super::script::{Pair, Said, Script};
use crate::changed::cutting::{Cutter, Snapshot};
use crate::operator::Operator;
use crate::{Account, StateSize};

fn owner(row: &Row, parallelism: usize) -> usize {
    let mut encoded = Vec::new();
    tidegate_types::key::encode_value(&mut encoded, row.key.as_ref());
    let group = key_group(key_hash(&encoded), GROUPS);
    subtask_of(group, GROUPS, u32::try_from(parallelism).expect("few"))
}

/// The events as a subtask sees them.
fn share(events: &[Event], subtask: usize, parallelism: usize) -> Vec<Event> {
    let own = |rows: &[Row]| rows.iter().filter(|row| owner(row, parallelism) == subtask).cloned().collect();
    let of = |event: &Event| match event {
        Event::Row(row) => Event::Together(own(std::slice::from_ref(row)), None),
        Event::Together(rows, moved) => Event::Together(own(rows), *moved),
        Event::Watermark(moved) => Event::Watermark(*moved),
    };
    events.iter().map(of).collect()
}

/// What came out of all subtasks, so that it can be compared.
#[derive(Debug, Clone, PartialEq, Default)]
struct Result {
    by_key: BTreeMap<Vec<u8>, Vec<Out>>,
    sides: BTreeMap<String, usize>,
    account: Account,
    /// After each round: keys, rows and bytes.
    states: Vec<(usize, usize, u64)>,
}

impl Result {
    fn add(&mut self, rounds: Vec<Ran>) {
        let mut state = (0, 0, 0);
        for ran in rounds {
            self.account += ran.account;
            ran.outs.into_iter().for_each(|out| self.by_key.entry(out.key.clone()).or_default().push(out));
            ran.sides.iter().for_each(|side| *self.sides.entry(format!("{side:?}")).or_default() += 1);
            let StateSize { keys, join_rows, bytes, .. } = *ran.states.last().expect("there was a round");
            state = (state.0 + keys, state.1 + join_rows, state.2 + bytes);
        }
        self.states.push(state);
    }
}

type Operators = Vec<Box<dyn Operator>>;

struct Cut<'a> {
    join: &'a Join,
    script: Option<&'a Script>,
    operators: Operators,
    cutter: Cutter,
    result: Result,
    /// Where the frozen state stands: the next round, and the result so far.
    frozen: Option<(usize, Result)>,
}

impl Cut<'_> {
    fn opened(join: &Join, script: Option<&Script>, parallelism: i64) -> Operators {
        (0..parallelism).map(|_| operator(join, script)).collect()
    }

    fn round(&mut self, events: &[Event], first: usize) {
        let parallelism = self.operators.len();
        let rounds = self.operators.iter_mut().enumerate().map(|(subtask, operator)| {
            let mut ran = new_ran();
            round(operator.as_mut(), &share(events, subtask, parallelism), first, &mut ran);
            ran
        });
        let rounds = rounds.collect();
        self.result.add(rounds);
    }

    /// Goes on from a checkpoint, in other operators. Returns the next round.
    fn restore(&mut self, snapshot: &Snapshot, parallelism: i64) -> usize {
        let (next, result) = self.frozen.take().expect("what was written was frozen");
        self.operators = Self::opened(self.join, self.script, parallelism);
        self.cutter = snapshot.restore(GROUPS, &mut self.operators);
        self.result = result;
        next
    }
}

fn one(seed: u64) -> usize {
    let chance = &mut Chance(seed);
    let (join, events) = (a_join(chance), some_events(chance));
    let lengths = cuts(chance, events.len());
    let firsts: Vec<usize> =
        lengths.iter().scan(0, |next, length| Some(std::mem::replace(next, *next + length))).collect();
    let script = (chance.between(0, 1) == 0).then(|| script(chance));
    let start = |parallelism: i64| {
        let mut operators = Cut::opened(&join, script.as_ref(), parallelism);
        let cutter = Cutter::new(&mut operators);
        Cut { join: &join, script: script.as_ref(), operators, cutter, result: Result::default(), frozen: None }
    };
    let mut uncut = start(1);
    for (first, length) in firsts.iter().zip(&lengths) {
        uncut.round(&events[*first..first + length], *first);
    }
    let mut cut = start(chance.between(1, 3));
    let (mut at, mut restores, piece) = (0, 0, chance.of(&[1, 2, 5, 1000]));
    while at < lengths.len() {
        if chance.between(0, 3) == 0 {
            cut.cutter.freeze(&mut cut.operators);
            cut.frozen = Some((at, cut.result.clone()));
        }
        cut.round(&events[firsts[at]..firsts[at] + lengths[at]], firsts[at]);
        at += 1;
        if cut.frozen.is_some()
            && let Some(snapshot) = cut.cutter.write(&mut cut.operators, piece)
        {
            if chance.between(0, 2) == 0 && restores < 10 {
                at = cut.restore(&snapshot, chance.between(1, 4));
                restores += 1;
            } else {
                cut.frozen = None;
            }
        }
    }
    assert_eq!(cut.result, uncut.result, "seed {seed}: {join:?}\n{events:#?}\nin {lengths:?}");
    cut.cutter.freeze(&mut cut.operators);
    let last = std::iter::from_fn(|| Some(cut.cutter.write(&mut cut.operators, piece))).flatten().next();
    let last = last.expect("writing comes to an end");
    let rows = uncut.result.states.last().expect("there was a round").1;
    assert_eq!(last.entries.len(), rows, "seed {seed}: one entry for each kept row, none for others");
    if events.last() == Some(&END) {
        assert_eq!(uncut.result.states.last(), Some(&(0, 0, 0)), "seed {seed}: state is left");
    }
    restores
}

#[test]
fn a_join_that_is_cut_anywhere_gives_what_it_gives_uncut() {
    let restores: usize = (0..1500).map(one).sum();
    assert!(restores > 1000, "{restores} restores are too few to say anything");
}

/// Keeping changes costs next to nothing while nothing is frozen. Run by hand: it prints the ratio.
#[test]
#[ignore = "measures"]
fn keeping_changes_costs_little() {
    let join = interval(-3, 3, Matching::Full);
    let row = |at: i64| if at % 2 == 0 { left(at % 97, at / 10, at) } else { right(at % 89, at / 10, at) };
    let rounds: Vec<Vec<Event>> = (0..10)
        .map(|round| (0..2_000).map(|at| row(round * 2_000 + at)).chain([Event::Watermark(round * 200)]).collect())
        .collect();
    let run = |keeps: bool| {
        let mut operator = operator(&join, None);
        if keeps {
            operator.keep_changes();
        }
        #[allow(clippy::disallowed_methods, reason = "a ratio of times within one run")]
        let start = std::time::Instant::now();
        rounds.iter().for_each(|events| round(operator.as_mut(), events, 0, &mut new_ran()));
        start.elapsed()
    };
    let least = |keeps: bool| (0..9).map(|_| run(keeps)).min().expect("nine runs");
    let (off, on) = (least(false), least(true));
    let ratio = on.as_secs_f64() / off.as_secs_f64();
    println!("on against off: {ratio:.3}");
    assert!(ratio < 1.3, "{ratio}");
}

fn checkpoint(join: &Join, script: Option<&Script>, events: &[Event]) -> Snapshot {
    let mut operators = Cut::opened(join, script, 1);
    let mut cutter = Cutter::new(&mut operators);
    round(operators[0].as_mut(), events, 0, &mut new_ran());
    cutter.freeze(&mut operators);
    cutter.write(&mut operators, 1000).expect("few rows")
}

#[test]
fn kept_rows_of_an_earlier_release_are_read() {
    let script = Script::new(|_: Pair| Said::Rows(vec![]));
    let events = [left("a", 10, 7), right("a", 12, Value::Null), right("b", 11, 300)];
    let snapshot = checkpoint(&interval(0, 5, Matching::Left), Some(&script), &events);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let entries: Vec<(String, String)> = snapshot.entries.iter().map(|(key, value)| (hex(key), hex(value))).collect();
    let expected = GOLDEN.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(entries, expected);
    assert_eq!(hex(&snapshot.heads[0]), GOLDEN_HEAD);
}

/// Version 1, no watermark, no clock, three arrivals.
const GOLDEN_HEAD: &str = "01ffffffffffffffffff01ffffffffffffffffff0103";
const GOLDEN: [(&str, &str); 3] = [
    ("01000c0440610001800000000000000a0000000000000001", "010701030e05046c656674000c6c65667420536f6d65283729"),
    ("0200050440620001800000000000000b0000000000000003", "01000103d804"),
    ("02000c0440610001800000000000000c0000000000000002", "01010100"),
];

#[test]
fn entries_that_are_cut_or_changed_are_refused_or_read_but_never_panic() {
    let script = Script::new(|_: Pair| Said::Rows(vec![]));
    let events = [left("a", 10, 7), right("a", 12, Value::Null), right("b", 11, 300), left(Value::Null, 8, 9)];
    for join in [interval(0, 5, Matching::Full), windows(10, 5, 3)] {
        let snapshot = checkpoint(&join, Some(&script), &events);
        for seed in 0..3_000 {
            let chance = &mut Chance(seed);
            let mut operator = operator(&join, Some(&script));
            operator.keep_changes();
            let mut damage = |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                let at = usize::try_from(chance.between(0, i64::try_from(bytes.len()).expect("few") - 1)).expect("few");
                match chance.between(0, 3) {
                    0 => bytes.truncate(at),
                    1 => bytes[at] = u8::try_from(chance.between(0, 255)).expect("a byte"),
                    _ => {}
                }
                bytes
            };
            let read = operator.restore_head(&mut tidegate_types::stored::Stored::new(&damage(&snapshot.heads[0])));
            let read = snapshot
                .entries
                .iter()
                .fold(read, |read, (key, value)| read.and_then(|()| operator.restore(&damage(key), &damage(value))));
            if read.and_then(|()| operator.restored()).is_ok() {
                round(operator.as_mut(), &[right("a", 13, 1), END], 0, &mut new_ran());
                operator.freeze();
                assert!(operator.write(1000, &mut Changes::default()));
            }
        }
    }
}
