//! Which of two results of one key a table keeps.
//!
//! Invariant: for results of one window, whatever the order in which they come, the greatest version stays: a key's row, or
//! that it has none, is the one of the greatest version so far, and of equal ones the last. An index counts the panes of
//! one window only, so results of two windows that share a key are told apart by precedence and epoch, and of equal ones the
//! last stays.

use tidegate_types::Version;

/// What a table knows of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// The version of its row, or of the retraction that took the row away.
    pub(crate) version: Version,
    /// Whether it is of the same window as the result that comes.
    pub(crate) same_window: bool,
    /// Whether there is a row.
    pub(crate) is_there: bool,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The result becomes what is known.
    Takes,
    /// What is known stays.
    Yields,
}

/// A row comes.
pub(crate) fn insert(known: Option<Known>, version: Version) -> Verdict {
    match known {
        Some(known) if is_newer(known, version) => Verdict::Yields,
        _ => Verdict::Takes,
    }
}

/// A retraction comes: it takes away no newer row, and none of another window.
pub(crate) fn retract(known: Option<Known>, version: Version) -> Verdict {
    match known {
        Some(known) if is_newer(known, version) || (known.is_there && !known.same_window) => Verdict::Yields,
        _ => Verdict::Takes,
    }
}

/// Whether what is known is newer.
fn is_newer(known: Known, version: Version) -> bool {
    let run = |version: Version| (version.precedence, version.restore_epoch);
    run(known.version) > run(version) || (known.same_window && known.version > version)
}

#[cfg(test)]
mod tests;
