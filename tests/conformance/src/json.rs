//! JSON values as the pages read them: 64-bit integers apart from floats, objects in canonical form.
//!
//! An own strict reader (RFC 8259), so that what the suite calls JSON does not lean on the library that the engine uses
//! and floats are read correctly rounded. Invariant: equality and order are by type and value (`1` is not `1.0`,
//! `-0.0` is `0.0`), of equal keys of an object the last one counts.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

mod read;
#[cfg(test)]
mod tests;

/// A JSON value. Floats are never NaN, infinite or negative zero.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number written without fraction or exponent that fits 64 bits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(String),
    /// An array.
    Arr(Vec<Value>),
    /// An object in canonical form.
    Obj(BTreeMap<String, Value>),
}

impl Value {
    /// Reads one JSON text; `None` if it is not exactly one valid JSON value (white space around it is fine).
    pub fn parse(text: &str) -> Option<Value> {
        read::Reader::new(text).document()
    }

    /// A string value.
    pub fn str(text: impl Into<String>) -> Value {
        Value::Str(text.into())
    }

    /// An object of the given members.
    pub fn obj<K: Into<String>>(members: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Obj(members.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// An integer that is known to fit.
    pub fn int(n: usize) -> Value {
        Value::Int(i64::try_from(n).expect("counts fit 64 bits"))
    }

    /// The member of that name, or `Null` if it is absent or this is no object.
    pub fn get(&self, key: &str) -> &Value {
        match self {
            Value::Obj(members) => members.get(key).unwrap_or(&Value::Null),
            _ => &Value::Null,
        }
    }

    /// The member found by a path of names joined by dots.
    pub fn at(&self, path: &str) -> &Value {
        path.split('.').fold(self, |v, key| v.get(key))
    }

    /// The text of a string, `None` for any other kind.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Str(s) = self { Some(s) } else { None }
    }

    /// The number of an integer, `None` for any other kind.
    pub fn as_int(&self) -> Option<i64> {
        if let Value::Int(n) = self { Some(*n) } else { None }
    }

    /// The elements of an array; of any other kind none.
    pub fn items(&self) -> &[Value] {
        if let Value::Arr(items) = self { items } else { &[] }
    }

    /// The members of an object in order of name; of any other kind none.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Value)> {
        let members = if let Value::Obj(members) = self { Some(members) } else { None };
        members.into_iter().flatten().map(|(k, v)| (k.as_str(), v))
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Int(_) | Value::Float(_) => 2,
            Value::Str(_) => 3,
            Value::Arr(_) => 4,
            Value::Obj(_) => 5,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        use Value::{Arr, Bool, Float, Int, Obj, Str};
        match (self, other) {
            (Bool(a), Bool(b)) => a.cmp(b),
            (Int(a), Int(b)) => a.cmp(b),
            (Float(a), Float(b)) => a.total_cmp(b),
            // Of numerically equal numbers the integer is the smaller.
            (Int(a), Float(b)) => int_to_float(*a, *b).then(Ordering::Less),
            (Float(a), Int(b)) => int_to_float(*b, *a).reverse().then(Ordering::Greater),
            (Str(a), Str(b)) => a.cmp(b),
            (Arr(a), Arr(b)) => a.cmp(b),
            (Obj(a), Obj(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Compares exactly, without rounding the integer.
fn int_to_float(a: i64, b: f64) -> Ordering {
    if b.abs() >= 1e19 {
        return 0.0_f64.total_cmp(&b);
    }
    let whole = b.trunc();
    i128::from(a).cmp(&(whole as i128)).then_with(|| 0.0_f64.partial_cmp(&(b - whole)).expect("finite floats compare"))
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

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Str(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Value::Int(n)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Str(s) => write_text(f, s),
            Value::Arr(items) => {
                f.write_str("[")?;
                for (i, v) in items.iter().enumerate() {
                    write!(f, "{}{v}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Value::Obj(members) => {
                f.write_str("{")?;
                for (i, (k, v)) in members.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    write_text(f, k)?;
                    write!(f, ":{v}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, s: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in s.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            c if u32::from(c) < 0x20 => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
