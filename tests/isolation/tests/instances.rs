//! Rows 21, 22, 30 and 36, and what a call on a hook promises: nothing of one instance is left in another, nothing of a failed
//! call is left at all, and the same call gives the same answer.

use tidegate_isolation::guest;
use tidegate_isolation::host::{fields, guest_failure, load, mapper, options, rows, sandbox, sandbox_with, values};
use tidegate_isolation::mapper::{IDENTITY, identity, process};
use tidegate_sandbox::OpenOptions;
use tidegate_types::hooks::{Call, MapHook};

/// A `process` that counts its calls in memory and traps from the third on.
const COUNTS: &str = "
    (i32.store (i32.const 5000) (i32.add (i32.load (i32.const 5000)) (i32.const 1)))
    (if (i32.gt_u (i32.load (i32.const 5000)) (i32.const 2)) (then unreachable))";

#[test]
fn an_instance_is_kept_between_calls_unless_a_fresh_one_is_asked_for() {
    let sandbox = sandbox();
    let bytes = guest("with-mapper", &process(&format!("{COUNTS} {IDENTITY}")));
    let mut hook = mapper(&sandbox, &bytes);
    hook.process(Call::USUAL, &rows(0, 1)).expect("the first call");
    hook.process(Call::USUAL, &rows(0, 1)).expect("the second call");
    guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "trap");
    // After a failure the next call has a fresh instance without being asked.
    hook.process(Call::USUAL, &rows(0, 1)).expect("the first call of another instance");
    for _ in 0..5 {
        hook.process(Call::HALF, &rows(0, 1)).expect("every call is a first one");
    }
    let options = OpenOptions { fresh_instances: true, ..options() };
    let mut hook = load(&sandbox, &bytes).open_mapper("null", &fields(), options).expect("the hook opens");
    for _ in 0..5 {
        hook.process(Call::USUAL, &rows(0, 1)).expect("every call is a first one");
    }
}

/// Fills all memory that it can get, its table and its global with a secret.
const HIDE: &str = "
    (drop (memory.grow (i32.const 64)))
    (memory.fill (global.get $top) (i32.const 0x5a) (i32.sub (i32.mul (memory.size) (i32.const 65536)) (global.get $top)))
    (drop (table.grow $t (ref.func $f) (i32.const 1000)))
    (table.fill $t (i32.const 0) (ref.func $f) (table.size $t))
    (global.set $g (i64.const 0x5a5a5a5a5a5a5a5a))";

/// Traps if anything of that is there, or in memory and table that are grown.
const SEEK: &str = "
    (if (i64.ne (global.get $g) (i64.const 0)) (then unreachable))
    (if (i32.ne (table.size $t) (i32.const 1)) (then unreachable))
    (drop (table.grow $t (ref.null func) (i32.const 1000)))
    (loop $more
      (if (i32.eqz (ref.is_null (table.get $t (local.get $i)))) (then unreachable))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $i) (i32.const 1001))))
    (drop (memory.grow (i32.const 64)))
    (local.set $i (i32.add (global.get $top) (i32.const 8)))
    (local.set $i (i32.and (local.get $i) (i32.const -8)))
    (loop $more
      (if (i64.ne (i64.load (local.get $i)) (i64.const 0)) (then unreachable))
      (local.set $i (i32.add (local.get $i) (i32.const 8)))
      (br_if $more (i32.lt_u (local.get $i) (i32.mul (memory.size) (i32.const 65536)))))";

#[test]
fn nothing_of_one_tenant_is_left_for_the_next() {
    let state = "(table $t 1 funcref) (global $g (mut i64) (i64.const 0)) (func $f) (elem declare func $f)";
    // One slot, so that the second always gets what the first gave back.
    let sandbox = sandbox_with(|config| config.instances = 1);
    for data in ["", r#"(data (i32.const 20000) "an image of its own")"#] {
        let component = |body: &str| {
            let functions = process(&format!("{body} {IDENTITY}"));
            load(&sandbox, &guest("with-mapper", &format!("{state} {data} {functions}")))
        };
        let (hides, seeks) = (component(HIDE), component(SEEK));
        for _ in 0..200 {
            let mut hook = hides.open_mapper("null", &fields(), options()).expect("the hook opens");
            hook.process(Call::USUAL, &rows(0, 3)).expect("the secret is hidden");
            drop(hook);
            let mut hook = seeks.open_mapper("null", &fields(), options()).expect("the hook opens");
            hook.process(Call::USUAL, &rows(0, 3)).expect("no secret is found");
        }
    }
}

#[test]
fn more_instances_than_there_is_room_for_are_the_hosts_matter() {
    let sandbox = sandbox_with(|config| config.instances = 1);
    let component = load(&sandbox, &identity());
    let first = component.open_mapper("null", &fields(), options()).expect("there is room for one");
    let error = component.open_mapper("null", &fields(), options()).err().expect("there is no room for two");
    assert!(matches!(&error, tidegate_sandbox::OpenError::Platform { .. }), "{error}");
    drop(first);
    component.open_mapper("null", &fields(), options()).expect("there is room again");
}

#[test]
fn two_sandboxes_give_the_same_answers_at_the_same_cost() {
    let run = || {
        let sandbox = sandbox();
        let mut hook = mapper(&sandbox, &identity());
        let answer = hook.process(Call::HALF, &rows(5, 100)).expect("the call succeeds");
        (values(&answer.value.columns), answer.fuel_used, hook.component().digest.clone())
    };
    let first = run();
    assert_eq!(first, run());
    assert!(first.2.starts_with("sha256:") && first.2.len() == 7 + 64);
}

#[test]
fn hooks_outlive_the_sandbox_and_the_component_that_they_come_from() {
    let mut hook = mapper(&sandbox(), &guest("with-mapper", &process("(loop $forever (br $forever))")));
    guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "out-of-fuel");
}

/// A `process` that traps where the number of a row is 500.
const BAD_RECORD: &str = "
    (local.set $i (i32.load offset=4 (local.get $columns)))
    (loop $more
      (if (i64.eq (i64.load (local.get $i)) (i64.const 500)) (then unreachable))
      (local.set $i (i32.add (local.get $i) (i32.const 8)))
      (local.set $j (i32.add (local.get $j) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $j) (i32.load offset=8 (local.get $columns)))))";

/// The rows that come through, and those that fail alone, with the verdict's detail, by halving.
fn halve(hook: &mut dyn MapHook, from: i64, count: usize, through: &mut usize, dead: &mut Vec<(i64, String)>) {
    let call = if count == 1 { Call::VERDICT } else { Call::HALF };
    match hook.process(call, &rows(from, count)) {
        Ok(answer) => *through += answer.value.len,
        Err(_) if count > 1 => {
            let left = count / 2;
            halve(hook, from, left, through, dead);
            halve(hook, from + i64::try_from(left).expect("it fits"), count - left, through, dead);
        }
        failed => dead.push((from, guest_failure(failed, "trap").detail)),
    }
}

#[test]
fn one_bad_record_of_a_thousand_is_the_same_one_for_every_cut() {
    let sandbox = sandbox();
    let bytes = guest("with-mapper", &process(&format!("{BAD_RECORD} {IDENTITY}")));
    let run = |cut: usize| {
        let mut hook = mapper(&sandbox, &bytes);
        let (mut through, mut dead) = (0, Vec::new());
        for from in (0..1_000).step_by(cut) {
            let count = cut.min(1_000 - from);
            let start = i64::try_from(from).expect("it fits");
            match hook.process(Call::USUAL, &rows(start, count)) {
                Ok(answer) => through += answer.value.len,
                Err(_) => halve(&mut *hook, start, count, &mut through, &mut dead),
            }
        }
        (through, dead)
    };
    let first = run(1_000);
    assert_eq!((first.0, first.1.len(), first.1[0].0), (999, 1, 500));
    for cut in [1, 7, 1_000] {
        assert_eq!(run(cut), first, "batches of {cut}");
    }
}
