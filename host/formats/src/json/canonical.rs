//! Canonical JSON text: the one way in which an array or an object is written, so that equal ones have equal text.
//!
//! No white space; keys sorted by code point, of equal keys the last; integers and floats kept apart (`1` and `1.0`),
//! floats in their shortest form; of the escapes only those that JSON requires.

use super::scan::{Malformed, Scanner, Token};
use super::string;
use super::write::{write_float, write_int, write_string};

/// The canonical text of a JSON text of any kind; none if it is no JSON that the decoder reads.
#[must_use]
pub fn canonical(text: &str) -> Option<String> {
    let mut checked = Scanner::new(text);
    checked.value(0).and_then(|_| checked.finish()).ok()?;
    let mut out = String::new();
    write_canonical(text, &mut out);
    Some(out)
}

/// Appends the canonical text of an accepted JSON text.
pub(super) fn write_canonical(text: &str, out: &mut String) {
    let mut bytes = std::mem::take(out).into_bytes();
    let mut scanner = Scanner::new(text);
    value(&mut scanner, text, &mut bytes).expect("the text was checked");
    *out = String::from_utf8(bytes).expect("JSON of UTF-8 text is written in UTF-8");
}

fn value(scanner: &mut Scanner<'_>, text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
    scanner.space();
    match scanner.peek() {
        Some(b'{') => object(scanner, text, out),
        Some(b'[') => array(scanner, text, out),
        _ => {
            scalar(scanner.value(0)?, text, out);
            Ok(())
        }
    }
}

fn scalar(token: Token, text: &str, out: &mut Vec<u8>) {
    match token {
        Token::Absent | Token::Null => out.extend_from_slice(b"null"),
        Token::Bool(true) => out.extend_from_slice(b"true"),
        Token::Bool(false) => out.extend_from_slice(b"false"),
        Token::Int(int) => write_int(out, int),
        Token::Float(float) => write_float(out, float),
        Token::Text { span, escaped: false } => write_string(out, span.of(text)),
        Token::Text { span, escaped: true } => {
            let mut unescaped = String::new();
            string::unescape(span.of(text), &mut unescaped);
            write_string(out, &unescaped);
        }
        Token::Nested(span) => out.extend_from_slice(span.of(text).as_bytes()),
    }
}

fn array(scanner: &mut Scanner<'_>, text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
    scanner.eat(b'[');
    scanner.space();
    out.push(b'[');
    let mut more = !scanner.eat(b']');
    while more {
        value(scanner, text, out)?;
        more = scanner.another(b']')?;
        if more {
            out.push(b',');
        }
    }
    out.push(b']');
    Ok(())
}

fn object(scanner: &mut Scanner<'_>, text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
    scanner.eat(b'{');
    scanner.space();
    let mut members: Vec<(String, Vec<u8>)> = Vec::new();
    let mut more = !scanner.eat(b'}');
    while more {
        scanner.space();
        let Token::Text { span, .. } = scanner.string()? else {
            return scanner.wrong("no key");
        };
        let mut key = String::new();
        string::unescape(span.of(text), &mut key);
        scanner.colon()?;
        let mut member = Vec::new();
        value(scanner, text, &mut member)?;
        members.push((key, member));
        more = scanner.another(b'}')?;
    }
    write_members(members, out);
    Ok(())
}

fn write_members(mut members: Vec<(String, Vec<u8>)>, out: &mut Vec<u8>) {
    // A stable sort, so that the last of equal keys is the last of its run.
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    out.push(b'{');
    let mut first = true;
    for (place, (key, member)) in members.iter().enumerate() {
        if members.get(place + 1).is_some_and(|(next, _)| next == key) {
            continue;
        }
        if !first {
            out.push(b',');
        }
        first = false;
        write_string(out, key);
        out.push(b':');
        out.extend_from_slice(member);
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests;
