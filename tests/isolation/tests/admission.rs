//! Rows 5, 6, 13 and 19: what is no component of the contract does not load, and the refusal says why and what to do.

use tidegate_isolation::component;
use tidegate_isolation::host::{fields, load, options, sandbox, sandbox_with};
use tidegate_isolation::mapper::identity;
use tidegate_sandbox::{OpenError, SandboxError, ScanLimits};

/// What a refusal says.
fn refusal(bytes: &[u8]) -> String {
    sandbox().load("guest", bytes).err().expect("it does not load").to_string()
}

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

#[test]
fn what_is_no_component_is_refused_by_what_it_is() {
    let module = component("(module)");
    let cases: [(&[u8], &str); 6] = [
        (b"(component)", "is WebAssembly text, not a WebAssembly component: assemble it first"),
        (b"\n ;; text\n", "is something else"),
        (&module, "is a core module, not a WebAssembly component: wrap it with `tidegate build`"),
        (b"\x7fELF\x02\x01\x01", "is a precompiled image, not a WebAssembly component: give the component itself"),
        (b"", "is something else"),
        (&identity()[..100], "is malformed"),
    ];
    for (bytes, says) in cases {
        let refusal = refusal(bytes);
        assert!(refusal.starts_with("component `guest` ") && refusal.contains(says), "{refusal}");
    }
}

#[test]
fn an_import_that_is_not_granted_is_named() {
    let imports = r#"
        (import "wasi:sockets/network@0.2.0" (instance (export "f" (func))))
        (import "wasi:clocks/wall-clock@0.2.0" (instance (export "now" (func (result u64)))))"#;
    let refusal = refusal(&with_hook(imports));
    assert!(
        refusal.contains("imports `wasi:sockets/network@0.2.0`, `wasi:clocks/wall-clock@0.2.0`, which is not granted"),
        "{refusal}"
    );
    assert!(refusal.contains("--stub-wasi"), "{refusal}");
}

#[test]
fn only_the_log_in_a_compatible_version_with_its_type_is_granted() {
    let level = r#"(type $l (enum "debug" "info" "warn" "error")) (export "level" (type $level (eq $l)))"#;
    let write = r#"(export "write" (func (param "level" $level) (param "message" string)))"#;
    let import = |name: &str, types: &str| with_hook(&format!(r#"(import "{name}" (instance {types}))"#));
    let sandbox = sandbox();
    for version in ["0.1.0", "0.1.7"] {
        let bytes = import(&format!("tidegate:job/log@{version}"), &format!("{level} {write}"));
        assert!(sandbox.load("guest", &bytes).is_ok(), "{version}");
    }
    let wrong = [
        (import("tidegate:job/log@0.2.0", &format!("{level} {write}")), "this host speaks tidegate:job@0.1"),
        (import("tidegate:job/log", &format!("{level} {write}")), "not granted"),
        (
            import("tidegate:job/clock@0.1.0", r#"(export "now" (func (result u64)))"#),
            "`tidegate:job/clock@0.1.0`, which is not granted",
        ),
        (import("tidegate:job/log@0.1.0", r#"(export "read" (func))"#), "not granted"),
        (import("tidegate:job/types@0.1.0", r#"(export "now" (func))"#), "not granted"),
        (import("tidegate:job/log@0.1.0", r#"(export "write" (func (param "message" string)))"#), "with another type"),
        (
            import(
                "tidegate:job/keyed-state@0.1.0",
                r#"(export "clear" (func (param "state" u32) (param "keys" (list u32))))"#,
            ),
            "are for components that export tidegate:job/processor",
        ),
        (import("tidegate:job/timers@0.1.0", r#"(export "now" (func (result u64)))"#), "not granted"),
        (with_hook(r#"(import "log" (func))"#), "not granted"),
        (with_hook(r#"(import "m" (core module))"#), "not granted"),
    ];
    for (bytes, says) in wrong {
        let refusal = refusal(&bytes);
        assert!(refusal.contains(says), "{refusal}");
    }
}

#[test]
fn a_component_without_a_hook_is_refused() {
    let refusal = refusal(&component(r#"(component (import "tidegate:job/types@0.1.0" (instance)))"#));
    assert!(refusal.contains("exports none of tidegate:job/mapper"), "{refusal}");
    assert!(refusal.contains("(it exports: nothing)"), "{refusal}");
}

#[test]
fn a_hook_of_the_wrong_type_does_not_open() {
    let component = load(&sandbox(), &with_hook(""));
    let error = component.open_mapper("null", &fields(), options()).err().expect("it does not open");
    assert!(matches!(&error, OpenError::Failed { code: "not-instantiable", .. }), "{error}");
    let error =
        component.open_aggregator("null", &[], &fields(), options()).err().expect("it does not open").to_string();
    assert_eq!(error, "component `guest` has no hook `aggregator` (it has: mapper)");
}

#[test]
fn features_of_other_worlds_are_off() {
    let features = [
        // A clock could be made of a thread that counts.
        ("threads", "(memory 1 1 shared)"),
        ("64-bit memories", "(memory i64 1)"),
        ("tail calls", "(func $f (return_call $f))"),
        ("exceptions", "(tag)"),
        ("garbage collection", "(type (struct (field i32)))"),
        ("relaxed SIMD", "(func (param v128) (drop (i8x16.relaxed_swizzle (local.get 0) (local.get 0))))"),
    ];
    for (feature, module) in features {
        let refusal = refusal(&with_hook(&format!("(core module $m {module})")));
        assert!(refusal.contains("cannot be compiled"), "{feature}: {refusal}");
    }
    for memories in ["(memory 1) (memory 1)", "(import \"m\" \"m\" (memory 1)) (memory 1)"] {
        let refusal = refusal(&with_hook(&format!("(core module) (core module $m {memories})")));
        assert!(refusal.contains("has 2 memories in one core module"), "{refusal}");
    }
    let asynchronous = r#"(core func (canon task.cancel))"#;
    assert!(refusal(&with_hook(asynchronous)).contains("cannot be compiled"));
}

#[test]
fn components_within_a_component_may_call_each_other() {
    // wasmtime puts a module with two memories between the two, as tools for JavaScript need it.
    let parts = r#"
        (component $a
          (core module $m (memory (export "m") 1) (func (export "f") (param i32 i32))
            (func (export "r") (param i32 i32 i32 i32) (result i32) i32.const 0))
          (core instance $i (instantiate $m))
          (func (export "f") (param "s" string)
            (canon lift (core func $i "f") (memory (core memory $i "m")) (realloc (core func $i "r")))))
        (instance $a (instantiate $a))
        (component $b
          (import "f" (func $f (param "s" string)))
          (core module $m (memory (export "m") 1))
          (core instance $i (instantiate $m))
          (core func $f (canon lower (func $f) (memory (core memory $i "m"))))
          (core module $c (import "" "f" (func (param i32 i32))))
          (core instance (instantiate $c (with "" (instance (export "f" (func $f)))))))
        (instance (instantiate $b (with "f" (func $a "f"))))"#;
    sandbox().load("guest", &with_hook(parts)).expect("it loads");
}

#[test]
fn sizes_and_shapes_are_limited_before_anything_is_compiled() {
    let nested = |depth: usize| format!("{}{}", "(component ".repeat(depth), ")".repeat(depth));
    let custom = format!("(@custom \"x\" \"{}\")", "y".repeat(3 * 1024 * 1024));
    let locals = format!("(core module (func (local {})))", "i32 ".repeat(30_000));
    let body = format!("(core module (func {}))", "nop ".repeat(1_100_000));
    let modules = "(core module)".repeat(100);
    let types = "(type (func))".repeat(100_001);
    let functions = format!("(core module {})", "(func)".repeat(100_001));
    let cases = [
        (nested(60), "levels of nesting"),
        (nested(5), "levels of nesting"),
        (custom, "bytes of custom sections"),
        (locals, "locals in one function"),
        (body, "bytes in one function"),
        (modules, "core modules"),
        (types, "entries of types, imports, exports and aliases"),
        (functions, "functions"),
        ("(component)".repeat(33), "nested components"),
    ];
    for (parts, due) in cases {
        let error = sandbox().load("guest", &with_hook(&parts)).err().expect("it does not load");
        assert!(matches!(&error, SandboxError::TooLarge { what, .. } if *what == due), "{due}: {error}");
    }
    assert!(sandbox().load("guest", &with_hook(&nested(3))).is_ok());
}

#[test]
fn a_component_that_is_too_large_is_not_even_read() {
    let bytes = identity();
    let size = bytes.len();
    let limit = ScanLimits { component_bytes: size - 1, ..ScanLimits::default() };
    let error = sandbox_with(|config| config.scan = limit).load("guest", &bytes).err().expect("it does not load");
    assert!(matches!(&error, SandboxError::TooLarge { what: "bytes", .. }), "{error}");
}

#[test]
fn mutated_components_load_or_are_refused_and_never_crash() {
    let sandbox = sandbox();
    let original = identity();
    // A generator of the family xorshift64 with a fixed seed: every run is the same.
    let mut seed: u64 = 0x5eed_0000_0001;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 32).expect("32 bits fit")
    };
    let (mut loaded, mut refused) = (0, 0);
    for _ in 0..400 {
        let mut bytes = original.clone();
        for _ in 0..=next() % 3 {
            let at = next() % bytes.len();
            match next() % 3 {
                0 => bytes[at] = u8::try_from(next() % 256).expect("a byte"),
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, u8::try_from(next() % 256).expect("a byte")),
            }
        }
        match sandbox.load("guest", &bytes) {
            Ok(component) => {
                loaded += 1;
                drop(component.open_mapper("null", &fields(), options()));
            }
            Err(_) => refused += 1,
        }
    }
    println!("{loaded} loaded, {refused} were refused");
    assert!(refused > 100);
}
