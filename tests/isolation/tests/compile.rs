//! Row 4: compiling happens in a process that has nothing and ends in time, and one tenant's slow component keeps no other
//! tenant's out.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use tidegate_admission::{AdmitError, Candidate, CompileLimits};
use tidegate_isolation::admit::{FUEL, MEMORY, admitter, admitter_to, candidate, refusal};
use tidegate_isolation::component;
use tidegate_isolation::host::sandbox;
use tidegate_isolation::mapper::identity;
use tidegate_isolation::measure::resident_bytes;

/// A component within all limits of the scan that takes long to compile: functions of nested loops over many locals, all of which
/// change in the innermost one.
fn bomb(functions: usize, loops: usize, locals: usize) -> Vec<u8> {
    let open = "(loop ".repeat(loops);
    let close = "(br_if 0 (local.get 0)))".repeat(loops);
    let change: String = (0..locals)
        .map(|n| format!("(local.set {n} (i32.add (local.get {n}) (local.get {})))", (n + 1) % locals))
        .collect();
    let function = format!("(func (param i32) (local {}) {open} {change} {close})", "i32 ".repeat(locals - 1));
    around(&function.repeat(functions))
}

/// A component with a core module of these functions, and something like a mapper.
fn around(functions: &str) -> Vec<u8> {
    component(&format!(
        r#"(component (core module {functions})
             (core module $f (func (export "f")))
             (core instance $i (instantiate $f))
             (func $f (canon lift (core func $i "f")))
             (instance $e (export "open" (func $f)) (export "process" (func $f)))
             (export "tidegate:job/mapper@0.1.0" (instance $e)))"#
    ))
}

/// A component within all limits of the scan that takes much memory to compile: jumps to many places, each with a thousand values.
fn jump_bomb(jumps: usize, places: usize) -> Vec<u8> {
    let values = "(local.get 0)".repeat(1_000);
    let results = "i32 ".repeat(1_000);
    let targets: String = (0..places).map(|place| format!("{} ", place + 1)).collect();
    let jump = format!("(if (local.get 0) (then {values} (br_table {targets} (local.get 0))))");
    let function = format!(
        "(type $many (func (result {results}))) (func (param i32) {} {} {values} {} {})",
        "block (type $many) ".repeat(places),
        jump.repeat(jumps),
        "end ".repeat(places),
        "drop ".repeat(1_000)
    );
    around(&function)
}

/// A child that waits for its component.
fn child() -> Child {
    Command::new(tidegate_e2e::binary())
        .arg("compile-worker")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

fn status(child: &Child) -> String {
    std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("Linux tells a process's status")
}

#[test]
fn the_child_is_confined_before_it_reads() {
    let mut child = child();
    // It has got nothing to read yet, so what is seen now stands before the first byte.
    while !status(&child).contains("Seccomp:\t2") {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended, and no filter was there");
        std::thread::yield_now();
    }
    assert!(status(&child).contains("NoNewPrivs:\t1"));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).expect("its limits");
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).expect("the limit is listed");
        line[name.len()..].split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(limit("Max address space"), "1073741824 1073741824");
    assert_eq!(limit("Max cpu time"), "40 41");
    assert_eq!(limit("Max open files"), "3 3");
    assert_eq!(limit("Max core file size"), "0 0");
    assert_eq!(limit("Max file size"), "0 0");
    let environment = std::fs::read(format!("/proc/{}/environ", child.id())).expect("its environment");
    assert!(environment.is_empty());
    // It still does its work.
    child.stdin.take().expect("a pipe").write_all(&identity()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stdout.len() > 10_000);
}

#[test]
fn a_component_that_takes_too_much_memory_to_compile_is_refused() {
    let before = resident_bytes();
    let refusal = refusal(admitter().admit(&candidate(&jump_bomb(150, 400), FUEL, MEMORY)));
    assert_eq!((refusal.rule, refusal.place.as_str()), ("compile-limit", "component"), "{refusal}");
    assert!(refusal.reason.contains("memory") && refusal.mend.contains("split"), "{refusal}");
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more in the host");
}

#[test]
fn a_slow_component_is_ended_and_keeps_nobody_else_out() {
    let sandbox = sandbox();
    let limits = CompileLimits { wall: Duration::from_secs(5), ..CompileLimits::default() };
    let admitter = admitter_to(&sandbox, limits);
    let slow = bomb(400, 60, 600);
    let (told, ended) = channel();
    std::thread::scope(|scope| {
        let admitter = &admitter;
        let slow = &slow;
        scope.spawn(move || told.send(admitter.admit(&candidate(slow, FUEL, MEMORY))));
        // Another tenant's component goes through while the slow one is at it.
        let honest = identity();
        let other = Candidate { owner: "other", ..candidate(&honest, FUEL, MEMORY) };
        admitter.admit(&other).expect("it is admitted");
        assert!(ended.try_recv().is_err(), "the slow one has not ended yet");
        let refusal = refusal(ended.recv().expect("it ends"));
        assert_eq!((refusal.rule, refusal.place.as_str()), ("compile-limit", "component"), "{refusal}");
        assert!(refusal.reason.contains("more than 5 s") && refusal.mend.contains("split"), "{refusal}");
    });
}

#[test]
fn who_compiles_already_waits_and_is_told_to_try_again() {
    let sandbox = sandbox();
    let wall = Duration::from_secs(3);
    let limits = CompileLimits { wall, patience: Duration::ZERO, ..CompileLimits::default() };
    let admitter = admitter_to(&sandbox, limits);
    let slow = bomb(400, 60, 600);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| admitter.admit(&candidate(&slow, FUEL, MEMORY)));
        let honest = identity();
        let mut turned_away = 0;
        while !first.is_finished() {
            if let Err(AdmitError::Unavailable { reason }) = admitter.admit(&candidate(&honest, FUEL, MEMORY)) {
                assert!(reason.contains("try again"), "{reason}");
                turned_away += 1;
            }
            std::thread::yield_now();
        }
        assert!(turned_away > 0);
        assert_eq!(refusal(first.join().expect("no panic")).rule, "compile-limit");
    });
}
