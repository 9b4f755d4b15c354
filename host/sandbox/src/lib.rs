//! WebAssembly components behind the hook traits: the only user of wasmtime.
