//! A job's next version, and what a job holds.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_comes_while_the_one_before_is_put_away_runs() {
    let mut place = Place::new().await;
    let runner = Arc::clone(&place.runner);
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    // Its record says that it has ended, and its supervisor is not gone yet.
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let (tell, told) = std::sync::mpsc::channel();
    let holding = std::thread::Builder::new().name("holds".into()).spawn(move || {
        let _forgets = runner.forgets.lock().unwrap();
        tell.send(()).unwrap();
        let _ = held.recv();
    });
    told.recv().unwrap();
    place.start().await.end.send(RunEnd::Finished).unwrap();
    place.until("clicks", JobState::Finished).await;
    let (coordinator, acme) = (place.coordinator.clone(), place.acme.clone());
    let next = tokio::spawn(async move { coordinator.submit(&ann(), &acme, &pipeline("clicks", 2)).await });
    while place.job("clicks").await.version == 1 {
        tokio::task::yield_now().await;
    }
    let waiting = place.job("clicks").await;
    assert_eq!((waiting.state, waiting.account, waiting.parallelism), (JobState::Submitted, None, None));
    drop(hold);
    holding.unwrap().join().unwrap();
    let submitted = next.await.unwrap().expect("accepted");
    assert_eq!((submitted.version, submitted.account), (2, None), "the account of the run before is not its own");
    place.start().await;
    place.until("clicks", JobState::Running).await;
}

#[tokio::test]
async fn a_stream_that_a_live_job_uses_is_not_given_away() {
    let mut place = Place::new().await;
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    let run = place.start().await;
    let refused = async |stream: &str| match place.coordinator.hold_stream(&place.acme, stream).await {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    };
    let reads = "stream `in`: job `clicks` reads it; cancel the job first (`tidegate job cancel clicks`)";
    assert_eq!(refused("in").await.as_deref(), Some(reads));
    assert!(refused("clicks-dead-letters").await.expect("refused").contains("`clicks` writes it"));
    assert_eq!(refused("other").await, None);
    let other = "other".parse().unwrap();
    assert!(place.coordinator.hold_stream(&other, "in").await.is_ok(), "another tenant's stream");
    let jobs = place.coordinator.hold_tenant(&place.acme).await.expect_err("it has a job").to_string();
    assert_eq!(jobs, "tenant `acme`: 1 of its jobs run, `clicks` among them; cancel them first");
    run.end.send(RunEnd::Finished).unwrap();
    place.until("clicks", JobState::Finished).await;
    assert_eq!(refused("in").await, None);
    let hold = place.coordinator.hold_tenant(&place.acme).await.expect("nothing runs");
    // Nothing is accepted while it is held.
    let (coordinator, acme) = (place.coordinator.clone(), place.acme.clone());
    let waits = tokio::spawn(async move { coordinator.submit(&ann(), &acme, &pipeline("next", 1)).await });
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!waits.is_finished());
    drop(hold);
    waits.await.unwrap().expect("accepted");
}

#[tokio::test]
async fn jobs_are_listed_page_by_page() {
    let mut place = Place::new().await;
    for job in ["c", "a", "b"] {
        place.submit(&pipeline(job, 1)).await.expect("room");
        place.start().await.end.send(RunEnd::Finished).unwrap();
        place.until(job, JobState::Finished).await;
    }
    let page = async |after: Option<&str>, limit| -> Vec<String> {
        let listed = place.coordinator.list(&ann(), &place.acme, after, limit).await.expect("listed");
        listed.into_iter().map(|job| job.name).collect()
    };
    assert_eq!(page(None, 2).await, ["a", "b"]);
    assert_eq!(page(Some("b"), 2).await, ["c"]);
    assert_eq!(page(Some("c"), 2).await, Vec::<String>::new());
}
