//! Rows 7, 8, 9 and 12: memories, tables, instances and handles have limits that hold for an instance as a whole.

use tidegate_isolation::host::{fields, guest_failure, load, mapper, options, rows, sandbox, sandbox_with};
use tidegate_isolation::mapper::{IDENTITY, process};
use tidegate_isolation::{component, guest};
use tidegate_sandbox::{MemoryTotal, OpenError, OpenOptions, SandboxError};
use tidegate_types::hooks::{Call, HookError};

const MIB: usize = 1024 * 1024;

/// Grows by a page until that fails, writing to each; then rejects nothing and answers.
const GROW_TO_THE_END: &str = "
    (loop $more
      (local.set $i (memory.grow (i32.const 1)))
      (if (i32.ne (local.get $i) (i32.const -1)) (then
        (i32.store (i32.shl (local.get $i) (i32.const 16)) (i32.const 7))
        (br $more))))";

#[test]
fn a_memory_that_grows_without_end_gets_minus_one_at_the_limit() {
    let sandbox = sandbox_with(|config| config.memory_bytes = 16 * MIB);
    let mut hook = mapper(&sandbox, &guest("with-mapper", &process(&format!("{GROW_TO_THE_END} {IDENTITY}"))));
    // The guest bears the refusal, and its answer counts.
    hook.process(Call::USUAL, &rows(0, 5)).expect("the guest goes on");
    assert_eq!(sandbox.memory_used(), 16 * MIB);
    drop(hook);
    assert_eq!(sandbox.memory_used(), 0);
}

#[test]
fn the_refusal_of_memory_is_the_same_every_time() {
    let sandbox = sandbox_with(|config| config.memory_bytes = 16 * MIB);
    let traps = process(&format!("{GROW_TO_THE_END} unreachable"));
    let mut hook = mapper(&sandbox, &guest("with-mapper", &traps));
    let first = guest_failure(hook.process(Call::USUAL, &rows(0, 5)), "trap");
    for _ in 0..3 {
        assert_eq!(guest_failure(hook.process(Call::HALF, &rows(0, 5)), "trap"), first);
    }
}

#[test]
fn growth_beyond_any_memory_is_refused_like_growth_beyond_the_limit() {
    let sandbox = sandbox();
    let grow = "(if (i32.ne (memory.grow (i32.const 65535)) (i32.const -1)) (then unreachable))
                (if (i32.ne (memory.grow (i32.const -1)) (i32.const -1)) (then unreachable))";
    let mut hook = mapper(&sandbox, &guest("with-mapper", &process(&format!("{grow} {IDENTITY}"))));
    hook.process(Call::USUAL, &rows(0, 5)).expect("the guest gets -1 and goes on");
}

#[test]
fn a_total_that_is_used_up_is_nobodys_verdict() {
    let sandbox = sandbox();
    let component = load(&sandbox, &guest("with-mapper", &process(&format!("{GROW_TO_THE_END} {IDENTITY}"))));
    let total = MemoryTotal::new(4 * MIB);
    let options = OpenOptions { memory: Some(std::sync::Arc::clone(&total)), ..options() };
    let mut hook = component.open_mapper("null", &fields(), options).expect("the hook opens");
    let outcome = hook.process(Call::USUAL, &rows(0, 5));
    assert!(matches!(&outcome, Err(HookError::Platform { detail }) if detail.contains("used up")), "{outcome:?}");
    // The instance is gone, and its memory given back.
    assert_eq!((total.used(), sandbox.memory_used()), (0, 0));
}

#[test]
fn a_table_that_grows_without_end_gets_minus_one_at_the_limit() {
    let sandbox = sandbox();
    let tables = "(table $a 1 funcref) (table $b 1 funcref)";
    let grow = "(loop $more (br_if $more (i32.ne (table.grow $a (ref.null func) (i32.const 100)) (i32.const -1))))
                (loop $more (br_if $more (i32.ne (table.grow $b (ref.null func) (i32.const 100)) (i32.const -1))))
                (local.set $i (i32.add (table.size $a) (table.size $b)))
                (if (i32.gt_u (local.get $i) (i32.const 20000)) (then unreachable))
                (if (i32.lt_u (local.get $i) (i32.const 19800)) (then unreachable))";
    let mut hook =
        mapper(&sandbox, &guest("with-mapper", &format!("{tables} {}", process(&format!("{grow} {IDENTITY}")))));
    hook.process(Call::USUAL, &rows(0, 5)).expect("both tables together stay within the limit");
}

/// A component of `count` instances of a core module, which exports a `mapper` of sorts (never called).
fn many(module: &str, count: usize) -> Vec<u8> {
    let instances = "(core instance (instantiate $m))\n".repeat(count);
    component(&format!(
        r#"(component (core module $m {module}) {instances}
             (core module $f (func (export "f")))
             (core instance $i (instantiate $f))
             (func $f (canon lift (core func $i "f")))
             (instance $e (export "open" (func $f)) (export "process" (func $f)))
             (export "tidegate:job/mapper@0.1.0" (instance $e)))"#
    ))
}

#[test]
fn memories_count_together() {
    let sandbox = sandbox();
    // 3 memories of 64 MiB are more than 128 MiB.
    let error = load(&sandbox, &many("(memory 1024)", 3)).open_mapper("null", &fields(), options()).err();
    let error = error.expect("it does not open");
    assert!(matches!(&error, OpenError::Failed { code: "not-instantiable", .. }), "{error}");
    assert!(error.to_string().contains("memory"), "{error}");
    assert_eq!(sandbox.memory_used(), 0);
}

#[test]
fn more_memories_tables_or_instances_than_allowed_are_refused() {
    let sandbox = sandbox();
    for module in ["(memory 1)", "(table 1 funcref)", ""] {
        let error = sandbox.load("guest", &many(module, 100)).err().expect("it does not load").to_string();
        assert!(error.contains("exceeds the configured maximum"), "{error}");
    }
    assert!(matches!(
        sandbox.load("guest", &many("", 1000)),
        Err(SandboxError::TooLarge { what: "core instances", .. })
    ));
}

#[test]
fn a_memory_larger_than_an_instance_may_hold_is_refused() {
    let sandbox = sandbox();
    let error = sandbox.load("guest", &many("(memory 4096)", 1)).err().expect("it does not load").to_string();
    assert!(error.contains("memory") && error.contains("exceeds"), "{error}");
}

#[test]
fn handles_are_limited() {
    let sandbox = sandbox();
    // A resource of the component's own, made again and again when the component starts.
    let bytes = component(
        r#"(component
             (type $r (resource (rep i32)))
             (core func $new (canon resource.new $r))
             (core module $m (import "" "new" (func $new (param i32) (result i32)))
               (func $start (loop $more (drop (call $new (i32.const 1))) (br $more)))
               (func (export "f"))
               (start $start))
             (core instance $i (instantiate $m (with "" (instance (export "new" (func $new))))))
             (func $f (canon lift (core func $i "f")))
             (instance $e (export "open" (func $f)) (export "process" (func $f)))
             (export "tidegate:job/mapper@0.1.0" (instance $e)))"#,
    );
    let error = load(&sandbox, &bytes).open_mapper("null", &fields(), options()).err().expect("it does not open");
    assert!(error.to_string().contains("store handle limit exceeded"), "{error}");
}
