//! Rows 1, 2, 3 and 15: whatever does not end is ended by its fuel, wherever the guest hides it.

use std::time::Duration;

use tidegate_isolation::host::{fields, guest_failure, load, mapper, options, rows, sandbox, sandbox_with};
use tidegate_isolation::mapper::{IDENTITY, OPEN, process, process_alone};
use tidegate_isolation::measure::cpu_time;
use tidegate_isolation::{core, guest, guest_with_allocator};
use tidegate_sandbox::{OpenError, Sandbox};
use tidegate_types::hooks::{Call, HookError};

/// A loop without an end.
const FOREVER: &str = "(loop $forever (br $forever))";

/// The CPU time of the slowest of some calls of a guest whose `process` does this until its fuel is used up.
fn slowest(sandbox: &Sandbox, body: &str) -> Duration {
    let more = "(func $f) (table funcref (elem $f))";
    let mut hook = mapper(sandbox, &guest("with-mapper", &format!("{} {more}", process(body))));
    let budget = hook.fuel_budget();
    let times = (0..10).map(|_| {
        let started = cpu_time();
        let failure = guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "out-of-fuel");
        assert_eq!(failure.fuel_used, budget);
        assert!(failure.detail.starts_with("`mapper.process` used up its budget of "), "{failure}");
        cpu_time() - started
    });
    times.max().expect("there were calls")
}

#[test]
fn a_loop_ends_with_its_fuel() {
    let sandbox = sandbox();
    let slowest = slowest(&sandbox, FOREVER);
    println!("an empty loop is ended after {slowest:?} of CPU time");
    // 8 to 15 ms where the prices were set; a machine of a third of its speed passes too.
    assert!(slowest < Duration::from_millis(45), "{slowest:?}");
}

#[test]
fn fuel_follows_time_also_in_code_written_to_cheat_it() {
    let sandbox = sandbox();
    let grown = "(drop (memory.grow (i32.const 1100)))";
    let bodies = [
        "(loop $forever (br_if $forever (i32.const 1)))".to_owned(),
        "(loop $forever (br_table 0 0 (i32.const 1)))".into(),
        "(loop $forever (call $f) (br $forever))".into(),
        "(loop $forever (call_indirect (i32.const 0)) (br $forever))".into(),
        "(loop $forever (drop (memory.grow (i32.const 0))) (br $forever))".into(),
        "(loop $forever (memory.fill (i32.const 4096) (i32.const 1) (i32.const 0)) (br $forever))".into(),
        "(loop $forever (memory.copy (i32.const 4096) (i32.const 8192) (i32.const 1)) (br $forever))".into(),
        "(loop $forever (local.set $k (i64.div_u (i64.const -1) (i64.add (local.get $k) (i64.const 3)))) (br $forever))".into(),
        "(loop $forever (local.set $k (i64.reinterpret_f64 (f64.sqrt (f64.reinterpret_i64 (local.get $k))))) (br $forever))"
            .into(),
        // The bulk operation at its largest: it is paid for before it runs.
        format!("{grown} (loop $forever (memory.fill (i32.const 4096) (i32.const 1) (i32.const 70000000)) (br $forever))"),
    ];
    for body in bodies {
        let slowest = slowest(&sandbox, &body);
        println!("{slowest:?} {body}");
        assert!(slowest < Duration::from_millis(200), "{slowest:?} for {body}");
    }
}

#[test]
fn a_loop_in_open_ends_with_the_fuel_of_open() {
    let sandbox = sandbox_with(|config| config.open_fuel = 1_000_000);
    let open = format!(
        "(func (export \"tidegate:job/mapper@0.1.0#open\") (param i32 i32 i32 i32) (result i32) {FOREVER} unreachable)"
    );
    let bytes = guest("with-mapper", &(open + &process_alone(IDENTITY)));
    let error = load(&sandbox, &bytes).open_mapper("null", &fields(), options()).err().expect("it does not open");
    assert!(matches!(&error, OpenError::Failed { code: "out-of-fuel", .. }), "{error}");
}

#[test]
fn a_loop_in_the_start_function_ends_with_the_fuel_of_open() {
    let sandbox = sandbox_with(|config| config.open_fuel = 1_000_000);
    let bytes = guest("with-mapper", &format!("{} (func $start {FOREVER}) (start $start)", process(IDENTITY)));
    let error = load(&sandbox, &bytes).open_mapper("null", &fields(), options()).err().expect("it does not open");
    assert!(matches!(&error, OpenError::Failed { code: "out-of-fuel", .. }), "{error}");
}

#[test]
fn a_loop_in_the_allocator_ends_with_the_fuel_of_the_call() {
    let sandbox = sandbox();
    // `open` allocates for its fields; only what is asked for after it hangs.
    let allocator = format!(
        r#"(global $opened (mut i32) (i32.const 0))
           (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
             (if (i32.eq (global.get $opened) (i32.const 1)) (then {FOREVER}))
             (call $alloc (local.get 2) (local.get 3)))"#
    );
    let open = OPEN.replace("(memory.fill", "(global.set $opened (i32.const 1)) (memory.fill");
    let bytes = guest_with_allocator("with-mapper", &format!("{allocator} {open} {}", process_alone(IDENTITY)));
    let mut hook = mapper(&sandbox, &bytes);
    guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "out-of-fuel");
}

#[test]
fn a_loop_after_the_answer_ends_with_the_fuel_of_the_call() {
    let sandbox = sandbox();
    let functions = process(IDENTITY).replace("(global.set $top (i32.const 65536))", FOREVER);
    let mut hook = mapper(&sandbox, &guest("with-mapper", &functions));
    guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "out-of-fuel");
}

#[test]
fn a_verdict_has_twice_the_budget() {
    let sandbox = sandbox();
    // A turn costs 13 units: so many turns fit into one budget, and half as many more into two.
    let turns = sandbox.config().call_fuel / 14;
    let body = format!(
        "(local.set $k (i64.const {turns}))
         (loop $more (local.set $k (i64.sub (local.get $k) (i64.const 1))) (br_if $more (i64.ne (local.get $k) (i64.const 0))))
         {IDENTITY}"
    );
    let mut hook = mapper(&sandbox, &guest("with-mapper", &process(&body)));
    let once = hook.process(Call::USUAL, &rows(0, 1)).expect("a budget is enough").fuel_used;
    let twice = body.replace(&turns.to_string(), &(turns + turns / 2).to_string());
    let mut hook = mapper(&sandbox, &guest("with-mapper", &process(&twice)));
    let budget = hook.fuel_budget();
    assert_eq!(guest_failure(hook.process(Call::HALF, &rows(0, 1)), "out-of-fuel").fuel_used, budget);
    let verdict = hook.process(Call::VERDICT, &rows(0, 1)).expect("two budgets are enough").fuel_used;
    assert!(once < budget && verdict > budget && verdict < 2 * budget, "{once} {budget} {verdict}");
}

#[test]
fn a_flood_of_calls_to_the_host_is_paid_for() {
    let sandbox = sandbox();
    let module = format!(
        r#"(module
             (import "tidegate:job/log@0.1.0" "write" (func $log (param i32 i32 i32)))
             (memory (export "memory") 2)
             (global $top (mut i32) (i32.const 65536))
             (func $alloc (param i32 i32) (result i32)
               (global.set $top (i32.add (global.get $top) (i32.and (i32.add (local.get 1) (i32.const 7)) (i32.const -8))))
               (i32.sub (global.get $top) (i32.and (i32.add (local.get 1) (i32.const 7)) (i32.const -8))))
             (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (call $alloc (local.get 2) (local.get 3)))
             {})"#,
        process("(loop $forever (call $log (i32.const 0) (i32.const 0) (i32.const 0)) (br $forever))")
    );
    let mut hook = mapper(&sandbox, &core("with-mapper", &module));
    let started = cpu_time();
    guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "out-of-fuel");
    let taken = cpu_time() - started;
    println!("a flood of calls to the host is ended after {taken:?}");
    assert!(taken < Duration::from_millis(200), "{taken:?}");
}

#[test]
fn the_backstop_interrupts_and_condemns_nobody() {
    let sandbox = sandbox_with(|config| {
        config.call_fuel = u64::MAX / 4;
        config.backstop = Duration::from_millis(50);
    });
    let mut hook = mapper(&sandbox, &guest("with-mapper", &process(FOREVER)));
    for call in [Call::USUAL, Call::VERDICT] {
        let outcome = hook.process(call, &rows(0, 1));
        assert!(matches!(outcome, Err(HookError::Interrupted { millis: 50 })), "{outcome:?}");
    }
}
