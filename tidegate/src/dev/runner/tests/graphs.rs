//! Graphs: several streams joined, several tables and streams written, each operator's late records apart.

use serde_json::{Value, json};

use super::*;

/// Views and clicks joined: the pairs go to a stream and their windows to a table; the views are counted beside.
const GRAPH: &str = "job: graph
version: 1
precedence: 2
sources:
  - {name: views, log: events, timestamp_field: t, watermark: {strategy: ascending}}
  - {name: clicks, log: clicks, timestamp_field: t, watermark: {strategy: ascending}}
operators:
  - name: pairs
    join:
      type: interval
      left: {input: views, key_by: [k]}
      right: {input: clicks, key_by: [k]}
      lower: 0s
      upper: 10s
      select: {k: left.k, seen: left.t, clicked: right.t}
      late_side_output: late-pairs
  - name: minutes
    input: pairs
    key_by: [k]
    window: {type: tumbling, size: 1m}
    aggregate: {n: {fn: count}}
  - name: seen
    input: views
    key_by: [k]
    window: {type: tumbling, size: 1m}
    aggregate: {n: {fn: count}}
    late_side_output: late-views
sinks:
  - {input: minutes, type: upsert_store, table: minutes, key: [k, window_start]}
  - {input: pairs, type: log, log: pairs, stamp: [version]}
  - {input: seen, type: upsert_store, table: seen, key: [k, window_start]}
";

fn graph(text: &str) -> StartJob {
    let pipeline = Arc::new(tidegate_pipeline::parse(text).expect("a pipeline"));
    let key = JobKey { tenant: tenant("acme"), name: "graph".parse().expect("a name") };
    StartJob { pipeline, key, ..job("acme", "graph", TABLE) }
}

impl Place {
    /// A place where acme has a stream `clicks` of one partition too.
    async fn with_clicks() -> Self {
        let place = Self::with_streams(8).await;
        let spec = StreamSpec { partitions: 1, retention: Retention::default(), max_record_bytes: 1 << 20 };
        place.runner.parts.log.create(&stream("acme", "clicks"), &spec).expect("a stream");
        place
    }

    /// Appends records (time, key) to a partition of a stream of acme's.
    fn add(&self, name: &str, partition: u32, records: &[(i64, &str)]) {
        let line = |(t, k): &(i64, &str)| (partition, Bytes::from(json!({"t": t, "k": k}).to_string()));
        let producer = Producer { name: "test".into(), sequence: None };
        let ingest_time = self.runner.parts.clock.now();
        let batch = AppendBatch { records: records.iter().map(line).collect(), ingest_time, producer, room: None };
        self.runner.parts.log.append(&stream("acme", name), batch).expect("appended");
    }
}

fn counts(rows: &[Value]) -> Vec<(&str, &str, i64)> {
    let count = |row: &'_ Value| row["n"].as_i64().expect("a count");
    rows.iter().map(|row| (row["k"].as_str().unwrap(), row["window_start"].as_str().unwrap(), count(row))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_reads_all_its_streams_and_writes_all_its_outputs() {
    let place = Place::with_clicks().await;
    let job = graph(GRAPH);
    place.runner.check(&job).await.expect("it could start");
    assert_eq!(place.runner.parts.log.list(&tenant("acme")).expect("listed").len(), 2, "a check makes nothing");
    let key = job.key.clone();
    let run = place.runner.start(job).await.expect("it runs");
    place.add("events", 0, &[(1_000, "a"), (100_000, "a")]);
    place.add("events", 1, &[(2_000, "b"), (100_000, "b")]);
    place.until(&key, |status| status.account.read == 4).await;
    place.add("clicks", 0, &[(5_000, "a"), (100_000, "z")]);
    let status = place.until(&key, |status| status.account.read == 6 && status.watermark == Some(100_000)).await;
    assert_eq!(status.source_lags, [status.lag; 2], "it has read both");
    // Late for the join and for the windows beside it.
    place.add("events", 0, &[(3_000, "a")]);
    place.until(&key, |status| status.account.too_late == 2).await;
    place.seal("acme");
    place.runner.parts.log.seal(&stream("acme", "clicks"), None).expect("sealed");
    assert_eq!(end(run).await, RunEnd::Finished);
    let account = place.runner.status(&key).expect("it ran").account;
    assert_eq!((account.read, account.forwarded, account.emitted), (7, Some(6), Some(1)));
    assert_eq!((account.accepted, account.too_late, account.panes.on_time), (11, 2, 5));
    let (first, second) = ("1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z");
    assert_eq!(counts(&place.rows("acme", "minutes")), [("a", first, 1)]);
    let seen = [("a", first, 1), ("a", second, 1), ("b", first, 1), ("b", second, 1)];
    assert_eq!(counts(&place.rows("acme", "seen")), seen);
    let spec = place.runner.parts.log.describe(&stream("acme", "pairs")).expect("it was made").spec;
    assert_eq!(spec.partitions, 2, "results are spread as the left input is");
    let pairs: Vec<Value> = (0..2).flat_map(|partition| place.read("acme", "pairs", partition)).collect();
    let fields = ["k", "seen", "clicked"].map(|field| pairs[0][field].clone());
    assert_eq!((pairs.len(), fields), (1, [json!("a"), json!(1000), json!(5000)]));
    assert_eq!(pairs[0]["version"]["precedence"], 2, "stamped as the sink says: {}", pairs[0]);
    for (name, operator) in [("late-pairs", "pairs"), ("late-views", "seen")] {
        let late = place.records("acme", name);
        assert_eq!((late.len(), &late[0]["operator"], &late[0]["offset"]), (1, &json!(operator), &json!(2)), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_stops_while_one_of_its_streams_has_nothing() {
    let place = Place::with_clicks().await;
    let job = graph(GRAPH);
    let key = job.key.clone();
    let run = place.runner.start(job).await.expect("it runs");
    place.add("clicks", 0, &[(5_000, "a")]);
    place.until(&key, |status| status.account.read == 1).await;
    place.runner.stop(&key);
    assert_eq!(end(run).await, RunEnd::Stopped);
    assert_eq!(place.runner.tenants.running(), 0, "nothing of it is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_of_a_graph_cannot_run_is_refused_at_its_own_place() {
    let place = Place::with_clicks().await;
    let spec = StreamSpec { partitions: 1, retention: Retention::default(), max_record_bytes: 1 << 20 };
    place.runner.parts.log.create(&stream("acme", "closed"), &spec).expect("a stream");
    place.runner.parts.log.seal(&stream("acme", "closed"), None).expect("sealed");
    let cases = [
        ("log: clicks", "log: none", "sources[1].log: stream acme/none: does not exist; create it first"),
        ("type: upsert_store, table: seen, key: [k, window_start]", "type: outbox", "sinks[2].type: `outbox` is"),
        ("type: upsert_store, table: seen, key: [k, window_start]", "type: parquet", "sinks[2].type: `parquet` is"),
        ("table: seen", "table: sqlite_seen", "sinks[2].table: table `sqlite_seen`"),
        ("log: pairs", "log: closed", "sinks[1].log: the stream `closed` is sealed"),
        ("late-pairs", "closed", "operators[0].join.late_side_output: the stream `closed` is sealed"),
        ("late-views", "closed", "operators[2].late_side_output: the stream `closed` is sealed"),
    ];
    for (old, new, expected) in cases {
        let edited = GRAPH.replacen(old, new, 1);
        assert_ne!(edited, GRAPH, "{old}");
        let refused = place.runner.check(&graph(&edited)).await.expect_err(new).to_string();
        assert!(refused.starts_with(expected), "{refused}");
    }
    assert_eq!(place.runner.parts.log.list(&tenant("acme")).expect("listed").len(), 3, "nothing was made");
}
