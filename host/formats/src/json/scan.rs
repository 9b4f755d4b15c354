//! Reads one JSON text strictly (RFC 8259), token by token, without building anything.
//!
//! Invariant: whatever a scanner passes over is valid, also where nobody wants it, so a record's verdict does not depend
//! on the fields that are read. Beyond the grammar it refuses what has no value here: numbers beyond the range of floats,
//! lone surrogates, and nesting deeper than [`MAX_DEPTH`].

use tidegate_types::batch::{index, index32};

use super::string;

/// How deeply arrays and objects may stand inside each other, the record itself included.
pub(crate) const MAX_DEPTH: usize = 128;

/// Why text is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub(crate) struct Malformed {
    /// The index of the offending byte in the record.
    pub(crate) at: usize,
    /// What is wrong.
    pub(crate) what: &'static str,
}

/// A value as it stands in the text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Token {
    /// There was no such field.
    #[default]
    Absent,
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A string: the bytes between its quotes, and whether there are escapes among them.
    Text {
        span: Span,
        escaped: bool,
    },
    /// An array or an object: its bytes.
    Nested(Span),
}

/// A part of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    #[inline]
    fn new(start: usize, end: usize) -> Self {
        Self { start: index32(start), end: index32(end) }
    }

    /// The part of this text.
    #[inline]
    pub(crate) fn of(self, text: &str) -> &str {
        &text[index(self.start)..index(self.end)]
    }
}

/// A position in a text.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    #[inline]
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    pub(crate) fn wrong<T>(&self, what: &'static str) -> Result<T, Malformed> {
        Err(Malformed { at: self.at, what })
    }

    /// Passes over white space.
    #[inline]
    pub(crate) fn space(&mut self) {
        if self.peek().is_some_and(|byte| byte <= b' ') {
            self.long_space();
        }
    }

    fn long_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Passes over this byte if it stands here.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let eaten = self.peek() == Some(byte);
        self.at += usize::from(eaten);
        eaten
    }

    /// What was not passed over yet.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes()[self.at..]
    }

    /// Passes over so many bytes, which were looked at.
    #[inline]
    pub(crate) fn skip(&mut self, len: usize) {
        self.at += len;
    }

    /// Passes over these bytes if they stand here.
    fn eat_all(&mut self, expected: &[u8]) -> bool {
        let eaten = self.bytes().get(self.at..).is_some_and(|rest| rest.starts_with(expected));
        if eaten {
            self.at += expected.len();
        }
        eaten
    }

    /// Passes over one value, with white space before it.
    #[inline]
    pub(crate) fn value(&mut self, depth: usize) -> Result<Token, Malformed> {
        self.space();
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.other_value(depth),
        }
    }

    fn other_value(&mut self, depth: usize) -> Result<Token, Malformed> {
        match self.peek() {
            Some(b'{' | b'[') => self.nested(depth),
            Some(b't') if self.eat_all(b"true") => Ok(Token::Bool(true)),
            Some(b'f') if self.eat_all(b"false") => Ok(Token::Bool(false)),
            Some(b'n') if self.eat_all(b"null") => Ok(Token::Null),
            Some(_) => self.wrong("no JSON value"),
            None => self.wrong("the text ends where a value should be"),
        }
    }

    /// Passes over the string that starts here.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Token, Malformed> {
        if !self.eat(b'"') {
            return self.wrong("no string");
        }
        let start = self.at;
        let string::End { at: end, escaped } = string::end(self.bytes(), start)?;
        self.at = end + 1;
        Ok(Token::Text { span: Span::new(start, end), escaped })
    }

    /// Passes over the colon between a key and its value.
    #[inline]
    pub(crate) fn colon(&mut self) -> Result<(), Malformed> {
        if self.eat(b':') {
            return Ok(());
        }
        self.space();
        if self.eat(b':') { Ok(()) } else { self.wrong("no colon after a key") }
    }

    /// Passes over the comma between two members or the bracket that ends them: whether there is another one.
    #[inline]
    pub(crate) fn another(&mut self, close: u8) -> Result<bool, Malformed> {
        if self.eat(b',') {
            return Ok(true);
        }
        self.space();
        if self.eat(b',') {
            Ok(true)
        } else if self.eat(close) {
            Ok(false)
        } else {
            self.wrong("neither a comma nor the end of the array or object")
        }
    }

    /// Whether nothing but white space is left.
    pub(crate) fn finish(&mut self) -> Result<(), Malformed> {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { self.wrong("text after the end of the record") }
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { self.wrong("no digit where a number needs one") }
    }

    #[inline]
    fn number(&mut self) -> Result<Token, Malformed> {
        /// So many digits fit 64 bits whatever they are.
        const SAFE_DIGITS: usize = 18;
        let start = self.at;
        let negative = self.eat(b'-');
        let first = self.at;
        let mut number: i64 = 0;
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            number = number.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            self.at += 1;
        }
        let digits = self.at - first;
        if digits == 0 || (digits > 1 && self.bytes()[first] == b'0') {
            return Err(Malformed { at: start, what: "a number without digits or with a leading zero" });
        }
        if digits > SAFE_DIGITS || matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            return self.long_number(start);
        }
        Ok(Token::Int(if negative { -number } else { number }))
    }

    /// A number with a fraction or an exponent or many digits, of which the whole part has been passed.
    fn long_number(&mut self, start: usize) -> Result<Token, Malformed> {
        let mut whole = true;
        if self.eat(b'.') {
            whole = false;
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            whole = false;
            let _sign = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        let literal = &self.text[start..self.at];
        if let (true, Ok(int)) = (whole, literal.parse()) {
            return Ok(Token::Int(int));
        }
        let float: f64 = literal.parse().expect("the number's grammar was checked");
        if float.is_infinite() {
            return Err(Malformed { at: start, what: "a number beyond the range of 64-bit floats" });
        }
        // There is one zero.
        Ok(Token::Float(if float == 0.0 { 0.0 } else { float }))
    }

    /// Passes over an array or an object.
    fn nested(&mut self, depth: usize) -> Result<Token, Malformed> {
        let start = self.at;
        if depth >= MAX_DEPTH {
            return self.wrong("arrays and objects more than 128 deep");
        }
        let object = self.peek() == Some(b'{');
        let close = if object { b'}' } else { b']' };
        self.at += 1;
        self.space();
        let mut more = !self.eat(close);
        while more {
            if object {
                self.space();
                self.string()?;
                self.colon()?;
            }
            self.value(depth + 1)?;
            more = self.another(close)?;
        }
        Ok(Token::Nested(Span::new(start, self.at)))
    }
}

/// Whether bytes are one JSON text (of any kind) that the decoder reads.
pub(crate) fn is_json(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    if u32::try_from(text.len()).is_err() {
        return false;
    }
    let mut scanner = Scanner::new(text);
    scanner.value(0).and_then(|_| scanner.finish()).is_ok()
}

#[cfg(test)]
mod tests;
