//! The parts of a Markdown text that can be checked: code blocks, code spans, links and headings.
//!
//! Reads the plain Markdown that this repository writes: fenced blocks with three backticks at the start of a line, spans
//! within one line, inline links.

#[cfg(test)]
mod tests;

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The word after the fence.
    pub language: String,
    pub text: String,
    /// The last line before the block that is not blank, if there is one between it and the block before.
    pub before: String,
    /// The line of the opening fence, from 1.
    pub line: usize,
}

/// The fenced blocks of a text, in order.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut before = String::new();
    for (at, line) in text.lines().enumerate() {
        let fence = line.strip_prefix("```");
        match (&mut open, fence) {
            (Some(_), Some(_)) => {
                blocks.extend(open.take());
                before.clear();
            }
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(language)) => {
                let language = language.trim().to_owned();
                open = Some(Block { language, text: String::new(), before: before.clone(), line: at + 1 });
            }
            (None, None) if !line.trim().is_empty() => line.clone_into(&mut before),
            (None, None) => {}
        }
    }
    blocks
}

/// The text outside fenced blocks, line by line, with line numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.starts_with("```");
        inside ^= fence;
        (!inside && !fence).then_some((at + 1, line))
    })
}

/// The code spans outside fenced blocks, with their lines.
pub fn code_spans(text: &str) -> Vec<(usize, &str)> {
    prose(text).flat_map(|(at, line)| line.split('`').skip(1).step_by(2).map(move |span| (at, span))).collect()
}

/// The targets of inline links outside fenced blocks, with their lines.
pub fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (at, line) in prose(text) {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        links.extend(targets.map(|(target, _)| (at, target)));
    }
    links
}

/// The anchors of a page's headings, as GitHub makes them.
pub fn slugs(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    let headings = headings.map(|(_, line)| line.trim_start_matches('#').trim());
    headings.map(slug).collect()
}

fn slug(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
