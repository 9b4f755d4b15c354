//! What a hook's functions say when they cannot answer: [`Reject`] for one row, [`Fault`] for the whole job or call.

use std::borrow::Cow;

use crate::columns::{Fault, Rejection};

/// Refuses one row: its record goes to the job's dead-letter output with this code and message, and all other rows go on.
///
/// `code` is for machines: short, lower-case words joined by hyphens. `message` is for people: say what is wrong and with
/// which value. [`reject!`](crate::reject) makes one with a formatted message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// What kind of fault the row has (`bad-distance`).
    pub code: Cow<'static, str>,
    /// What is wrong with it, in words.
    pub message: String,
}

impl Reject {
    /// A refusal with its code and message.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }

    /// This refusal, of row `row` of a call.
    pub fn at(self, row: u32) -> Rejection {
        Rejection { row, code: self.code.into_owned(), message: self.message }
    }
}

impl std::fmt::Display for Reject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Reject {}

/// Makes a [`Reject`]: `reject!("bad-distance", "distance is {miles} miles")`.
#[macro_export]
macro_rules! reject {
    ($code:expr, $($message:tt)+) => {
        $crate::Reject::new($code, ::std::format!($($message)+))
    };
}

impl Fault {
    /// A failure, in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), stack: None }
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error.to_string())
    }
}
