//! Names of a tenant's things, and the tenant itself: checked once, where they enter.
//!
//! Invariant: a name is safe in a path, a URL, a log line and a table's name: 1 to 63 characters of `a-z A-Z 0-9 - _ .`,
//! the first a letter or a digit. A tenant's has small letters, digits and `-` only.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The most characters of a name.
pub const MAX_NAME_CHARS: usize = 63;

/// The name of a stream, a job, an artifact or a table, unique within its tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

/// A tenant: everything that somebody owns stands below one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantId(Arc<str>);

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is nothing.
    #[error("a name may not be empty: give it 1 to 63 characters")]
    Empty,
    /// It is too long.
    #[error("a name has at most 63 characters, this one has {0}: shorten it")]
    TooLong(usize),
    /// It has a character that is not allowed.
    #[error("a {what} may not have {character:?} at character {place}: use {allowed}")]
    Character {
        /// What kind of name.
        what: &'static str,
        /// The character.
        character: char,
        /// Its place, from 1.
        place: usize,
        /// What may stand there.
        allowed: &'static str,
    },
}

impl Name {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TenantId {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        check(text, "name", inner, "letters, digits, `-`, `_` and `.`, first a letter or digit")?;
        Ok(Self(text.into()))
    }
}

impl FromStr for TenantId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        check(text, "tenant's name", inner, "small letters, digits and `-`, first a letter or digit")?;
        Ok(Self(text.into()))
    }
}

fn check(text: &str, what: &'static str, inner: impl Fn(char) -> bool, allowed: &'static str) -> Result<(), NameError> {
    let count = text.chars().count();
    if count == 0 {
        return Err(NameError::Empty);
    }
    if count > MAX_NAME_CHARS {
        return Err(NameError::TooLong(count));
    }
    let wrong = |(place, c): &(usize, char)| !inner(*c) || (*place == 0 && !c.is_ascii_alphanumeric());
    match text.chars().enumerate().find(wrong) {
        Some((place, character)) => Err(NameError::Character { what, character, place: place + 1, allowed }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_safe_in_paths_and_urls() {
        for good in ["ad-events", "campaign_minute", "A.b-1", "0"] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "-x", "a/b", "a b", "é", "a\n", &"x".repeat(64)] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_tenant_has_no_capitals_or_dots() {
        assert!("acme-2".parse::<TenantId>().is_ok());
        for bad in ["Acme", "a.b", "a_b", "-a"] {
            assert!(bad.parse::<TenantId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_wrong_character_is_named_with_its_place() {
        let said = "ad events".parse::<Name>().unwrap_err().to_string();
        assert!(said.starts_with("a name may not have ' ' at character 3"), "{said}");
    }
}
