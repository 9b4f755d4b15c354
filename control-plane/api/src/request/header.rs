//! Headers: each that we read may stand once, and is text.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;

use crate::problem::{Answer, Problem, codes};

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

/// The media type of the body in small letters, without its parameters; refused unless it is one of these.
pub(crate) fn content_type(headers: &HeaderMap, allowed: &[&str]) -> Answer<String> {
    let text = one_header(headers, CONTENT_TYPE.as_str())?.unwrap_or_default();
    let kind = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if allowed.contains(&kind.as_str()) {
        return Ok(kind);
    }
    let given =
        if kind.is_empty() { "there is no `Content-Type`".into() } else { format!("{kind:?} is not understood") };
    Err(Problem::new(codes::UNSUPPORTED_MEDIA_TYPE, format!("{given}; send `{}`", allowed.join("` or `"))))
}
