//! What a job keeps beyond its run: its state at any parallelism, what its outputs had prepared, and what happens when the
//! store of checkpoints fails or a checkpoint is damaged.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// A job that takes checkpoints all the time.
const OFTEN: &str = "checkpoint: {interval: 10ms}\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_job_goes_on_from_its_newest_checkpoint_at_any_parallelism() {
    let place = Place::new().await;
    let rest = format!("{TABLE}{OFTEN}late_side_output: late\nparallelism: ");
    let mut epoch = 0;
    let mut start = |parallelism: u32| {
        epoch += 1;
        StartJob { restore_epoch: epoch, ..job("acme", "minutes", &format!("{rest}{parallelism}\n")) }
    };
    let key = job("acme", "minutes", TABLE).key;
    let restored = |status: &RunStatus| status.checkpoints.as_ref().and_then(|of| of.restored).map(|of| of.id);
    let completed = |status: &RunStatus| status.checkpoints.as_ref().map_or(0, |of| of.completed);
    for (number, parallelism) in (0_u64..).zip([2, 1, 3, 8]) {
        let run = place.runner.start(start(parallelism)).await.expect("it runs");
        let status = place.runner.status(&key).expect("it runs");
        assert_eq!(restored(&status).is_some(), number > 0, "{status:?}");
        assert_eq!(status.account.read, 20 * number, "the account goes on");
        for at in 0..10 {
            for (partition, user) in [(0, "a"), (1, "b")] {
                let record = format!(r#"{{"t": {}, "k": "{user}{at}"}}"#, 1_000 + number);
                place.append("acme", partition, &[&record]);
            }
        }
        let read = place.until(&key, |status| status.account.read == 20 * (number + 1)).await;
        // One that was begun after everything was read.
        place.until(&key, |status| completed(status) >= completed(&read) + 2).await;
        place.runner.stop(&key);
        assert_eq!(end(run).await, RunEnd::Stopped);
    }
    let run = place.runner.start(start(2)).await.expect("it runs");
    place.seal("acme");
    assert_eq!(end(run).await, RunEnd::Finished);
    let account = place.runner.status(&key).expect("it ran").account;
    assert_eq!((account.read, account.accepted, account.panes.on_time), (80, 80, 20));
    let rows = place.rows("acme", "minutes");
    assert_eq!(rows.len(), 20);
    assert!(rows.iter().all(|row| row["n"] == 4), "each key has a record of each run: {rows:?}");
    // It has finished: another start has nothing to do, and says so with the same account.
    let run = place.runner.start(start(1)).await.expect("it can be asked");
    assert_eq!(end(run).await, RunEnd::Finished);
    assert_eq!(place.runner.status(&key).expect("it is known").account, account);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stopped_run_had_not_committed_is_committed_once_by_the_next() {
    let place = Place::new().await;
    let rest = format!("sink: {{type: transactional_log, log: out}}\n{OFTEN}trigger: {{early: every 1 elements}}\n");
    let first = job("acme", "minutes", &rest);
    let key = first.key.clone();
    let run = place.runner.start(first.clone()).await.expect("it runs");
    for at in 0..50 {
        place.append("acme", 0, &[&format!(r#"{{"t": {at}, "k": "a"}}"#)]);
    }
    place.until(&key, |status| status.account.read >= 20).await;
    place.runner.stop(&key);
    assert_eq!(end(run).await, RunEnd::Stopped);
    place.seal("acme");
    let run = place.runner.start(StartJob { restore_epoch: 2, ..first }).await.expect("it runs");
    assert_eq!(end(run).await, RunEnd::Finished);
    let counts = |partition| {
        let records = place.read("acme", "out", partition).into_iter();
        records.map(|record| record["n"].as_i64().expect("a count")).collect::<Vec<_>>()
    };
    let counts = [counts(0), counts(1)].concat();
    assert_eq!(counts, (1..=50).chain([50]).collect::<Vec<_>>(), "each pane once, in order, the last one on time");
}

fn completed(status: &RunStatus) -> u64 {
    status.checkpoints.as_ref().map_or(0, |of| of.completed)
}

fn failing(status: &RunStatus) -> u64 {
    status.checkpoints.as_ref().and_then(|of| of.failing.as_ref()).map_or(0, |failing| failing.in_a_row)
}

/// Makes every write to the store of checkpoints fail, until it is let go.
fn break_store(place: &Place) -> (PathBuf, PathBuf) {
    let tenants = place.folder.path().join("checkpoints/tenants");
    let away = place.folder.path().join("checkpoints/away");
    fs::rename(&tenants, &away).expect("a checkpoint was written");
    fs::write(&tenants, "in the way").expect("written");
    (tenants, away)
}

fn mend_store((tenants, away): &(PathBuf, PathBuf)) {
    fs::remove_file(tenants).expect("it is in the way");
    fs::rename(away, tenants).expect("it was moved away");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_fails_checkpoints_and_not_the_job() {
    let place = Place::new().await;
    let job = job("acme", "minutes", &format!("{TABLE}{OFTEN}trigger: {{early: every 1 elements}}\n"));
    let key = job.key.clone();
    let run = place.runner.start(job).await.expect("it runs");
    place.until(&key, |status| completed(status) >= 1).await;
    let broken = break_store(&place);
    // Where nothing has happened, nothing is saved.
    place.append("acme", 0, &[r#"{"t": 1000, "k": "a"}"#]);
    let status = place.until(&key, |status| failing(status) >= 3).await;
    let alert = status.checkpoints.as_ref().and_then(|of| of.alert()).expect("three in a row are an alert");
    assert!(alert.contains("checkpoints failed; the job goes on"), "{alert}");
    place.append("acme", 0, &[r#"{"t": 1000, "k": "a"}"#]);
    place.until(&key, |status| status.account.panes.early == 2).await;
    let before = completed(&place.runner.status(&key).expect("it runs"));
    mend_store(&broken);
    place.until(&key, |status| completed(status) > before && failing(status) == 0).await;
    place.seal("acme");
    assert_eq!(end(run).await, RunEnd::Finished);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_failures_in_a_row_than_are_borne_end_the_run() {
    let place = Place::new().await;
    let often = "checkpoint: {interval: 10ms, tolerable_failures: 2}\n";
    let job = job("acme", "minutes", &format!("{TABLE}{often}"));
    let key = job.key.clone();
    let run = place.runner.start(job).await.expect("it runs");
    place.until(&key, |status| completed(status) >= 1).await;
    break_store(&place);
    place.append("acme", 0, &[r#"{"t": 1000, "k": "a"}"#]);
    let RunEnd::PlatformFault { reason } = end(run).await else { panic!("the platform's store failed") };
    assert!(reason.contains("3 checkpoints in a row have failed"), "{reason}");
}

/// The files below a folder, in order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_dir() { found.extend(files(&entry.path())) } else { found.push(entry.path()) }
    }
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_damaged_checkpoint_the_one_before_it_is_used() {
    for damage in ["a manifest", "a file of the state"] {
        let place = Place::new().await;
        let rest =
            format!("sink: {{type: transactional_log, log: out}}\n{OFTEN}trigger: {{early: every 1 elements}}\n");
        let first = job("acme", "minutes", &rest);
        let key = first.key.clone();
        // With one partition, what is read again leads to the same records.
        place.runner.parts.log.seal(&stream("acme", "events"), Some(1)).expect("sealed");
        let run = place.runner.start(first.clone()).await.expect("it runs");
        for at in 0..30 {
            place.append("acme", 0, &[&format!(r#"{{"t": {at}, "k": "a{at}"}}"#)]);
            let read = place.until(&key, |status| status.account.read > at).await;
            place.until(&key, |status| completed(status) > completed(&read)).await;
        }
        place.runner.stop(&key);
        assert_eq!(end(run).await, RunEnd::Stopped);
        let status = place.runner.status(&key).expect("it ran");
        let newest = status.checkpoints.and_then(|of| of.last).expect("there was one").id;
        let of_newest = match damage {
            "a manifest" => format!("{newest:020}-1.json"),
            _ => format!("1-{newest}-window-0-"),
        };
        let objects = files(&place.folder.path().join("checkpoints"));
        let is_of =
            |object: &&PathBuf| object.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&of_newest));
        let damaged = objects.iter().find(is_of).expect("the newest checkpoint has its own");
        let bytes = fs::read(damaged).expect("read");
        fs::write(damaged, &bytes[..bytes.len() / 2]).expect("written");
        // What is on the machine would do as well.
        fs::remove_dir_all(place.folder.path().join("state")).expect("it kept its state there");
        let run = place.runner.start(StartJob { restore_epoch: 2, ..first }).await.expect("it runs");
        let again = place.runner.status(&key).expect("it runs");
        let restored = again.checkpoints.and_then(|of| of.restored).expect("there is another one").id;
        assert!(restored < newest, "{damage}: {restored} of {newest}");
        place.seal("acme");
        assert_eq!(end(run).await, RunEnd::Finished);
        let records = [place.read("acme", "out", 0), place.read("acme", "out", 1)].concat();
        let of = |timing: &str| records.iter().filter(|record| record["pane"]["timing"] == timing).count();
        assert_eq!((of("EARLY"), of("ON_TIME")), (30, 30), "{damage}: each pane once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_job_that_has_ended_for_good_nothing_is_left() {
    let place = Place::new().await;
    let rest = format!("sink: {{type: transactional_log, log: out}}\n{OFTEN}trigger: {{early: every 1 elements}}\n");
    let job = job("acme", "minutes", &rest);
    let key = job.key.clone();
    let run = place.runner.start(job.clone()).await.expect("it runs");
    let (log, events, out) = (&place.runner.parts.log, stream("acme", "events"), stream("acme", "out"));
    let held = log.holds(&events).expect("listed");
    assert_eq!(held, [("job:minutes".to_owned(), vec![0, 0])], "without a checkpoint it would begin here again");
    for at in 0..6 {
        place.append("acme", 0, &[&format!(r#"{{"t": {at}, "k": "a"}}"#)]);
        let read = place.until(&key, |status| status.account.read > at).await;
        place.until(&key, |status| completed(status) > completed(&read)).await;
    }
    assert_eq!(log.holds(&events).expect("listed").len(), 1, "what its checkpoints need of the input stays");
    // Nothing is committed any more: what it writes from now on stays staged.
    break_store(&place);
    place.append("acme", 0, &[r#"{"t": 7, "k": "a"}"#]);
    place.until(&key, |status| failing(status) >= 2).await;
    place.runner.stop(&key);
    assert_eq!(end(run).await, RunEnd::Stopped);
    assert_eq!(log.transactions(&out).expect("listed").len(), 1);
    let checkpoints = place.folder.path().join("checkpoints");
    mend_store(&(checkpoints.join("tenants"), checkpoints.join("away")));
    let ended = |keeps_checkpoints| EndedJob {
        key: key.clone(),
        version: 1,
        starts: 1,
        pipeline: Arc::clone(&job.pipeline),
        keeps_checkpoints,
    };
    place.runner.discard(ended(true)).await.expect("let go of");
    assert!(log.holds(&events).expect("listed").is_empty() && log.transactions(&out).expect("listed").is_empty());
    assert!(!files(&checkpoints).is_empty(), "they may be looked into");
    assert!(!place.folder.path().join("state/acme/minutes/v1").exists());
    for _ in 0..2 {
        place.runner.discard(ended(false)).await.expect("let go of");
        assert_eq!(files(&checkpoints), [] as [PathBuf; 0]);
    }
}
