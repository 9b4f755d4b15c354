//! A file as a tree of values that know their lines: what the reader makes and the decoders take apart.
//!
//! Scalars are resolved by YAML 1.2's core schema, which JSON is a part of, so that `1`, `1.0` and `"1"` stay three values.
//! A scalar's line is where it is written; a list's or an object's that stands under a key is the key's.

use tidegate_types::Value;
use tidegate_types::value::canonical_float;

/// A value and its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The value.
    pub(crate) content: Content,
}

/// A value of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// Nothing: `null`, `~`, or a key without a value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// An integer that only fits 64 bits without a sign.
    Unsigned(u64),
    /// Any other number, finite.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object; no key stands twice.
    Map(Vec<Entry>),
}

/// A key of an object and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: String,
    /// The key's line, from 1.
    pub(crate) line: usize,
    /// The value.
    pub(crate) value: Node,
}

/// A number that no record can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotFinite;

impl Content {
    /// What a plain scalar stands for.
    pub(crate) fn from_plain(text: &str) -> Result<Self, NotFinite> {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Ok(Self::Null),
            "true" | "True" | "TRUE" => return Ok(Self::Bool(true)),
            "false" | "False" | "FALSE" => return Ok(Self::Bool(false)),
            ".nan" | ".NaN" | ".NAN" => return Err(NotFinite),
            _ => {}
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
            return Err(NotFinite);
        }
        if let Some(number) = radix(text) {
            return Ok(number);
        }
        if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
            return decimal(text);
        }
        if looks_like_float(unsigned) {
            return float(text);
        }
        Ok(Self::Text(text.to_owned()))
    }

    /// The value as a record would hold it; objects and arrays as canonical text.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Int(*value),
            Self::Unsigned(_) | Self::Float(_) => Value::Float(self.as_float()),
            Self::Text(text) => Value::Text(text.as_str().into()),
            Self::List(_) | Self::Map(_) => Value::Json(self.canonical().to_string().into()),
        }
    }

    /// The value as JSON, numbers as written.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Unsigned(value) => (*value).into(),
            Self::Float(value) => (*value).into(),
            Self::List(items) => items.iter().map(|item| item.content.to_json()).collect(),
            Self::Map(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.value.content.to_json())).collect()
            }
            _ => self.canonical(),
        }
    }

    /// The value as JSON as records hold it: keys sorted, and numbers that are no 64-bit integer as floats with one zero.
    /// Its text is canonical: serde_json writes no white space, the shortest floats and only the escapes that are needed.
    fn canonical(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Int(value) => (*value).into(),
            Self::Unsigned(_) | Self::Float(_) => canonical_float(self.as_float()).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.iter().map(|item| item.content.canonical()).collect(),
            Self::Map(entries) => {
                let mut sorted: Vec<&Entry> = entries.iter().collect();
                sorted.sort_by(|a, b| a.key.cmp(&b.key));
                sorted.iter().map(|entry| (entry.key.clone(), entry.value.content.canonical())).collect()
            }
        }
    }

    /// The nearest float of a number that is no 64-bit integer.
    fn as_float(&self) -> f64 {
        match self {
            Self::Float(value) => *value,
            #[allow(clippy::cast_precision_loss, reason = "records hold such a number as the nearest float")]
            Self::Unsigned(value) => *value as f64,
            _ => 0.0,
        }
    }
}

/// `0x1F` and `0o17`, which YAML has besides decimals.
fn radix(text: &str) -> Option<Content> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) => (digits, 8),
        (None, None) => return None,
    };
    if digits.starts_with('+') {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    Some(i64::try_from(value).map_or(Content::Unsigned(value), Content::Int))
}

/// A whole decimal number; one that fits no 64 bits is a float.
fn decimal(text: &str) -> Result<Content, NotFinite> {
    if let Ok(value) = text.parse::<i64>() {
        return Ok(Content::Int(value));
    }
    match text.parse::<u64>() {
        Ok(value) => Ok(Content::Unsigned(value)),
        Err(_) => float(text),
    }
}

/// Whether text without its sign is `[digits][.digits][e[±]digits]` with a digit and a point or an exponent.
fn looks_like_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_holds = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()) && exponent_holds
}

/// A finite float.
fn float(text: &str) -> Result<Content, NotFinite> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Content::Float(value)),
        Ok(_) => Err(NotFinite),
        Err(_) => Ok(Content::Text(text.to_owned())),
    }
}
