//! What a store holds and how it changes: plain values.
//!
//! Invariant: a version names one writing of one document for ever. It is the number of the commit that wrote it, and no two
//! commits of a store have the same number, so a document that was deleted and made again never has an old version.

use serde_json::Value;

/// A document as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its name within its kind, such as `acme/campaign-metrics`.
    pub path: String,
    /// The number of the commit that wrote it; at least 1.
    pub version: u64,
    /// What it says.
    pub body: Value,
}

/// An entry of a trail as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its place: at least 1, growing within a trail, not without gaps.
    pub position: u64,
    /// What it says.
    pub body: Value,
}

/// One change of a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Writes a document.
    Put {
        /// What kind of document: small letters, digits and `-`.
        kind: String,
        /// Its name within its kind.
        path: String,
        /// What it shall say.
        body: Value,
        /// What must be there before.
        expect: Expect,
    },
    /// Deletes a document.
    Delete {
        /// What kind of document.
        kind: String,
        /// Its name within its kind.
        path: String,
        /// What must be there before. `Absent` makes this a mere check that there is nothing.
        expect: Expect,
    },
    /// Adds an entry to the end of a trail. Entries are never changed; beyond [`MAX_ENTRIES`](crate::MAX_ENTRIES) the oldest
    /// go.
    Append {
        /// The trail's name, of the same characters as a path.
        trail: String,
        /// What the entry says.
        body: Value,
    },
}

/// What must be there for a change to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Anything, or nothing.
    Any,
    /// Nothing.
    Absent,
    /// The document in this version.
    Version(u64),
}

impl Change {
    /// A document that must not be there yet.
    pub fn create(kind: &str, path: impl Into<String>, body: Value) -> Self {
        Self::Put { kind: kind.into(), path: path.into(), body, expect: Expect::Absent }
    }

    /// A document that must still be in this version.
    pub fn replace(kind: &str, path: impl Into<String>, version: u64, body: Value) -> Self {
        Self::Put { kind: kind.into(), path: path.into(), body, expect: Expect::Version(version) }
    }

    /// The end of a document that must still be in this version.
    pub fn delete(kind: &str, path: impl Into<String>, version: u64) -> Self {
        Self::Delete { kind: kind.into(), path: path.into(), expect: Expect::Version(version) }
    }
}

impl Expect {
    /// Whether a document in this version (none: no document) is what was expected.
    #[must_use]
    pub fn meets(self, version: Option<u64>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => version.is_none(),
            Self::Version(expected) => version == Some(expected),
        }
    }
}
