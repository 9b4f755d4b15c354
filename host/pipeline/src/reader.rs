//! Text to a tree with lines: YAML 1.2, of which JSON is a part.
//!
//! What makes files ambiguous or costly is refused: duplicate keys, anchors, aliases and merge keys (so no small file
//! grows into a large tree), explicit tags, several documents, keys that are no text. Size, depth and number of values
//! are bounded. Invariant: reading takes time and memory proportional to the text, and never panics.

use std::collections::BTreeMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::error::PipelineError;
use crate::node::{Content, Entry, Node};
use crate::path;

/// The largest file, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The deepest nesting of lists and objects.
pub(crate) const MAX_DEPTH: usize = 32;
/// The most keys and values of a file.
pub(crate) const MAX_VALUES: usize = 50_000;

const TOO_DEEP: &str = "lists and objects are nested deeper than 32; flatten them";

/// Reads one document.
///
/// # Errors
/// Text that is not well-formed, or beyond the limits above.
pub(crate) fn read(text: &str) -> Result<Node, PipelineError> {
    if text.len() > MAX_BYTES {
        let reason = format!("the file has {} bytes and may have {MAX_BYTES}; move data out of `config`", text.len());
        return Err(PipelineError::invalid("", None, reason));
    }
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: 2 * MAX_DEPTH,
        block_nesting_limit: 2 * MAX_DEPTH
    };
    let mut builder = Builder::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| malformed(text, &error))?;
        builder.take(event, span)?;
    }
    builder.root.ok_or_else(|| {
        let reason = "the file is empty; it needs at least `job`, `version`, `source`, `key_by`, `window`, `aggregate` and `sink`";
        PipelineError::invalid("", Some(1), reason)
    })
}

/// A list or an object that is being read.
enum Open {
    List { line: usize, items: Vec<Node> },
    Map { line: usize, entries: Vec<Entry>, lines: BTreeMap<String, usize>, key: Option<(String, usize)> },
}

/// Makes the tree from the parser's events, without recursion.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    values: usize,
    root: Option<Node>,
}

impl Builder {
    /// Takes the next event.
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), PipelineError> {
        let line = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => self.line_under_key(span.start.line()),
            _ => span.start.line(),
        };
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(self.refuse(line, "a second document starts here; a file holds one pipeline, so split it"))
            }
            Event::Alias(_) => Err(self.refuse(line, "aliases are not read; write the value out")),
            Event::Scalar(text, style, anchor, tag) => {
                self.count(line, anchor, tag.as_deref())?;
                self.scalar(&text, style, line)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.count(line, anchor, tag.as_deref())?;
                self.start(line, Open::List { line, items: Vec::new() })
            }
            Event::MappingStart(_, anchor, tag) => {
                self.count(line, anchor, tag.as_deref())?;
                self.start(line, Open::Map { line, entries: Vec::new(), lines: BTreeMap::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            _ => Ok(()),
        }
    }

    /// Checks what holds for every value.
    fn count(&mut self, line: usize, anchor: usize, tag: Option<&Tag>) -> Result<(), PipelineError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(
                self.refuse(line, format!("the file has more than {MAX_VALUES} keys and values; shorten `config`"))
            );
        }
        if anchor != 0 {
            return Err(self.refuse(line, "anchors are not read; write the value out where it is needed"));
        }
        if tag.is_some() {
            return Err(self.refuse(line, "tags are not read; remove the tag, and put text in quotes"));
        }
        Ok(())
    }

    /// A scalar: a key where the object waits for one, else a value.
    fn scalar(&mut self, text: &str, style: ScalarStyle, line: usize) -> Result<(), PipelineError> {
        let plain = style == ScalarStyle::Plain;
        if matches!(self.open.last(), Some(Open::Map { key: None, .. })) {
            return self.key(text, plain, line);
        }
        let content = if plain {
            let not_finite = |_| self.refuse(line, format!("{} is no finite number", path::quoted(text)));
            Content::from_plain(text).map_err(not_finite)?
        } else {
            Content::Text(text.to_owned())
        };
        self.value(Node { line, content });
        Ok(())
    }

    /// A key, which must be text and new.
    fn key(&mut self, text: &str, plain: bool, line: usize) -> Result<(), PipelineError> {
        if plain && text == "<<" {
            return Err(self.refuse(line, "merge keys (`<<`) are not read; write the keys out"));
        }
        if plain && matches!(text, "~" | "") {
            return Err(self.refuse(line, "a key is missing before `:`"));
        }
        let first = match self.open.last_mut() {
            Some(Open::Map { lines, key, .. }) => {
                *key = Some((text.to_owned(), line));
                lines.insert(text.to_owned(), line)
            }
            _ => None,
        };
        match first {
            Some(first) => Err(self.refuse(line, format!("the key stands twice, first on line {first}; remove one"))),
            None => Ok(()),
        }
    }

    /// The line of a list or an object: that of the key it stands under, if any.
    fn line_under_key(&self, line: usize) -> usize {
        match self.open.last() {
            Some(Open::Map { key: Some((_, line)), .. }) => *line,
            _ => line,
        }
    }

    /// Opens a list or an object.
    fn start(&mut self, line: usize, open: Open) -> Result<(), PipelineError> {
        if matches!(self.open.last(), Some(Open::Map { key: None, .. })) {
            return Err(self.refuse(line, "a key must be text, not a list or an object"));
        }
        if self.open.len() == MAX_DEPTH {
            return Err(self.refuse(line, TOO_DEEP));
        }
        self.open.push(open);
        Ok(())
    }

    /// Closes the innermost list or object.
    fn end(&mut self) -> Result<(), PipelineError> {
        match self.open.pop() {
            Some(Open::List { line, items }) => self.value(Node { line, content: Content::List(items) }),
            Some(Open::Map { line, entries, .. }) => self.value(Node { line, content: Content::Map(entries) }),
            None => return Err(self.refuse(1, "a list or an object ends that never began")),
        }
        Ok(())
    }

    /// Puts a finished value where it belongs.
    fn value(&mut self, node: Node) {
        match self.open.last_mut() {
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, key, .. }) => {
                if let Some((key, line)) = key.take() {
                    entries.push(Entry { key, line, value: node });
                }
            }
            None => self.root = Some(node),
        }
    }

    /// The path of what is being read.
    fn path(&self) -> String {
        self.open.iter().fold(String::new(), |parent, open| match open {
            Open::List { items, .. } => path::item(&parent, items.len()),
            Open::Map { key: Some((key, _)), .. } => path::key(&parent, key),
            Open::Map { key: None, .. } => parent,
        })
    }

    fn refuse(&self, line: usize, reason: impl Into<String>) -> PipelineError {
        PipelineError::invalid(self.path(), Some(line), reason)
    }
}

/// What the parser says. It reads ahead, so the path is not known; the line is.
fn malformed(text: &str, error: &ScanError) -> PipelineError {
    let line = error.marker().line();
    if let Some(line) = tab_near(text, line) {
        return PipelineError::invalid(
            "",
            Some(line),
            "not well-formed: this line begins with a tab; indent with spaces",
        );
    }
    let reason = match error.kind() {
        ErrorKind::RecursionLimitExceeded => TOO_DEEP.to_owned(),
        _ => format!("not well-formed: {}; check indentation, brackets and quotes", path::escape(&error.info())),
    };
    PipelineError::invalid("", Some(line), reason)
}

/// The line at or right after `line` whose indentation has a tab: the parser blames the value before it.
fn tab_near(text: &str, line: usize) -> Option<usize> {
    let indented_by_tab =
        |line: &str| line.chars().take_while(|first| first.is_whitespace()).any(|first| first == '\t');
    let numbered = (1_usize..).zip(text.lines()).skip(line.saturating_sub(1)).take(2);
    numbered.filter(|(_, line)| indented_by_tab(line)).map(|(number, _)| number).next()
}
