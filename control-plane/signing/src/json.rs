//! Reads JSON so that a document has one meaning: no field twice, no field that nobody asked for, each of its kind.
//!
//! Two readers that disagree on a document are an attack (one checks the first of two equal keys, another uses the second).
//! Invariant: after [`Object::end`] every field of the object has been read.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::refusal::{Refusal, quoted};
use crate::rule::Rule;

const MEND: &str = "make the signature with `tidegate sign`, which writes the one form that is accepted";

/// An object that is being read.
pub(crate) struct Object {
    /// Its path.
    place: String,
    /// The rule that it breaks if it has another shape.
    malformed: Rule,
    /// What has not been read yet.
    fields: Map<String, Value>,
}

/// Reads a document whose root is an object.
///
/// # Errors
/// `duplicate-field`, or the given rule for anything that is no JSON object.
pub(crate) fn read(bytes: &[u8], place: &str, malformed: Rule) -> Result<Object, Refusal> {
    serde_json::from_slice::<Distinct>(bytes).map_err(|error| {
        let rule = if error.classify() == Category::Data { Rule::DuplicateField } else { malformed };
        Refusal::by(rule, place, error.to_string(), MEND)
    })?;
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => Ok(Object { place: place.to_owned(), malformed, fields }),
        _ => Err(Refusal::by(malformed, place, "it is no JSON object", MEND)),
    }
}

impl Object {
    /// A text that must be there.
    pub(crate) fn text(&mut self, key: &str) -> Result<String, Refusal> {
        match self.fields.remove(key) {
            Some(Value::String(text)) => Ok(text),
            other => Err(self.wrong(key, "a text", other.as_ref())),
        }
    }

    /// A text that may be missing.
    pub(crate) fn text_if_there(&mut self, key: &str) -> Result<Option<String>, Refusal> {
        if self.fields.contains_key(key) { self.text(key).map(Some) } else { Ok(None) }
    }

    /// A whole number from 0 that must be there.
    pub(crate) fn number(&mut self, key: &str) -> Result<u64, Refusal> {
        let value = self.fields.remove(key);
        value.as_ref().and_then(Value::as_u64).ok_or_else(|| self.wrong(key, "a whole number from 0", value.as_ref()))
    }

    /// A whole number from 0 that may be missing.
    pub(crate) fn number_if_there(&mut self, key: &str) -> Result<Option<u64>, Refusal> {
        if self.fields.contains_key(key) { self.number(key).map(Some) } else { Ok(None) }
    }

    /// A time, ms since the epoch, that must be there.
    pub(crate) fn time(&mut self, key: &str) -> Result<i64, Refusal> {
        let value = self.fields.remove(key);
        let time = value.as_ref().and_then(Value::as_i64).filter(|time| *time >= 0);
        time.ok_or_else(|| self.wrong(key, "a time in ms since the epoch", value.as_ref()))
    }

    /// An object that must be there.
    pub(crate) fn object(&mut self, key: &str) -> Result<Self, Refusal> {
        match self.fields.remove(key) {
            Some(Value::Object(fields)) => {
                Ok(Self { place: format!("{}.{key}", self.place), malformed: self.malformed, fields })
            }
            other => Err(self.wrong(key, "an object", other.as_ref())),
        }
    }

    /// A list of objects that must be there.
    pub(crate) fn objects(&mut self, key: &str) -> Result<Vec<Self>, Refusal> {
        let list = match self.fields.remove(key) {
            Some(Value::Array(list)) => list,
            other => return Err(self.wrong(key, "a list", other.as_ref())),
        };
        let item = |(at, item)| match item {
            Value::Object(fields) => {
                Ok(Self { place: format!("{}.{key}[{at}]", self.place), malformed: self.malformed, fields })
            }
            other => Err(self.wrong(&format!("{key}[{at}]"), "an object", Some(&other))),
        };
        list.into_iter().enumerate().map(item).collect()
    }

    /// The path of a field.
    pub(crate) fn place_of(&self, key: &str) -> String {
        format!("{}.{key}", self.place)
    }

    /// The object has been read.
    ///
    /// # Errors
    /// `unknown-field` if something is left.
    pub(crate) fn end(self) -> Result<(), Refusal> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(key) => {
                let reason = format!("a field {} is not known here", quoted(key));
                Err(Refusal::by(Rule::UnknownField, self.place, reason, MEND))
            }
        }
    }

    fn wrong(&self, key: &str, expected: &str, found: Option<&Value>) -> Refusal {
        let found = match found {
            None => "nothing",
            Some(Value::Null) => "null",
            Some(Value::Bool(_)) => "a truth value",
            Some(Value::Number(_)) => "another number",
            Some(Value::String(_)) => "a text",
            Some(Value::Array(_)) => "a list",
            Some(Value::Object(_)) => "an object",
        };
        Refusal::by(self.malformed, self.place_of(key), format!("{expected} is expected, and there is {found}"), MEND)
    }
}

/// Any JSON in which no object has a field twice.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DistinctVisitor)
    }
}

struct DistinctVisitor;

impl<'de> Visitor<'de> for DistinctVisitor {
    type Value = Distinct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_str<E>(self, _: &str) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_unit<E>(self) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Distinct, A::Error> {
        while items.next_element::<Distinct>()?.is_some() {}
        Ok(Distinct)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Distinct, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            fields.next_value::<Distinct>()?;
            if seen.contains(&key) {
                return Err(A::Error::custom(format_args!("the field {} stands there twice", quoted(&key))));
            }
            seen.insert(key);
        }
        Ok(Distinct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule_of(text: &str) -> &'static str {
        match read(text.as_bytes(), "it", Rule::EnvelopeMalformed) {
            Ok(_) => "none",
            Err(refusal) => refusal.rule,
        }
    }

    #[test]
    fn a_field_twice_is_refused_wherever_it_stands() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"b":{"c":[{"d":1,"d":2}]}}"#,
            // The same key, written in another way.
            r#"{"a":1,"\u0061":2}"#,
        ] {
            assert_eq!(rule_of(text), "duplicate-field", "{text}");
        }
        assert_eq!(rule_of(r#"{"a":{"a":[{"a":1},{"a":2}]}}"#), "none");
    }

    #[test]
    fn what_is_no_object_is_malformed() {
        let deep = "[".repeat(10_000);
        for text in
            ["", "null", "[]", "{", "{}{}", "{} x", "{'a':1}", r#"{"a":1,}"#, "\u{feff}{}", "{\"a\":1e999}", &deep]
        {
            assert_eq!(rule_of(text), "envelope-malformed", "{}", &text[..text.len().min(20)]);
        }
    }

    #[test]
    fn a_field_of_another_kind_is_named_with_its_path() {
        let mut object = read(br#"{"a":{"n":1.0,"m":-1}}"#, "root", Rule::StatementMalformed).unwrap();
        let mut inner = object.object("a").unwrap();
        let refusal = inner.number("n").unwrap_err();
        assert_eq!((refusal.rule, refusal.place.as_str()), ("statement-malformed", "root.a.n"));
        assert!(inner.number("m").is_err() && inner.number("gone").is_err());
        assert_eq!(inner.number_if_there("gone"), Ok(None));
    }

    #[test]
    fn a_field_that_nobody_read_is_unknown() {
        let mut object = read(br#"{"a":"x","alg":"none"}"#, "root", Rule::EnvelopeMalformed).unwrap();
        object.text("a").unwrap();
        let refusal = object.end().unwrap_err();
        assert_eq!(refusal.rule, "unknown-field");
        assert!(refusal.reason.contains("`alg`"), "{refusal}");
    }
}
