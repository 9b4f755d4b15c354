//! The component model's binary interface, generated from `wit/`: one module per optional hook, so that a component exports
//! exactly the hooks that it has. Types are generated once, with the mapper's, and shared by the others.
//!
//! This is the only module with `unsafe`: lifting and lowering of lists is pointers and lengths by nature. Nothing here is
//! written by hand; `columns` is its public face.

#![allow(unsafe_code, reason = "generated code that lifts and lowers lists across the component border")]
#![allow(missing_docs, reason = "generated from wit/, where the fields are described by their records")]
#![allow(unused_qualifications, reason = "generated code spells out its paths")]
#![allow(unreachable_pub, reason = "generated code does not know how it is re-exported")]

/// World `with-mapper`, and the types of all worlds.
pub mod mapper {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "with-mapper",
        pub_export_macro: true,
        export_macro_name: "__tidegate_mapper_abi",
        default_bindings_module: "tidegate_sdk::bindings::mapper",
        additional_derives: [PartialEq],
    });
}

/// World `with-aggregator`.
pub mod aggregator {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "with-aggregator",
        pub_export_macro: true,
        export_macro_name: "__tidegate_aggregator_abi",
        default_bindings_module: "tidegate_sdk::bindings::aggregator",
        additional_derives: [PartialEq],
        with: {
            "tidegate:job/types@0.1.0": crate::bindings::mapper::tidegate::job::types,
            "tidegate:job/log@0.1.0": crate::bindings::mapper::tidegate::job::log,
        },
    });
}

/// World `with-windower`.
pub mod windower {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "with-windower",
        pub_export_macro: true,
        export_macro_name: "__tidegate_windower_abi",
        default_bindings_module: "tidegate_sdk::bindings::windower",
        additional_derives: [PartialEq],
        with: {
            "tidegate:job/types@0.1.0": crate::bindings::mapper::tidegate::job::types,
            "tidegate:job/log@0.1.0": crate::bindings::mapper::tidegate::job::log,
        },
    });
}

/// World `with-processor`.
pub mod processor {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "with-processor",
        pub_export_macro: true,
        export_macro_name: "__tidegate_processor_abi",
        default_bindings_module: "tidegate_sdk::bindings::processor",
        additional_derives: [PartialEq],
        with: {
            "tidegate:job/types@0.1.0": crate::bindings::mapper::tidegate::job::types,
            "tidegate:job/log@0.1.0": crate::bindings::mapper::tidegate::job::log,
        },
    });
}
