//! Fields between the host's types and the contract's.

use tidegate_types::{Field, FieldType, Kind};

use crate::bindings::tidegate::job::types::{FieldParam, Kind as WireKind};

/// The logical type of a dynamic field's text.
pub(crate) const JSON: &str = "json";

/// How a field's column looks to a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
    /// Whether the column holds values of any kind, as JSON text.
    pub(crate) json: bool,
}

/// See [`Wire`].
pub(crate) fn wire(field: &Field) -> Wire {
    match field.field_type {
        FieldType::Dynamic => Wire { kind: Kind::Text, nullable: true, json: true },
        FieldType::Typed { kind, nullable } => Wire { kind, nullable, json: false },
    }
}

/// Fields as arguments of `open`.
pub(crate) fn params(fields: &[Field]) -> Vec<FieldParam<'_>> {
    let param = |field| -> FieldParam<'_> {
        let Wire { kind, nullable, json } = wire(field);
        FieldParam { name: &field.name, kind: to_wire(kind), nullable, logical: json.then_some(JSON) }
    };
    fields.iter().map(param).collect()
}

fn to_wire(kind: Kind) -> WireKind {
    match kind {
        Kind::Bool => WireKind::Bool,
        Kind::Int => WireKind::Int,
        Kind::Float => WireKind::Float,
        Kind::Text => WireKind::Text,
        Kind::Bytes => WireKind::Bytes,
    }
}

/// The host's kind.
pub(crate) fn from_wire(kind: WireKind) -> Kind {
    match kind {
        WireKind::Bool => Kind::Bool,
        WireKind::Int => Kind::Int,
        WireKind::Float => Kind::Float,
        WireKind::Text => Kind::Text,
        WireKind::Bytes => Kind::Bytes,
    }
}
