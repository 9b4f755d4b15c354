//! Bytes after their length, where the length is known only once they are there.

use tidegate_types::stored::put_len;

/// Appends what `content` appends, as `tidegate_types::stored::put_bytes` does.
pub(crate) fn put_framed(out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    // A short length takes one byte.
    out.push(0);
    content(out);
    let mut length = Vec::new();
    put_len(&mut length, out.len() - start - 1);
    match length.as_slice() {
        [short] => out[start] = *short,
        long => drop(out.splice(start..=start, long.iter().copied())),
    }
}

#[cfg(test)]
mod tests {
    use tidegate_types::stored::put_bytes;

    use super::*;

    #[test]
    fn a_frame_is_what_bytes_after_their_length_are() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 70_000] {
            let content = vec![7; length];
            let (mut framed, mut plain) = (vec![9], vec![9]);
            put_framed(&mut framed, |out| out.extend_from_slice(&content));
            put_bytes(&mut plain, &content);
            assert_eq!(framed, plain, "{length} bytes");
        }
    }
}
