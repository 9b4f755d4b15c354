//! The greatest version stays, whoever wrote it and when; a start that is not the newest writes nothing.
//!
//! The random test prints its seed; `SEED` replays one.

use tidegate_types::Version;

use super::chance::Chance;
use super::*;

const SEED: Option<u64> = None;
const SEEDS: u64 = 25;

const ALL: Stamp = Stamp { version: true, completeness: true, generated_at: true };

fn names() -> PaneFields {
    fields(&["k"], &["n"])
}

fn pane(key: i64, index: u64, n: i64) -> Pane {
    Pane::new(vec![Value::Int(key)], WINDOW, index, vec![Value::Int(n)])
}

/// Writes panes for good.
fn put(sink: &mut SqliteSink, panes: &[Pane]) {
    sink.write_panes(&batch(panes)).expect("gathered");
    sink.flush().expect("flushed");
}

fn shows(place: &Place, panes: &[Pane]) {
    assert_eq!(place.rows(), panes.iter().map(|pane| line(&names(), pane)).collect::<Vec<_>>());
}

#[test]
fn a_new_start_replaces_and_takes_back_what_the_one_before_wrote() {
    let place = Place::new();
    let mut first = place.sink_of(writer("j", 0, 1), &["k"], &names());
    put(&mut first, &[pane(1, 3, 10), pane(2, 3, 20)]);
    let mut second = place.sink_of(writer("j", 0, 2), &["k"], &names());
    put(&mut second, &[pane(1, 0, 5)]);
    shows(&place, &[pane(1, 0, 5), pane(2, 3, 20)]);
    put(&mut second, &[pane(1, 0, 5).retraction(), pane(1, 1, 6), pane(2, 0, 7), pane(2, 0, 7).retraction()]);
    shows(&place, &[pane(1, 1, 6)]);
}

#[test]
fn a_backfill_fills_what_is_missing_and_replaces_nothing_newer() {
    let place = Place::new();
    let mut live = place.sink_of(writer("live", 0, 1), &["k"], &names());
    put(&mut live, &[pane(1, 0, 10)]);
    let mut backfill = place.sink_of(writer("backfill", -1, 9), &["k"], &names());
    put(&mut backfill, &[pane(1, 5, 99), pane(2, 5, 20), pane(1, 0, 10).retraction()]);
    shows(&place, &[pane(1, 0, 10), pane(2, 5, 20)]);
    // Nobody is fenced by another job.
    put(&mut live, &[pane(2, 0, 21)]);
    put(&mut backfill, &[pane(3, 0, 30)]);
    shows(&place, &[pane(1, 0, 10), pane(2, 0, 21), pane(3, 0, 30)]);
}

#[test]
fn a_row_that_was_taken_back_does_not_come_again_from_older_truth() {
    let place = Place::new();
    let mut live = place.sink_of(writer("live", 0, 1), &["k"], &names());
    let mut backfill = place.sink_of(writer("backfill", -1, 1), &["k"], &names());
    put(&mut live, &[pane(1, 0, 10), pane(1, 0, 10).retraction()]);
    put(&mut backfill, &[pane(1, 7, 99)]);
    shows(&place, &[]);
    put(&mut live, &[pane(1, 1, 11)]);
    shows(&place, &[pane(1, 1, 11)]);
    let gone = "SELECT count(*) FROM \"t:gone\"";
    let left: i64 =
        Connection::open(place.file()).expect("a file").query_row(gone, [], |row| row.get(0)).expect("reads");
    assert_eq!(left, 0, "a key with a row has no retraction");
}

#[test]
fn an_older_start_is_refused_when_it_opens_and_when_it_writes() {
    let place = Place::new();
    let mut second = place.sink_of(writer("j", 0, 2), &["k"], &names());
    put(&mut second, &[pane(1, 0, 1)]);
    let refused = place.opened("t", writer("j", 5, 1), &["k"], &names()).err().expect("refused");
    assert_eq!(
        refused.to_string(),
        "table `t`: start 2 of job `j` has opened it, and this is start 1, whose rows would be older; if the job's count of \
         starts was lost, name another table in `sink.table`"
    );
    drop(place.opened("t", writer("other", 0, 1), &["k"], &names()).expect("another job"));
    drop(place.opened("u", writer("j", 0, 1), &["k"], &names()).expect("another table"));

    let mut third = place.sink_of(writer("j", 0, 3), &["k"], &names());
    second.write_panes(&batch(&[pane(1, 9, 9)])).expect("gathered");
    let refused = second.flush().expect_err("fenced");
    assert!(matches!(refused, SinkError::Fenced { epoch: 2, newer: 3, .. }), "{refused}");
    assert!(
        refused.to_string().starts_with("table `t`: start 3 of job `j` writes it now, and this is start 2;"),
        "{refused}"
    );
    shows(&place, &[pane(1, 0, 1)]);
    put(&mut third, &[pane(1, 0, 3)]);
    shows(&place, &[pane(1, 0, 3)]);
}

#[test]
fn rows_say_how_new_they_are_as_their_job_stamps_them_or_if_asked() {
    let place = Place::new();
    let stamping = Stamping { stamp: ALL, precedence: -3, restore_epoch: 4 };
    let expected = |stamping: Stamping, pane: &Pane| {
        let mut out = Vec::new();
        PaneEncoder::new(&names()).stamped(stamping).encode(&batch(std::slice::from_ref(pane)), &mut out);
        String::from_utf8(out).expect("JSON").trim_end().to_owned()
    };
    let row = |with| {
        let query = RowQuery { limit: 1, with, ..RowQuery::default() };
        let page = place.tables.rows(&place.tenant, "t", &query).expect("reads");
        String::from_utf8(page.rows[0].clone()).expect("JSON")
    };
    let mut unknown = pane(1, 1, 2);
    unknown.info.fired_at = tidegate_types::NO_CLOCK;
    let mut early = pane(1, 0, 2);
    early.info.timing = Timing::Early;
    for (start, pane) in [(4, unknown), (5, early), (6, pane(1, 0, 2)), (7, pane(1, 3, 2))] {
        let stamping = Stamping { restore_epoch: start, ..stamping };
        let plain = Writer { job: "j".into(), stamping: Stamping { stamp: Stamp::default(), ..stamping } };
        put(&mut place.sink_of(plain, &["k"], &names()), std::slice::from_ref(&pane));
        assert_eq!(row(Stamp::default()), line(&names(), &pane));
        assert_eq!(row(ALL), expected(stamping, &pane));
        let version = Stamp { version: true, ..Stamp::default() };
        assert_eq!(row(version), expected(Stamping { stamp: version, ..stamping }, &pane));
        drop(place.sink_of(Writer { job: "j".into(), stamping }, &["k"], &names()));
        assert_eq!(row(Stamp::default()), expected(stamping, &pane), "the job stamps its rows from now on");
    }
}

#[test]
fn a_field_of_a_stamps_name_is_that_field() {
    let place = Place::new();
    let names = fields(&["k"], &["version"]);
    let stamping = Stamping { stamp: ALL, precedence: 0, restore_epoch: 1 };
    let mut sink = place.sink_of(Writer { job: "j".into(), stamping }, &["k"], &names);
    put(&mut sink, &[pane(1, 0, 5)]);
    let row: serde_json::Value = serde_json::from_str(&place.rows()[0]).expect("JSON");
    assert_eq!((&row["version"], &row["completeness"]), (&5.into(), &"on_time".into()));
    assert_eq!(place.rows()[0].matches("\"version\"").count(), 1);
}

#[test]
fn rows_without_a_window_are_kept_by_their_version_too() {
    let place = Place::new();
    let names = ResultFields::Rows(owned(&["k", "n"]));
    let rows = |key: i64, n: i64| RowBatch {
        columns: vec![Column::of_values([Value::Int(key).as_ref()]), Column::of_values([Value::Int(n).as_ref()])],
        times: vec![1_761_126_060_000],
        watermarks: vec![Watermark::at(1_761_126_059_000)],
        emitted_at: vec![1_761_126_061_000],
        order: None,
    };
    let open = |by: Writer| place.tables.sink(&place.tenant, "t", &owned(&["k"]), &names, by, u64::MAX).expect("opens");
    let mut backfill = open(writer("backfill", -1, 1));
    let mut live =
        open(Writer { job: "live".into(), stamping: Stamping { stamp: ALL, precedence: 0, restore_epoch: 2 } });
    live.write_rows(&rows(1, 10)).expect("gathered");
    live.write_rows(&rows(1, 11)).expect("gathered");
    live.flush().expect("flushed");
    backfill.write_rows(&rows(1, 99)).expect("gathered");
    backfill.flush().expect("flushed");
    assert_eq!(
        place.rows(),
        ["{\"k\":1,\"n\":11,\"time\":\"2025-10-22T09:41:00Z\",\"watermark\":\"2025-10-22T09:40:59Z\",\
         \"version\":{\"precedence\":0,\"restore_epoch\":2,\"pane_index\":0},\"completeness\":\"on_time\",\
         \"generated_at\":\"2025-10-22T09:41:01Z\"}"]
    );
    assert_eq!(place.tables.list(&place.tenant).expect("reads")[0].columns, ["k", "n", "time", "watermark", "changed"]);
    let panes = fields(&["k"], &["n"]);
    let refused = place.opened("t", writer("live", 0, 3), &["k"], &panes).err().expect("refused").to_string();
    assert!(refused.contains("is there with rows without a window, the fields [k, n] and the key [k]"), "{refused}");
}

#[test]
fn rows_of_an_earlier_start_can_be_told_apart_as_the_docs_say() {
    let place = Place::new();
    put(&mut place.sink_of(writer("j", 0, 1), &["k"], &names()), &[pane(1, 0, 1), pane(2, 0, 2)]);
    put(&mut place.sink_of(writer("other", 0, 1), &["k"], &names()), &[pane(3, 0, 3)]);
    put(&mut place.sink_of(writer("j", 0, 2), &["k"], &names()), &[pane(2, 0, 2)]);
    let docs = include_str!("../../../../../docs/tables.md");
    let (_, query) = docs.split_once("```sql\n").expect("the docs have a query");
    let (query, _) = query.split_once("```").expect("the query ends");
    let connection = Connection::open(place.file()).expect("a file");
    let mut statement = connection.prepare(&query.replace("my_table", "t")).expect("is SQL");
    let keys = statement.query_map([], |row| row.get::<_, i64>("k")).expect("runs");
    assert_eq!(keys.collect::<Result<Vec<_>, _>>().expect("reads"), [1]);
}

/// What one writer says of the keys, in order.
struct Script {
    version: (i32, u64),
    panes: Vec<Pane>,
    sink: SqliteSink,
}

/// Any interleaving of writers ends with the greatest version of each key, whether that is a row or a retraction.
#[test]
fn any_interleaving_of_writers_ends_with_the_greatest_versions() {
    for seed in SEED.map_or(0..SEEDS, |seed| seed..seed + 1) {
        let mut chance = Chance::of_seed(seed);
        let place = Place::new();
        let mut scripts: Vec<Script> = [("a", 0, 1), ("b", 0, 2), ("c", -1, 3), ("d", 2, 1)]
            .into_iter()
            .map(|(job, precedence, start)| Script {
                version: (precedence, start),
                panes: script(&mut chance),
                sink: place.sink_of(writer(job, precedence, start), &["k"], &names()),
            })
            .collect();
        let expected = greatest(&scripts);
        while scripts.iter().any(|script| !script.panes.is_empty()) {
            let at = chance.of(&[0, 1, 2, 3]);
            let script = &mut scripts[at];
            let most = usize::try_from(chance.below(4)).expect("few").min(script.panes.len());
            if most > 0 {
                let panes: Vec<Pane> = script.panes.drain(..most).collect();
                put(&mut script.sink, &panes);
            }
        }
        assert_eq!(place.rows(), expected, "seed {seed}");
    }
}

/// Each key's panes with growing indices; each may be taken back before the next, or at the end.
fn script(chance: &mut Chance) -> Vec<Pane> {
    let mut panes = Vec::new();
    for key in 0..6 {
        for index in 0..chance.below(4) {
            let said = pane(key, index, i64::try_from(chance.below(1_000)).expect("few"));
            panes.push(said.clone());
            if chance.below(3) == 0 {
                panes.push(said.retraction());
            }
        }
    }
    panes
}

fn greatest(scripts: &[Script]) -> Vec<String> {
    let mut known: BTreeMap<String, (Version, &Pane)> = BTreeMap::new();
    for script in scripts {
        for pane in &script.panes {
            let (precedence, restore_epoch) = script.version;
            let version = Version { precedence, restore_epoch, pane_index: pane.info.index };
            let key = format!("{:?}", pane.keys);
            if known.get(&key).is_none_or(|(there, _)| *there <= version) {
                known.insert(key, (version, pane));
            }
        }
    }
    let there = known.values().filter(|(_, pane)| pane.info.op == PaneOp::Insert);
    there.map(|(_, pane)| line(&names(), pane)).collect()
}
