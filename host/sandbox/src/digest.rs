//! The name of a component's exact bytes.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// `sha256:` and the hash in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    text
}
