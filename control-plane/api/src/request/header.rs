//! Headers: each that we read may stand once, and is text.

use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use crate::problem::{Answer, Problem, codes, shown};

/// A header's text, or none. Twice is refused: who reads the first and who reads the last would differ.
pub(crate) fn one_header<'a>(headers: &'a HeaderMap, name: &str) -> Answer<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Problem::new(codes::BAD_REQUEST, format!("the header `{name}` stands twice; send it once")));
    }
    let text = value.to_str().map_err(|_| {
        Problem::new(codes::BAD_REQUEST, format!("the header `{name}` has characters that are not visible ASCII"))
    })?;
    Ok(Some(text.trim()))
}

/// The media type of the body in small letters, without its parameters; refused unless it is one of these, and unless the
/// body comes as it is: not compressed, and text as UTF-8. What we stored otherwise would be no record for anybody.
pub(crate) fn content_type(headers: &HeaderMap, allowed: &[&str]) -> Answer<String> {
    let refused = |detail: String| Problem::new(codes::UNSUPPORTED_MEDIA_TYPE, detail);
    let text = one_header(headers, CONTENT_TYPE.as_str())?.unwrap_or_default();
    let mut parts = text.split(';');
    let kind = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    if !allowed.contains(&kind.as_str()) {
        let given =
            if kind.is_empty() { "there is no `Content-Type`".into() } else { format!("{kind:?} is not understood") };
        return Err(refused(format!("{given}; send `{}`", allowed.join("` or `"))));
    }
    let charset = parts.filter_map(|part| part.split_once('=')).find(|(name, _)| is(name, "charset"));
    if let Some((_, charset)) = charset.filter(|(_, charset)| !is(charset.trim().trim_matches('"'), "utf-8")) {
        return Err(refused(format!("the charset {:?} is not understood; send UTF-8", shown(charset.trim()))));
    }
    let encoding = one_header(headers, CONTENT_ENCODING.as_str())?.unwrap_or_default();
    if !encoding.is_empty() && !is(encoding, "identity") {
        let encoding = shown(encoding);
        return Err(refused(format!("the `Content-Encoding` {encoding:?} is not understood; send it uncompressed")));
    }
    Ok(kind)
}

fn is(text: &str, word: &str) -> bool {
    text.trim().eq_ignore_ascii_case(word)
}
