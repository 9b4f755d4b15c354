//! Checks of the plans that guests answer `open` with. Each refusal names the hook, the field and the reason.

use std::collections::BTreeMap;

use tidegate_types::hooks::Reads;
use tidegate_types::{Field, FieldType, Kind};

use crate::bindings::tidegate::job::types::{FieldResult, Reads as WireReads};
use crate::config::{FIELD_NAME_BYTES, PLAN_FIELDS};
use crate::error::OpenError;
use crate::fields::{JSON, from_wire};
use crate::text;

pub(crate) mod process;

/// A wrong plan: where, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    place: String,
    reason: String,
}

impl Wrong {
    pub(crate) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }

    /// As an error of a hook's `open`.
    pub(crate) fn of(self, component: &str, hook: &'static str) -> OpenError {
        OpenError::Plan { component: component.to_owned(), hook, place: self.place, reason: self.reason }
    }
}

/// What the hook reads; without a word about it, every typed field of `input` and the times.
pub(crate) fn reads(reads: Option<WireReads>, input: &[Field]) -> Result<Reads, Wrong> {
    let Some(reads) = reads else {
        let typed = |field: &&Field| matches!(field.field_type, FieldType::Typed { .. });
        return Ok(Reads { columns: input.iter().filter(typed).cloned().collect(), times: true });
    };
    let columns = named("reads.columns", &reads.columns)?;
    let mut fields = Vec::with_capacity(columns.len());
    for (place, field) in columns {
        let asked = if field.logical.as_deref() == Some(JSON) && field.kind == Kind::Text {
            Field::dynamic(&field.name)
        } else {
            no_logical(&place, &field)?;
            Field::typed(&field.name, field.kind, field.nullable)
        };
        if let Some(declared) = input.iter().find(|declared| declared.name == asked.name) {
            matches_declared(&place, &asked, declared)?;
        }
        fields.push(asked);
    }
    Ok(Reads { columns: fields, times: reads.times })
}

/// A declared field is asked for as what it is.
fn matches_declared(place: &str, asked: &Field, declared: &Field) -> Result<(), Wrong> {
    let name = |field_type: FieldType| match field_type {
        FieldType::Dynamic => "text with the logical type json".to_owned(),
        FieldType::Typed { kind, .. } => kind.to_string(),
    };
    match (asked.field_type, declared.field_type) {
        (FieldType::Typed { kind: asked, .. }, FieldType::Typed { kind: declared, .. }) if asked == declared => Ok(()),
        // What no schema declares is decoded to what the hook asks for.
        (_, FieldType::Dynamic) => Ok(()),
        (asked, declared) => Err(Wrong::new(
            place,
            format!(
                "it is asked for as {}, the pipeline declares {}; ask for that, or change the schema",
                name(asked),
                name(declared)
            ),
        )),
    }
}

/// Fields that the hook makes.
pub(crate) fn makes(place: &str, fields: &[FieldResult]) -> Result<Vec<Field>, Wrong> {
    let fields = named(place, fields)?;
    fields
        .into_iter()
        .map(|(place, field)| {
            no_logical(&place, &field)?;
            Ok(Field::typed(field.name, field.kind, field.nullable))
        })
        .collect()
}

/// Input fields that ride along: each known, named once, and not made anew.
pub(crate) fn keeps(keep: &[String], input: &[Field], reads: &Reads, output: &[Field]) -> Result<Vec<String>, Wrong> {
    limited("keep", keep.len())?;
    let mut seen = BTreeMap::new();
    for (index, name) in keep.iter().enumerate() {
        let place = format!("keep[{index}] ({})", text::line(name, FIELD_NAME_BYTES));
        if seen.insert(name.as_str(), index).is_some() {
            return Err(Wrong::new(place, "it is named twice"));
        }
        if output.iter().any(|field| field.name == *name) {
            return Err(Wrong::new(place, "it is in `output` too; keep it or make it, not both"));
        }
        if !input.iter().chain(&reads.columns).any(|field| field.name == *name) {
            return Err(Wrong::new(place, "no such field is known; declare it in the pipeline's `schema`, or read it"));
        }
    }
    Ok(keep.to_vec())
}

/// A field as the guest wrote it, its name checked.
struct Named {
    name: String,
    kind: Kind,
    nullable: bool,
    logical: Option<String>,
}

/// Names are unique, not empty, and of bearable length. Each field comes with its place for messages.
fn named(list: &str, fields: &[FieldResult]) -> Result<Vec<(String, Named)>, Wrong> {
    limited(list, fields.len())?;
    let mut seen = BTreeMap::new();
    let mut named = Vec::with_capacity(fields.len());
    for (index, field) in fields.iter().enumerate() {
        let place = format!("{list}[{index}] ({})", text::line(&field.name, FIELD_NAME_BYTES));
        if field.name.is_empty() || field.name.len() > FIELD_NAME_BYTES {
            return Err(Wrong::new(place, format!("a name has 1 to {FIELD_NAME_BYTES} bytes")));
        }
        if let Some(first) = seen.insert(field.name.as_str(), index) {
            return Err(Wrong::new(place, format!("the name is that of {list}[{first}]; names are unique")));
        }
        let (name, logical) = (field.name.clone(), field.logical.clone());
        named.push((place, Named { name, kind: from_wire(field.kind), nullable: field.nullable, logical }));
    }
    Ok(named)
}

fn limited(list: &str, len: usize) -> Result<(), Wrong> {
    if len > PLAN_FIELDS {
        return Err(Wrong::new(list, format!("it has {len} entries, at most {PLAN_FIELDS} are allowed")));
    }
    Ok(())
}

/// Logical types are not checked yet, so none is promised.
fn no_logical(place: &str, field: &Named) -> Result<(), Wrong> {
    match &field.logical {
        None => Ok(()),
        Some(logical) => Err(Wrong::new(
            place,
            format!("its logical type `{}` is not supported by this version; leave it out", text::line(logical, 64)),
        )),
    }
}

#[cfg(test)]
mod tests;
