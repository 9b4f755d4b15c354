//! Promises about several callers at once.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{conflict, existing};
use crate::{Change, MetaStore, StoreError};

const CALLERS: u64 = 8;

/// Of commits that expect the same version, exactly one wins, and the document says which.
pub(super) async fn one_of_several_commits_wins(store: Arc<dyn MetaStore>) {
    store.commit(vec![Change::create("thing", "a", json!(null))]).await.expect("a good commit");
    for _ in 0..25 {
        let version = existing(&*store, "thing", "a").await.version;
        let barrier = Arc::new(Barrier::new(usize::try_from(CALLERS).expect("a few")));
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let (store, barrier) = (Arc::clone(&store), Arc::clone(&barrier));
            callers.spawn(async move {
                let changes = vec![
                    Change::replace("thing", "a", version, json!(caller)),
                    Change::create("claim", format!("{version}"), json!(caller)),
                ];
                barrier.wait().await;
                (caller, store.commit(changes).await)
            });
        }
        let answers = callers.join_all().await;
        let winners: Vec<u64> =
            answers.iter().filter(|(_, answer)| answer.is_ok()).map(|(caller, _)| *caller).collect();
        assert_eq!(winners.len(), 1, "exactly one wins: {answers:?}");
        let lost = answers.iter().filter(|(_, answer)| *answer == Err(conflict("thing", "a"))).count();
        assert_eq!(lost, answers.len() - 1, "the others are told of the conflict: {answers:?}");
        assert_eq!(existing(&*store, "thing", "a").await.body, json!(winners[0]));
        assert_eq!(existing(&*store, "claim", &version.to_string()).await.body, json!(winners[0]));
    }
}

/// Read, add one, compare and set, again on a conflict: every increment is there.
pub(super) async fn no_increment_is_lost(store: Arc<dyn MetaStore>) {
    const EACH: u64 = 20;
    store.commit(vec![Change::create("counter", "a", json!(0))]).await.expect("a good commit");
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let store = Arc::clone(&store);
        callers.spawn(async move {
            for _ in 0..EACH {
                increment(&*store).await;
            }
        });
    }
    callers.join_all().await;
    assert_eq!(existing(&*store, "counter", "a").await.body, json!(CALLERS * EACH));
}

async fn increment(store: &dyn MetaStore) {
    loop {
        let before = existing(store, "counter", "a").await;
        let count = before.body.as_u64().expect("a count");
        match store.commit(vec![Change::replace("counter", "a", before.version, json!(count + 1))]).await {
            Ok(()) => return,
            Err(StoreError::Conflict { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

/// A list never shows a part of a commit, and what was answered is seen.
pub(super) async fn readers_see_whole_commits(store: Arc<dyn MetaStore>) {
    const COMMITS: u64 = 60;
    let both = |number: u64| {
        let put = |path: &str| Change::Put {
            kind: "pair".into(),
            path: path.into(),
            body: json!(number),
            expect: crate::Expect::Any,
        };
        vec![put("left"), put("right")]
    };
    store.commit(both(0)).await.expect("a good commit");
    let mut readers = JoinSet::new();
    for _ in 0..3 {
        let store = Arc::clone(&store);
        readers.spawn(async move {
            let mut last = 0;
            while last < COMMITS {
                let pair = store.list("pair", "", None, 10).await.expect("a good list");
                assert_eq!((&pair[0].body, pair[0].version), (&pair[1].body, pair[1].version), "a part of a commit");
                let now = pair[0].body.as_u64().expect("a number");
                assert!(now >= last, "{now} after {last}: an older state");
                last = now;
                tokio::task::yield_now().await;
            }
        });
    }
    for number in 1..=COMMITS {
        store.commit(both(number)).await.expect("a good commit");
        assert_eq!(existing(&*store, "pair", "right").await.body, json!(number), "what was answered is seen");
    }
    readers.join_all().await;
}

/// Entries of concurrent commits stand in the order of the versions that their commits gave.
pub(super) async fn entries_stand_in_the_order_of_commits(store: Arc<dyn MetaStore>) {
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let store = Arc::clone(&store);
        callers.spawn(async move {
            for number in 0..10 {
                let path = format!("{caller}/{number}");
                let entry = Change::Append { trail: "t".into(), body: json!(path) };
                store
                    .commit(vec![Change::create("thing", path.as_str(), json!(0)), entry])
                    .await
                    .expect("a good commit");
            }
        });
    }
    callers.join_all().await;
    let mut documents = store.list("thing", "", None, 1_000).await.expect("a good list");
    documents.sort_by_key(|document| document.version);
    let by_version: Vec<_> = documents.into_iter().map(|document| json!(document.path)).collect();
    let entries = store.entries("t", 0, 1_000).await.expect("a good question");
    let by_position: Vec<_> = entries.into_iter().map(|entry| entry.body).collect();
    assert_eq!(by_position, by_version);
    assert_eq!(by_position.len(), 80);
}
