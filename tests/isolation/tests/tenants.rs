//! Limits of a tenant: fuel of a call, and memory over all of its instances. Two tenants with different limits run the same
//! component side by side.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_isolation::guest;
use tidegate_isolation::host::{fields, guest_failure, load, options, rows, sandbox};
use tidegate_isolation::mapper::{IDENTITY, process};
use tidegate_sandbox::{Component, MemoryTotal, OpenOptions};
use tidegate_types::hooks::{Call, HookError, MapHook};

const MIB: usize = 1024 * 1024;

fn open(component: &Component, call_fuel: Option<u64>, memory: Option<&Arc<MemoryTotal>>) -> Box<dyn MapHook> {
    let options = OpenOptions { call_fuel, memory: memory.cloned(), ..options() };
    component.open_mapper("null", &fields(), options).expect("the hook opens")
}

/// A map hook that spins so often for each call, and gives its rows back.
fn spinning(times: u32) -> Vec<u8> {
    let spin = format!(
        "(local.set $i (i32.const {times})) (loop $l (br_if $l (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))"
    );
    guest("with-mapper", &process(&format!("{spin} {IDENTITY}")))
}

/// A map hook that holds a MiB more after its first call.
fn growing() -> Vec<u8> {
    let grow = "(if (i32.lt_u (memory.size) (i32.const 16)) (then (drop (memory.grow (i32.const 16)))))";
    guest("with-mapper", &process(&format!("{grow} {IDENTITY}")))
}

#[test]
fn two_tenants_pay_with_their_own_fuel() {
    let component = load(&sandbox(), &spinning(500_000));
    let (mut rich, mut poor) = (open(&component, Some(20_000_000), None), open(&component, Some(1_000_000), None));
    assert_eq!((rich.fuel_budget(), poor.fuel_budget()), (20_000_000, 1_000_000));
    let used = rich.process(Call::USUAL, &rows(0, 5)).expect("it is enough").fuel_used;
    assert!(used > 1_000_000 && used < 20_000_000, "{used}");
    let failure = guest_failure(poor.process(Call::USUAL, &rows(0, 5)), "out-of-fuel");
    assert!(failure.detail.contains("its budget of 1000000 fuel") && failure.fuel_used == 1_000_000, "{failure}");
    // The rich one's answers and costs do not change beside it, and the poor one fails the same every time.
    assert_eq!(rich.process(Call::USUAL, &rows(0, 5)).expect("it is enough").fuel_used, used);
    assert_eq!(guest_failure(poor.process(Call::USUAL, &rows(0, 5)), "out-of-fuel"), failure);
}

#[test]
fn a_verdict_has_twice_the_tenants_own_fuel() {
    let component = load(&sandbox(), &spinning(500_000));
    let used = open(&component, None, None).process(Call::USUAL, &rows(0, 1)).expect("it is enough").fuel_used;
    // Between half of what it takes and all of it: a usual call fails, a verdict does not.
    let mut hook = open(&component, Some(used * 3 / 4), None);
    guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "out-of-fuel");
    guest_failure(hook.process(Call::HALF, &rows(0, 1)), "out-of-fuel");
    assert_eq!(hook.process(Call::VERDICT, &rows(0, 1)).expect("twice is enough").fuel_used, used);
}

#[test]
fn a_tenants_instances_count_together_and_another_tenants_do_not() {
    let sandbox = sandbox();
    let component = load(&sandbox, &growing());
    let (acme, other) = (MemoryTotal::new(2 * MIB), MemoryTotal::new(8 * MIB));
    let mut first = open(&component, None, Some(&acme));
    let mut second = open(&component, None, Some(&acme));
    let mut neighbour = open(&component, None, Some(&other));
    first.process(Call::USUAL, &rows(0, 5)).expect("one fits");
    let refused = second.process(Call::USUAL, &rows(0, 5));
    assert!(matches!(&refused, Err(HookError::Platform { detail }) if detail.contains("used up")), "{refused:?}");
    assert!(acme.was_exhausted() && !other.was_exhausted());
    neighbour.process(Call::USUAL, &rows(0, 5)).expect("the neighbour has its own");
    assert_eq!(sandbox.memory_used(), 0, "nothing counts against the sandbox's own total");
    // What the first gives back, the second may have.
    drop(first);
    second.process(Call::USUAL, &rows(0, 5)).expect("there is room again");
    drop((second, neighbour));
    assert_eq!((acme.used(), other.used()), (0, 0));
}

#[test]
fn a_job_that_is_to_end_makes_no_further_call() {
    let component = load(&sandbox(), &spinning(10));
    let stop = Arc::new(AtomicBool::new(false));
    let options = OpenOptions { stop: Some(Arc::clone(&stop)), ..options() };
    let mut hook = component.open_mapper("null", &fields(), options).expect("the hook opens");
    hook.process(Call::USUAL, &rows(0, 1)).expect("nobody stopped it yet");
    stop.store(true, Ordering::Relaxed);
    let refused = hook.process(Call::VERDICT, &rows(0, 1)).expect_err("it was stopped");
    assert!(matches!(&refused, HookError::Platform { detail } if detail.contains("being stopped")), "{refused}");
}
