//! Paths of the API with what a person typed in them.

/// A part of a path or of a query: everything but letters, digits, `-`, `_`, `.` and `~` is escaped (RFC 3986).
pub(super) fn part(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// A path with a query of these pairs.
pub(super) fn query(path: &str, pairs: &[(&str, String)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{}={}", part(name), part(value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_stays_one_part() {
        assert_eq!(part("../a b&c=é"), "..%2Fa%20b%26c%3D%C3%A9");
        assert_eq!(query("/v1/x", &[("from", "1".into()), ("k", "a b".into())]), "/v1/x?from=1&k=a%20b");
        assert_eq!(query("/v1/x", &[]), "/v1/x");
    }
}
