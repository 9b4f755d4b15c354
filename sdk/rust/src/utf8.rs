//! Whether bytes are UTF-8, quickly where they are ASCII.
//!
//! A text column is checked as a whole before its rows are borrowed, on every call. The standard library goes by machine words, which
//! have 4 bytes in WebAssembly; most text is ASCII, and 32 bytes at a time take a fifth of the instructions.

use std::str::Utf8Error;

/// The bytes as text, or where they are not UTF-8.
pub(crate) fn check(bytes: &[u8]) -> Result<&str, Utf8Error> {
    if is_ascii(bytes) {
        #[allow(unsafe_code, reason = "ASCII is UTF-8, and the check above saw every byte")]
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes)
}

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

fn is_ascii(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<32>();
    let clean = |block: &[u8; 32]| {
        let (words, _) = block.as_chunks::<8>();
        words.iter().fold(0, |bits, word| bits | u64::from_le_bytes(*word)) & HIGH_BITS == 0
    };
    blocks.iter().all(clean) && rest.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::{check, is_ascii};

    #[test]
    fn sees_a_high_bit_at_every_place() {
        for length in 0..100 {
            assert!(is_ascii(&vec![b'a'; length]), "{length}");
            for place in 0..length {
                let mut bytes = vec![b'a'; length];
                bytes[place] = 0x80;
                assert!(!is_ascii(&bytes), "{place} of {length}");
            }
        }
    }

    #[test]
    fn agrees_with_the_standard_library() {
        for text in ["", "plain", "naïve", "日本語", &"x".repeat(500), &format!("{}é", "x".repeat(63))] {
            assert_eq!(check(text.as_bytes()), Ok(text));
            let mut broken = text.as_bytes().to_vec();
            broken.push(0xC3);
            assert_eq!(check(&broken), std::str::from_utf8(&broken));
        }
    }
}
