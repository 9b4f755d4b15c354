//! What is refused, and with which words.

use super::{ComponentError, componentize, inspect, is_interface};

fn core(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("valid text")
}

#[test]
fn refuses_wasi_and_names_the_target_to_build_for() {
    let module =
        core(r#"(module (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32))))"#);
    let error = componentize(&module).unwrap_err();
    assert!(error.to_string().contains("`wasi_snapshot_preview1.fd_write`"), "{error}");
    assert!(error.to_string().contains("wasm32-unknown-unknown"), "{error}");
}

#[test]
fn refuses_a_dependency_built_for_the_browser() {
    let module = core(r#"(module (import "__wbindgen_placeholder__" "__wbindgen_throw" (func)))"#);
    assert!(componentize(&module).unwrap_err().to_string().contains("getrandom"));
}

#[test]
fn refuses_a_module_without_hooks() {
    assert!(matches!(componentize(&core("(module)")), Err(ComponentError::NoHook)));
}

#[test]
fn tells_a_component_from_a_module() {
    let component = core("(component)");
    let module = core("(module)");
    assert!(matches!(componentize(&component), Err(ComponentError::WrongLayer { found: "component", .. })));
    assert!(matches!(inspect(&module), Err(ComponentError::WrongLayer { found: "core module", .. })));
    assert!(matches!(componentize(b"text"), Err(ComponentError::Malformed(_))));
}

#[test]
fn inspects_the_outermost_component_only() {
    let text = r#"(component
        (import "tidegate:job/log@0.1.0" (instance))
        (component $inner (import "wasi:clocks/wall-clock@0.2.0" (instance)))
        (instance $hook)
        (export "tidegate:job/mapper@0.1.0" (instance $hook)))"#;
    let facts = inspect(&core(text)).expect("only the log is imported");
    assert_eq!(facts.hooks, ["mapper"]);
    assert_eq!(facts.imports, ["tidegate:job/log@0.1.0"]);
    assert_eq!(facts.sha256.len(), 64);
}

#[test]
fn refuses_a_component_that_imports_a_clock() {
    let text = r#"(component (import "wasi:clocks/wall-clock@0.2.0" (instance)))"#;
    assert!(matches!(inspect(&core(text)), Err(ComponentError::Import { name }) if name.starts_with("wasi:clocks")));
}

#[test]
fn knows_compatible_versions_only() {
    assert!(is_interface("tidegate:job/log@0.1.0", "tidegate:job/log"));
    assert!(is_interface("tidegate:job/log@0.1.12", "tidegate:job/log"));
    for other in ["tidegate:job/log@0.2.0", "tidegate:job/log", "tidegate:job/logs@0.1.0", "tidegate:job/log@0.1.0-rc1"]
    {
        assert!(!is_interface(other, "tidegate:job/log"), "{other}");
    }
}
