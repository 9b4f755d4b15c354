;; A map hook that grows a table for ever: tables count towards an instance's memory, and fuel ends the loop.
(module
  (memory (export "memory") 4)
  (table $table 1 funcref)
  (global $top (mut i32) (i32.const 65536))

  ;; open's result: ok(plan { reads: some({ columns: [], times: true }), keep: [], output: [] })
  (data (i32.const 1028) "\01")
  (data (i32.const 1040) "\01")

  (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
    (global.get $top)
    (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get $size)) (i32.const 15)) (i32.const -16))))

  (func (export "tidegate:job/mapper@0.1.0#open") (param i32 i32 i32 i32) (result i32)
    (i32.const 1024))

  (func (export "tidegate:job/mapper@0.1.0#process") (param i32 i32 i32 i32) (result i32)
    (loop $more
      (drop (table.grow $table (ref.null func) (i32.const 10000)))
      (br $more))
    (i32.const 2048)))
