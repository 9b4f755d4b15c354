//! A strict JSON reader over the bytes of one text, by recursive descent.
//!
//! It accepts exactly RFC 8259: no comments, no trailing commas, no leading zeros, no bare control characters.
//! Invariant: it never panics on any text; anything outside the grammar is `None`.

use std::collections::BTreeMap;

use super::Value;

/// A position in a text.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Reader { text, at: 0 }
    }

    /// One value with nothing but white space around it.
    pub(super) fn document(mut self) -> Option<Value> {
        let value = self.value()?;
        self.space();
        (self.at == self.text.len()).then_some(value)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, token: &str) -> Option<()> {
        self.text[self.at..].starts_with(token).then(|| self.at += token.len())
    }

    fn value(&mut self) -> Option<Value> {
        self.space();
        match self.peek()? {
            b'n' => self.eat("null").map(|()| Value::Null),
            b't' => self.eat("true").map(|()| Value::Bool(true)),
            b'f' => self.eat("false").map(|()| Value::Bool(false)),
            b'"' => self.string().map(Value::Str),
            b'[' => self.array(),
            b'{' => self.object(),
            _ => self.number(),
        }
    }

    fn array(&mut self) -> Option<Value> {
        self.eat("[")?;
        let mut items = Vec::new();
        self.space();
        if self.eat("]").is_some() {
            return Some(Value::Arr(items));
        }
        loop {
            items.push(self.value()?);
            self.space();
            if self.eat("]").is_some() {
                return Some(Value::Arr(items));
            }
            self.eat(",")?;
        }
    }

    fn object(&mut self) -> Option<Value> {
        self.eat("{")?;
        let mut members = BTreeMap::new();
        self.space();
        if self.eat("}").is_some() {
            return Some(Value::Obj(members));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            self.eat(":")?;
            let value = self.value()?;
            members.insert(key, value);
            self.space();
            if self.eat("}").is_some() {
                return Some(Value::Obj(members));
            }
            self.eat(",")?;
        }
    }

    fn string(&mut self) -> Option<String> {
        self.eat("\"")?;
        let mut out = String::new();
        loop {
            let c = self.text[self.at..].chars().next()?;
            self.at += c.len_utf8();
            match c {
                '"' => return Some(out),
                '\\' => out.push(self.escape()?),
                c if u32::from(c) < 0x20 => return None,
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(match c {
            b'"' | b'\\' | b'/' => char::from(c),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.hex4()?;
                if (0xd800..0xdc00).contains(&high) {
                    self.eat("\\u")?;
                    let low = self.hex4()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                    char::from_u32(0x10000 + (high - 0xd800) * 0x400 + low)?
                } else {
                    char::from_u32(high)?
                }
            }
            _ => return None,
        })
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    }

    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > from).then_some(())
    }

    fn number(&mut self) -> Option<Value> {
        let from = self.at;
        let mut whole = true;
        let _ = self.eat("-");
        if self.eat("0").is_none() {
            self.digits()?;
        }
        if self.eat(".").is_some() {
            whole = false;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let literal = &self.text[from..self.at];
        if let (true, Ok(n)) = (whole, literal.parse()) {
            return Some(Value::Int(n));
        }
        let x: f64 = literal.parse().ok()?;
        x.is_finite().then_some(Value::Float(if x == 0.0 { 0.0 } else { x }))
    }
}
