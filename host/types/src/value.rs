//! One value of a record, with the equality and the order that results are defined by (docs/semantics.md, 1 and 5).
//!
//! Two values are equal when type and value are: `1`, `1.0` and `"1"` are three values. Objects and arrays are held as
//! canonical JSON text (keys sorted, of equal keys the last), so that equal ones have equal text.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A dynamically typed value.
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// JSON `null`, or an absent field.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// A number written without fraction or exponent that fits 64 bits.
    Int(i64),
    /// Any other number. All NaNs are one value, and the zeros are equal.
    Float(f64),
    /// Text.
    Text(Box<str>),
    /// Bytes. JSON shows them as base64.
    Bytes(Box<[u8]>),
    /// An array or an object, as canonical JSON text.
    Json(Box<str>),
}

/// A borrowed [`Value`]: how one is read out of a column or a key.
#[derive(Debug, Clone, Copy, Default)]
pub enum ValueRef<'a> {
    /// See [`Value::Null`].
    #[default]
    Null,
    /// See [`Value::Bool`].
    Bool(bool),
    /// See [`Value::Int`].
    Int(i64),
    /// See [`Value::Float`].
    Float(f64),
    /// See [`Value::Text`].
    Text(&'a str),
    /// See [`Value::Bytes`].
    Bytes(&'a [u8]),
    /// See [`Value::Json`].
    Json(&'a str),
}

impl ValueRef<'_> {
    /// An owned copy.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Float(value) => Value::Float(value),
            Self::Text(value) => Value::Text(value.into()),
            Self::Bytes(value) => Value::Bytes(value.into()),
            Self::Json(value) => Value::Json(value.into()),
        }
    }

    /// Whether this is null.
    #[must_use]
    pub fn is_null(self) -> bool {
        matches!(self, Self::Null)
    }

    /// The kind's place in the order of kinds: numbers before text before the rest.
    fn rank(self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) | Self::Float(_) => 2,
            Self::Text(_) => 3,
            Self::Bytes(_) => 4,
            Self::Json(_) => 5,
        }
    }

    /// Numbers by exact value (an integer before the float of the same value), text by code point.
    #[must_use]
    pub fn compare(self, other: ValueRef<'_>) -> Ordering {
        match (self, other) {
            (Self::Bool(a), ValueRef::Bool(b)) => a.cmp(&b),
            (Self::Int(a), ValueRef::Int(b)) => a.cmp(&b),
            (Self::Float(a), ValueRef::Float(b)) => canonical_float(a).total_cmp(&canonical_float(b)),
            (Self::Int(a), ValueRef::Float(b)) => compare_int_float(a, b).then(Ordering::Less),
            (Self::Float(a), ValueRef::Int(b)) => compare_int_float(b, a).reverse().then(Ordering::Greater),
            (Self::Text(a), ValueRef::Text(b)) | (Self::Json(a), ValueRef::Json(b)) => a.cmp(b),
            (Self::Bytes(a), ValueRef::Bytes(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Maps a float to the bits that stand for it in comparisons: one NaN, one zero.
#[must_use]
pub fn canonical_float(value: f64) -> f64 {
    if value.is_nan() {
        f64::NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    }
}

impl Value {
    /// A borrowed view.
    #[must_use]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Bool(value) => ValueRef::Bool(*value),
            Self::Int(value) => ValueRef::Int(*value),
            Self::Float(value) => ValueRef::Float(*value),
            Self::Text(value) => ValueRef::Text(value),
            Self::Bytes(value) => ValueRef::Bytes(value),
            Self::Json(value) => ValueRef::Json(value),
        }
    }

    /// Whether this is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// Compares an integer with a float by their exact values; a NaN is greater than every number.
fn compare_int_float(int: i64, float: f64) -> Ordering {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() || float >= TWO_63 {
        return Ordering::Less;
    }
    if float < -TWO_63 {
        return Ordering::Greater;
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the float is within the range of i64 and truncation is what floor means"
    )]
    let whole = float.floor() as i64;
    int.cmp(&whole).then(if float.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
}

impl Ord for Value {
    /// As [`ValueRef::compare`].
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().compare(other.as_ref())
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Bool(value) => value.hash(state),
            Self::Int(value) => value.hash(state),
            Self::Float(value) => canonical_float(*value).to_bits().hash(state),
            Self::Text(value) | Self::Json(value) => value.hash(state),
            Self::Bytes(value) => value.hash(state),
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

#[cfg(test)]
mod tests;
