//! The trait, and its contract in words. `contract` is the same in code.

use async_trait::async_trait;

use crate::{Change, Document, Entry, StoreError};

/// Documents under compare-and-set, and trails that keep their newest entries. Shared by reference; every method may run at any time beside
/// every other, from any number of processes' or threads' handles to the same store.
///
/// # Contract
///
/// 1. **A commit happens whole or not at all.** If every `Expect` holds, all its changes happen; if one does not, none
///    happens and the answer is `Conflict` with the first such document, in the order of the changes. The checks and the
///    changes are one step: of two commits that expect the same version, at most one succeeds.
/// 2. **Commits stand in one order.** A `get`, a `list` or an `entries` sees the result of all commits up to one point of
///    it, never a part of one. It sees every commit that had been answered before it was called.
/// 3. **Durable.** When `commit` has answered `Ok`, its changes outlast the end of the process and, in a store on disk, of
///    the machine. (A store in memory lives as long as its handle.)
/// 4. **Versions.** All documents of one commit get the same version, greater than every version that the store ever gave.
///    Versions have no other meaning; they do not count up by one.
/// 5. **Order.** A list is ascending by the bytes of the path. Entries are ascending by position, which is the order of
///    their commits, and within a commit the order of its changes.
/// 6. **Limits.** Kinds, paths, bodies and pages are as the constants of this crate say; what is not is `Invalid` and
///    changes nothing. A commit MUST NOT name a document twice.
/// 7. **Failure.** `Conflict` and `Invalid` mean that nothing was changed. After `Unavailable`, a commit may have happened.
/// 8. **Cancellation.** A future that is dropped leaves the store whole; a commit that was dropped may have happened.
/// 9. **Only the oldest go.** A trail keeps its newest [`MAX_ENTRIES`](crate::MAX_ENTRIES) entries; a commit that adds more
///    drops as many of its oldest. Otherwise entries are never changed and never deleted.
///
/// A prefix is compared byte by byte: end it with `/` to mean a folder, or `acme` also finds `acme-2/…`.
#[async_trait]
pub trait MetaStore: Send + Sync + 'static {
    /// One document, or none.
    async fn get(&self, kind: &str, path: &str) -> Result<Option<Document>, StoreError>;

    /// The documents of a kind whose path begins with `prefix` (an empty one: all) and comes after `after`, at most `limit`
    /// (1 to [`MAX_LIST`](crate::MAX_LIST)).
    async fn list(
        &self,
        kind: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Document>, StoreError>;

    /// Makes 1 to [`MAX_CHANGES`](crate::MAX_CHANGES) changes, all or none.
    async fn commit(&self, changes: Vec<Change>) -> Result<(), StoreError>;

    /// The entries of a trail behind position `after` (0: from the first), at most `limit` (1 to
    /// [`MAX_LIST`](crate::MAX_LIST)). A trail that nobody wrote to is empty.
    async fn entries(&self, trail: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError>;
}
