//! The contract on a file, and what only a file can show: reopening, races, kills, full disks and foreign files.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use sqlx::{Connection, Row, SqliteConnection};
use tempfile::TempDir;
use tidegate_store::{Change, Document, Expect, MAX_ENTRIES, MetaStore, StoreError, contract};

use super::SqlStore;
use crate::OpenError;

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("meta.db");
    (folder, path)
}

async fn open(path: &Path) -> SqlStore {
    SqlStore::open(path).await.expect("the store opens")
}

async fn raw(path: &Path, statement: &'static str) -> Result<(), sqlx::Error> {
    let mut connection = SqliteConnection::connect(&format!("sqlite://{}?mode=rwc", path.display())).await?;
    sqlx::raw_sql(statement).execute(&mut connection).await?;
    connection.close().await
}

fn put(path: &str, body: serde_json::Value) -> Change {
    Change::Put { kind: "thing".into(), path: path.into(), body, expect: Expect::Any }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeps_the_contract() {
    let folders = Mutex::new(Vec::new());
    contract::run(|| async {
        let (folder, path) = folder();
        folders.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
        Arc::new(open(&path).await) as Arc<dyn MetaStore>
    })
    .await;
}

#[tokio::test]
async fn has_everything_after_reopening() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    let entry = Change::Append { trail: "t".into(), body: json!("made") };
    store.commit(vec![put("a", json!({"n": 1})), entry]).await.expect("a good commit");
    let before = store.get("thing", "a").await.expect("a good name");
    store.close().await;
    let closed = store.get("thing", "a").await;
    assert!(matches!(&closed, Err(StoreError::Unavailable { reason }) if reason.contains("closed")), "{closed:?}");

    let store = open(&path).await;
    assert_eq!(store.get("thing", "a").await.expect("a good name"), before);
    assert_eq!(store.entries("t", 0, 10).await.expect("a good question").len(), 1);
    store.commit(vec![put("b", json!(0))]).await.expect("a good commit");
    let after = store.get("thing", "b").await.expect("a good name").expect("it was put");
    assert!(after.version > before.expect("it was put").version, "versions go on");
}

#[tokio::test]
async fn only_the_owner_reads_the_files() {
    let (folder, path) = folder();
    std::fs::write(&path, "").expect("an empty file");
    std::fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("the mode is set");
    let store = open(&path).await;
    store.commit(vec![put("a", json!(0))]).await.expect("a good commit");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder.path()).expect("the folder is there") {
        let entry = entry.expect("an entry");
        let mode = entry.metadata().expect("its mode").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().expect("ASCII"));
    }
    names.sort();
    assert_eq!(names, ["meta.db", "meta.db-shm", "meta.db-wal"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_handles_that_race_one_wins() {
    let (_folder, path) = folder();
    let stores = [Arc::new(open(&path).await), Arc::new(open(&path).await)];
    for round in 0..30 {
        let path = format!("r/{round}");
        let mut racing = tokio::task::JoinSet::new();
        for (number, store) in stores.iter().enumerate() {
            let (store, path) = (Arc::clone(store), path.clone());
            racing
                .spawn(async move { (number, store.commit(vec![Change::create("thing", path, json!(number))]).await) });
        }
        let answers = racing.join_all().await;
        let won: Vec<usize> = answers.iter().filter(|(_, answer)| answer.is_ok()).map(|(number, _)| *number).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        assert!(answers.iter().any(|(_, answer)| matches!(answer, Err(StoreError::Conflict { .. }))), "{answers:?}");
        for store in &stores {
            let found = store.get("thing", &path).await.expect("a good name").expect("one of them made it");
            assert_eq!(found.body, json!(won[0]));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_programs_may_make_the_file_at_once() {
    for _ in 0..20 {
        let (_folder, path) = folder();
        let mut opening = tokio::task::JoinSet::new();
        for number in 0..6 {
            let path = path.clone();
            opening.spawn(async move {
                let store = open(&path).await;
                store
                    .commit(vec![Change::create("thing", format!("{number}"), json!(0))])
                    .await
                    .expect("a good commit");
            });
        }
        opening.join_all().await;
        assert_eq!(open(&path).await.list("thing", "", None, 10).await.expect("a good list").len(), 6);
    }
}

#[tokio::test]
async fn refuses_the_file_of_a_newer_program_and_leaves_it_alone() {
    let (_folder, path) = folder();
    open(&path).await.close().await;
    raw(&path, "PRAGMA user_version = 99").await.expect("raw SQL");
    let before = std::fs::read(&path).expect("the file");
    let error = SqlStore::open(&path).await.err().expect("it is refused");
    assert!(matches!(error, OpenError::NewerSchema { found: 99, known: 2, .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.contains("schema 99") && said.contains("newer Tidegate") && said.contains("meta.db"), "{said}");
    assert_eq!(std::fs::read(&path).expect("the file"), before);
}

#[tokio::test]
async fn refuses_the_database_of_another_program() {
    let (_folder, path) = folder();
    raw(&path, "CREATE TABLE theirs (x)").await.expect("raw SQL");
    std::fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("the mode is set");
    let before = std::fs::read(&path).expect("the file");
    assert!(matches!(SqlStore::open(&path).await.err(), Some(OpenError::Foreign { .. })));
    assert_eq!(std::fs::read(&path).expect("the file"), before, "it was not touched");
    assert_eq!(std::fs::metadata(&path).expect("its mode").permissions().mode() & 0o777, 0o640);
    raw(&path, "INSERT INTO theirs VALUES (1)").await.expect("their table is there");
}

#[tokio::test]
async fn refuses_what_is_no_database() {
    let (_folder, path) = folder();
    std::fs::write(&path, "no database, however long this text may be. ".repeat(100)).expect("a file");
    let said = SqlStore::open(&path).await.err().expect("it is refused").to_string();
    assert!(said.contains("no database"), "{said}");
}

#[tokio::test]
async fn says_what_is_wrong_with_the_folder() {
    let (folder, _) = folder();
    let missing = folder.path().join("no-such-folder/meta.db");
    // Also root may not write there.
    for path in [missing.as_path(), Path::new("/proc/meta.db"), folder.path()] {
        let error = SqlStore::open(path).await.err().expect("it is refused");
        assert!(matches!(error, OpenError::Io { .. }), "{error:?}");
        let said = error.to_string();
        assert!(said.contains(&format!("{path:?}")) && said.contains("may write"), "{said}");
    }
}

#[tokio::test]
async fn a_full_disk_costs_the_commit_and_nothing_else() {
    let (_folder, path) = folder();
    let store = SqlStore::open_bounded(&path, 40).await.expect("the store opens");
    let block = json!("x".repeat(10_000));
    let mut whole = 0;
    let mut failed = loop {
        let changes = vec![put(&format!("{whole}/left"), block.clone()), put(&format!("{whole}/right"), block.clone())];
        match store.commit(changes).await {
            Ok(()) => whole += 1,
            Err(error) => break error,
        }
    };
    for _ in 0..3 {
        assert!(matches!(&failed, StoreError::Unavailable { reason } if reason.contains("disk is full")), "{failed:?}");
        failed = store.commit(vec![put("again", json!("x".repeat(50_000)))]).await.expect_err("still full");
    }
    assert!(whole > 1, "some commits had room");
    assert_eq!(store.list("thing", "", None, 1_000).await.expect("reads go on").len(), 2 * whole);

    store
        .commit(vec![Change::Delete { kind: "thing".into(), path: "0/left".into(), expect: Expect::Any }])
        .await
        .expect("room is made");
    store.commit(vec![put("small", json!(1))]).await.expect("what has room is taken");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_nobody_waits_for_happens_whole_or_not_at_all() {
    let (_folder, path) = folder();
    let store = Arc::new(open(&path).await);
    for number in 0..60_u32 {
        let changes = (0..20).map(|part| put(&format!("{number:03}/{part:02}"), json!(0))).collect();
        let committing = Arc::clone(&store);
        let commit = tokio::spawn(async move { committing.commit(changes).await });
        for _ in 0..number {
            tokio::task::yield_now().await;
        }
        commit.abort();
        let _dropped = commit.await;
    }
    store.commit(vec![put("last", json!(0))]).await.expect("the store goes on");
    for number in 0..60 {
        let parts = store.list("thing", &format!("{number:03}/"), None, 100).await.expect("a good list").len();
        assert!(parts == 0 || parts == 20, "{parts} of 20 changes");
    }
}

#[tokio::test]
async fn not_even_sql_changes_the_audit_trail() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    store.commit(vec![Change::Append { trail: "t".into(), body: json!("made") }]).await.expect("a good commit");
    for statement in ["UPDATE audit SET body = 'null'", "DELETE FROM audit", "DELETE FROM audit WHERE position = 1"] {
        let refused = raw(&path, statement).await.expect_err("it is refused").to_string();
        assert!(refused.contains("audit trail"), "{refused}");
    }
    assert_eq!(store.entries("t", 0, 10).await.expect("a good question")[0].body, json!("made"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_the_schema_before_is_moved_forward_with_its_trails() {
    let (_guard, path) = folder();
    let store = open(&path).await;
    let append = |number: u64| Change::Append { trail: "t".into(), body: json!(number) };
    store.commit(vec![append(1), append(2)]).await.expect("a good commit");
    store.close().await;
    for statement in [
        "DROP TABLE trails",
        "DROP TRIGGER audit_loses_only_its_oldest",
        "CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit \
         BEGIN SELECT RAISE(ABORT, 'the audit trail is never deleted'); END",
        "PRAGMA user_version = 1",
    ] {
        raw(&path, statement).await.expect("raw SQL");
    }
    let store = open(&path).await;
    store.commit(vec![append(3)]).await.expect("a good commit");
    let entries = store.entries("t", 0, 10).await.expect("a good question");
    assert_eq!(entries.iter().map(|entry| entry.body.clone()).collect::<Vec<_>>(), [json!(1), json!(2), json!(3)]);
    assert!(
        crate::schema::BOUNDED_TRAILS.contains(&format!("<= {MAX_ENTRIES}\n")),
        "the trigger has the store's bound"
    );
}

#[tokio::test]
async fn names_what_is_damaged() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    store.commit(vec![put("a", json!(0))]).await.expect("a good commit");
    raw(&path, "UPDATE documents SET body = '{'").await.expect("raw SQL");
    let error = store.get("thing", "a").await.expect_err("it is damaged");
    assert!(matches!(&error, StoreError::Corrupt { reason } if reason.contains("`a`")), "{error:?}");
}

#[tokio::test]
async fn every_connection_waits_for_the_disk() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    for pool in [&store.pools.writer, &store.pools.readers] {
        let row =
            sqlx::query("SELECT * FROM pragma_synchronous, pragma_journal_mode").fetch_one(pool).await.expect("a row");
        let (synchronous, journal): (i64, String) = (row.get(0), row.get(1));
        assert_eq!((synchronous, journal.as_str()), (2, "wal"), "2 is FULL");
    }
}

/// Not a test of its own: the program that the next test kills. Commits three documents and an entry at a time, and prints
/// each number after it was answered.
#[tokio::test]
#[ignore = "run by the next test, in a process of its own"]
#[expect(clippy::disallowed_methods, reason = "the parent process names the file in the environment")]
async fn commits_until_killed() {
    let Ok(path) = std::env::var("TIDEGATE_TEST_STORE") else { return };
    let store = open(Path::new(&path)).await;
    // An end, in case that nobody kills it.
    for number in 0..100_000_u64 {
        let mut changes: Vec<Change> =
            ["x", "y", "z"].iter().map(|part| put(&format!("{number:06}/{part}"), json!(number))).collect();
        changes.push(Change::Append { trail: "t".into(), body: json!(number) });
        store.commit(changes).await.expect("a good commit");
        println!("\nacknowledged {number}");
    }
}

#[tokio::test]
async fn what_was_answered_outlasts_a_kill() {
    let (_folder, path) = folder();
    let mut answered = 0;
    for _ in 0..3 {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "store::tests::commits_until_killed", "--ignored", "--nocapture", "--test-threads=1"])
            .env("TIDEGATE_TEST_STORE", &path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let numbers =
            lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok());
        let mut last = None;
        for number in numbers {
            last = Some(number);
            // Killed while the next commits are under way; what they print still comes.
            if number == 40 {
                child.kill().expect("the program is killed");
            }
        }
        child.wait().expect("the program has ended");
        answered = answered.max(last.expect("it printed") + 1);

        let store = open(&path).await;
        let documents = all(&store).await;
        for commit in documents.chunks(3) {
            assert!(
                commit.len() == 3 && commit.iter().all(|document| document.version == commit[0].version),
                "a part of a commit"
            );
        }
        let count = u64::try_from(documents.len() / 3).expect("a count");
        assert!(count >= answered, "{answered} were answered, {count} are there");
        let entries = store.entries("t", 0, 1_000).await.expect("a good question");
        assert!(u64::try_from(entries.len()).expect("a count") >= count.min(1_000));
    }
}

async fn all(store: &SqlStore) -> Vec<Document> {
    let mut all: Vec<Document> = Vec::new();
    loop {
        let after = all.last().map(|document| document.path.clone());
        let page = store.list("thing", "", after.as_deref(), 1_000).await.expect("a good list");
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}
