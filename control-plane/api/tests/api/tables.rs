//! Result tables.

use serde_json::{Value, json};

use crate::harness::{Platform, get};

async fn with_rows() -> Platform {
    let platform = Platform::new().await;
    for (id, n) in [("c", 1), ("a", 2), ("b", 2)] {
        platform.tables.put("acme", "minutes", json!({ "id": id, "n": n }));
    }
    platform
}

async fn ids(platform: &Platform, query: &str) -> (Vec<String>, Option<String>) {
    let reply = platform.send(get(&format!("/v1/tables/minutes/rows{query}")).by(&platform.acme)).await.has_status(200);
    let ids = reply.lines().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    (ids, reply.header("tidegate-next").map(str::to_owned))
}

#[tokio::test]
async fn tables_are_listed_with_their_columns() {
    let platform = with_rows().await;
    let listed = platform.send(get("/v1/tables").by(&platform.acme)).await.has_status(200).body();
    assert_eq!(listed["tables"], json!([{ "name": "minutes", "columns": ["id", "n"], "key": ["id"], "rows": 3 }]));
    let elsewhere = platform.send(get("/v1/tables").by(&platform.bolt)).await.has_status(200).body();
    assert_eq!(elsewhere["tables"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn rows_are_filtered_and_paged() {
    let platform = with_rows().await;
    assert_eq!(ids(&platform, "").await.0, ["a", "b", "c"]);
    assert_eq!(ids(&platform, "?where=n:2").await.0, ["a", "b"]);
    assert_eq!(ids(&platform, "?where=n:2&where=id:b").await.0, ["b"]);
    let (first, next) = ids(&platform, "?limit=2").await;
    let (second, end) = ids(&platform, &format!("?limit=2&after={}", next.unwrap())).await;
    assert_eq!((first, second, end), (vec!["a".into(), "b".into()], vec!["c".into()], None));
}

#[tokio::test]
async fn changes_are_followed() {
    let platform = with_rows().await;
    let (seen, next) = ids(&platform, "?order=changed").await;
    assert_eq!(seen, ["c", "a", "b"]);
    platform.tables.put("acme", "minutes", json!({ "id": "d", "n": 5 }));
    let (seen, _) = ids(&platform, &format!("?order=changed&after={}", next.unwrap())).await;
    assert_eq!(seen, ["d"]);
}

#[tokio::test]
async fn rows_say_how_new_they_are_if_asked() {
    let platform = with_rows().await;
    let versions = async |query: &str| {
        let path = format!("/v1/tables/minutes/rows{query}");
        let reply = platform.send(get(&path).by(&platform.acme)).await.has_status(200);
        reply.lines().iter().filter(|row| row["version"]["pane_index"] == 0).count()
    };
    assert_eq!(versions("").await, 0);
    assert_eq!(versions("?with=generated_at,completeness").await, 0);
    assert_eq!(versions("?with=completeness,version").await, 3);
}

#[tokio::test]
async fn a_wrong_question_is_refused() {
    let platform = with_rows().await;
    let code = async |path: &str| platform.send(get(path).by(&platform.acme)).await.code();
    assert_eq!(code("/v1/tables/other/rows").await, "not-found");
    assert_eq!(code("/v1/tables/a%20b/rows").await, "not-found");
    for invalid in [
        "where=n",
        "where=x:1",
        "where=pane_is_last:yes",
        "where=pane_is_last:",
        "order=random",
        "limit=0",
        "limit=10001",
        "limit=x",
        "after=x",
        "with=",
        "with=age",
        "with=version,",
    ] {
        assert_eq!(code(&format!("/v1/tables/minutes/rows?{invalid}")).await, "invalid-request", "{invalid}");
    }
    for unreadable in ["country=VN", "limit=1&limit=2", "order=key&order=key"] {
        assert_eq!(code(&format!("/v1/tables/minutes/rows?{unreadable}")).await, "bad-request", "{unreadable}");
    }
}

#[tokio::test]
async fn a_truth_is_asked_for_as_rows_show_it_and_as_the_file_has_it() {
    let platform = Platform::new().await;
    for (id, last) in [("a", true), ("b", false)] {
        platform.tables.put("acme", "minutes", json!({ "id": id, "pane_is_last": last }));
    }
    for (value, expected) in [("true", "a"), ("1", "a"), ("false", "b"), ("0", "b")] {
        assert_eq!(ids(&platform, &format!("?where=pane_is_last:{value}")).await.0, [expected], "{value}");
    }
}
