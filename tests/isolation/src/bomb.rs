//! Components that every limit of the scan lets through, and that no compiler likes.

use crate::component;

/// A component within all limits of the scan that takes long to compile: functions of nested loops over many locals, all of which
/// change in the innermost one.
#[must_use]
pub fn slow() -> Vec<u8> {
    let (functions, loops, locals) = (400, 60, 600);
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
#[must_use]
pub fn large() -> Vec<u8> {
    let (jumps, places) = (150, 400);
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
