//! Typed bindings of the contract in `wit/`, generated at build time.
//!
//! What goes to a guest is borrowed (`…Param`), what comes back is owned (`…Result`). Nothing of this leaves the crate.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "job",
    ownership: Borrowing { duplicate_if_necessary: true },
});
