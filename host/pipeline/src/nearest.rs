//! Did you mean: the known word that is nearest to what was written.

use crate::path::quoted;

/// The longest piece of a word that is compared, in characters.
const COMPARED: usize = 64;

/// The known word that was surely meant: the only one that begins with what was written, or the one that needs the fewest
/// edits (of equals the first), if these change at most half of the longer word.
pub(crate) fn nearest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    let written: String = written.chars().take(COMPARED).collect::<String>().to_lowercase();
    let mut continued = known.iter().copied().filter(|word| word.to_lowercase().starts_with(&written));
    if let (Some(only), None) = (continued.next(), continued.next()) {
        return Some(only);
    }
    let (edits, word) = known
        .iter()
        .map(|word| (strsim::osa_distance(&written, &word.to_lowercase()), *word))
        .min_by_key(|(e, _)| *e)?;
    (2 * edits <= written.chars().count().max(word.chars().count())).then_some(word)
}

/// `did you mean `a`? Known: `a`, `b`.`
pub(crate) fn suggestion(written: &str, known: &[&str]) -> String {
    let list = list(known);
    match nearest(written, known) {
        Some(word) if known.len() > 1 => format!("did you mean {}? Known: {list}", quoted(word)),
        _ => format!("known: {list}"),
    }
}

/// Words between backticks, with commas.
pub(crate) fn list(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_was_cut_short_is_the_one_that_begins_so() {
        let strategies = ["bounded_out_of_orderness", "ascending", "punctuated", "none"];
        assert_eq!(nearest("bounded", &strategies), Some("bounded_out_of_orderness"));
        assert_eq!(nearest("Punct", &strategies), Some("punctuated"));
        assert_eq!(nearest("on", &["early", "on_time", "late"]), Some("on_time"));
        assert_eq!(nearest("s", &["size", "slide"]), None, "two begin so");
    }

    #[test]
    fn a_word_that_is_like_none_has_no_neighbour() {
        assert_eq!(nearest("kafka", &["log", "outbox", "parquet"]), None);
        assert_eq!(nearest("qwxzvb", &["job", "source", "window"]), None);
        assert_eq!(nearest("", &["job", "source"]), None);
        assert_eq!(nearest("vtable", &["type", "table", "key"]), Some("table"));
        assert_eq!(suggestion("kafka", &["log", "outbox"]), "known: `log`, `outbox`");
    }
}
