//! Several threads: some read while one applies.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::{Case, Subject, all, change, key};
use crate::{Changes, StateBackend};

pub(super) const CASES: &[Case] = &[("readers see changes whole and in order", readers_see_changes_whole_and_in_order)];

const ENTRIES: u8 = 50;
const ROUNDS: u64 = 300;

fn readers_see_changes_whole_and_in_order(subject: Subject<'_>) {
    let backend = subject.create("a");
    write(&*backend, 0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..3).map(|_| scope.spawn(|| read_on(&*backend, &done))).collect();
        for round in 1..=ROUNDS {
            write(&*backend, round);
            let seen = backend.get(&key(0, 0, &[0])).expect("read").expect("it is there");
            assert_eq!(seen, round.to_be_bytes(), "what was applied is seen at once");
            if round % 60 == 0 {
                subject.snapshot(&*backend, &format!("snapshot-{round}"), 0..64);
            }
        }
        done.store(true, Ordering::Release);
        for reader in readers {
            reader.join().expect("a reader saw nothing wrong");
        }
    });
    assert_eq!(all(&*backend).len(), usize::from(ENTRIES));
}

/// Gives every entry one number.
fn write(backend: &dyn StateBackend, round: u64) {
    let mut changes = Changes::default();
    for entry in 0..ENTRIES {
        change(&mut changes, &key(0, entry.into(), &[entry]), Some(&round.to_be_bytes()));
    }
    backend.apply(&changes).expect("applied");
}

fn read_on(backend: &dyn StateBackend, done: &AtomicBool) {
    let mut least = 0;
    while !done.load(Ordering::Acquire) {
        let mut numbers = Vec::new();
        let scanned = backend.scan(&[], None, &mut |_, value| {
            numbers.push(u64::from_be_bytes(value.try_into().expect("a number")));
            ControlFlow::Continue(())
        });
        scanned.expect("read");
        assert_eq!(numbers.len(), usize::from(ENTRIES));
        assert!(numbers.iter().all(|number| *number == numbers[0]), "a scan shows one moment: {numbers:?}");
        assert!(numbers[0] >= least, "and never an earlier one than before");
        least = numbers[0];
    }
}
