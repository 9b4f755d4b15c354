//! Who may move a pointer, and what a lost answer leaves.

use std::sync::Arc;

use tidegate_store::{MemoryStore, MetaStore, StoreError};

use super::{CheckpointPlace, CheckpointPointers, KIND, KeptCheckpoint, PointerError, forget, path};

const PLACE: CheckpointPlace<'static> = CheckpointPlace { tenant: "acme", job: "clicks", version: 2 };

fn kept(of: &[(u64, u64)]) -> Vec<KeptCheckpoint> {
    of.iter().map(|(checkpoint, epoch)| KeptCheckpoint { checkpoint: *checkpoint, epoch: *epoch }).collect()
}

fn fenced(epoch: u64) -> Result<(), PointerError> {
    Err(PointerError::Fenced { job: "clicks".to_owned(), epoch })
}

fn pointers() -> (Arc<dyn MetaStore>, CheckpointPointers) {
    let store: Arc<dyn MetaStore> = Arc::new(MemoryStore::new());
    (Arc::clone(&store), CheckpointPointers::new(store))
}

#[tokio::test]
async fn a_start_that_has_claimed_moves_the_pointer() {
    let (_, pointers) = pointers();
    assert_eq!(pointers.read(PLACE).await, Ok(None));
    pointers.claim(PLACE, 1).await.unwrap();
    pointers.swap(PLACE, 1, kept(&[(1, 1)])).await.unwrap();
    pointers.claim(PLACE, 3).await.unwrap();
    assert_eq!(pointers.read(PLACE).await, Ok(Some(kept(&[(1, 1)]))));
    pointers.swap(PLACE, 3, kept(&[(1, 1), (2, 3)])).await.unwrap();
    assert_eq!(pointers.read(PLACE).await, Ok(Some(kept(&[(1, 1), (2, 3)]))));
}

#[tokio::test]
async fn an_earlier_start_is_refused_and_changes_nothing() {
    let (_, pointers) = pointers();
    pointers.claim(PLACE, 1).await.unwrap();
    pointers.swap(PLACE, 1, kept(&[(1, 1)])).await.unwrap();
    pointers.claim(PLACE, 2).await.unwrap();
    assert_eq!(pointers.swap(PLACE, 1, kept(&[(1, 1), (2, 1)])).await, fenced(1));
    assert_eq!(pointers.claim(PLACE, 1).await, fenced(1));
    assert_eq!(pointers.read(PLACE).await, Ok(Some(kept(&[(1, 1)]))));
}

#[tokio::test]
async fn nobody_moves_a_pointer_that_was_never_claimed_or_is_forgotten() {
    let (store, pointers) = pointers();
    assert_eq!(pointers.swap(PLACE, 1, kept(&[(1, 1)])).await, fenced(1));
    pointers.claim(PLACE, 1).await.unwrap();
    // A job whose name begins with that of the one that is forgotten stays.
    let other = CheckpointPlace { job: "clicks-2", ..PLACE };
    pointers.claim(other, 1).await.unwrap();
    let changes = forget(&*store, "acme", "clicks").await.unwrap();
    assert_eq!(changes.len(), 1);
    store.commit(changes).await.unwrap();
    assert_eq!(pointers.swap(PLACE, 1, kept(&[(1, 1)])).await, fenced(1));
    assert_eq!(pointers.read(PLACE).await, Ok(None));
    assert_eq!(pointers.read(other).await, Ok(Some(Vec::new())));
}

#[tokio::test]
async fn of_starts_at_once_the_highest_wins() {
    let (_, pointers) = pointers();
    let mut claims = tokio::task::JoinSet::new();
    for epoch in 1..=6 {
        let pointers = pointers.clone();
        claims.spawn(async move { (epoch, pointers.claim(PLACE, epoch).await) });
    }
    while let Some(claim) = claims.join_next().await {
        let (epoch, claim) = claim.unwrap();
        assert!(claim.is_ok() || claim == fenced(epoch), "{claim:?}");
    }
    for epoch in 1..=5 {
        assert_eq!(pointers.swap(PLACE, epoch, Vec::new()).await, fenced(epoch));
    }
    pointers.swap(PLACE, 6, Vec::new()).await.unwrap();
}

#[tokio::test]
async fn what_is_stored_and_not_understood_is_named() {
    let (store, pointers) = pointers();
    let body = serde_json::json!({"epoch": 1, "kept": [], "more": 1});
    store.commit(vec![tidegate_store::Change::create(KIND, path(PLACE), body)]).await.unwrap();
    let error = pointers.claim(PLACE, 1).await.unwrap_err();
    assert!(matches!(error, PointerError::Store(StoreError::Corrupt { .. })), "{error}");
    assert!(error.to_string().contains("acme/clicks/v2"), "{error}");
}
