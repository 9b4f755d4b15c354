//! What checkpoints do to a job's life: where it goes on, how often it is started again, what is shown of it.

use super::*;

/// A run that has completed so many, the last of them `id`.
fn completed(id: u64, completed: u64) -> Option<CheckpointStatus> {
    let last = CompletedCheckpoint { id, completed_at: 5_000, ..CompletedCheckpoint::default() };
    Some(CheckpointStatus { last: Some(last), completed, ..CheckpointStatus::default() })
}

fn fault() -> RunEnd {
    RunEnd::PlatformFault { reason: "no memory".to_owned() }
}

#[tokio::test]
async fn a_job_that_completes_checkpoints_is_started_again_for_as_long_as_it_fails() {
    let mut place = Place::new().await;
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    for run in 1..=20 {
        *place.runner.checkpoints.lock().unwrap() = completed(run, 1);
        place.start().await.end.send(fault()).unwrap();
    }
    // From now on it gets no further. What the run before did was asked before this one began.
    for _ in 0..3 {
        let run = place.start().await;
        *place.runner.checkpoints.lock().unwrap() = completed(20, 0);
        run.end.send(fault()).unwrap();
    }
    let failed = place.until("clicks", JobState::Failed).await;
    assert!(failed.reason.expect("a reason").starts_with("the platform failed the job 4 times in a row"));
    assert!(place.starts.try_recv().is_err());
}

#[tokio::test]
async fn a_job_that_waits_to_be_started_again_says_from_where() {
    let mut place = Place::new().await;
    *place.runner.checkpoints.lock().unwrap() = completed(12, 3);
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    place.start().await.end.send(fault()).unwrap();
    // It is started again at once, and then still says why.
    let _run = place.start().await;
    let job = place.until("clicks", JobState::Running).await;
    assert_eq!(job.reason.as_deref(), Some("it is started again, from checkpoint 12: no memory"));
}

#[tokio::test]
async fn the_newest_checkpoint_is_shown_while_a_job_runs_and_after_it() {
    let mut place = Place::new().await;
    *place.runner.checkpoints.lock().unwrap() = completed(12, 3);
    let submitted = place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    assert_eq!((submitted.last_checkpoint, submitted.checkpoints), (None, None), "it has not begun");
    let run = place.start().await;
    let running = place.until("clicks", JobState::Running).await;
    assert_eq!((running.last_checkpoint, running.checkpoints), (Some(5_000), completed(12, 3)));
    run.end.send(RunEnd::Finished).unwrap();
    let finished = place.until("clicks", JobState::Finished).await;
    *place.runner.checkpoints.lock().unwrap() = None;
    assert_eq!((finished.last_checkpoint, finished.checkpoints), (Some(5_000), completed(12, 3)));
}

#[tokio::test]
async fn what_a_job_promises_is_shown_from_its_submission_on() {
    let place = Place::new().await;
    let job = place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    assert!(
        job.guarantee
            .iter()
            .any(|sentence| sentence.starts_with("Sink `sink` (table `clicks`): exactly once in effect"))
    );
    assert_eq!(place.job("clicks").await.guarantee, job.guarantee);
}
