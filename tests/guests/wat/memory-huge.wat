;; A map hook that wants 4 GiB of memory from the start: refused before it runs.
(module
  (memory (export "memory") 65535)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65536))
  (func (export "tidegate:job/mapper@0.1.0#open") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "tidegate:job/mapper@0.1.0#process") (param i32 i32 i32 i32) (result i32) (i32.const 2048)))
