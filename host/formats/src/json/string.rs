//! Strings of JSON text: where one ends, and what its escapes stand for.
//!
//! Invariant: a string that `end` accepts is one of RFC 8259 whose escapes stand for Unicode text (no lone surrogates),
//! so `unescape` of what it accepted cannot fail.

use super::scan::Malformed;

/// A string's end: the index of its closing quote, and whether there is a backslash before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) at: usize,
    pub(super) escaped: bool,
}

/// Finds the end of the string whose first byte after the opening quote is at `from`.
#[inline]
pub(super) fn end(bytes: &[u8], from: usize) -> Result<End, Malformed> {
    let at = special(bytes, from);
    if bytes.get(at) == Some(&b'"') { Ok(End { at, escaped: false }) } else { end_with_escapes(bytes, at) }
}

#[cold]
fn end_with_escapes(bytes: &[u8], mut at: usize) -> Result<End, Malformed> {
    let mut escaped = false;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(End { at, escaped }),
            Some(b'\\') => {
                escaped = true;
                at = special(bytes, escape(bytes, at)?.1);
            }
            Some(_) => return Err(Malformed { at, what: "a control character inside a string" }),
            None => return Err(Malformed { at, what: "a string without an end" }),
        }
    }
}

/// The next quote, backslash or control character at or after `from`; the end if there is none.
#[inline]
fn special(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = specials(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + usize::try_from(found.trailing_zeros() / 8).expect("a word has eight bytes");
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)) {
        at += 1;
    }
    at
}

/// Sets the top bit of bytes that are a quote, a backslash or a control character, exactly up to the first of them.
#[inline]
fn specials(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let quote = word ^ (ONES * 0x22);
    let backslash = word ^ (ONES * 0x5C);
    // Each subtraction borrows from the byte above only where it marks its own, so the lowest mark is right.
    let zeros = (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (zeros | controls) & TOPS
}

/// Reads the escape whose backslash is at `at`: the character, and where the text goes on.
fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), Malformed> {
    let wrong = Malformed { at, what: "an escape that JSON does not know" };
    let character = match bytes.get(at + 1) {
        Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes, at),
        _ => return Err(wrong),
    };
    Ok((character, at + 2))
}

fn unicode_escape(bytes: &[u8], at: usize) -> Result<(char, usize), Malformed> {
    let wrong = Malformed { at, what: "a \\u escape without four hexadecimal digits" };
    let lone = Malformed { at, what: "half of a surrogate pair" };
    let first = hex4(bytes, at + 2).ok_or(wrong)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, at + 6));
    }
    if first >= 0xDC00 || bytes.get(at + 6..at + 8) != Some(b"\\u") {
        return Err(lone);
    }
    let second = hex4(bytes, at + 8).ok_or(wrong)?;
    let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400).ok_or(lone)?;
    let character = char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + low).ok_or(lone)?;
    Ok((character, at + 12))
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |number, byte| Some(number << 4 | char::from(*byte).to_digit(16)?))
}

/// Appends the text that the inside of an accepted string stands for.
pub(super) fn unescape(inside: &str, out: &mut String) {
    let mut rest = inside;
    while let Some(backslash) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..backslash]);
        let (character, next) = escape(rest.as_bytes(), backslash).expect("the string's escapes were checked");
        out.push(character);
        rest = &rest[next..];
    }
    out.push_str(rest);
}
