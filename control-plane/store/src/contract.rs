//! The contract of `MetaStore` as a suite that every implementation runs: one function for each promise.
//!
//! `run` takes a function that makes an empty store, so that no part sees what another left. Invariant: nothing here knows how
//! a store works.

mod chance;
mod concurrent;
mod documents;
mod operations;
mod trails;

use std::future::Future;
use std::sync::Arc;

use crate::{Document, MetaStore, StoreError};

/// Runs the whole suite, on a runtime of several threads. Panics where a store breaks the contract.
///
/// # Panics
/// Where the store breaks the contract.
pub async fn run<F, R>(make: F)
where
    F: Fn() -> R,
    R: Future<Output = Arc<dyn MetaStore>>,
{
    documents::gives_back_what_was_put(&*make().await).await;
    documents::keeps_expectations(&*make().await).await;
    documents::changes_all_or_nothing(&*make().await).await;
    documents::never_gives_a_version_twice(&*make().await).await;
    documents::lists_by_the_bytes_of_the_path(&*make().await).await;
    documents::pages_meet_without_a_gap(&*make().await).await;
    documents::refuses_what_breaks_a_rule(&*make().await).await;
    trails::grow_at_the_end_only(&*make().await).await;
    trails::stand_and_fall_with_their_commit(&*make().await).await;
    trails::keep_their_newest_entries(&*make().await).await;
    concurrent::one_of_several_commits_wins(make().await).await;
    concurrent::no_increment_is_lost(make().await).await;
    concurrent::readers_see_whole_commits(make().await).await;
    concurrent::entries_stand_in_the_order_of_commits(make().await).await;
    for seed in chance::seeds() {
        operations::agree_with_a_model(&*make().await, seed).await;
    }
}

/// The document's body and version, which must be there.
async fn existing(store: &dyn MetaStore, kind: &str, path: &str) -> Document {
    let found = store.get(kind, path).await.expect("a read of a good name");
    found.unwrap_or_else(|| panic!("the {kind} `{path}` is missing"))
}

fn conflict(kind: &str, path: &str) -> StoreError {
    StoreError::Conflict { kind: kind.to_owned(), path: path.to_owned() }
}
