//! Records: appended and read.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_api::ApiSettings;

use crate::harness::{Call, Platform, Reply, get, post};

fn append(platform: &Platform, query: &str, lines: &'static str) -> Call {
    post(&format!("/v1/streams/s/records{query}")).by(&platform.acme).lines(lines)
}

fn read(platform: &Platform, query: &str) -> Call {
    get(&format!("/v1/streams/s/records{query}")).by(&platform.acme)
}

async fn with_stream(partitions: u32) -> Platform {
    let platform = Platform::new().await;
    platform.stream("s", partitions).await;
    platform
}

#[tokio::test]
async fn what_is_appended_is_read_in_order() {
    let platform = with_stream(2).await;
    let appended =
        platform.send(append(&platform, "?partition=1", "{\"n\":1}\n\n{\"n\":2}\nbroken\n")).await.has_status(200);
    let time = 1_792_662_060_000_i64;
    let ranges = json!([{ "partition": 1, "first": 0, "last": 2, "count": 3 }]);
    let expected = json!({ "stream": "s", "records": 3, "ingest_time": time, "repeated": false, "ranges": ranges });
    assert_eq!(appended.body(), expected);

    let page = platform.send(read(&platform, "?partition=1")).await.has_status(200);
    let line = |offset: u64, record: Value| json!({ "partition": 1, "offset": offset, "ingest_time": time, "producer": "tenant-admin", "record": record });
    assert_eq!(page.lines(), [line(0, json!({ "n": 1 })), line(1, json!({ "n": 2 })), line(2, json!("broken"))]);
    assert_eq!(offsets(&page), ("3", "0", "3", "false"));
    let rest = platform.send(read(&platform, "?partition=1&from=1&limit=1")).await.has_status(200);
    assert_eq!((rest.lines(), offsets(&rest)), (vec![line(1, json!({ "n": 2 }))], ("2", "0", "3", "false")));
    let end = platform.send(read(&platform, "?partition=1&from=3")).await.has_status(200);
    assert_eq!((end.lines(), offsets(&end)), (vec![], ("3", "0", "3", "false")));
    let other = platform.send(read(&platform, "")).await.has_status(200);
    assert_eq!(other.lines(), Vec::<Value>::new(), "partition 0 has nothing");
}

fn offsets(page: &Reply) -> (&str, &str, &str, &str) {
    let header = |name| page.header(name).unwrap();
    let [next, start] = [header("tidegate-next-offset"), header("tidegate-start-offset")];
    (next, start, header("tidegate-end-offset"), header("tidegate-sealed"))
}

#[tokio::test]
async fn a_request_without_a_partition_goes_to_each_in_turn() {
    let platform = with_stream(3).await;
    let mut seen = Vec::new();
    for _ in 0..6 {
        let body = platform.send(append(&platform, "", "a\nb\n")).await.has_status(200).body();
        assert_eq!(body["ranges"].as_array().unwrap().len(), 1, "the whole request in one partition: {body}");
        seen.push(body["ranges"][0]["partition"].as_u64().unwrap());
    }
    assert_eq!(seen, [0, 1, 2, 0, 1, 2]);
}

#[tokio::test]
async fn records_of_a_key_go_to_one_partition() {
    let platform = with_stream(4).await;
    let lines = "{\"k\":\"a\",\"n\":1}\n{\"k\":\"b\",\"n\":2}\n{\"k\":\"a\",\"n\":3}\n{\"k\":\"c\",\"n\":4}\nbroken\n";
    let body = platform.send(append(&platform, "?key=k", lines)).await.has_status(200).body();
    assert_eq!(body["records"], 5);
    let mut of_a = Vec::new();
    for partition in 0..4 {
        let page = platform.send(read(&platform, &format!("?partition={partition}"))).await.lines();
        let found: Vec<Value> = page.into_iter().filter(|line| line["record"]["k"] == "a").collect();
        if !found.is_empty() {
            of_a.push(found);
        }
    }
    assert_eq!(of_a.len(), 1);
    let numbers: Vec<&Value> = of_a[0].iter().map(|line| &line["record"]["n"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(3)]);
    platform.send(append(&platform, "?key=k&partition=1", "a\n")).await.has_problem("invalid-request");
    platform.send(append(&platform, "?key=", "a\n")).await.has_problem("invalid-request");
    platform.send(append(&platform, "?partition=4", "a\n")).await.has_problem("not-found");
}

#[tokio::test]
async fn a_repeated_sequence_is_appended_once() {
    let platform = with_stream(2).await;
    let send = |sequence: &str, lines: &'static str| {
        append(&platform, "", lines).header("tidegate-producer", "p").header("tidegate-sequence", sequence)
    };
    let first = platform.send(send("1", "a\nb\n")).await.has_status(200).body();
    platform.clock.forward(5_000);
    let again = platform.send(send("1", "a\nb\n")).await.has_status(200).body();
    assert_eq!((&again["repeated"], &again["ranges"]), (&json!(true), &first["ranges"]));
    assert_eq!(again["ingest_time"], first["ingest_time"], "the time of the first");
    platform.send(send("1", "c\n")).await.has_problem("sequence-reused");
    platform.send(send("2", "c\n")).await.has_status(200);
    platform.send(send("1", "a\nb\n")).await.has_problem("sequence-too-low");
    let state = platform.send(get("/v1/streams/s").by(&platform.acme)).await.body();
    assert_eq!(state["records"], 3);

    let no_name = append(&platform, "", "a\n").header("tidegate-sequence", "1");
    platform.send(no_name).await.has_problem("invalid-request");
    for wrong in ["-1", "x", "", "18446744073709551616"] {
        platform.send(send(wrong, "a\n")).await.has_problem("invalid-request");
    }
    let long = append(&platform, "", "a\n").header("tidegate-producer", &"p".repeat(201));
    platform.send(long).await.has_problem("invalid-request");
}

#[tokio::test]
async fn a_batch_with_one_bad_record_is_refused_whole() {
    let platform = Platform::new().await;
    let new = json!({ "name": "s", "max_record_bytes": 10 });
    platform.send(post("/v1/streams").by(&platform.acme).json(&new)).await.has_status(201);
    let refused = platform.send(append(&platform, "", "ok\n\n12345678901\nok\n")).await.has_problem("record-too-large");
    assert_eq!(refused.body()["line"], 3);
    platform.send(append(&platform, "", " \n\n")).await.has_problem("invalid-request");
    platform.send(append(&platform, "", "")).await.has_problem("invalid-request");
    let state = platform.send(get("/v1/streams/s").by(&platform.acme)).await.body();
    assert_eq!(state["records"], 0);
}

#[tokio::test]
async fn nobody_appends_under_the_name_of_a_job() {
    let platform = with_stream(1).await;
    let named = |name: &str| append(&platform, "", "a\n").header("tidegate-producer", name);
    for forged in ["job:x", " job:campaign-metrics", "job:"] {
        let refused = platform.send(named(forged)).await.has_problem("invalid-request");
        assert_eq!(refused.body()["path"], "Tidegate-Producer");
        platform.send(named(forged).header("tidegate-sequence", "1")).await.has_problem("invalid-request");
    }
    let new = json!({ "role": "developer", "subject": "job:x" });
    let issued = platform.send(post("/v1/tenants/acme/tokens").by(&platform.root).json(&new)).await;
    if issued.status.is_success() {
        let token = issued.body()["token"].as_str().unwrap().to_owned();
        let forged = post("/v1/streams/s/records").by(&token).lines("a\n");
        platform.send(forged).await.has_problem("invalid-request");
    }
    platform.send(named("jobs")).await.has_status(200);
    let state = platform.send(get("/v1/streams/s").by(&platform.acme)).await.body();
    assert_eq!(state["records"], 1);
}

#[tokio::test]
async fn a_body_beyond_the_tenants_limit_is_too_large() {
    let platform = Platform::new().await;
    let small = json!({ "name": "small", "limits": { "append_bytes": 2048, "record_bytes": 1024 } });
    platform.send(post("/v1/tenants").by(&platform.root).json(&small)).await.has_status(201);
    let token = platform.token("small", "developer").await;
    platform.send(post("/v1/streams").by(&token).json(&json!({ "name": "s" }))).await.has_status(201);
    let send = |bytes: usize| post("/v1/streams/s/records").by(&token).lines("123456789\n".repeat(bytes / 10));
    platform.send(send(2040)).await.has_status(200);
    platform.send(send(2050)).await.has_problem("body-too-large");
    let long = post("/v1/streams/s/records").by(&token).lines("x".repeat(1025));
    platform.send(long).await.has_problem("record-too-large");
    let many = post("/v1/streams/s/records").by(&platform.acme).lines("1\n".repeat(100_001));
    platform.stream("s", 1).await;
    platform.send(many).await.has_problem("body-too-large");
}

#[tokio::test]
async fn a_tenants_log_is_bounded() {
    let platform = Platform::new().await;
    let small = json!({ "name": "small", "limits": { "append_bytes": 1_048_576, "log_bytes": 1_048_576 } });
    platform.send(post("/v1/tenants").by(&platform.root).json(&small)).await.has_status(201);
    let token = platform.token("small", "tenant-admin").await;
    for name in ["s", "t"] {
        platform.send(post("/v1/streams").by(&token).json(&json!({ "name": name }))).await.has_status(201);
    }
    let send = |stream: &str| {
        let call = post(&format!("/v1/streams/{stream}/records")).by(&token).lines("x".repeat(600_000));
        call.header("tidegate-producer", "p").header("tidegate-sequence", "1")
    };
    platform.send(send("s")).await.has_status(200);
    let full = platform.send(send("t")).await.has_problem("quota-exceeded");
    assert!(full.body()["detail"].as_str().unwrap().contains("limit `log_bytes`"), "{}", full.text());
    let again = platform.send(send("s")).await.has_status(200).body();
    assert_eq!(again["repeated"], true, "what is there needs no room");
}

#[tokio::test]
async fn the_type_of_records_must_be_named() {
    let platform = with_stream(1).await;
    for kind in ["application/x-ndjson", "application/jsonl", "application/ndjson", "text/plain; charset=utf-8"] {
        let call = post("/v1/streams/s/records").by(&platform.acme).typed(kind, "a\n");
        platform.send(call).await.has_status(200);
    }
    for kind in ["application/x-www-form-urlencoded", "application/json", "nonsense"] {
        let call = post("/v1/streams/s/records").by(&platform.acme).typed(kind, "a\n");
        platform.send(call).await.has_problem("unsupported-media-type");
    }
    let untyped = post("/v1/streams/s/records").by(&platform.acme).body("a\n");
    platform.send(untyped).await.has_problem("unsupported-media-type");
}

#[tokio::test]
async fn a_reader_waits_for_a_record() {
    let platform = Arc::new(with_stream(2).await);
    let reader = Arc::clone(&platform);
    let reading = tokio::spawn(async move { reader.send(read(&reader, "?partition=1&wait_ms=30000")).await });
    // What goes to another partition wakes the reader and does not end its wait.
    platform.send(append(&platform, "?partition=0", "other\n")).await.has_status(200);
    platform.send(append(&platform, "?partition=1", "mine\n")).await.has_status(200);
    assert_eq!(reading.await.unwrap().has_status(200).lines()[0]["record"], "mine");
}

#[tokio::test]
async fn a_wait_ends_when_its_time_is_over_or_the_partition_is_sealed() {
    let platform = Arc::new(with_stream(1).await);
    let empty = platform.send(read(&platform, "?wait_ms=20")).await.has_status(200);
    assert_eq!((empty.lines(), offsets(&empty)), (vec![], ("0", "0", "0", "false")));

    let reader = Arc::clone(&platform);
    let reading = tokio::spawn(async move { reader.send(read(&reader, "?wait_ms=30000")).await });
    platform.send(post("/v1/streams/s/seal").by(&platform.acme)).await.has_status(200);
    let sealed = reading.await.unwrap().has_status(200);
    assert_eq!((sealed.lines(), offsets(&sealed)), (vec![], ("0", "0", "0", "true")));
    let at_once = platform.send(read(&platform, "?wait_ms=30000")).await.has_status(200);
    assert_eq!(offsets(&at_once).3, "true");
}

#[tokio::test]
async fn waiting_readers_of_a_tenant_are_bounded() {
    let settings = ApiSettings { waits_per_tenant: 1, ..ApiSettings::default() };
    let platform = Arc::new(Platform::with(settings).await);
    platform.stream("s", 1).await;
    let start = || {
        let reader = Arc::clone(&platform);
        tokio::spawn(async move { reader.send(read(&reader, "?wait_ms=30000")).await })
    };
    // One of the two has the place, and the other is refused at once.
    let (mut one, mut other) = (start(), start());
    let (refused, waiting) = tokio::select! {
        refused = &mut one => (refused.unwrap(), other),
        refused = &mut other => (refused.unwrap(), one),
    };
    refused.has_problem("too-many-requests");
    platform.send(read(&platform, "")).await.has_status(200);
    platform.send(append(&platform, "", "a\n")).await.has_status(200);
    waiting.await.unwrap().has_status(200);
}

#[tokio::test]
async fn a_read_says_what_is_wrong_with_its_place() {
    let platform = with_stream(1).await;
    platform.send(append(&platform, "", "a\nb\n")).await.has_status(200);
    platform.send(read(&platform, "?from=3")).await.has_problem("offset-out-of-range");
    platform.send(read(&platform, "?partition=1")).await.has_problem("not-found");
    platform.send(read(&platform, "?limit=0")).await.has_problem("invalid-request");
    platform.send(read(&platform, "?limit=10001")).await.has_problem("invalid-request");
    platform.send(read(&platform, "?wait_ms=30001")).await.has_problem("invalid-request");
    for unreadable in ["?from=-1", "?from=x", "?frm=1", "?from=1&from=2", "?partition=4294967296", "?wait_ms=1s"] {
        platform.send(read(&platform, unreadable)).await.has_problem("bad-request");
    }
}

#[tokio::test]
async fn a_reader_that_retention_overtook_is_told() {
    let platform = Platform::new().await;
    let new = json!({ "name": "s", "retention": { "age_ms": 60_000 } });
    platform.send(post("/v1/streams").by(&platform.acme).json(&new)).await.has_status(201);
    platform.send(append(&platform, "", "old\n")).await.has_status(200);
    platform.clock.forward(61_000);
    platform.send(append(&platform, "", "new\n")).await.has_status(200);
    platform.log.retain(tidegate_types::Clock::now(&*platform.clock)).unwrap();
    let gone = platform.send(read(&platform, "?from=0")).await.has_problem("offset-not-kept");
    assert!(gone.body()["detail"].as_str().unwrap().contains("the first is 1"), "{}", gone.text());
    let oldest = platform.send(read(&platform, "")).await.has_status(200);
    assert_eq!((&oldest.lines()[0]["record"], offsets(&oldest)), (&json!("new"), ("2", "1", "2", "false")));
}

#[tokio::test]
async fn a_page_ends_after_so_many_bytes() {
    let platform = with_stream(1).await;
    let lines = format!("{}\n", "x".repeat(400_000)).repeat(5);
    let call = post("/v1/streams/s/records").by(&platform.acme).lines(lines);
    platform.send(call).await.has_status(200);
    let mut from = "0".to_owned();
    let mut sizes = Vec::new();
    while from != "5" {
        let page = platform.send(read(&platform, &format!("?from={from}"))).await.has_status(200);
        sizes.push(page.lines().len());
        from = offsets(&page).0.to_owned();
    }
    assert_eq!(sizes, [2, 2, 1]);
}

#[tokio::test]
async fn an_append_goes_on_when_its_client_goes_away() {
    let platform = with_stream(1).await;
    let request = append(&platform, "", "a\n");
    let answer = tokio::time::timeout(Duration::ZERO, platform.send_unchecked(request));
    // Polled once, then dropped: the request has begun.
    answer.await.ok();
    let page = platform.send(read(&platform, "?wait_ms=30000")).await.has_status(200);
    assert_eq!(page.lines()[0]["record"], "a");
}

#[tokio::test]
async fn a_reader_that_waits_is_answered_when_the_process_is_to_end() {
    let platform = Arc::new(with_stream(1).await);
    let reader = Arc::clone(&platform);
    let reading = tokio::spawn(async move { reader.send(read(&reader, "?wait_ms=30000")).await });
    let sleeps = async {
        // It has looked, and waits.
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    };
    sleeps.await;
    platform.stop.send_replace(true);
    let before = Duration::from_secs(10);
    let page = tokio::time::timeout(before, reading).await.expect("long before its own wait ends").unwrap();
    assert_eq!(page.has_status(200).text(), "");
    let late = tokio::time::timeout(before, platform.send(read(&platform, "?wait_ms=30000"))).await;
    late.expect("nobody waits any more").has_status(200);
}
