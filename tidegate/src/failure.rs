//! Why a command ends without having done what it was asked, as an exit status and one line.
//!
//! Status 2: the pipeline, a component or a flag is wrong, and the user can mend it. Status 1: anything else. Invariant: a
//! message is one line without control characters, whatever was in the file that it quotes.

use std::error::Error;
use std::fmt::Write;

/// The end of a command that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The exit status.
    pub(crate) status: u8,
    /// What to say.
    pub(crate) message: Option<String>,
}

impl Failure {
    /// What the user asked for cannot be.
    pub(crate) fn invalid(message: impl AsRef<str>) -> Self {
        Self { status: 2, message: Some(one_line(message.as_ref())) }
    }

    /// The world outside, or we, failed.
    pub(crate) fn external(message: impl AsRef<str>) -> Self {
        Self { status: 1, message: Some(one_line(message.as_ref())) }
    }

    /// Nothing is left to say: it was said, or whoever read the output has left.
    pub(crate) fn silent() -> Self {
        Self { status: 1, message: None }
    }
}

/// An error and what brought it about.
pub(crate) fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(text, ": {error}").expect("a String takes everything");
        cause = error.source();
    }
    text
}

/// The text on one line: control characters become spaces, and runs of white space one space.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_without_control_characters() {
        let failure = Failure::invalid("key_by[0]:\n  \u{1b}[31m`x`\u{7} is unknown\r\n");
        assert_eq!(failure.message.as_deref(), Some("key_by[0]: [31m`x` is unknown"));
        assert_eq!(failure.status, 2);
    }

    #[test]
    fn a_description_names_the_causes() {
        let error = tidegate_connectors::SourceError::Open {
            input: "events.ndjson".into(),
            source: std::io::Error::from(std::io::ErrorKind::NotFound),
        };
        assert!(describe(&error).ends_with("check the path and its permissions: entity not found"), "{error}");
    }
}
