//! Changes of entries, in order: what an operator hands over at a checkpoint.
//!
//! Invariant: of two changes of one entry the later one counts.

/// Puts and deletes, in one piece of memory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Changes {
    data: Vec<u8>,
    /// Where each change's key and value end; no value: a delete.
    ends: Vec<(usize, Option<usize>)>,
}

impl Changes {
    /// Writes an entry: `key` appends its key, `value` its value.
    pub fn put(&mut self, key: impl FnOnce(&mut Vec<u8>), value: impl FnOnce(&mut Vec<u8>)) {
        key(&mut self.data);
        let end = self.data.len();
        value(&mut self.data);
        self.ends.push((end, Some(self.data.len())));
    }

    /// Deletes an entry, whether it is there or not.
    pub fn delete(&mut self, key: impl FnOnce(&mut Vec<u8>)) {
        key(&mut self.data);
        self.ends.push((self.data.len(), None));
    }

    /// Each change in order: its key, and its value if it is a put.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        let mut start = 0;
        self.ends.iter().map(move |(key_end, value_end)| {
            let key = &self.data[start..*key_end];
            let value = value_end.map(|end| &self.data[*key_end..end]);
            start = value_end.unwrap_or(*key_end);
            (key, value)
        })
    }

    /// Adds another's after these.
    pub fn append(&mut self, other: &Self) {
        let base = self.data.len();
        self.data.extend_from_slice(&other.data);
        self.ends.extend(other.ends.iter().map(|(key, value)| (base + key, value.map(|end| base + end))));
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of keys and values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.data.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_back_in_order() {
        let mut changes = Changes::default();
        changes.put(|key| key.extend(b"a"), |value| value.extend(b"1"));
        changes.delete(|key| key.extend(b"bb"));
        let mut more = Changes::default();
        more.put(|key| key.extend(b"c"), |_| {});
        changes.append(&more);
        let all: Vec<_> = changes.iter().collect();
        assert_eq!(all, [(&b"a"[..], Some(&b"1"[..])), (b"bb", None), (b"c", Some(b""))]);
        assert_eq!((changes.len(), changes.bytes()), (3, 5));
    }
}
