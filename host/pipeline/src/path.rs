//! Places in the file, as messages name them: `window.slide`, `key_by[1]`, `aggregate."odd name".fn`.
//!
//! Whatever a file holds is shown escaped and cut, so that no message can carry control characters or grow with the file.

use crate::node::{Content, Node};

/// The longest piece of the file that a message repeats, in characters.
const SHOWN: usize = 60;

/// The path of a key below `parent`.
pub(crate) fn key(parent: &str, key: &str) -> String {
    let segment = segment(key);
    if parent.is_empty() { segment } else { format!("{parent}.{segment}") }
}

/// The path of a list's item.
pub(crate) fn item(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// A piece of the file between backticks.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shown(text))
}

/// A piece of the file, escaped and cut.
pub(crate) fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).flat_map(escaped).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

/// A message of the parser, escaped.
pub(crate) fn escape(message: &str) -> String {
    message.chars().flat_map(escaped).collect()
}

/// The line of the value at `path`, if there is one.
pub(crate) fn line_at(root: &Node, path: &str) -> Option<usize> {
    node_at(root, path).map(|node| node.line)
}

/// The value at `path`, if there is one.
pub(crate) fn node_at<'a>(root: &'a Node, path: &str) -> Option<&'a Node> {
    walk(root, "", path)
}

/// Walks down to `path` by comparing the paths of children with it.
fn walk<'a>(node: &'a Node, here: &str, path: &str) -> Option<&'a Node> {
    if here == path {
        return Some(node);
    }
    let descend = |child: String, node: &'a Node| {
        let rest = path.strip_prefix(child.as_str())?;
        let belongs = rest.is_empty() || rest.starts_with(['.', '[']);
        if belongs { walk(node, &child, path) } else { None }
    };
    match &node.content {
        Content::Map(entries) => entries.iter().find_map(|entry| descend(key(here, &entry.key), &entry.value)),
        Content::List(items) => items.iter().enumerate().find_map(|(index, node)| descend(item(here, index), node)),
        _ => None,
    }
}

/// A key as a path shows it: in quotes where it could be misread.
fn segment(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !key.is_empty() && key.bytes().all(plain) { shown(key) } else { format!("\"{}\"", shown(key)) }
}

/// Control characters and quotes escaped, everything else as it is.
fn escaped(character: char) -> impl Iterator<Item = char> {
    let (plain, escape) = if character.is_control() || is_invisible(character) {
        (None, Some(character.escape_unicode()))
    } else {
        (Some(character), None)
    };
    plain.into_iter().chain(escape.into_iter().flatten())
}

/// Characters that reorder or hide what follows.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
