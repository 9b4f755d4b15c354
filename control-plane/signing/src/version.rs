//! The version of a component: three numbers, compared as numbers.
//!
//! Invariant: a version has one text, so that two texts are equal exactly if the versions are: no leading zeros, no signs, no
//! suffixes.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A version, `major.minor.patch`. `1.10.0` is higher than `1.9.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third.
    pub patch: u32,
}

/// A text that is no version.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "a version is three numbers, `1.2.0`, without leading zeros or suffixes, each below 4,294,967,296; write it so"
)]
pub struct VersionError;

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let mut numbers = text.split('.').map(number);
        let mut next = || numbers.next().flatten().ok_or(VersionError);
        let version = Self { major: next()?, minor: next()?, patch: next()? };
        if numbers.next().is_some() { Err(VersionError) } else { Ok(version) }
    }
}

/// A number in its one form.
fn number(digits: &str) -> Option<u32> {
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let canonical = plain && (digits == "0" || !digits.starts_with('0'));
    if canonical { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let ascending = ["0.0.0", "0.0.9", "0.0.10", "0.9.0", "0.10.0", "1.0.0", "2.0.0", "10.0.0"].map(version);
        assert!(ascending.is_sorted());
        assert_eq!(version("4294967295.0.1").to_string(), "4294967295.0.1");
    }

    #[test]
    fn a_version_has_one_text() {
        for text in
            ["", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.03", "1.2.3-rc1", "1.2.3+b", "v1.2.3", "+1.2.3", "1.2.x", "1..3"]
        {
            assert_eq!(text.parse::<Version>(), Err(VersionError), "{text}");
        }
        for text in ["1.2.3 ", " 1.2.3", "1.2.3\n", "4294967296.0.0", "१.2.3", "-1.0.0"] {
            assert_eq!(text.parse::<Version>(), Err(VersionError), "{text:?}");
        }
    }
}
