;; A map hook that returns 100,000 rejections whose messages all point at the same 1 MiB of text: 3 MiB of guest memory would
;; become 100 GiB in the host, if it lifted them.
(module
  (memory (export "memory") 64)
  (global $top (mut i32) (i32.const 3211264))

  ;; open's result: ok(plan { reads: some({ columns: [], times: true }), keep: [], output: [] })
  (data (i32.const 1028) "\01")
  (data (i32.const 1040) "\01")
  ;; process's result: ok(mapped { output: no columns, rejected: 100,000 at 65536 })
  (data (i32.const 2084) "\00\00\01\00\a0\86\01\00")
  ;; The code of each rejection.
  (data (i32.const 3072) "evil-alias")

  (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
    (global.get $top)
    (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get $size)) (i32.const 15)) (i32.const -16))))

  (func (export "tidegate:job/mapper@0.1.0#open") (param i32 i32 i32 i32) (result i32)
    (i32.const 1024))

  (func (export "tidegate:job/mapper@0.1.0#process") (param i32 i32 i32 i32) (result i32)
    (local $i i32) (local $at i32)
    ;; 1 MiB of text at 2 MiB + 64 KiB, behind the list.
    (memory.fill (i32.const 2162688) (i32.const 97) (i32.const 1048576))
    (local.set $at (i32.const 65536))
    (loop $next
      (i32.store (local.get $at) (local.get $i))
      (i32.store offset=4 (local.get $at) (i32.const 3072))
      (i32.store offset=8 (local.get $at) (i32.const 10))
      (i32.store offset=12 (local.get $at) (i32.const 2162688))
      (i32.store offset=16 (local.get $at) (i32.const 1048576))
      (local.set $at (i32.add (local.get $at) (i32.const 20)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 100000))))
    (i32.const 2048)))
