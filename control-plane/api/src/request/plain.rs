//! serde's messages without the names of our types.

/// What serde expects, and what a client is told instead.
const EXPECTED: &[(&str, &str)] = &[
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number from 0 to 18446744073709551615"),
    ("usize", "a whole number from 0 to 18446744073709551615"),
    ("i32", "a whole number"),
    ("i64", "a whole number"),
    ("f64", "a number"),
];

/// The message with what was expected in words. What the client sent stands before it and is left as it is.
pub(super) fn plain(message: &str) -> String {
    let (given, expected) = match message.rsplit_once(", expected ") {
        Some(parts) => parts,
        None => return message.to_owned(),
    };
    let end = expected.find(" at line ").unwrap_or(expected.len());
    let (wanted, place) = expected.split_at(end);
    let words = if wanted.starts_with("struct ") {
        "an object"
    } else {
        EXPECTED.iter().find(|(name, _)| *name == wanted).map_or(wanted, |(_, words)| words)
    };
    format!("{given}, expected {words}{place}")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn the_names_of_types_become_words() {
        let said = plain("invalid type: string \"x\", expected u32 at line 1 column 9");
        assert_eq!(said, "invalid type: string \"x\", expected a whole number from 0 to 4294967295 at line 1 column 9");
        let said = plain("limits: invalid type: integer `7`, expected struct LimitsDocument with 4 elements");
        assert_eq!(said, "limits: invalid type: integer `7`, expected an object");
    }

    #[test]
    fn what_the_client_sent_is_left_as_it_is() {
        for message in ["missing field `name`", "unknown field `x, expected u32`, expected `name` or `limits`"] {
            assert_eq!(plain(message), message);
        }
    }
}
