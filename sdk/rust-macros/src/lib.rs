//! `#[derive(Row)]`, the derive macro of `tidegate-sdk` (documented there, at `tidegate_sdk::Row`).
//!
//! It only spells out, field by field, calls to the SDK's `field` traits: what a field's type means is decided by those
//! traits, not here. Everything that it refuses points at the place in the tenant's code.

use proc_macro::TokenStream;

mod row;

/// Maps the fields of a struct to columns. See `tidegate_sdk::Row`.
#[proc_macro_derive(Row, attributes(row))]
pub fn derive_row(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    row::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
