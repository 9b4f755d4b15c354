//! A value of the file together with its path: what decoders ask for text, numbers, durations, lists and objects.
//!
//! Every answer that is not the value is a refusal with path, line, reason and way out, so that no decoder writes one of
//! its own for the wrong kind of value.

use tidegate_types::Millis;

use crate::duration;
use crate::error::PipelineError;
use crate::nearest::{list, suggestion};
use crate::node::{Content, Entry, Node};
use crate::path::{self, quoted};

/// The longest name of a job, log, table, component or operator, in bytes.
const MAX_NAME: usize = 128;
/// The most names in a list of fields.
const MAX_FIELDS: usize = 1_000;
/// The longest name of a field, in bytes.
const MAX_FIELD: usize = 1024;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Place<'a> {
    /// The path from the file's top.
    pub(crate) path: String,
    /// The value.
    pub(crate) node: &'a Node,
}

/// An object whose keys are all known.
#[derive(Debug, Clone)]
pub(crate) struct Object<'a> {
    /// Where it stands.
    pub(crate) place: Place<'a>,
    entries: &'a [Entry],
}

impl<'a> Place<'a> {
    /// The whole file.
    pub(crate) fn root(node: &'a Node) -> Self {
        Self { path: String::new(), node }
    }

    /// A refusal of this value.
    pub(crate) fn refuse(&self, reason: impl Into<String>) -> PipelineError {
        PipelineError::invalid(self.path.clone(), Some(self.node.line), reason)
    }

    /// Text.
    pub(crate) fn text(&self, what: &str) -> Result<&'a str, PipelineError> {
        match &self.node.content {
            Content::Text(text) => Ok(text),
            Content::Int(_) | Content::Unsigned(_) | Content::Float(_) | Content::Bool(_) => {
                let shown = self.node.content.to_json();
                Err(self
                    .refuse(format!("{what} is text, but `{shown}` is {}; put it in quotes: \"{shown}\"", self.kind())))
            }
            _ => Err(self.wrong(what)),
        }
    }

    /// A name: ASCII letters, digits, `-`, `_` and `.`, beginning with a letter or a digit.
    pub(crate) fn name(&self, what: &str) -> Result<String, PipelineError> {
        let text = self.text(what)?;
        match name_fault(text) {
            Some(fault) => Err(self.refuse(format!("{what} {} {fault}", quoted(text)))),
            None => Ok(text.to_owned()),
        }
    }

    /// The name of a field, which may be any text but an empty one.
    pub(crate) fn field(&self) -> Result<String, PipelineError> {
        let text = self.text("a field's name")?;
        if text.is_empty() {
            return Err(self.refuse("a field's name is empty; name a field of the records"));
        }
        if text.len() > MAX_FIELD {
            return Err(
                self.refuse(format!("a field's name has at most {MAX_FIELD} bytes; this one has {}", text.len()))
            );
        }
        Ok(text.to_owned())
    }

    /// An integer from `min` to `max`.
    pub(crate) fn integer(&self, what: &str, min: u64, max: u64) -> Result<u64, PipelineError> {
        let value = match &self.node.content {
            Content::Int(value) => u64::try_from(*value).ok(),
            Content::Unsigned(value) => Some(*value),
            Content::Text(text) if text.parse::<i64>().is_ok() => {
                return Err(self.refuse(format!("{what} is a number; write it without quotes")));
            }
            Content::Float(_) | Content::Text(_) | Content::Bool(_) => {
                return Err(self.refuse(format!("{what} is a whole number, and this is {}", self.kind())));
            }
            _ => return Err(self.wrong(&format!("{what}, a whole number,"))),
        };
        let range = if max == u64::MAX { format!("at least {min}") } else { format!("from {min} to {max}") };
        value
            .filter(|value| (min..=max).contains(value))
            .ok_or_else(|| self.refuse(format!("{what} is {range}, and this is {}", self.node.content.to_json())))
    }

    /// The same within 32 bits.
    pub(crate) fn integer_u32(&self, what: &str, min: u32, max: u32) -> Result<u32, PipelineError> {
        let value = self.integer(what, min.into(), max.into())?;
        u32::try_from(value).map_err(|_| self.refuse(format!("{what} is at most {max}")))
    }

    /// An integer of 32 bits with a sign.
    pub(crate) fn signed_i32(&self, what: &str) -> Result<i32, PipelineError> {
        let value = match &self.node.content {
            Content::Int(value) => i32::try_from(*value).ok(),
            Content::Unsigned(_) => None,
            Content::Text(text) if text.parse::<i64>().is_ok() => {
                return Err(self.refuse(format!("{what} is a number; write it without quotes")));
            }
            Content::Null => return Err(self.wrong(&format!("{what}, a whole number,"))),
            _ => return Err(self.refuse(format!("{what} is a whole number, and this is {}", self.kind()))),
        };
        let shown = || self.node.content.to_json();
        value
            .ok_or_else(|| self.refuse(format!("{what} is from {} to {}, and this is {}", i32::MIN, i32::MAX, shown())))
    }

    /// A duration that may be negative, in milliseconds.
    pub(crate) fn signed_duration(&self) -> Result<i64, PipelineError> {
        if matches!(self.node.content, Content::Null) {
            return Err(self.wrong("a duration, such as `-10s`,"));
        }
        duration::signed(&self.node.content).map_err(|reason| self.refuse(reason))
    }

    /// A duration of zero or more.
    pub(crate) fn duration(&self) -> Result<Millis, PipelineError> {
        if matches!(self.node.content, Content::Null) {
            return Err(self.wrong("a duration, such as `30s`,"));
        }
        duration::from_content(&self.node.content).map_err(|reason| self.refuse(reason))
    }

    /// A duration above zero.
    pub(crate) fn positive_duration(&self, what: &str) -> Result<Millis, PipelineError> {
        match self.duration()? {
            Millis(0) => Err(self.refuse(format!("{what} is zero; it must be longer, such as `1s`"))),
            duration => Ok(duration),
        }
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(&self, what: &str, known: &[(&str, T)]) -> Result<T, PipelineError> {
        let text = self.text(what)?;
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        match known.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Ok(*value),
            None => Err(self.refuse(format!("{} is not known as {what}; {}", quoted(text), suggestion(text, &words)))),
        }
    }

    /// The items of a list.
    pub(crate) fn list(&self, what: &str) -> Result<Vec<Self>, PipelineError> {
        match &self.node.content {
            Content::List(items) => {
                let place = |(index, node)| Place { path: path::item(&self.path, index), node };
                Ok(items.iter().enumerate().map(place).collect())
            }
            Content::Text(text) => {
                let text = path::shown(text);
                Err(self.refuse(format!("{what} is a list; put brackets around it: `[{text}]`")))
            }
            _ => Err(self.wrong(&format!("{what}, a list,"))),
        }
    }

    /// A list of different field names.
    pub(crate) fn fields(&self, what: &str) -> Result<Vec<String>, PipelineError> {
        let names = self.repeated_fields(what)?;
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                let place = self.list(what)?.swap_remove(at);
                return Err(place.refuse(format!("{} stands in the list already; remove one", quoted(name))));
            }
        }
        Ok(names)
    }

    /// A list of field names, of which one may stand several times.
    pub(crate) fn repeated_fields(&self, what: &str) -> Result<Vec<String>, PipelineError> {
        let places = self.list(what)?;
        if places.len() > MAX_FIELDS {
            return Err(self.refuse(format!("{} fields are too many; use at most {MAX_FIELDS}", places.len())));
        }
        places.iter().map(Place::field).collect()
    }

    /// An object with any keys.
    pub(crate) fn entries(&self, what: &str) -> Result<Vec<(&'a Entry, Self)>, PipelineError> {
        match &self.node.content {
            Content::Map(entries) => {
                let place =
                    |entry: &'a Entry| (entry, Place { path: path::key(&self.path, &entry.key), node: &entry.value });
                Ok(entries.iter().map(place).collect())
            }
            _ => Err(self.wrong(&format!("{what}, an object of keys and values,"))),
        }
    }

    /// An object all of whose keys are `known`.
    pub(crate) fn object(&self, what: &str, known: &[&str]) -> Result<Object<'a>, PipelineError> {
        let Content::Map(entries) = &self.node.content else {
            return Err(self.wrong(&format!("{what}, an object with the keys {},", list(known))));
        };
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let reason = format!("unknown key {}; {}", quoted(&entry.key), suggestion(&entry.key, known));
                return Err(PipelineError::invalid(path::key(&self.path, &entry.key), Some(entry.line), reason));
            }
        }
        Ok(Object { place: self.clone(), entries })
    }

    /// What kind of value this is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.node.content {
            Content::Null => "empty",
            Content::Bool(_) => "true or false",
            Content::Int(_) | Content::Unsigned(_) => "an integer",
            Content::Float(_) => "a number with a fraction or an exponent",
            Content::Text(_) => "text",
            Content::List(_) => "a list",
            Content::Map(_) => "an object",
        }
    }

    fn wrong(&self, what: &str) -> PipelineError {
        match self.node.content {
            Content::Null => self.refuse(format!(
                "{} is needed, and this is empty; give it a value or remove the key",
                what.trim_end_matches(',')
            )),
            _ => self.refuse(format!("{what} is needed, and this is {}", self.kind())),
        }
    }
}

impl<'a> Object<'a> {
    /// Whether the key is there.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The value of a key, if the key is there.
    pub(crate) fn get(&self, key: &str) -> Option<Place<'a>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(Place { path: path::key(&self.place.path, key), node: &entry.value })
    }

    /// The value of a key that must be there; `mend` says what to write.
    pub(crate) fn require(&self, key: &str, mend: &str) -> Result<Place<'a>, PipelineError> {
        self.get(key).ok_or_else(|| self.refuse_at(key, format!("`{key}` is missing; {mend}")))
    }

    /// A refusal at a key, whether it is there or not.
    pub(crate) fn refuse_at(&self, key: &str, reason: impl Into<String>) -> PipelineError {
        let line = self.get(key).map_or(self.place.node.line, |place| place.node.line);
        PipelineError::invalid(path::key(&self.place.path, key), Some(line), reason)
    }

    /// Refuses the keys that are known but do not belong to `to`; `belongs` says what they belong to.
    pub(crate) fn only(
        &self,
        keys: &[&str],
        to: &str,
        belongs: impl Fn(&str) -> &'static str,
    ) -> Result<(), PipelineError> {
        match self.entries.iter().find(|entry| !keys.contains(&entry.key.as_str())) {
            None => Ok(()),
            Some(entry) => {
                let key = entry.key.as_str();
                let reason = format!("`{key}` does not belong to {to}; remove it, or use {}", belongs(key));
                Err(self.refuse_at(key, reason))
            }
        }
    }
}

/// What is wrong with a name, as the rest of a sentence.
pub(crate) fn name_fault(text: &str) -> Option<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if text.is_empty() {
        Some("is empty; give it a name".into())
    } else if text.len() > MAX_NAME {
        Some(format!("has {} bytes; use at most {MAX_NAME}", text.len()))
    } else if !text.bytes().all(allowed) || !text.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        Some("is no name; use letters, digits, `-`, `_` and `.`, with a letter or digit first".into())
    } else {
        None
    }
}
