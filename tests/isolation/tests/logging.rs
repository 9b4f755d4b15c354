//! Row 14: a guest's log is bounded in size and rate, and cannot forge lines.

use std::sync::{Arc, Mutex};

use tidegate_isolation::core;
use tidegate_isolation::host::{fields, guest_failure, load, rows, sandbox};
use tidegate_isolation::mapper::{IDENTITY, process};
use tidegate_sandbox::{GuestLog, LogLevel, OpenOptions};
use tidegate_types::hooks::{Call, MapHook};

#[derive(Default)]
struct Lines {
    lines: Mutex<Vec<(LogLevel, String)>>,
    dropped: Mutex<u64>,
}

impl GuestLog for Lines {
    fn write(&self, level: LogLevel, line: &str) {
        self.lines.lock().expect("nobody panics").push((level, line.to_owned()));
    }

    fn dropped(&self, lines: u64) {
        *self.dropped.lock().expect("nobody panics") += lines;
    }
}

/// A hook whose `process` does this first, with `$log` at hand and the text at 4,096.
fn hook(body: &str, text: &str) -> (Arc<Lines>, Box<dyn MapHook>) {
    let bytes = core(
        "with-mapper",
        &format!(
            r#"(module
             (import "tidegate:job/log@0.1.0" "write" (func $log (param i32 i32 i32)))
             (memory (export "memory") 2)
             (data (i32.const 4096) "{text}")
             (global $top (mut i32) (i32.const 65536))
             (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
               (global.set $top (i32.and (i32.add (global.get $top) (i32.add (local.get 3) (i32.const 7))) (i32.const -8)))
               (i32.sub (global.get $top) (i32.and (i32.add (local.get 3) (i32.const 7)) (i32.const -8))))
             {})"#,
            process(&format!("{body} {IDENTITY}"))
        ),
    );
    let lines = Arc::new(Lines::default());
    let options = OpenOptions::new(Arc::clone(&lines) as Arc<dyn GuestLog>);
    let hook = load(&sandbox(), &bytes).open_mapper("null", &fields(), options).expect("the hook opens");
    (lines, hook)
}

#[test]
fn a_line_keeps_its_level_and_cannot_forge_another() {
    let (lines, mut hook) =
        hook("(call $log (i32.const 2) (i32.const 4096) (i32.const 23))", "a\\1b[31mred\\0a\\0d2026 ERROR x");
    hook.process(Call::USUAL, &rows(0, 1)).expect("the call succeeds");
    let lines = lines.lines.lock().expect("nobody panics").clone();
    assert_eq!(lines, [(LogLevel::Warn, "a\\u{1b}[31mred\\n\\r2026 ERROR x".to_owned())]);
}

#[test]
fn a_long_line_is_cut() {
    let (lines, mut hook) = hook(
        "(memory.fill (i32.const 4096) (i32.const 97) (i32.const 50000)) (call $log (i32.const 0) (i32.const 4096) (i32.const 50000))",
        "",
    );
    hook.process(Call::USUAL, &rows(0, 1)).expect("the call succeeds");
    let lines = lines.lines.lock().expect("nobody panics");
    assert_eq!(lines[0].1, format!("{}…", "a".repeat(1024)));
}

#[test]
fn a_flood_is_dropped_and_counted_and_costs_the_same_fuel() {
    let flood = "(loop $more (call $log (i32.const 1) (i32.const 4096) (i32.const 5))
        (local.set $i (i32.add (local.get $i) (i32.const 1))) (br_if $more (i32.lt_u (local.get $i) (i32.const 10000))))";
    let (lines, mut hook) = hook(flood, "hello");
    let costs = [0, 1].map(|_| hook.process(Call::HALF, &rows(0, 1)).expect("the call succeeds").fuel_used);
    assert_eq!(costs[0], costs[1]);
    drop(hook);
    let written = lines.lines.lock().expect("nobody panics").len();
    let dropped = *lines.dropped.lock().expect("nobody panics");
    println!("{written} lines of 20,000 were written");
    assert_eq!(u64::try_from(written).expect("it fits") + dropped, 20_000);
    assert!((200..2_000).contains(&written), "{written}");
}

#[test]
fn a_line_that_is_not_utf8_or_not_there_is_a_trap() {
    let bad = [
        ("(call $log (i32.const 1) (i32.const 4096) (i32.const 2))", "\\ff\\fe", "malformed: invalid utf-8"),
        ("(call $log (i32.const 1) (i32.const 0x7fffff00) (i32.const 5))", "", "malformed: string pointer"),
        ("(call $log (i32.const 9) (i32.const 4096) (i32.const 5))", "hello", "malformed: unexpected discriminant"),
        (
            "(drop (memory.grow (i32.const 10))) (call $log (i32.const 1) (i32.const 4096) (i32.const 300000))",
            "",
            "larger than the 262144 bytes allowed for this call",
        ),
    ];
    for (body, text, says) in bad {
        let (lines, mut hook) = hook(body, text);
        let failure = guest_failure(hook.process(Call::USUAL, &rows(0, 1)), "trap");
        assert!(failure.detail.starts_with("`mapper.process`: what it passed to the host is "), "{failure}");
        assert!(failure.detail.contains(says), "{failure}");
        assert!(lines.lines.lock().expect("nobody panics").is_empty());
    }
}

#[test]
fn a_start_function_that_calls_out_is_a_trap() {
    let bytes = core(
        "with-mapper",
        &format!(
            r#"(module
             (import "tidegate:job/log@0.1.0" "write" (func $log (param i32 i32 i32)))
             (memory (export "memory") 2)
             (data (i32.const 4096) "hello")
             (global $top (mut i32) (i32.const 65536))
             (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (global.get $top))
             (func $start (call $log (i32.const 1) (i32.const 4096) (i32.const 5)))
             (start $start)
             {})"#,
            process(IDENTITY)
        ),
    );
    let options = OpenOptions::new(Arc::new(Lines::default()));
    let opened = load(&sandbox(), &bytes).open_mapper("null", &fields(), options);
    let error = opened.err().expect("the import is not bound yet").to_string();
    assert!(error.contains("trap: `instantiation`: uninitialized element (in start)"), "{error}");
}
