;; A map hook whose `cabi_realloc` spins from the first batch on (not in `open`).
;; The host calls it while it lowers the batch, before the hook itself runs: the call's fuel must cover that too.
(module
  (memory (export "memory") 4)
  (global $opened (mut i32) (i32.const 0))
  (global $top (mut i32) (i32.const 65536))

  ;; open's result: ok(plan { reads: some({ columns: [], times: true }), keep: [], output: [] })
  (data (i32.const 1028) "\01")
  (data (i32.const 1040) "\01")

  (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
    (loop $spin (br_if $spin (global.get $opened)))
    (global.get $top)
    (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get $size)) (i32.const 15)) (i32.const -16))))

  (func (export "tidegate:job/mapper@0.1.0#open") (param i32 i32 i32 i32) (result i32)
    (global.set $opened (i32.const 1))
    (i32.const 1024))

  ;; process's result: ok(mapped { output: no columns, rejected: [] })
  (func (export "tidegate:job/mapper@0.1.0#process") (param i32 i32 i32 i32) (result i32)
    (i32.const 2048)))
