//! Map hooks: their functions in a guest's text.
//!
//! `open` answers at 1,024, `process` at 2,048; below are constants. `process` has the parameters `$times $times_len $columns
//! $columns_len`. A column as an argument is laid out as a column of an answer (32 bytes), so that an honest guest can give
//! back what it was given, in place.

/// An `open` whose plan reads everything that is declared, keeps nothing and puts out the fields that it reads.
pub const OPEN: &str = r#"
  (func (export "tidegate:job/mapper@0.1.0#open") (param $config i32) (param $config_len i32) (param $fields i32) (param $count i32)
    (result i32)
    (memory.fill (i32.const 1024) (i32.const 0) (i32.const 64))
    (i32.store offset=28 (i32.const 1024) (local.get $fields))
    (i32.store offset=32 (i32.const 1024) (local.get $count))
    (i32.const 1024))"#;

/// Instructions for `process`: answers with the columns that it was given.
pub const IDENTITY: &str = r#"
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
    (i32.store offset=4 (i32.const 2048) (local.get $columns))
    (i32.store offset=8 (i32.const 2048) (local.get $columns_len))"#;

/// A map hook with the usual `open`; `body` is what `process` does before it answers with what is at 2,048.
#[must_use]
pub fn process(body: &str) -> String {
    format!("{OPEN} {}", process_alone(body))
}

/// `process` alone. After it has answered, the allocator starts anew.
#[must_use]
pub fn process_alone(body: &str) -> String {
    format!(
        r#"
  (func (export "tidegate:job/mapper@0.1.0#process")
    (param $times i32) (param $times_len i32) (param $columns i32) (param $columns_len i32) (result i32)
    (local $i i32) (local $j i32) (local $k i64)
    {body}
    (i32.const 2048))
  (func (export "cabi_post_tidegate:job/mapper@0.1.0#process") (param i32)
    (global.set $top (i32.const 65536)))"#
    )
}

/// The component that answers with its input.
#[must_use]
pub fn identity() -> Vec<u8> {
    crate::guest("with-mapper", &process(IDENTITY))
}
