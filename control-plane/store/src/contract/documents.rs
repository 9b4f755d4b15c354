//! Promises about documents, one caller at a time.

use serde_json::{Value, json};

use super::{conflict, existing};
use crate::{Change, Expect, MAX_BODY_BYTES, MAX_CHANGES, MAX_LIST, MetaStore, StoreError};

pub(super) async fn gives_back_what_was_put(store: &dyn MetaStore) {
    assert_eq!(store.get("thing", "a/1").await, Ok(None));
    let bodies = [json!(null), json!("Ünïcode \u{0}\u{10ffff}"), json!({"b": [1, -2, u64::MAX, i64::MIN], "a": {}})];
    for (number, body) in bodies.into_iter().enumerate() {
        let path = format!("a/{number}");
        store.commit(vec![Change::create("thing", path.as_str(), body.clone())]).await.expect("a good commit");
        let found = existing(store, "thing", &path).await;
        assert_eq!((found.path, found.body), (path, body));
        assert!(found.version > 0);
    }
    assert_eq!(store.get("other", "a/1").await, Ok(None), "kinds are apart");
}

pub(super) async fn keeps_expectations(store: &dyn MetaStore) {
    let put = |expect| put("a", json!(1), expect);
    let delete = |expect| vec![Change::Delete { kind: "thing".into(), path: "a".into(), expect }];
    let wrong = Err(conflict("thing", "a"));

    assert_eq!(store.commit(put(Expect::Version(1))).await, wrong, "nothing is no version");
    assert_eq!(store.commit(put(Expect::Version(0))).await, wrong, "nothing is no version");
    assert_eq!(store.commit(delete(Expect::Version(1))).await, wrong);
    assert_eq!(store.commit(delete(Expect::Absent)).await, Ok(()), "a check that there is nothing");
    assert_eq!(store.commit(delete(Expect::Any)).await, Ok(()), "nothing is anything");
    assert_eq!(store.commit(put(Expect::Absent)).await, Ok(()));
    assert_eq!(store.commit(put(Expect::Absent)).await, wrong);
    assert_eq!(store.commit(delete(Expect::Absent)).await, wrong);

    let version = existing(store, "thing", "a").await.version;
    for other in [version - 1, version + 1, u64::MAX] {
        assert_eq!(store.commit(put(Expect::Version(other))).await, wrong);
        assert_eq!(store.commit(delete(Expect::Version(other))).await, wrong);
    }
    assert_eq!(store.commit(put(Expect::Version(version))).await, Ok(()));
    assert_eq!(store.commit(put(Expect::Version(version))).await, wrong, "that version is over");
    assert_eq!(store.commit(put(Expect::Any)).await, Ok(()));
    let version = existing(store, "thing", "a").await.version;
    assert_eq!(store.commit(delete(Expect::Version(version))).await, Ok(()));
    assert_eq!(store.get("thing", "a").await, Ok(None));
}

pub(super) async fn changes_all_or_nothing(store: &dyn MetaStore) {
    store.commit(put("old", json!("old"), Expect::Absent)).await.expect("a good commit");
    let before = existing(store, "thing", "old").await;
    let changes = |last: Expect| {
        vec![
            Change::create("thing", "new", json!("new")),
            Change::replace("thing", "old", before.version, json!("changed")),
            Change::Put { kind: "thing".into(), path: "last".into(), body: json!(0), expect: last },
            Change::create("thing", "old-too", json!(0)),
        ]
    };
    assert_eq!(store.commit(changes(Expect::Version(7))).await, Err(conflict("thing", "last")));
    assert_eq!(existing(store, "thing", "old").await, before);
    assert_eq!(store.get("thing", "new").await, Ok(None));

    assert_eq!(store.commit(changes(Expect::Any)).await, Ok(()));
    let after = store.list("thing", "", None, 10).await.expect("a good list");
    assert_eq!(after.len(), 4);
    assert!(after.iter().all(|document| document.version == after[0].version), "one version for one commit");
    assert!(after[0].version > before.version);
    assert_eq!(store.commit(changes(Expect::Any)).await, Err(conflict("thing", "new")), "the first of several");
}

pub(super) async fn never_gives_a_version_twice(store: &dyn MetaStore) {
    let mut last = 0;
    for _ in 0..5 {
        store.commit(put("a", json!(0), Expect::Absent)).await.expect("a good commit");
        let version = existing(store, "thing", "a").await.version;
        assert!(version > last, "version {version} after {last}");
        last = version;
        store.commit(vec![Change::delete("thing", "a", version)]).await.expect("a good commit");
        let stale = store.commit(vec![Change::replace("thing", "a", version, json!(1))]).await;
        assert_eq!(stale, Err(conflict("thing", "a")));
    }
}

pub(super) async fn lists_by_the_bytes_of_the_path(store: &dyn MetaStore) {
    let paths = ["a", "a/b", "a/c", "a-b", "A", "a/b/c", "a0", "a/~", "b", "a/B", "a%_", " "];
    let changes = paths.iter().map(|path| Change::create("thing", *path, json!(path))).collect();
    store.commit(changes).await.expect("a good commit");
    store.commit(vec![Change::create("thing-2", "a/z", json!(0))]).await.expect("a good commit");

    let mut sorted = paths.to_vec();
    sorted.sort_unstable();
    assert_eq!(listed(store, "", None, 100).await, sorted);
    assert_eq!(listed(store, "a/", None, 100).await, ["a/B", "a/b", "a/b/c", "a/c", "a/~"]);
    assert_eq!(listed(store, "a%", None, 100).await, ["a%_"], "nothing in a prefix is a wildcard");
    assert_eq!(listed(store, "a_", None, 100).await, [""; 0]);
    assert_eq!(listed(store, "a/b", Some("a/b"), 100).await, ["a/b/c"]);
    assert_eq!(listed(store, "a/", Some("a"), 2).await, ["a/B", "a/b"], "before the prefix");
    assert_eq!(listed(store, "a/", Some("b"), 100).await, [""; 0], "behind the prefix");
    assert_eq!(listed(store, "a/", Some("a/bb"), 100).await, ["a/c", "a/~"], "not there");
    assert_eq!(listed(store, "x", None, 100).await, [""; 0]);
}

pub(super) async fn pages_meet_without_a_gap(store: &dyn MetaStore) {
    let all: Vec<String> = (0..23).map(|number| format!("p/{number:03}")).collect();
    let changes = all.iter().map(|path| Change::create("thing", path.as_str(), json!(0))).collect();
    store.commit(changes).await.expect("a good commit");
    for limit in [1, 2, 22, 23, 24, MAX_LIST] {
        let mut seen: Vec<String> = Vec::new();
        loop {
            let page = listed(store, "p/", seen.last().map(String::as_str), limit).await;
            assert!(page.len() <= limit);
            seen.extend(page.iter().cloned());
            if page.len() < limit {
                break;
            }
        }
        assert_eq!(seen, all);
    }
}

pub(super) async fn refuses_what_breaks_a_rule(store: &dyn MetaStore) {
    store.commit(put("a", json!(0), Expect::Absent)).await.expect("a good commit");
    let good = Change::create("thing", "b", json!(0));
    let long = "x".repeat(513);
    let refused = [
        vec![],
        vec![good.clone(); 2],
        vec![good.clone(), Change::create("", "c", json!(0))],
        vec![good.clone(), Change::create("Thing", "c", json!(0))],
        vec![good.clone(), Change::create("thing", "", json!(0))],
        vec![good.clone(), Change::create("thing", "c\n", json!(0))],
        vec![good.clone(), Change::create("thing", "ü", json!(0))],
        vec![good.clone(), Change::create("thing", long.as_str(), json!(0))],
        vec![good.clone(), Change::create("thing", "c", Value::String("x".repeat(MAX_BODY_BYTES)))],
        vec![good.clone(), Change::Append { trail: String::new(), body: json!(0) }],
        (0..=MAX_CHANGES).map(|number| Change::create("thing", format!("n/{number}"), json!(0))).collect(),
        // Twice by different changes: the first would make the second's expectation true.
        vec![good.clone(), Change::Delete { kind: "thing".into(), path: "b".into(), expect: Expect::Any }],
    ];
    for (number, changes) in refused.into_iter().enumerate() {
        let answer = store.commit(changes).await;
        assert!(matches!(answer, Err(StoreError::Invalid { .. })), "case {number}: {answer:?}");
    }
    assert_eq!(listed(store, "", None, 10).await, ["a"], "nothing was changed");

    let invalid = |answer: Result<(), StoreError>| assert!(matches!(answer, Err(StoreError::Invalid { .. })));
    invalid(store.get("thing", "").await.map(drop));
    invalid(store.get("Thing", "a").await.map(drop));
    invalid(store.list("thing", "", None, 0).await.map(drop));
    invalid(store.list("thing", "", None, MAX_LIST + 1).await.map(drop));
    invalid(store.entries("t", 0, 0).await.map(drop));
    invalid(store.entries("", 0, 1).await.map(drop));
}

fn put(path: &str, body: Value, expect: Expect) -> Vec<Change> {
    vec![Change::Put { kind: "thing".into(), path: path.into(), body, expect }]
}

async fn listed(store: &dyn MetaStore, prefix: &str, after: Option<&str>, limit: usize) -> Vec<String> {
    let documents = store.list("thing", prefix, after, limit).await.expect("a good list");
    documents.into_iter().map(|document| document.path).collect()
}
