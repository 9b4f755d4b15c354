//! Finds which slot a key belongs to, guessing from the order of keys in the records before.
//!
//! Records of a stream are mostly written by one program, so the key at place `n` of a record is nearly always the one at
//! place `n` of the record before. A shape remembers these keys as they stand in the text, quotes and colon included, so
//! that the common case is one comparison of bytes. Invariant: a guess never changes a result, only its cost.

use super::scan::{Malformed, Scanner, Token};
use super::string;

/// The keys of earlier records by place, and the names that are looked for.
#[derive(Debug)]
pub(super) struct Shape {
    names: Vec<String>,
    places: Vec<Place>,
    unescaped: String,
}

#[derive(Debug)]
struct Place {
    /// `"key":`
    text: Box<[u8]>,
    slot: Option<usize>,
}

/// Longest list of places: records with more keys than this are looked up key by key.
const MAX_PLACES: usize = 512;

impl Shape {
    /// A shape that looks for these names; the slot of a name is its place among them.
    pub(super) fn new(names: Vec<String>) -> Self {
        Self { names, places: Vec::new(), unescaped: String::new() }
    }

    /// Passes over the key at this place of the record, and its colon: its slot, if it is looked for.
    #[inline]
    pub(super) fn key(
        &mut self,
        scanner: &mut Scanner<'_>,
        text: &str,
        place: usize,
    ) -> Result<Option<usize>, Malformed> {
        if let Some(guess) = self.places.get(place)
            && scanner.eat_all(&guess.text)
        {
            return Ok(guess.slot);
        }
        self.other_key(scanner, text, place)
    }

    #[cold]
    fn other_key(&mut self, scanner: &mut Scanner<'_>, text: &str, place: usize) -> Result<Option<usize>, Malformed> {
        scanner.space();
        let Token::Text { start, end, escaped } = scanner.string()? else {
            return scanner.wrong("no key");
        };
        scanner.colon()?;
        let key = &text[start..end];
        if escaped {
            self.unescaped.clear();
            string::unescape(key, &mut self.unescaped);
            return Ok(self.slot(&self.unescaped));
        }
        let slot = self.slot(key);
        let seen = Place { text: format!("\"{key}\":").into_bytes().into(), slot };
        if place < self.places.len() {
            self.places[place] = seen;
        } else if place == self.places.len() && place < MAX_PLACES {
            self.places.push(seen);
        }
        Ok(slot)
    }

    fn slot(&self, key: &str) -> Option<usize> {
        self.names.iter().position(|name| name == key)
    }
}
