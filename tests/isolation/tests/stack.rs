//! Row 10: a recursion ends in a trap of the guest, never in a crash of the host.

use tidegate_isolation::core;
use tidegate_isolation::host::{guest_failure, mapper, rows, sandbox};
use tidegate_isolation::mapper::{IDENTITY, process};
use tidegate_types::hooks::Call;

/// A guest with the import `log`, a function `$deep` of `body`, and a `process` that begins with it.
fn guest(deep: &str) -> Vec<u8> {
    let process = process(&format!("(call $deep (i32.const 0)) {IDENTITY}"));
    core(
        "with-mapper",
        &format!(
            r#"(module
             (import "tidegate:job/log@0.1.0" "write" (func $log (param i32 i32 i32)))
             (memory (export "memory") 2)
             (global $top (mut i32) (i32.const 65536))
             (global $depth (mut i32) (i32.const 0))
             (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
               (global.set $top (i32.and (i32.add (global.get $top) (i32.add (local.get 3) (i32.const 7))) (i32.const -8)))
               (i32.sub (global.get $top) (i32.and (i32.add (local.get 3) (i32.const 7)) (i32.const -8))))
             (func $deep (param i32) {deep})
             {process})"#
        ),
    )
}

#[test]
fn a_recursion_without_end_is_a_trap() {
    let sandbox = sandbox();
    let mut hook = mapper(&sandbox, &guest("(call $deep (i32.add (local.get 0) (i32.const 1)))"));
    let failure = guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "trap");
    assert!(
        failure.detail.starts_with("`mapper.process`: the stack overflowed (too deep a recursion?) (in deep < deep"),
        "{failure}"
    );
    // The depth, and so the verdict, is the same every time.
    for _ in 0..3 {
        assert_eq!(guest_failure(hook.process(Call::HALF, &rows(0, 1)), "trap"), failure);
    }
}

#[test]
fn a_call_to_the_host_near_the_limit_of_the_stack_is_safe() {
    let sandbox = sandbox();
    let body =
        "(call $log (i32.const 0) (i32.const 0) (i32.const 100)) (call $deep (i32.add (local.get 0) (i32.const 1)))";
    let mut hook = mapper(&sandbox, &guest(body));
    let failure = guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "trap");
    assert!(failure.detail.contains("the stack overflowed"), "{failure}");
}

#[test]
fn a_thread_with_a_megabyte_more_than_the_guest_is_enough() {
    let bytes = guest("(call $deep (i32.add (local.get 0) (i32.const 1)))");
    let sandbox = sandbox();
    let stack = sandbox.config().stack_bytes + 1024 * 1024;
    let run = move || guest_failure(mapper(&sandbox, &bytes).process(Call::USUAL, &rows(0, 1)), "trap");
    let thread =
        std::thread::Builder::new().name("small".into()).stack_size(stack).spawn(run).expect("the thread starts");
    assert!(thread.join().expect("the thread ends well").detail.contains("the stack overflowed"));
}
