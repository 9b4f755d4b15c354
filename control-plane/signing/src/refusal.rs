//! Why a component, or what is said about it, is refused: the rule, the place, the reason and the way out.
//!
//! The one type of refusal of the whole of admission. Invariant: what it quotes is short and has no control characters, since
//! it comes from whoever wants in.

use thiserror::Error;

use crate::rule::Rule;

/// The most characters that are quoted.
const QUOTED_CHARS: usize = 64;

/// A refusal. It is shown as one line: `rule: place: reason; mend`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{rule}: {place}: {reason}; {mend}")]
pub struct Refusal {
    /// The rule that was broken, in kebab-case (for signatures: [`Rule::code`]).
    pub rule: &'static str,
    /// Where: a field's path, an offset, a part of the component.
    pub place: String,
    /// What is wrong there.
    pub reason: String,
    /// What to do about it.
    pub mend: String,
}

impl Refusal {
    /// A refusal by a rule of this crate.
    pub(crate) fn by(rule: Rule, place: impl Into<String>, reason: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { rule: rule.code(), place: place.into(), reason: reason.into(), mend: mend.into() }
    }
}

/// A stranger's text, fit to be shown: escaped, and short.
pub(crate) fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(QUOTED_CHARS).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(QUOTED_CHARS).is_some() { "…" } else { "" };
    format!("`{shown}{more}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_short_and_has_no_control_characters() {
        assert_eq!(quoted("a\u{1b}[31m\nb"), "`a\\u{1b}[31m\\nb`");
        assert_eq!(quoted(&"x".repeat(1_000)).chars().count(), QUOTED_CHARS + 3);
    }

    #[test]
    fn a_refusal_is_one_line_with_all_its_parts() {
        let refusal = Refusal::by(Rule::Expired, "statement.expires_at", "it is over", "sign it again");
        assert_eq!(refusal.to_string(), "expired: statement.expires_at: it is over; sign it again");
    }
}
