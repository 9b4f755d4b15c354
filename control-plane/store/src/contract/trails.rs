//! Promises about trails, one caller at a time.

use serde_json::{Value, json};

use super::conflict;
use crate::{Change, Expect, MAX_CHANGES, MAX_ENTRIES, MAX_LIST, MetaStore};

pub(super) async fn grow_at_the_end_only(store: &dyn MetaStore) {
    assert_eq!(bodies(store, "t", 0, 10).await, [Value::Null; 0]);
    for number in 0..3 {
        let changes = vec![
            append("t", json!([number, "first"])),
            append("t/2", json!(number)),
            append("t", json!([number, "second"])),
        ];
        store.commit(changes).await.expect("a good commit");
    }
    let expected: Vec<Value> =
        (0..3).flat_map(|number| [json!([number, "first"]), json!([number, "second"])]).collect();
    assert_eq!(bodies(store, "t", 0, 10).await, expected);
    assert_eq!(bodies(store, "t/2", 0, 10).await, [json!(0), json!(1), json!(2)], "trails are apart");

    let mut seen = Vec::new();
    let mut after = 0;
    loop {
        let page = store.entries("t", after, 2).await.expect("a good question");
        let Some(last) = page.last() else { break };
        assert!(page.windows(2).all(|pair| pair[0].position < pair[1].position) && page[0].position > after);
        after = last.position;
        seen.extend(page.into_iter().map(|entry| entry.body));
    }
    assert_eq!(seen, expected);
    assert_eq!(bodies(store, "t", u64::MAX, 10).await, [Value::Null; 0]);
}

pub(super) async fn stand_and_fall_with_their_commit(store: &dyn MetaStore) {
    let create = || vec![append("t", json!("made")), Change::create("thing", "a", json!(0))];
    assert_eq!(store.commit(create()).await, Ok(()));
    assert_eq!(store.commit(create()).await, Err(conflict("thing", "a")));
    assert_eq!(bodies(store, "t", 0, 10).await, [json!("made")]);
    let delete = vec![
        append("t", json!("deleted")),
        Change::Delete { kind: "thing".into(), path: "a".into(), expect: Expect::Any },
    ];
    assert_eq!(store.commit(delete).await, Ok(()));
    assert_eq!(bodies(store, "t", 0, 10).await, [json!("made"), json!("deleted")]);
}

pub(super) async fn keep_their_newest_entries(store: &dyn MetaStore) {
    store.commit(vec![append("other", json!("kept"))]).await.expect("a good commit");
    let commits = MAX_ENTRIES / MAX_CHANGES + 2;
    for commit in 0..commits {
        let numbers = commit * MAX_CHANGES..(commit + 1) * MAX_CHANGES;
        store.commit(numbers.map(|number| append("t", json!(number))).collect()).await.expect("a good commit");
    }
    let dropped = commits * MAX_CHANGES - MAX_ENTRIES;
    assert_eq!(bodies(store, "t", 0, 2).await, [json!(dropped), json!(dropped + 1)]);
    let (mut after, mut next) = (0, dropped);
    loop {
        let page = store.entries("t", after, MAX_LIST).await.expect("a good question");
        let Some(last) = page.last() else { break };
        after = last.position;
        for entry in page {
            assert_eq!(entry.body, json!(next));
            next += 1;
        }
    }
    assert_eq!(next - dropped, MAX_ENTRIES, "all of the newest are there");
    store.commit(vec![append("t", json!("last"))]).await.expect("a good commit");
    assert_eq!(bodies(store, "t", 0, 1).await, [json!(dropped + 1)]);
    assert_eq!(bodies(store, "other", 0, 2).await, [json!("kept")], "trails are apart");
}

fn append(trail: &str, body: Value) -> Change {
    Change::Append { trail: trail.into(), body }
}

async fn bodies(store: &dyn MetaStore, trail: &str, after: u64, limit: usize) -> Vec<Value> {
    let entries = store.entries(trail, after, limit).await.expect("a good question");
    entries.into_iter().map(|entry| entry.body).collect()
}
