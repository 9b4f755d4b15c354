//! Writes single JSON values.
//!
//! Floats are written in the shortest form that reads back as the same float, always with a fraction or an exponent, so
//! that `1.0` stays a float; NaN and the infinities are null. Strings carry only the escapes that JSON requires. Bytes are
//! text in base64 (RFC 4648, section 4, with padding).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tidegate_types::ValueRef;

/// Appends a value as JSON.
#[inline]
pub fn write_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.extend_from_slice(b"null"),
        ValueRef::Bool(true) => out.extend_from_slice(b"true"),
        ValueRef::Bool(false) => out.extend_from_slice(b"false"),
        ValueRef::Int(value) => write_int(out, value),
        ValueRef::Float(value) => write_float(out, value),
        ValueRef::Text(value) => write_string(out, value),
        ValueRef::Bytes(value) => write_bytes(out, value),
        ValueRef::Json(value) => out.extend_from_slice(value.as_bytes()),
    }
}

/// Appends an integer.
#[inline]
pub(crate) fn write_int(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends an unsigned integer.
pub(crate) fn write_unsigned(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a float; null if it is none.
#[inline]
pub(crate) fn write_float(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        // There is one zero.
        let value = if value == 0.0 { 0.0 } else { value };
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else {
        out.extend_from_slice(b"null");
    }
}

/// Appends bytes as a base64 string.
pub(crate) fn write_bytes(out: &mut Vec<u8>, value: &[u8]) {
    out.push(b'"');
    out.extend_from_slice(STANDARD.encode(value).as_bytes());
    out.push(b'"');
}

/// Appends a string, quoted and escaped.
#[inline]
pub(crate) fn write_string(out: &mut Vec<u8>, value: &str) {
    out.push(b'"');
    write_escaped(out, value);
    out.push(b'"');
}

/// Appends what stands between a string's quotes.
#[inline]
fn write_escaped(out: &mut Vec<u8>, value: &str) {
    let mut rest = value.as_bytes();
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) {
        out.extend_from_slice(&rest[..at]);
        write_escape(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

#[cold]
fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0C => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests;
