;; A map hook whose start function spins: instantiation itself must have a budget.
(module
  (memory (export "memory") 4)

  (func $spin (loop $again (br $again)))
  (start $spin)

  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65536))
  (func (export "tidegate:job/mapper@0.1.0#open") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "tidegate:job/mapper@0.1.0#process") (param i32 i32 i32 i32) (result i32) (i32.const 2048)))
