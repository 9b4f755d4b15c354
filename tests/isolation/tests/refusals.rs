//! Every kind of refusal behind the signature: its rule, its place and its way out. Components are compiled in children of the
//! command, as the platform does it.

use tidegate_admission::{AdmitError, Rule};
use tidegate_isolation::admit::{FUEL, MEMORY, admit, admitter, candidate, refusal};
use tidegate_isolation::mapper::{IDENTITY, OPEN, identity, process, process_alone};
use tidegate_isolation::{aggregator, component, guest, windower};
use tidegate_sandbox::{ImageCompiler, SandboxConfig};

/// A component that also exports something like a mapper, around `parts`.
fn with_hook(parts: &str) -> Vec<u8> {
    component(&format!(
        r#"(component {parts}
             (core module $f (func (export "f")))
             (core instance $i (instantiate $f))
             (func $f (canon lift (core func $i "f")))
             (instance $e (export "open" (func $f)) (export "process" (func $f)))
             (export "tidegate:job/mapper@0.1.0" (instance $e)))"#
    ))
}

/// A core module in it, with so many instances.
fn with_module(module: &str, instances: usize) -> Vec<u8> {
    with_hook(&format!("(core module $m {module}) {}", "(core instance (instantiate $m))".repeat(instances)))
}

fn mapper(functions: &str) -> Vec<u8> {
    guest("with-mapper", functions)
}

/// Asserts what each component is refused for: the rule, and what stands in place, reason and mend.
fn assert_refused(cases: impl IntoIterator<Item = (Vec<u8>, Rule, [&'static str; 3])>) {
    let admitter = admitter();
    for (bytes, rule, [place, reason, mend]) in cases {
        let refusal = refusal(admitter.admit(&candidate(&bytes, FUEL, MEMORY)));
        println!("{refusal}");
        assert_eq!(refusal.rule, rule.code(), "{refusal}");
        assert!(refusal.place.contains(place), "the place is {place}: {refusal}");
        assert!(refusal.reason.contains(reason), "the reason has {reason}: {refusal}");
        assert!(refusal.mend.contains(mend), "the way out has {mend}: {refusal}");
    }
}

#[test]
fn what_is_no_component() {
    let image = ImageCompiler::new(&SandboxConfig::default()).unwrap().compile("guest", &identity()).unwrap().bytes;
    let whole = identity();
    let extended = [&whole[..], &[0xff; 9]].concat();
    let oversized = [&whole[..], &[0; 24 << 20]].concat();
    assert_refused([
        (component("(module)"), Rule::NotAComponent, ["byte 0", "a core module", "tidegate build"]),
        (b"(component)".to_vec(), Rule::NotAComponent, ["byte 0", "text", "assemble"]),
        (image, Rule::NotAComponent, ["byte 0", "a precompiled image", "the host compiles it"]),
        (Vec::new(), Rule::NotAComponent, ["byte 0", "something else", ".wasm"]),
        (whole[..whole.len() / 2].to_vec(), Rule::MalformedComponent, ["byte ", "", "build it again"]),
        (extended, Rule::MalformedComponent, ["byte ", "", "exactly as"]),
        (oversized, Rule::ComponentTooLarge, ["component", "more than the 25165824 allowed", "size"]),
    ]);
}

#[test]
fn what_is_too_much_of_something() {
    let nested = |depth: usize| format!("{}{}", "(component ".repeat(depth), ")".repeat(depth));
    let custom = format!("(@custom \"x\" \"{}\")", "y".repeat(3 << 20));
    let locals = format!("(core module (func (local {})))", "i32 ".repeat(30_000));
    let body = format!("(core module (func {}))", "nop ".repeat(1_100_000));
    let functions = format!("(core module {})", "(func)".repeat(100_001));
    let memories = "(core module (memory 1) (memory 1))";
    let limit = |parts: &str, reason, mend| (with_hook(parts), Rule::StructureLimit, ["byte ", reason, mend]);
    assert_refused([
        limit(&nested(5), "levels of nesting", "fewer"),
        limit(&custom, "bytes of custom sections", "wasm-tools strip"),
        limit(&locals, "30000 locals in one function", "split the function"),
        limit(&body, "bytes in one function", "split the function"),
        limit(&functions, "100001 functions", "fewer"),
        limit(memories, "2 memories in one core module", "one memory"),
        limit(&"(core module)".repeat(65), "65 core modules", "fewer"),
        limit(&"(component)".repeat(33), "33 nested components", "fewer"),
        limit(&"(type (func))".repeat(100_001), "entries of types", "fewer"),
        (with_module("", 1_000), Rule::StructureLimit, ["byte ", "core instances", "fewer"]),
    ]);
}

#[test]
fn what_is_not_granted_or_not_the_contract() {
    let import = |name: &str, types: &str| with_hook(&format!(r#"(import "{name}" (instance {types}))"#));
    let level = r#"(type $l (enum "debug" "info" "warn" "error")) (export "level" (type $level (eq $l)))"#;
    let write = r#"(export "write" (func (param "level" $level) (param "message" string)))"#;
    let untyped = r#"(export "write" (func (param "message" string)))"#;
    let threads = "(core module (memory 1 1 shared))";
    assert_refused([
        (
            import("wasi:sockets/network@0.2.0", r#"(export "f" (func))"#),
            Rule::ImportNotGranted,
            ["wasi:sockets/network@0.2.0", "", "--stub-wasi"],
        ),
        (
            import("tidegate:job/log@0.2.0", &format!("{level} {write}")),
            Rule::ImportNotGranted,
            ["tidegate:job/log@0.2.0", "", "speaks tidegate:job@0.1"],
        ),
        (
            import("somebody:else/clock@1.0.0", r#"(export "now" (func (result u64)))"#),
            Rule::ImportNotGranted,
            ["somebody:else/clock@1.0.0", "", "tidegate:job/log only"],
        ),
        (import("tidegate:job/log@0.1.0", untyped), Rule::ImportWrongType, ["imports", "log", "tidegate:job@0.1.0"]),
        (component("(component)"), Rule::NoHook, ["exports", "it exports nothing", "a world of the package"]),
        (with_hook(threads), Rule::CompileFailed, ["component", "threads", "without threads"]),
        (with_hook(""), Rule::NotInstantiable, ["component", "", "tidegate:job@0.1.0"]),
    ]);
}

#[test]
fn what_does_not_fit_into_an_instance() {
    assert_refused([
        (with_module("(memory 4096)", 1), Rule::ResourceLimit, ["component", "memory", "smaller"]),
        (with_module("(table 30000 funcref)", 1), Rule::ResourceLimit, ["component", "table", "smaller"]),
        (with_module("(memory 1)", 5), Rule::ResourceLimit, ["component", "5 Wasm linear memories", "higher limit"]),
        (with_module("(table 1 funcref)", 9), Rule::ResourceLimit, ["component", "9 ", "higher limit"]),
        (with_module("", 100), Rule::ResourceLimit, ["component", "instances", "higher limit"]),
    ]);
}

#[test]
fn what_does_not_start_or_open() {
    let start = |body: &str| mapper(&format!("(func $s {body}) (start $s) {}", process(IDENTITY)));
    let open = |body: &str| {
        let open = OPEN.replacen("(memory.fill", &format!("{body} (memory.fill"), 1);
        mapper(&format!("{open} {}", process_alone(IDENTITY)))
    };
    assert_refused([
        (start("unreachable"), Rule::StartFailed, ["start", "unreachable", "`open` is the place"]),
        (start("(loop $l (br $l))"), Rule::StartFailed, ["start", "fuel", "do little"]),
        (open("unreachable"), Rule::OpenFailed, ["mapper.open", "unreachable", "answer a fault"]),
        (open("(loop $l (br $l))"), Rule::OpenFailed, ["mapper.open", "fuel", "answer a fault"]),
    ]);
}

#[test]
fn what_fails_over_one_row() {
    let too_dear = mapper(&process("(loop $l (br $l))"));
    let many = mapper(&process(&format!("{IDENTITY} (i32.store offset=8 (i32.const 2048) (i32.const 7))")));
    let dear_sum = guest("with-aggregator", &aggregator::functions("(loop $l (br $l))"));
    let dear_windows = windower::ten_ms("(loop $l (br $l))");
    assert_refused([
        (too_dear, Rule::WarmUpTooDear, ["mapper.process", "80000000 fuel", "call_fuel"]),
        (many, Rule::AnswerMalformed, ["mapper.process", "", "the contract"]),
        (dear_sum, Rule::WarmUpTooDear, ["aggregator.accumulate", "80000000 fuel", "call_fuel"]),
        (dear_windows, Rule::WarmUpTooDear, ["windower.assign", "80000000 fuel", "call_fuel"]),
    ]);
}

#[test]
fn a_component_is_tried_out_with_its_tenants_own_limits() {
    let million = mapper(&process(&format!(
        "(local.set $i (i32.const 300000))
         (loop $l (br_if $l (local.tee $i (i32.sub (local.get $i) (i32.const 1))))) {IDENTITY}"
    )));
    let admitter = admitter();
    admitter.admit(&candidate(&million, FUEL, MEMORY)).expect("it is cheap enough for the usual limits");
    let poor = refusal(admitter.admit(&candidate(&million, 1_000_000, MEMORY)));
    assert_eq!((poor.rule, poor.place.as_str()), ("warm-up-too-dear", "mapper.process"), "{poor}");
    assert!(poor.reason.contains("1000000 fuel"), "{poor}");
    let small = refusal(admitter.admit(&candidate(&million, FUEL, 64 * 1024)));
    assert_eq!((small.rule, small.place.as_str()), ("memory-limit", "component"), "{small}");
    assert!(small.mend.contains("ask a platform admin"), "{small}");
}

#[test]
fn honest_components_are_admitted_with_the_cost_of_their_calls() {
    let cases = [
        (identity(), "mapper", vec!["process"]),
        (aggregator::sum(), "aggregator", vec!["accumulate", "merge", "finish"]),
        (windower::ten_ms(""), "windower", vec!["assign", "decide", "emit"]),
        (
            std::fs::read(tidegate_e2e::guest("fraud-features")).expect("the guest is readable"),
            "processor",
            vec!["process", "on-timer"],
        ),
    ];
    for (bytes, hook, functions) in cases {
        let admission = admit(&bytes).expect("it is admitted");
        assert_eq!(admission.hooks, [hook]);
        let called: Vec<&str> = admission.costs.iter().map(|cost| cost.function).collect();
        assert_eq!(called, functions, "{:?}", admission.remarks);
        assert!(admission.costs.iter().all(|cost| cost.hook == hook && cost.fuel > 0 && cost.fuel < FUEL));
        // The same bytes get the same answer.
        let again = admit(&bytes).expect("it is admitted");
        assert_eq!((admission.costs, admission.remarks), (again.costs, again.remarks));
    }
}

#[test]
fn a_hook_that_wants_a_config_is_admitted_with_a_remark() {
    // `open` answers the fault "no".
    let refuses = r#"
      (data (i32.const 512) "no")
      (func (export "tidegate:job/mapper@0.1.0#open") (param i32 i32 i32 i32) (result i32)
        (memory.fill (i32.const 1024) (i32.const 0) (i32.const 64))
        (i32.store8 (i32.const 1024) (i32.const 1))
        (i32.store offset=4 (i32.const 1024) (i32.const 512))
        (i32.store offset=8 (i32.const 1024) (i32.const 2))
        (i32.const 1024))"#;
    let admission = admit(&mapper(&format!("{refuses} {}", process_alone(IDENTITY)))).expect("it is admitted");
    assert!(admission.costs.is_empty());
    let [remark] = admission.remarks.as_slice() else { panic!("one remark: {:?}", admission.remarks) };
    assert!(
        remark.contains("mapper: without a config") && remark.contains("no") && remark.contains("submitted"),
        "{remark}"
    );
}

#[test]
fn a_hook_that_remembers_rows_gets_a_remark() {
    // Counts its calls in a global, and answers with a row of that time.
    let counts = "(global $calls (mut i32) (i32.const 0))";
    let body = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
                (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
                (i64.store (i32.const 512) (i64.extend_i32_u (global.get $calls)))
                (i32.store8 offset=12 (i32.const 2048) (i32.const 1))
                (i32.store offset=16 (i32.const 2048) (i32.const 512))
                (i32.store offset=20 (i32.const 2048) (i32.const 1))";
    let admission = admit(&mapper(&format!("{counts} {}", process(body)))).expect("it is admitted");
    let [remark] = admission.remarks.as_slice() else { panic!("one remark: {:?}", admission.remarks) };
    assert!(remark.starts_with("mapper.process: not-repeatable"), "{remark}");
}

#[test]
fn a_child_that_is_not_there_is_the_hosts_fault() {
    use tidegate_admission::{CompileLimits, Compiler};
    let compiler = Compiler::new("/nowhere/tidegate".into(), CompileLimits::default());
    let sandbox = tidegate_isolation::host::sandbox();
    let key = tidegate_isolation::admit::key();
    let admitter = tidegate_admission::Admitter::new(sandbox, key, compiler, std::sync::Arc::new(|| 0));
    let answer = admitter.admit(&candidate(&identity(), FUEL, MEMORY));
    assert!(matches!(&answer, Err(AdmitError::Unavailable { reason }) if reason.contains("no process")), "{answer:?}");
}
