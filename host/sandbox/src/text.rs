//! Texts that come from guests, made fit for logs and messages: bounded, and without control characters.

/// One line: at most `limit` bytes of a text, its control characters escaped. A cut is shown as `…`.
pub(crate) fn line(text: &str, limit: usize) -> String {
    clean(text, limit, |_| false)
}

/// As [`line()`], but line breaks and tabs stay.
pub(crate) fn lines(text: &str, limit: usize) -> String {
    clean(text, limit, |character| matches!(character, '\n' | '\t'))
}

fn clean(text: &str, limit: usize, stays: impl Fn(char) -> bool) -> String {
    let end = text.floor_char_boundary(limit);
    let mut clean = String::with_capacity(end);
    for character in text[..end].chars() {
        if deceives(character) && !stays(character) {
            clean.extend(character.escape_default());
        } else {
            clean.push(character);
        }
    }
    if end < text.len() {
        clean.push('…');
    }
    clean
}

/// Control characters, and those that break lines, reorder or hide text in terminals.
fn deceives(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
