//! The key of an entry: `namespace (1 byte), key group (2 bytes, big-endian), what the operator puts behind`.
//!
//! A stored format. The order of entries is that of their bytes, so that all entries of a namespace that are of a range of key
//! groups stand together: what a subtask takes over when the parallelism changes.

use std::ops::Range;

use tidegate_types::KeyGroup;
use tidegate_types::stored::{Malformed, Read};

/// One of an operator's tables. Numbers are never given twice, and are the operator's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Namespace(pub u8);

/// The bytes of a key group. `max_parallelism` is 32,768 at most.
pub const GROUP_BYTES: usize = 2;

/// Appends what every key of an entry begins with.
///
/// # Panics
/// If the group does not fit, which validation of a pipeline excludes.
pub fn put_prefix(out: &mut Vec<u8>, namespace: Namespace, group: KeyGroup) {
    out.push(namespace.0);
    let group = u16::try_from(group.0).expect("a pipeline has 32,768 key groups at most");
    out.extend_from_slice(&group.to_be_bytes());
}

/// An entry's namespace, group and the rest of its key.
///
/// # Errors
/// If it is too short.
pub fn group_of(key: &[u8]) -> Read<(Namespace, KeyGroup, &[u8])> {
    match key {
        [namespace, high, low, rest @ ..] => {
            Ok((Namespace(*namespace), KeyGroup(u16::from_be_bytes([*high, *low]).into()), rest))
        }
        _ => Err(Malformed::new("the key of an entry")),
    }
}

/// The bounds of a namespace's entries of these groups: from the first, up to the second, which is not included. None: up
/// to the end of all entries.
#[must_use]
pub fn range_of(namespace: Namespace, groups: &Range<u32>) -> (Vec<u8>, Option<Vec<u8>>) {
    let bound = |group: u32| {
        let mut bound = vec![namespace.0];
        match u16::try_from(group) {
            Ok(group) => bound.extend_from_slice(&group.to_be_bytes()),
            Err(_) => return namespace.0.checked_add(1).map(|next| vec![next]),
        }
        Some(bound)
    };
    (bound(groups.start).unwrap_or_else(|| vec![u8::MAX; GROUP_BYTES + 2]), bound(groups.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stand_by_namespace_then_group() {
        let key = |namespace, group, rest: &[u8]| {
            let mut key = Vec::new();
            put_prefix(&mut key, Namespace(namespace), KeyGroup(group));
            key.extend_from_slice(rest);
            key
        };
        assert!(key(1, 300, b"z") < key(1, 301, b"a") && key(1, 32_767, b"z") < key(2, 0, b""));
        assert_eq!(group_of(&key(1, 300, b"z")), Ok((Namespace(1), KeyGroup(300), &b"z"[..])));
        assert!(group_of(&[1, 2]).is_err());
        let (from, to) = range_of(Namespace(1), &(300..301));
        assert!(from <= key(1, 300, b"") && key(1, 300, &[0xFF; 9]) < to.expect("a bound"));
    }
}
