//! Which names a decoder looks for in records, and what each is for.
//!
//! A name has one slot, however many uses it has (a column of two kinds, the event time, a check). Invariant: the slot of
//! every use is below the number of names.

use tidegate_types::{Field, FieldType, Kind};

use super::decode::DecodeSpec;

/// What is done with the values of records.
#[derive(Debug)]
pub(super) struct Plan {
    /// One per field asked for.
    pub(super) columns: Vec<Use>,
    /// Declared fields that only have to be of their kind.
    pub(super) checks: Vec<Use>,
    pub(super) time: Option<Slot>,
    pub(super) punctuation: Option<Slot>,
    pub(super) arrival: Option<Slot>,
}

/// A field and where its value is found.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) name: String,
    pub(super) field_type: FieldType,
    /// None: the record's own bytes.
    pub(super) slot: Option<usize>,
}

/// A name and the place of its value.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) place: usize,
}

impl Use {
    /// The kind of the column, if it is always the same.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self.field_type {
            FieldType::Dynamic => None,
            FieldType::Typed { kind, .. } => Some(kind),
        }
    }
}

impl Plan {
    /// The plan, and the names of its slots.
    pub(super) fn new(spec: DecodeSpec) -> (Self, Vec<String>) {
        let mut names = Names::default();
        let columns =
            (0..).zip(spec.fields).map(|(place, field)| names.field(field, spec.raw == Some(place))).collect();
        let checks = spec.checks.into_iter().map(|field| names.field(field, false)).collect();
        let time = spec.time.map(|name| names.slot(name));
        let punctuation = spec.punctuation.map(|name| names.slot(name));
        let arrival = spec.arrival.map(|name| names.slot(name));
        (Self { columns, checks, time, punctuation, arrival }, names.0)
    }
}

#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn place(&mut self, name: &str) -> usize {
        self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }

    fn slot(&mut self, name: String) -> Slot {
        Slot { place: self.place(&name), name }
    }

    fn field(&mut self, field: Field, raw: bool) -> Use {
        let slot = (!raw).then(|| self.place(&field.name));
        Use { name: field.name, field_type: field.field_type, slot }
    }
}
