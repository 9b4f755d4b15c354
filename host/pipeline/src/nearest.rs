//! Did you mean: the known word that is nearest to what was written.

use crate::path::quoted;

/// The longest piece of a word that is compared, in characters.
const COMPARED: usize = 64;

/// The known word that needs the fewest edits; of equals the first.
pub(crate) fn nearest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    let written: String = written.chars().take(COMPARED).collect::<String>().to_lowercase();
    known.iter().copied().min_by_key(|word| strsim::osa_distance(&written, &word.to_lowercase()))
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
