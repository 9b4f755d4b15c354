//! Typed bindings of the contract in `wit/`, generated at build time.
//!
//! What goes to a guest is borrowed (`…Param`), what comes back is owned (`…Result`). Nothing of this leaves the crate. The
//! published worlds never grow, so a world of the host's own includes all of them.

wasmtime::component::bindgen!({
    path: "../../wit",
    inline: "
        package tidegate:host;
        world hooks {
            include tidegate:job/job@0.1.0;
            include tidegate:job/with-processor@0.1.0;
        }
    ",
    world: "tidegate:host/hooks",
    ownership: Borrowing { duplicate_if_necessary: true },
});
