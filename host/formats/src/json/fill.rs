//! Checks the values of one record against the kinds asked for, and adds them to columns.
//!
//! Invariant: `check` passes before `push` is called, so a record adds a value to every column or to none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tidegate_types::{ColumnBuilder, FieldType, Kind, ValueRef};

use super::canonical::write_canonical;
use super::plan::Use;
use super::scan::Token;
use super::string;

/// The values of one record by slot, and the text that they refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) text: &'a str,
    pub(super) slots: &'a [Token],
}

impl<'a> Values<'a> {
    /// The value in a slot; `scratch` holds it where the record does not hold it as it is.
    #[inline]
    pub(super) fn get(&self, slot: usize, scratch: &'a mut String) -> ValueRef<'a> {
        value(self.text, self.slots[slot], scratch)
    }

    /// Whether the value is one that the field may hold.
    #[inline]
    pub(super) fn check(&self, field: &Use) -> Result<(), String> {
        let (Some(slot), FieldType::Typed { kind, nullable }) = (field.slot, field.field_type) else {
            return Ok(());
        };
        let token = self.slots[slot];
        let fits = match (kind, token) {
            (_, Token::Absent | Token::Null) => nullable,
            (Kind::Bool, Token::Bool(_))
            | (Kind::Int, Token::Int(_))
            | (Kind::Float, Token::Int(_) | Token::Float(_))
            | (Kind::Text, Token::Text { .. }) => true,
            (Kind::Bytes, Token::Text { .. }) => decode_base64(*self, slot).is_some(),
            _ => false,
        };
        if fits { Ok(()) } else { Err(mismatch(field, kind, token)) }
    }

    /// Adds the value to the field's column.
    #[inline]
    pub(super) fn push(&self, field: &Use, column: &mut ColumnBuilder, scratch: &'a mut String) {
        let Some(slot) = field.slot else {
            return column.push(ValueRef::Bytes(self.text.as_bytes()));
        };
        match self.slots[slot] {
            Token::Int(value) if field.kind() == Some(Kind::Float) => column.push_float(to_float(value)),
            Token::Int(value) => column.push_int(value),
            Token::Float(value) => column.push_float(value),
            Token::Text { .. } if field.kind() == Some(Kind::Bytes) => {
                let bytes = decode_base64(*self, slot).expect("the value was checked");
                column.push(ValueRef::Bytes(&bytes));
            }
            Token::Text { span, escaped: false } => column.push_text(span.of(self.text)),
            token => column.push(value(self.text, token, scratch)),
        }
    }
}

/// The value that a token of the text stands for; `scratch` holds it where the text does not hold it as it is.
#[inline]
pub(super) fn value<'a>(text: &'a str, token: Token, scratch: &'a mut String) -> ValueRef<'a> {
    match token {
        Token::Absent | Token::Null => ValueRef::Null,
        Token::Bool(value) => ValueRef::Bool(value),
        Token::Int(value) => ValueRef::Int(value),
        Token::Float(value) => ValueRef::Float(value),
        Token::Text { span, escaped: false } => ValueRef::Text(span.of(text)),
        Token::Text { span, escaped: true } => {
            scratch.clear();
            string::unescape(span.of(text), scratch);
            ValueRef::Text(scratch)
        }
        Token::Nested(span) => {
            scratch.clear();
            write_canonical(span.of(text), scratch);
            ValueRef::Json(scratch)
        }
    }
}

/// The float nearest to an integer.
#[allow(clippy::cast_precision_loss, reason = "an integer literal in a float field means the nearest float")]
fn to_float(value: i64) -> f64 {
    value as f64
}

fn decode_base64(values: Values<'_>, slot: usize) -> Option<Vec<u8>> {
    let mut scratch = String::new();
    match values.get(slot, &mut scratch) {
        ValueRef::Text(text) => STANDARD.decode(text).ok(),
        _ => None,
    }
}

#[cold]
fn mismatch(field: &Use, kind: Kind, token: Token) -> String {
    let found = match token {
        Token::Absent => "absent",
        Token::Null => "null",
        Token::Bool(_) => "a bool",
        Token::Int(_) => "an int",
        Token::Float(_) => "a float",
        Token::Text { .. } if kind == Kind::Bytes => "text that is not base64 with padding",
        Token::Text { .. } => "text",
        Token::Nested(_) => "an array or object",
    };
    let name = &field.name;
    match token {
        Token::Absent | Token::Null => {
            format!("field `{name}` is {found}; its type `{kind}` does not allow that (`{kind}?` would)")
        }
        _ => format!("field `{name}` is {found}; its type is `{kind}`"),
    }
}
