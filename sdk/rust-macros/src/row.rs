//! The expansion of `#[derive(Row)]`.
//!
//! Reader and writer of a row are tuples with one entry per field, in the order of the fields; the column order follows from
//! it. A field marked `time` reads and writes the event times, which are no column.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, Index, Lifetime, LitStr, Result, Type};

struct RowField<'s> {
    ident: &'s Ident,
    ty: &'s Type,
    name: String,
    logical: Option<String>,
    time: bool,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let fields = row_fields(input)?;
    let schema = schema_impl(input, &fields);
    let read = read_impl(input, &fields)?;
    let write = write_impl(input, &fields);
    Ok(quote! { #schema #read #write })
}

fn row_fields(input: &DeriveInput) -> Result<Vec<RowField<'_>>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "Row can be derived for structs only"));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "Row needs named fields: each is a column of that name"));
    };
    if let Some(param) = input.generics.type_params().next() {
        return Err(Error::new_spanned(param, "Row structs take no type parameters, at most one lifetime"));
    }
    let fields = named.named.iter().map(row_field).collect::<Result<Vec<_>>>()?;
    let mut times = fields.iter().filter(|field| field.time);
    if let (Some(_), Some(second)) = (times.next(), times.next()) {
        return Err(Error::new_spanned(second.ident, "only one field can be the row's event time"));
    }
    for (i, field) in fields.iter().enumerate() {
        if !field.time && fields[..i].iter().any(|other| !other.time && other.name == field.name) {
            return Err(Error::new_spanned(field.ident, format!("two fields are named `{}`", field.name)));
        }
    }
    Ok(fields)
}

fn row_field(field: &syn::Field) -> Result<RowField<'_>> {
    let ident = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "Row needs named fields"))?;
    let plain = ident.to_string();
    let name = plain.strip_prefix("r#").unwrap_or(&plain).to_owned();
    let mut parsed = RowField { ident, ty: &field.ty, name, logical: None, time: false };
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("row")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("time") {
                parsed.time = true;
            } else if meta.path.is_ident("name") {
                parsed.name = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("logical") {
                parsed.logical = Some(meta.value()?.parse::<LitStr>()?.value());
            } else {
                return Err(meta.error("expected `name = \"…\"`, `logical = \"…\"` or `time`"));
            }
            Ok(())
        })?;
    }
    Ok(parsed)
}

/// `impl Row`: what the columns are.
fn schema_impl(input: &DeriveInput, fields: &[RowField<'_>]) -> TokenStream {
    let ident = &input.ident;
    let (generics, arguments, _) = input.generics.split_for_impl();
    let has_time = fields.iter().any(|field| field.time);
    let columns = fields.iter().filter(|field| !field.time).map(|field| {
        let (ty, name) = (field.ty, &field.name);
        let logical = match &field.logical {
            Some(text) => quote! { ::core::option::Option::Some(#text) },
            None => quote! { ::core::option::Option::None },
        };
        quote! { ::tidegate_sdk::row::describe::<#ty>(#name, #logical) }
    });
    quote! {
        #[automatically_derived]
        impl #generics ::tidegate_sdk::Row for #ident #arguments {
            const TIME: bool = #has_time;
            fn fields() -> ::std::vec::Vec<::tidegate_sdk::Field> {
                ::std::vec![#(#columns),*]
            }
        }
    }
}

/// `impl ReadRow<'a>`: a struct with a lifetime borrows from the batch; one without is owned.
fn read_impl(input: &DeriveInput, fields: &[RowField<'_>]) -> Result<TokenStream> {
    let ident = &input.ident;
    let mut lifetimes = input.generics.lifetimes();
    let (lifetime, target) = match lifetimes.next() {
        Some(parameter) => {
            let lifetime = parameter.lifetime.clone();
            (lifetime.clone(), quote! { #ident<#lifetime> })
        }
        None => (Lifetime::new("'tidegate_batch", ident.span()), quote! { #ident }),
    };
    if let Some(second) = lifetimes.next() {
        return Err(Error::new_spanned(second, "a row has at most one lifetime: that of the batch"));
    }
    let readers = fields.iter().map(|field| match field.time {
        true => quote! { &#lifetime [i64] },
        false => {
            let ty = field.ty;
            quote! { <#ty as ::tidegate_sdk::row::ReadField<#lifetime>>::Reader }
        }
    });
    let opens = fields.iter().map(|field| match field.time {
        true => quote! { columns.times() },
        false => {
            let (ty, name) = (field.ty, &field.name);
            quote! { columns.field::<#ty>(#name)? }
        }
    });
    let gets = fields.iter().enumerate().map(|(i, field)| {
        let (ident, index) = (field.ident, Index::from(i));
        match field.time {
            true => quote! { #ident: reader.#index[row] },
            false => {
                let ty = field.ty;
                quote! { #ident: <#ty as ::tidegate_sdk::row::ReadField<#lifetime>>::get(&reader.#index, row) }
            }
        }
    });
    Ok(quote! {
        #[automatically_derived]
        impl<#lifetime> ::tidegate_sdk::row::ReadRow<#lifetime> for #target {
            type Reader = (#(#readers,)*);
            #[inline]
            fn reader(
                columns: &mut ::tidegate_sdk::row::ColumnSource<#lifetime>,
            ) -> ::core::result::Result<Self::Reader, ::tidegate_sdk::Fault> {
                let _ = &columns;
                ::core::result::Result::Ok((#(#opens,)*))
            }
            #[inline(always)]
            fn read(reader: &Self::Reader, row: usize) -> Self {
                let _ = (reader, row);
                Self { #(#gets,)* }
            }
        }
    })
}

/// `impl WriteRow`.
fn write_impl(input: &DeriveInput, fields: &[RowField<'_>]) -> TokenStream {
    let ident = &input.ident;
    let (generics, arguments, _) = input.generics.split_for_impl();
    let writers = fields.iter().map(|field| match field.time {
        true => quote! { ::std::vec::Vec<i64> },
        false => {
            let ty = field.ty;
            quote! { <#ty as ::tidegate_sdk::row::WriteField>::Writer }
        }
    });
    let starts = fields.iter().map(|field| match field.time {
        true => quote! { ::std::vec::Vec::with_capacity(rows) },
        false => {
            let ty = field.ty;
            quote! { <#ty as ::tidegate_sdk::row::WriteField>::writer(rows) }
        }
    });
    let puts = fields.iter().enumerate().map(|(i, field)| {
        let (ident, ty, index) = (field.ident, field.ty, Index::from(i));
        match field.time {
            true => quote! { writer.#index.push(self.#ident); },
            false => quote! { <#ty as ::tidegate_sdk::row::WriteField>::put(self.#ident, &mut writer.#index); },
        }
    });
    let ends = fields.iter().enumerate().map(|(i, field)| {
        let (ty, index) = (field.ty, Index::from(i));
        match field.time {
            true => quote! { columns.times(writer.#index); },
            false => quote! { columns.column(<#ty as ::tidegate_sdk::row::WriteField>::finish(writer.#index)); },
        }
    });
    quote! {
        #[automatically_derived]
        impl #generics ::tidegate_sdk::row::WriteRow for #ident #arguments {
            type Writer = (#(#writers,)*);
            #[inline]
            fn writer(rows: usize) -> Self::Writer {
                let _ = rows;
                (#(#starts,)*)
            }
            #[inline(always)]
            fn write(self, writer: &mut Self::Writer) {
                let _ = &writer;
                #(#puts)*
            }
            #[inline]
            fn finish(writer: Self::Writer, columns: &mut ::tidegate_sdk::row::ColumnSink) {
                let _ = (&writer, &columns);
                #(#ends)*
            }
        }
    }
}
