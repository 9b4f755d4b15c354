//! Finds which slot a key belongs to, guessing from the records before.
//!
//! Records of a stream are mostly written by one program, which writes its keys in one order and leaves some out. So the
//! keys seen are kept in the order of their first appearance, as they stand in the text, quotes and colon included, and
//! the key after the last one found is tried first: the common case is one comparison of 16 bytes. Invariant: a guess
//! never changes a result, only its cost.

use super::scan::{Malformed, Scanner, Token};
use super::string;

/// The names that are looked for, and the keys of earlier records.
#[derive(Debug)]
pub(super) struct Shape {
    names: Vec<String>,
    known: Vec<Key>,
    unescaped: String,
}

/// A key that was seen.
#[derive(Debug)]
struct Key {
    /// The first bytes of `text`, and ones for the bytes that there are.
    start: u128,
    mask: u128,
    /// `"key":`
    text: Box<[u8]>,
    slot: Option<usize>,
}

/// At most so many keys are known; others are looked up by name each time they come.
const MAX_KNOWN: usize = 64;
/// The bytes that are compared at once.
const START: usize = 16;

impl Key {
    fn new(key: &str, slot: Option<usize>) -> Self {
        let text = format!("\"{key}\":").into_bytes();
        let (mut start, mut mask) = ([0; START], [0; START]);
        for (place, byte) in text.iter().take(START).enumerate() {
            start[place] = *byte;
            mask[place] = 0xFF;
        }
        Self { start: u128::from_le_bytes(start), mask: u128::from_le_bytes(mask), text: text.into(), slot }
    }

    /// Whether the text goes on with this key.
    #[inline]
    fn is_next(&self, rest: &[u8]) -> bool {
        match rest.first_chunk::<START>() {
            Some(chunk) => {
                (u128::from_le_bytes(*chunk) ^ self.start) & self.mask == 0
                    && (self.text.len() <= START || rest.starts_with(&self.text))
            }
            None => rest.starts_with(&self.text),
        }
    }
}

impl Shape {
    /// A shape that looks for these names; the slot of a name is its place among them.
    pub(super) fn new(names: Vec<String>) -> Self {
        Self { names, known: Vec::new(), unescaped: String::new() }
    }

    /// Passes over a key and its colon: its slot, if it is looked for.
    ///
    /// `guess` is the place among the known keys that is tried first: 0 at a record's start, then as this left it.
    #[inline]
    pub(super) fn key(
        &mut self,
        scanner: &mut Scanner<'_>,
        text: &str,
        guess: &mut usize,
    ) -> Result<Option<usize>, Malformed> {
        scanner.space();
        let rest = scanner.rest();
        if let Some(key) = self.known.get(*guess)
            && key.is_next(rest)
        {
            scanner.skip(key.text.len());
            *guess += 1;
            return Ok(key.slot);
        }
        self.other_key(scanner, text, guess)
    }

    fn other_key(
        &mut self,
        scanner: &mut Scanner<'_>,
        text: &str,
        guess: &mut usize,
    ) -> Result<Option<usize>, Malformed> {
        let rest = scanner.rest();
        if let Some(place) = self.known.iter().position(|key| key.is_next(rest)) {
            scanner.skip(self.known[place].text.len());
            *guess = place + 1;
            return Ok(self.known[place].slot);
        }
        self.new_key(scanner, text)
    }

    fn new_key(&mut self, scanner: &mut Scanner<'_>, text: &str) -> Result<Option<usize>, Malformed> {
        let Token::Text { span, escaped } = scanner.string()? else {
            return scanner.wrong("no key");
        };
        let colon_follows = scanner.peek() == Some(b':');
        scanner.colon()?;
        let key = span.of(text);
        if escaped {
            self.unescaped.clear();
            string::unescape(key, &mut self.unescaped);
            return Ok(self.slot(&self.unescaped));
        }
        let slot = self.slot(key);
        if colon_follows && self.known.len() < MAX_KNOWN {
            self.known.push(Key::new(key, slot));
        }
        Ok(slot)
    }

    fn slot(&self, key: &str) -> Option<usize> {
        self.names.iter().position(|name| name == key)
    }
}
