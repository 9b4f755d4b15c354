//! Random JSON for tests: values, the many ways to write one, and texts that are nearly JSON.

use proptest::collection::vec;
use proptest::prelude::*;
use tidegate_types::Value;

/// A JSON value as it was meant, with every spelling of its parts chosen.
#[derive(Debug, Clone)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    /// A number and how it is written.
    Float(f64, String),
    Text(Vec<Char>),
    Array(Vec<Json>),
    Object(Vec<(Vec<Char>, Json)>),
}

/// A character, and whether it is written as a `\u` escape.
pub(super) type Char = (char, bool);

pub(super) fn text_of(chars: &[Char]) -> String {
    chars.iter().map(|(character, _)| *character).collect()
}

impl Json {
    /// Writes the value with this much white space between tokens.
    pub(super) fn write(&self, space: &str, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(&value.to_string()),
            Self::Int(value) => out.push_str(&value.to_string()),
            Self::Float(_, literal) => out.push_str(literal),
            Self::Text(chars) => write_chars(chars, out),
            Self::Array(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    out.push_str(if place > 0 { "," } else { "" });
                    out.push_str(space);
                    item.write(space, out);
                    out.push_str(space);
                }
                out.push_str(space);
                out.push(']');
            }
            Self::Object(members) => write_object(members, space, out),
        }
    }

    /// The value as the pages define it, from the meaning and not from the text.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Int(*value),
            Self::Float(value, _) => Value::Float(*value),
            Self::Text(chars) => Value::Text(text_of(chars).into()),
            Self::Array(_) | Self::Object(_) => Value::Json(self.canonical().into()),
        }
    }

    fn canonical(&self) -> String {
        let parts: Vec<String> = match self {
            Self::Null => return "null".to_owned(),
            Self::Bool(value) => return value.to_string(),
            Self::Int(value) => return value.to_string(),
            Self::Float(value, _) => return serde_json::to_string(&if *value == 0.0 { 0.0 } else { *value }).unwrap(),
            Self::Text(chars) => return serde_json::to_string(&text_of(chars)).unwrap(),
            Self::Array(items) => {
                return format!("[{}]", items.iter().map(Self::canonical).collect::<Vec<_>>().join(","));
            }
            Self::Object(members) => {
                let last: std::collections::BTreeMap<String, &Self> =
                    members.iter().map(|(key, value)| (text_of(key), value)).collect();
                let member = |(key, value): (String, &Self)| {
                    format!("{}:{}", serde_json::to_string(&key).unwrap(), value.canonical())
                };
                last.into_iter().map(member).collect()
            }
        };
        format!("{{{}}}", parts.join(","))
    }
}

pub(super) fn write_object(members: &[(Vec<Char>, Json)], space: &str, out: &mut String) {
    out.push('{');
    for (place, (key, value)) in members.iter().enumerate() {
        out.push_str(if place > 0 { "," } else { "" });
        out.push_str(space);
        write_chars(key, out);
        out.push_str(space);
        out.push(':');
        out.push_str(space);
        value.write(space, out);
        out.push_str(space);
    }
    out.push_str(space);
    out.push('}');
}

fn write_chars(chars: &[Char], out: &mut String) {
    out.push('"');
    for (character, escaped) in chars {
        if *escaped || *character < ' ' {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04X}"));
            }
        } else if matches!(character, '"' | '\\') {
            out.push('\\');
            out.push(*character);
        } else {
            out.push(*character);
        }
    }
    out.push('"');
}

pub(super) fn chars() -> impl Strategy<Value = Vec<Char>> {
    let character = prop_oneof![
        6 => prop::char::range('a', 'z'),
        2 => any::<char>(),
        1 => prop::sample::select(vec!['"', '\\', '/', '\0', '\u{1f}', '\u{7f}', '\u{e9}', '\u{ffff}', '\u{10000}']),
    ];
    vec((character, prop::bool::weighted(0.1)), 0..20)
}

/// Few names, so that records have them often and twice.
pub(super) fn key() -> impl Strategy<Value = Vec<Char>> {
    let name = prop::sample::select(vec!["a", "b", "c", "time", "", "a\"", "é"]);
    (name, prop::bool::weighted(0.1))
        .prop_map(|(name, escaped)| name.chars().map(|character| (character, escaped)).collect())
}

fn float() -> impl Strategy<Value = Json> {
    let written = (any::<f64>().prop_filter("JSON has finite numbers", |value| value.is_finite()), 0..3).prop_map(
        |(value, form)| match form {
            0 => Json::Float(value, format!("{value:?}")),
            1 => Json::Float(value, format!("{value:E}").replace('E', "E+").replace("E+-", "e-")),
            _ => Json::Float(value, format!("{value:.400}")),
        },
    );
    let odd = prop::sample::select(vec![
        "-0.0",
        "0e0",
        "1.0",
        "1e2",
        "18446744073709551616",
        "9223372036854775808",
        "1E-400",
    ])
    .prop_map(|literal| Json::Float(literal.parse().unwrap(), literal.to_owned()));
    prop_oneof![3 => written, 1 => odd]
}

/// Any value that is neither an array nor an object.
fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::Int),
        (-1_000_i64..1_000).prop_map(Json::Int),
        float(),
        chars().prop_map(Json::Text),
    ]
}

pub(super) fn json() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(4, 24, 5, |inner| {
        prop_oneof![vec(inner.clone(), 0..5).prop_map(Json::Array), vec((key(), inner), 0..5).prop_map(Json::Object)]
    })
}

pub(super) fn members() -> impl Strategy<Value = Vec<(Vec<Char>, Json)>> {
    vec((key(), json()), 0..8)
}

pub(super) fn space() -> impl Strategy<Value = String> {
    "[ \t\r\n]{0,2}"
}

/// A text with a few bytes replaced, left out or put in.
pub(super) fn mutated(text: String) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        prop::sample::select(b"\"\\{}[],:0123456789-+.eEutfn \n\x00\x1f\x7f\xff\xc3".to_vec()),
        any::<u8>(),
    ];
    let edit = (any::<prop::sample::Index>(), 0..3, byte);
    vec(edit, 0..4).prop_map(move |edits| {
        let mut bytes = text.clone().into_bytes();
        for (place, what, byte) in edits {
            let at = place.index(bytes.len() + 1);
            match what {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        bytes
    })
}
