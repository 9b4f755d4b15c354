//! Children that misbehave: whatever they do, there is an answer in time.

#![allow(clippy::unwrap_used, reason = "a test whose world cannot be set up has failed")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use tidegate_admission::{AdmitError, Admitter, Candidate, CompileLimits, Compiler};
use tidegate_sandbox::{ComponentDigest, ImageKey, Sandbox, SandboxConfig};

const WALL: Duration = Duration::from_millis(500);

/// What comes of a child that runs this shell script.
fn outcome(script: &str) -> AdmitError {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("child");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let limits = CompileLimits { wall: WALL, answer_bytes: 1_000_000, ..CompileLimits::default() };
    let sandbox = Sandbox::new(SandboxConfig { instances: 1, ..SandboxConfig::default() }).unwrap();
    let admitter = Admitter::new(sandbox, ImageKey::new([0; 32]), Compiler::new(program, limits), Arc::new(|| 0));
    let component = vec![b'c'; 1_000_000];
    let digest = ComponentDigest::of(&component);
    let (owner, name) = ("acme", "guest@1.0.0");
    let candidate = Candidate { owner, name, component: &component, digest, call_fuel: 1, memory_bytes: 1 };
    admitter.recompile(&candidate).unwrap_err()
}

fn rule(error: &AdmitError) -> &'static str {
    match error {
        AdmitError::Refused(refusal) => refusal.rule,
        AdmitError::Unavailable { .. } => "unavailable",
    }
}

#[test]
fn a_child_that_hangs_is_killed_at_the_limit() {
    for script in
        ["sleep 600 & wait", "exec sleep 600", "exec sleep 600 <&- >&- 2>&-", "cat > /dev/null; while :; do :; done"]
    {
        let error = outcome(script);
        assert_eq!(rule(&error), "compile-limit", "{script}: {error}");
    }
}

#[test]
fn a_child_that_floods_is_cut_off() {
    let error = outcome("cat > /dev/null; exec yes");
    assert_eq!(rule(&error), "compile-limit", "{error}");
    assert!(error.to_string().contains("more than 1000000 bytes"), "{error}");
    // What it says on standard error is bounded, too.
    let error = outcome("cat > /dev/null; yes x | head -c 3000000 >&2; exit 3");
    assert!(error.to_string().len() < 10_000, "{}", error.to_string().len());
}

#[test]
fn a_child_that_crashes_refuses_the_component() {
    for signal in ["SEGV", "BUS", "ILL", "KILL", "SYS"] {
        let error = outcome(&format!("cat > /dev/null; kill -{signal} $$"));
        assert_eq!(rule(&error), "compile-failed", "{signal}: {error}");
    }
}

#[test]
fn a_child_without_an_answer_says_nothing_of_the_component() {
    for script in ["exit 0", "exit 7", "cat", "echo nonsense", "printf '\\377\\377\\377\\377{}'"] {
        assert_eq!(rule(&outcome(script)), "unavailable", "{script}");
    }
}

/// What comes of a child that says that it has compiled something, whatever it was given.
fn said(digest: &str, stamp: &str, confined: bool) -> String {
    let header = format!(
        r#"{{"digest":"{digest}","stamp":"{stamp}","confined":{confined},"outcome":{{"compiled":{{"image_bytes":0,"hooks":[],"imports":[]}}}}}}"#
    );
    let length = u32::try_from(header.len()).unwrap().to_le_bytes().map(|byte| format!("\\{byte:03o}")).concat();
    outcome(&format!("cat > /dev/null; printf '{length}'; printf '%s' '{header}'")).to_string()
}

#[test]
fn what_was_compiled_without_a_filter_of_system_calls_is_not_taken() {
    let digest = ComponentDigest::of(&vec![b'c'; 1_000_000]).to_string();
    let stamp = Sandbox::new(SandboxConfig { instances: 1, ..SandboxConfig::default() }).unwrap().stamp().to_string();
    let refused = said(&digest, &stamp, false);
    assert!(refused.contains("allow seccomp"), "{refused}");
    let taken = said(&digest, &stamp, true);
    assert!(!taken.contains("seccomp"), "{taken}");
}

#[test]
fn an_answer_about_other_bytes_or_of_another_version_is_not_taken() {
    let answer = |digest: &str, stamp: &str| said(digest, stamp, true);
    let digest = ComponentDigest::of(&vec![b'c'; 1_000_000]).to_string();
    assert!(answer("e3b0", "").contains("other bytes"), "{}", answer("e3b0", ""));
    assert!(answer(&digest, "an older one").contains("another version"), "{}", answer(&digest, "an older one"));
}
