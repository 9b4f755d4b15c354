//! From a tenant's types to a component: the instance behind the exported functions, and [`export!`](crate::export).
//!
//! A component instance is single-threaded and opened once, so each hook lives in a thread-local cell of the tenant's crate.

use std::cell::OnceCell;

use crate::columns::Fault;
use crate::config;

/// A row-wise hook, seen as one over columns.
#[derive(Debug)]
pub struct RowWise<H>(pub(crate) H);

/// The hook of this instance, from `open` on.
#[doc(hidden)]
#[derive(Debug)]
pub struct Slot<H>(OnceCell<H>);

impl<H> Slot<H> {
    /// A slot that waits for `open`.
    pub const fn new() -> Self {
        Self(OnceCell::new())
    }

    /// Reads the config, opens the hook and keeps it.
    pub fn open<C: serde::de::DeserializeOwned, P>(
        &self,
        config: &str,
        open: impl FnOnce(C) -> Result<(H, P), Fault>,
    ) -> Result<P, Fault> {
        crate::log::report_panics();
        let (hook, plan) = open(config::parse(config)?)?;
        self.0.set(hook).map_err(|_| Fault::new("open was called twice"))?;
        Ok(plan)
    }

    /// The open hook.
    pub fn get(&self) -> Result<&H, Fault> {
        self.0.get().ok_or_else(|| Fault::new("called before open"))
    }
}

impl<H> Default for Slot<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// Names the hooks of a component, each at most once:
///
/// ```
/// # use tidegate_sdk::{Field, Fault, Mapper, Reject, Row};
/// # #[derive(Row)] struct In { x: i64 }
/// # struct Double;
/// # impl Mapper for Double {
/// #     type Config = (); type In<'a> = In; type Out<'a> = In;
/// #     fn open(_: (), _: &[Field]) -> Result<Self, Fault> { Ok(Self) }
/// #     fn map<'a>(&'a self, row: In) -> Result<In, Reject> { Ok(In { x: 2 * row.x }) }
/// # }
/// tidegate_sdk::export! {
///     mapper: Double,
/// }
/// ```
///
/// | key | the type implements |
/// |---|---|
/// | `mapper` | [`Mapper`](crate::Mapper) |
/// | `column_mapper` | [`ColumnMapper`](crate::ColumnMapper) |
/// | `aggregator` | [`Aggregator`](crate::Aggregator) |
/// | `column_aggregator` | [`ColumnAggregator`](crate::ColumnAggregator) |
/// | `windower` | [`Windower`](crate::Windower) |
/// | `column_windower` | [`ColumnWindower`](crate::ColumnWindower) |
/// | `processor` | [`Processor`](crate::Processor) |
/// | `column_processor` | [`ColumnProcessor`](crate::ColumnProcessor) |
///
/// Built for anything but WebAssembly it only checks the types, so that tests run natively.
#[macro_export]
macro_rules! export {
    ($($hook:ident: $type:ty),+ $(,)?) => { $($crate::__export_hook!($hook: $type);)+ };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_hook {
    (mapper: $type:ty) => {
        $crate::__export_mapper!($crate::export::RowWise<$type>);
    };
    (column_mapper: $type:ty) => {
        $crate::__export_mapper!($type);
    };
    (aggregator: $type:ty) => {
        $crate::__export_aggregator!($crate::export::RowWise<$type>);
    };
    (column_aggregator: $type:ty) => {
        $crate::__export_aggregator!($type);
    };
    (windower: $type:ty) => {
        $crate::__export_windower!($crate::windower::RowWindower<$type>);
    };
    (column_windower: $type:ty) => {
        $crate::__export_windower!($type);
    };
    (processor: $type:ty) => {
        $crate::__export_processor!($crate::processor::RowProcessor<$type>);
    };
    (column_processor: $type:ty) => {
        $crate::__export_processor!($type);
    };
    ($other:ident: $type:ty) => {
        ::std::compile_error!(::std::concat!(
            "there is no hook `",
            ::std::stringify!($other),
            "`: mapper, column_mapper, aggregator, column_aggregator, windower, column_windower, processor or \
             column_processor"
        ));
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_mapper {
    ($type:ty) => {
        const _: () = {
            use $crate::bindings::mapper::exports::tidegate::job::mapper as abi;
            type Hook = $type;
            ::std::thread_local! {
                static HOOK: $crate::export::Slot<Hook> = const { $crate::export::Slot::new() };
            }
            struct Component;
            impl abi::Guest for Component {
                fn open(
                    config: ::std::string::String,
                    input: abi::Fields,
                ) -> ::std::result::Result<abi::Plan, abi::Fault> {
                    HOOK.with(|hook| hook.open(&config, |config| <Hook as $crate::ColumnMapper>::open(config, &input)))
                }
                fn process(input: abi::Batch) -> ::std::result::Result<abi::Mapped, abi::Fault> {
                    HOOK.with(|hook| $crate::ColumnMapper::process(hook.get()?, input))
                }
            }
            #[cfg(target_arch = "wasm32")]
    $crate::bindings::mapper::__tidegate_mapper_abi!(Component with_types_in $crate::bindings::mapper);
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_aggregator {
    ($type:ty) => {
        const _: () = {
            use $crate::bindings::aggregator::exports::tidegate::job::aggregator as abi;
            type Hook = $type;
            ::std::thread_local! {
                static HOOK: $crate::export::Slot<Hook> = const { $crate::export::Slot::new() };
            }
            struct Component;
            impl abi::Guest for Component {
                fn open(
                    config: ::std::string::String,
                    key: abi::Fields,
                    input: abi::Fields,
                ) -> ::std::result::Result<abi::Plan, abi::Fault> {
                    HOOK.with(|hook| {
                        hook.open(&config, |config| <Hook as $crate::ColumnAggregator>::open(config, &key, &input))
                    })
                }
                fn accumulate(
                    cells: abi::Cells,
                    accumulators: abi::Columns,
                    groups: ::std::vec::Vec<u32>,
                    input: abi::Batch,
                ) -> ::std::result::Result<abi::Accumulated, abi::Fault> {
                    HOOK.with(|hook| {
                        $crate::ColumnAggregator::accumulate(hook.get()?, cells, accumulators, &groups, input)
                    })
                }
                fn merge(left: abi::Columns, right: abi::Columns) -> ::std::result::Result<abi::Columns, abi::Fault> {
                    HOOK.with(|hook| $crate::ColumnAggregator::merge(hook.get()?, left, right))
                }
                fn finish(
                    cells: abi::Cells,
                    accumulators: abi::Columns,
                ) -> ::std::result::Result<abi::Columns, abi::Fault> {
                    HOOK.with(|hook| $crate::ColumnAggregator::finish(hook.get()?, cells, accumulators))
                }
            }
            #[cfg(target_arch = "wasm32")]
            $crate::bindings::aggregator::__tidegate_aggregator_abi!(Component with_types_in $crate::bindings::aggregator);
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_windower {
    ($type:ty) => {
        const _: () = {
            use $crate::bindings::windower::exports::tidegate::job::windower as abi;
            type Hook = $type;
            ::std::thread_local! {
                static HOOK: $crate::export::Slot<Hook> = const { $crate::export::Slot::new() };
            }
            struct Component;
            impl abi::Guest for Component {
                fn open(
                    config: ::std::string::String,
                    key: abi::Fields,
                    input: abi::Fields,
                    value: abi::Fields,
                ) -> ::std::result::Result<abi::Plan, abi::Fault> {
                    HOOK.with(|hook| {
                        hook.open(&config, |config| {
                            <Hook as $crate::ColumnWindower>::open(config, &key, &input, &value)
                        })
                    })
                }
                fn assign(input: abi::Batch) -> ::std::result::Result<abi::Assignments, abi::Fault> {
                    HOOK.with(|hook| $crate::ColumnWindower::assign(hook.get()?, input))
                }
                fn decide(
                    keys: abi::Columns,
                    starts: abi::Times,
                    ends: abi::Times,
                    counts: ::std::vec::Vec<u32>,
                    watermark: abi::EventTime,
                ) -> ::std::result::Result<::std::vec::Vec<abi::Decision>, abi::Fault> {
                    HOOK.with(|hook| {
                        $crate::ColumnWindower::decide(hook.get()?, keys, &starts, &ends, &counts, watermark)
                    })
                }
                fn emit(
                    panes: abi::Panes,
                    keys: abi::Columns,
                    values: abi::Columns,
                ) -> ::std::result::Result<abi::Rows, abi::Fault> {
                    HOOK.with(|hook| $crate::ColumnWindower::emit(hook.get()?, panes, keys, values))
                }
            }
            #[cfg(target_arch = "wasm32")]
    $crate::bindings::windower::__tidegate_windower_abi!(Component with_types_in $crate::bindings::windower);
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_processor {
    ($type:ty) => {
        const _: () = {
            use $crate::bindings::processor::exports::tidegate::job::processor as abi;
            type Hook = $type;
            ::std::thread_local! {
                static HOOK: $crate::export::Slot<Hook> = const { $crate::export::Slot::new() };
            }
            struct Component;
            impl abi::Guest for Component {
                fn open(
                    config: ::std::string::String,
                    key: abi::Fields,
                    input: abi::Fields,
                ) -> ::std::result::Result<abi::Plan, abi::Fault> {
                    HOOK.with(|hook| {
                        hook.open(&config, |config| <Hook as $crate::ColumnProcessor>::open(config, &key, &input))
                    })
                }
                fn process(
                    keys: abi::Columns,
                    groups: ::std::vec::Vec<u32>,
                    watermarks: abi::Times,
                    input: abi::Batch,
                ) -> ::std::result::Result<abi::Processed, abi::Fault> {
                    let state = $crate::processor::HostState;
                    HOOK.with(|hook| {
                        $crate::ColumnProcessor::process(hook.get()?, &state, keys, &groups, &watermarks, input)
                    })
                }
                fn on_timer(keys: abi::Columns, due: abi::Due) -> ::std::result::Result<abi::Rows, abi::Fault> {
                    let state = $crate::processor::HostState;
                    HOOK.with(|hook| $crate::ColumnProcessor::on_timer(hook.get()?, &state, keys, due))
                }
            }
            #[cfg(target_arch = "wasm32")]
    $crate::bindings::processor::__tidegate_processor_abi!(Component with_types_in $crate::bindings::processor);
        };
    };
}
