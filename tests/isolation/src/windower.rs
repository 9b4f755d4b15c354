//! A window hook: each row is in the window of 10 ms that starts with it; every window fires at every decision; a pane's value
//! goes out as a record.

/// The component. `assigned` instructions run in `assign` before it answers (locals `$rows`, `$offsets`, `$ends`).
#[must_use]
pub fn ten_ms(assigned: &str) -> Vec<u8> {
    crate::guest("with-windower", &format!("{OPEN} {} {REST}", assign(assigned)))
}

/// Reads what is declared, decides, emits, and puts out the fields of the value.
const OPEN: &str = r#"
  (func (export "tidegate:job/windower@0.1.0#open")
    (param i32 i32 i32 i32 i32 i32) (param $value i32) (param $value_len i32) (result i32)
    (memory.fill (i32.const 1024) (i32.const 0) (i32.const 64))
    (i32.store16 offset=20 (i32.const 1024) (i32.const 0x0101))
    (i32.store offset=24 (i32.const 1024) (local.get $value))
    (i32.store offset=28 (i32.const 1024) (local.get $value_len))
    (i32.const 1024))"#;

fn assign(assigned: &str) -> String {
    format!(
        r#"
  (func (export "tidegate:job/windower@0.1.0#assign")
    (param $times i32) (param $rows i32) (param $columns i32) (param $columns_len i32) (result i32)
    (local $i i32) (local $offsets i32) (local $ends i32)
    (local.set $offsets (call $alloc (i32.const 4) (i32.mul (i32.const 4) (i32.add (local.get $rows) (i32.const 1)))))
    (local.set $ends (call $alloc (i32.const 8) (i32.mul (i32.const 8) (local.get $rows))))
    (i32.store (local.get $offsets) (i32.const 0))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $rows)))
      (i64.store (i32.add (local.get $ends) (i32.shl (local.get $i) (i32.const 3)))
        (i64.add (i64.load (i32.add (local.get $times) (i32.shl (local.get $i) (i32.const 3)))) (i64.const 10)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (i32.store (i32.add (local.get $offsets) (i32.shl (local.get $i) (i32.const 2))) (local.get $i))
      (br $next)))
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
    (i32.store offset=4 (i32.const 2048) (local.get $offsets))
    (i32.store offset=8 (i32.const 2048) (i32.add (local.get $rows) (i32.const 1)))
    (i32.store offset=12 (i32.const 2048) (local.get $times))
    (i32.store offset=16 (i32.const 2048) (local.get $rows))
    (i32.store offset=20 (i32.const 2048) (local.get $ends))
    (i32.store offset=24 (i32.const 2048) (local.get $rows))
    {assigned}
    (i32.const 2048))
  (func (export "cabi_post_tidegate:job/windower@0.1.0#assign") (param i32)
    (global.set $top (i32.const 65536)))"#
    )
}

const REST: &str = r#"
  (func (export "tidegate:job/windower@0.1.0#decide")
    (param i32 i32 i32 i32 i32 i32 i32) (param $windows i32) (param $watermark i64) (result i32)
    (local $decisions i32)
    (local.set $decisions (call $alloc (i32.const 1) (local.get $windows)))
    (memory.fill (local.get $decisions) (i32.const 1) (local.get $windows))
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
    (i32.store offset=4 (i32.const 2048) (local.get $decisions))
    (i32.store offset=8 (i32.const 2048) (local.get $windows))
    (i32.const 2048))
  (func (export "cabi_post_tidegate:job/windower@0.1.0#decide") (param i32)
    (global.set $top (i32.const 65536)))
  (func (export "tidegate:job/windower@0.1.0#emit")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32) (param $values i32) (param $values_len i32) (result i32)
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
    (i32.store offset=4 (i32.const 2048) (local.get $values))
    (i32.store offset=8 (i32.const 2048) (local.get $values_len))
    (i32.const 2048))
  (func (export "cabi_post_tidegate:job/windower@0.1.0#emit") (param i32)
    (global.set $top (i32.const 65536)))"#;
