//! Row 4: compiling happens in a process that has nothing and ends in time, and one tenant's slow component keeps no other
//! tenant's out.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use tidegate_admission::{Candidate, CompileLimits};
use tidegate_isolation::admit::{FUEL, MEMORY, admitter_to, candidate, refusal};
use tidegate_isolation::bomb::slow;
use tidegate_isolation::host::sandbox;
use tidegate_isolation::mapper::identity;

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
fn a_slow_component_is_ended_and_keeps_nobody_else_out() {
    let sandbox = sandbox();
    let limits = CompileLimits { wall: Duration::from_secs(10), ..CompileLimits::default() };
    let admitter = admitter_to(&sandbox, limits);
    let bomb = slow();
    let (told, ended) = channel();
    std::thread::scope(|scope| {
        let admitter = &admitter;
        let slow = &bomb;
        scope.spawn(move || told.send(admitter.admit(&candidate(slow, FUEL, MEMORY))));
        // Another tenant's component goes through while the slow one is at it.
        let honest = identity();
        let other = Candidate { owner: "other", ..candidate(&honest, FUEL, MEMORY) };
        admitter.admit(&other).expect("it is admitted");
        assert!(ended.try_recv().is_err(), "the slow one has not ended yet");
        let refusal = refusal(ended.recv().expect("it ends"));
        assert_eq!((refusal.rule, refusal.place.as_str()), ("compile-limit", "component"), "{refusal}");
        assert!(refusal.reason.contains("more than 10 s") && refusal.mend.contains("split"), "{refusal}");
    });
}
