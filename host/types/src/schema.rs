//! Fields and their types: what a pipeline declares, what a hook reads and puts out.

use std::fmt;

/// The kinds of the WIT contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A signed 64-bit integer.
    Int,
    /// A 64-bit float.
    Float,
    /// UTF-8 text.
    Text,
    /// Raw bytes.
    Bytes,
}

impl Kind {
    /// The name used in pipeline files and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Text => "text",
            Self::Bytes => "bytes",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What values a field may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// Any JSON value.
    Dynamic,
    /// One kind; where `nullable` is false, null and absent values are mismatches.
    Typed {
        /// The kind of every value that is not null.
        kind: Kind,
        /// Whether null and absent values are allowed.
        nullable: bool,
    },
}

/// A named, typed field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name in records.
    pub name: String,
    /// What values it may hold.
    pub field_type: FieldType,
}

impl Field {
    /// A field of one kind.
    #[must_use]
    pub fn typed(name: impl Into<String>, kind: Kind, nullable: bool) -> Self {
        Self { name: name.into(), field_type: FieldType::Typed { kind, nullable } }
    }

    /// A field that may hold any value.
    #[must_use]
    pub fn dynamic(name: impl Into<String>) -> Self {
        Self { name: name.into(), field_type: FieldType::Dynamic }
    }
}

/// The columns of a batch, in order. Names are unique.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// The fields, one per column.
    pub fields: Vec<Field>,
}

impl Schema {
    /// A schema of these fields.
    #[must_use]
    pub fn new(fields: Vec<Field>) -> Self {
        Self { fields }
    }

    /// The place of the field of this name.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}
