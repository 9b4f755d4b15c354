//! An aggregate hook: the sum of the first column, an integer. Its accumulators are added to where they were put.

/// The functions of the hook. `extra` instructions run in `accumulate` before it answers, after the sum is made (locals `$i`,
/// `$rows`, `$sums`, `$values`; the answer is at 2,048).
#[must_use]
pub fn functions(extra: &str) -> String {
    format!("{OPEN} {} {REST}", accumulate(extra))
}

/// The component that sums.
#[must_use]
pub fn sum() -> Vec<u8> {
    crate::guest("with-aggregator", &functions(""))
}

/// The plan: reads what is declared, asks for keys and windows, has one accumulator field `sum`, 0 at first, and puts it out.
const OPEN: &str = r#"
  (data (i32.const 256) "sum")
  ;; The field at 272: its name, and the kind int.
  (data (i32.const 272) "\00\01\00\00" "\03\00\00\00" "\01\00\00\00" "\00\00\00\00" "\00\00\00\00" "\00\00\00\00")
  ;; The column at 304: ints, one of them, at 352.
  (data (i32.const 304) "\01\00\00\00" "\60\01\00\00" "\01\00\00\00")
  (func (export "tidegate:job/aggregator@0.1.0#open") (param i32 i32 i32 i32 i32 i32) (result i32)
    (memory.fill (i32.const 1024) (i32.const 0) (i32.const 64))
    (i32.store16 offset=20 (i32.const 1024) (i32.const 0x0101))
    (i32.store offset=24 (i32.const 1024) (i32.const 272))
    (i32.store offset=28 (i32.const 1024) (i32.const 1))
    (i32.store offset=32 (i32.const 1024) (i32.const 304))
    (i32.store offset=36 (i32.const 1024) (i32.const 1))
    (i32.store offset=40 (i32.const 1024) (i32.const 272))
    (i32.store offset=44 (i32.const 1024) (i32.const 1))
    (i32.const 1024))"#;

fn accumulate(extra: &str) -> String {
    format!(
        r#"
  (func (export "tidegate:job/aggregator@0.1.0#accumulate")
    (param $keys i32) (param $keys_len i32) (param $starts i32) (param $starts_len i32) (param $ends i32) (param $ends_len i32)
    (param $accumulators i32) (param $accumulators_len i32) (param $groups i32) (param $rows i32)
    (param $times i32) (param $times_len i32) (param $columns i32) (param $columns_len i32) (result i32)
    (local $i i32) (local $sums i32) (local $values i32) (local $at i32)
    (local.set $sums (i32.load offset=4 (local.get $accumulators)))
    (local.set $values (i32.load offset=4 (local.get $columns)))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $rows)))
      (local.set $at (i32.add (local.get $sums)
        (i32.shl (i32.load (i32.add (local.get $groups) (i32.shl (local.get $i) (i32.const 2)))) (i32.const 3))))
      (i64.store (local.get $at) (i64.add (i64.load (local.get $at))
        (i64.load (i32.add (local.get $values) (i32.shl (local.get $i) (i32.const 3))))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next)))
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
    (i32.store offset=4 (i32.const 2048) (local.get $accumulators))
    (i32.store offset=8 (i32.const 2048) (local.get $accumulators_len))
    {extra}
    (i32.const 2048))
  (func (export "cabi_post_tidegate:job/aggregator@0.1.0#accumulate") (param i32)
    (global.set $top (i32.const 65536)))"#
    )
}

const REST: &str = r#"
  (func (export "tidegate:job/aggregator@0.1.0#merge")
    (param $left i32) (param $left_len i32) (param $right i32) (param $right_len i32) (result i32)
    (local $i i32) (local $a i32) (local $b i32) (local $rows i32)
    (local.set $a (i32.load offset=4 (local.get $left)))
    (local.set $b (i32.load offset=4 (local.get $right)))
    (local.set $rows (i32.load offset=8 (local.get $left)))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $rows)))
      (i64.store (local.get $a) (i64.add (i64.load (local.get $a)) (i64.load (local.get $b))))
      (local.set $a (i32.add (local.get $a) (i32.const 8)))
      (local.set $b (i32.add (local.get $b) (i32.const 8)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next)))
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
    (i32.store offset=4 (i32.const 2048) (local.get $left))
    (i32.store offset=8 (i32.const 2048) (local.get $left_len))
    (i32.const 2048))
  (func (export "cabi_post_tidegate:job/aggregator@0.1.0#merge") (param i32)
    (global.set $top (i32.const 65536)))
  (func (export "tidegate:job/aggregator@0.1.0#finish")
    (param $keys i32) (param $keys_len i32) (param $starts i32) (param $starts_len i32) (param $ends i32) (param $ends_len i32)
    (param $accumulators i32) (param $accumulators_len i32) (result i32)
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
    (i32.store offset=4 (i32.const 2048) (local.get $accumulators))
    (i32.store offset=8 (i32.const 2048) (local.get $accumulators_len))
    (i32.const 2048))
  (func (export "cabi_post_tidegate:job/aggregator@0.1.0#finish") (param i32)
    (global.set $top (i32.const 65536)))"#;
