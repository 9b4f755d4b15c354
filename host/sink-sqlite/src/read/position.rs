//! Where a page in the order of the key ends, as text that fits a header and a query, however long the key is.
//!
//! A short key stands there whole, as hex. Of a longer one stand its first bytes and the number of its row's last change, by
//! which the key is found again. Invariant: no row is lost between two pages. Where that row was written again in between,
//! the next page starts at the first key with these bytes, so rows may come twice.

use std::fmt::{self, Display};

use rusqlite::{Connection, OptionalExtension};

use crate::layout::{Layout, quoted};

/// The bytes of a key that a position holds: 4 KiB of hex, below what the strictest client reads of a header.
const KEY_BYTES: usize = 2048;

/// A position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    key: Vec<u8>,
    /// The last change of the row, where the key is longer than what is held of it.
    change: Option<i64>,
}

impl Position {
    /// Before all rows.
    pub(super) fn first() -> Self {
        Self { key: Vec::new(), change: None }
    }

    /// Behind the row of this key and change.
    pub(super) fn of(key: &[u8], change: i64) -> Self {
        match key.get(..KEY_BYTES) {
            Some(start) if key.len() > KEY_BYTES => Self { key: start.to_vec(), change: Some(change) },
            _ => Self { key: key.to_vec(), change: None },
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (key, change) = match text.split_once('-') {
            Some((key, change)) => (key, Some(change.parse().ok()?)),
            None => (text, None),
        };
        Some(Self { key: from_hex(key)?, change })
    }

    /// The key to go on from, and whether its own row is still to come.
    pub(super) fn find(self, connection: &Connection, layout: &Layout) -> rusqlite::Result<(Vec<u8>, bool)> {
        let Some(change) = self.change else { return Ok((self.key, false)) };
        let select = format!("SELECT _key FROM {} WHERE changed = ?", quoted(&layout.table));
        let found = connection.query_row(&select, [change], |row| row.get::<_, Vec<u8>>(0)).optional()?;
        Ok(match found.filter(|key| key.starts_with(&self.key)) {
            Some(key) => (key, false),
            None => (self.key, true),
        })
    }
}

impl Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        self.change.map_or(Ok(()), |change| write!(f, "-{change}"))
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(2) || !bytes.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    (0..bytes.len()).step_by(2).map(|place| u8::from_str_radix(&text[place..place + 2], 16).ok()).collect()
}
