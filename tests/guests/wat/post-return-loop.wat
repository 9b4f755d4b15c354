;; A map hook that answers well and then spins in its post-return function.
;; That runs after the result was lifted: it must cost the call's fuel all the same.
(module
  (memory (export "memory") 64)
  (global $top (mut i32) (i32.const 65536))

  ;; open's result: ok(plan { reads: some({ columns: [], times: true }), keep: [], output: [] })
  (data (i32.const 1028) "\01")
  (data (i32.const 1040) "\01")

  (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
    (global.get $top)
    (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get $size)) (i32.const 15)) (i32.const -16))))

  (func (export "tidegate:job/mapper@0.1.0#open") (param i32 i32 i32 i32) (result i32)
    (i32.const 1024))

  ;; process's result: ok(mapped { output: no columns, rejected: [] })
  (func (export "tidegate:job/mapper@0.1.0#process") (param i32 i32 i32 i32) (result i32)
    (i32.const 2048))

  (func (export "cabi_post_tidegate:job/mapper@0.1.0#process") (param i32)
    (loop $spin (br $spin))))
