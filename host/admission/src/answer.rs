//! What the child answers: a header, and the image behind it.
//!
//! Layout: the header's length (4 bytes, little-endian), the header (JSON), the image (the rest). The parent takes an answer of a
//! bounded size and of exactly this shape, whatever the child has become.

use serde::{Deserialize, Serialize};

/// The most bytes of a header.
pub(crate) const MAX_HEADER_BYTES: usize = 64 * 1024;

/// The header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// The SHA-256 of the bytes that the child has read.
    pub(crate) digest: String,
    /// What it compiles with.
    pub(crate) stamp: String,
    /// Whether the kernel filters its system calls.
    pub(crate) confined: bool,
    pub(crate) outcome: Outcome,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) enum Outcome {
    Compiled { image_bytes: u64, hooks: Vec<String>, imports: Vec<String> },
    Refused { rule: String, place: String, reason: String, mend: String },
    Failed { reason: String },
}

/// An answer that was read.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) header: Header,
    pub(crate) image: Vec<u8>,
}

/// An answer as bytes.
pub(crate) fn write(header: &Header, image: &[u8]) -> Vec<u8> {
    let header = serde_json::to_vec(header).expect("a header is a plain struct with text keys");
    let length = u32::try_from(header.len()).expect("a header is short");
    let mut bytes = Vec::with_capacity(4 + header.len() + image.len());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(image);
    bytes
}

/// Reads an answer; none if it is not one, or not whole.
pub(crate) fn read(mut bytes: Vec<u8>) -> Option<Answer> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length <= MAX_HEADER_BYTES)?;
    let header: Header = serde_json::from_slice(rest.get(..length)?).ok()?;
    let image = bytes.split_off(4 + length);
    let due = match &header.outcome {
        Outcome::Compiled { image_bytes, .. } => *image_bytes,
        Outcome::Refused { .. } | Outcome::Failed { .. } => 0,
    };
    (u64::try_from(image.len()) == Ok(due)).then_some(Answer { header, image })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(image_bytes: u64) -> Header {
        let outcome = Outcome::Compiled { image_bytes, hooks: vec!["mapper".into()], imports: Vec::new() };
        Header { digest: "d".into(), stamp: "s".into(), confined: true, outcome }
    }

    #[test]
    fn an_answer_is_read_as_it_is_written() {
        let answer = read(write(&header(5), b"image")).unwrap();
        assert_eq!((answer.header, answer.image.as_slice()), (header(5), &b"image"[..]));
    }

    #[test]
    fn no_other_bytes_are_an_answer() {
        let whole = write(&header(5), b"image");
        for length in 0..whole.len() {
            assert!(read(whole[..length].to_vec()).is_none(), "{length} bytes");
        }
        assert!(read([&whole[..], b"x"].concat()).is_none(), "a byte more");
        assert!(read([&u32::MAX.to_le_bytes()[..], &whole[4..]].concat()).is_none(), "a header beyond the limit");
        assert!(read(write(&header(4), b"image")).is_none(), "a wrong length of the image");
    }
}
