//! The rules that a question and a commit keep, in one place for every store.
//!
//! Invariant: paths are printable ASCII, so the order of their bytes is the order of a list in every store, and everything
//! with a prefix lies between the prefix and the prefix followed by the byte 0x7f.

use std::collections::BTreeSet;

use crate::{Change, StoreError};

/// The most bytes of a kind.
pub const MAX_KIND_BYTES: usize = 64;
/// The most bytes of a path, a prefix or a trail's name.
pub const MAX_PATH_BYTES: usize = 512;
/// The most bytes of a body as JSON text. Larger things belong into the object store.
pub const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// The most changes of one commit.
pub const MAX_CHANGES: usize = 1_000;
/// The most entries that a trail keeps: its newest. At some 0.5 KB each a trail has some 50 MB.
pub const MAX_ENTRIES: usize = 100_000;
/// The most documents or entries of one page.
pub const MAX_LIST: usize = 1_000;

/// Checks a commit as a whole: names, sizes, and that it names each document once.
///
/// # Errors
/// [`StoreError::Invalid`].
pub fn check_changes(changes: &[Change]) -> Result<(), StoreError> {
    if changes.is_empty() || changes.len() > MAX_CHANGES {
        return invalid("commit", format!("it has {} changes: make 1 to {MAX_CHANGES}", changes.len()));
    }
    let mut named = BTreeSet::new();
    for change in changes {
        let body = match change {
            Change::Put { kind, path, body, .. } => {
                check_document(kind, path, &mut named)?;
                Some(body)
            }
            Change::Delete { kind, path, .. } => {
                check_document(kind, path, &mut named)?;
                None
            }
            Change::Append { trail, body } => {
                check_path(trail)?;
                Some(body)
            }
        };
        let size = body.map_or(0, |body| body.to_string().len());
        if size > MAX_BODY_BYTES {
            return invalid("body", format!("it has {size} bytes as JSON, at most {MAX_BODY_BYTES} are allowed"));
        }
    }
    Ok(())
}

/// Checks the question for one document.
///
/// # Errors
/// [`StoreError::Invalid`].
pub fn check_name(kind: &str, path: &str) -> Result<(), StoreError> {
    check_kind(kind)?;
    check_path(path)
}

/// Checks the question for a list: the kind, the start of the paths, and how many are wanted.
///
/// # Errors
/// [`StoreError::Invalid`].
pub fn check_list(kind: &str, prefix: &str, limit: usize) -> Result<(), StoreError> {
    check_kind(kind)?;
    if !prefix.is_empty() {
        check_path(prefix)?;
    }
    check_limit(limit)
}

/// Checks the question for entries: the trail, and how many are wanted.
///
/// # Errors
/// [`StoreError::Invalid`].
pub fn check_entries(trail: &str, limit: usize) -> Result<(), StoreError> {
    check_path(trail)?;
    check_limit(limit)
}

fn check_limit(limit: usize) -> Result<(), StoreError> {
    if limit == 0 || limit > MAX_LIST {
        return invalid("page", format!("it has {limit} places: ask for 1 to {MAX_LIST}"));
    }
    Ok(())
}

fn check_document<'a>(
    kind: &'a str,
    path: &'a str,
    named: &mut BTreeSet<(&'a str, &'a str)>,
) -> Result<(), StoreError> {
    check_name(kind, path)?;
    if !named.insert((kind, path)) {
        return invalid("commit", format!("it names the {kind} `{path}` twice: make one change of the two"));
    }
    Ok(())
}

fn check_kind(kind: &str) -> Result<(), StoreError> {
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if kind.is_empty() || kind.len() > MAX_KIND_BYTES || !kind.bytes().all(good) {
        return invalid("kind", format!("{kind:?} is not 1 to {MAX_KIND_BYTES} small letters, digits or `-`"));
    }
    Ok(())
}

fn check_path(path: &str) -> Result<(), StoreError> {
    if path.is_empty() || path.len() > MAX_PATH_BYTES || !path.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return invalid("path", format!("{path:?} is not 1 to {MAX_PATH_BYTES} printable ASCII characters"));
    }
    Ok(())
}

fn invalid<T>(what: &'static str, reason: String) -> Result<T, StoreError> {
    Err(StoreError::Invalid { what, reason })
}
