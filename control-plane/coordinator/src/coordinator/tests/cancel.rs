//! Cancelling: it ends what runs, waits for it, and outlives the process.

use super::*;

#[tokio::test]
async fn a_cancelled_job_has_ended_when_the_answer_comes() {
    let mut place = Place::new().await;
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    let _run = place.start().await;
    let cancelled = place.coordinator.cancel(&ann(), &place.acme, "clicks").await.expect("cancelled");
    assert_eq!((cancelled.state, cancelled.reason.as_deref()), (JobState::Cancelled, Some("cancelled by ann")));
    let again = place.coordinator.cancel(&ann(), &place.acme, "clicks").await.expect("it stays so");
    assert_eq!(again, cancelled);
    place.submit(&pipeline("clicks", 2)).await.expect("its place is free again");
    let missing = place.coordinator.cancel(&ann(), &place.acme, "none").await.expect_err("there is none");
    assert!(matches!(missing, JobError::NotFound { .. }));
}

#[tokio::test]
async fn a_live_job_that_no_process_runs_can_be_cancelled() {
    let mut place = Place::new().await;
    place.submit(&pipeline("a", 1)).await.expect("accepted");
    let _run = place.start().await;
    place.until("a", JobState::Running).await;
    place.coordinator.rest().await;
    let next = Place::coordinator(&place.store, &place.tenancy, &place.runner, &place.clock);
    let cancelled = next.cancel(&ann(), &place.acme, "a").await.expect("cancelled");
    assert_eq!(cancelled.state, JobState::Cancelled);
    assert_eq!(next.resume_all().await.expect("none"), 0);
}

#[tokio::test]
async fn whoever_cancels_at_the_same_time_waits_for_the_run_too() {
    let mut place = Place::new().await;
    place.runner.stays.store(true, Ordering::SeqCst);
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    let run = place.start().await;
    place.until("clicks", JobState::Running).await;
    let mut going = Vec::new();
    for _ in 0..2 {
        let (coordinator, acme) = (place.coordinator.clone(), place.acme.clone());
        going.push(tokio::spawn(async move { coordinator.cancel(&ann(), &acme, "clicks").await }));
    }
    // Both have asked, and the run still writes.
    asked(&place, 2).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(place.job("clicks").await.state, JobState::Running);
    let newer = place.submit(&pipeline("clicks", 2)).await.expect_err("the old run still writes");
    assert!(matches!(newer, SubmitError::Conflict { .. }), "{newer}");
    run.end.send(RunEnd::Stopped).unwrap();
    for cancel in going {
        let job = cancel.await.expect("no panic").expect("cancelled");
        assert_eq!((job.state, job.watermark), (JobState::Cancelled, Some(7)), "what it showed is kept");
    }
}

/// Waits until so many wishes to cancel stand in the store.
async fn asked(place: &Place, times: usize) {
    let admin = caller(Role::TenantAdmin, Some("acme"));
    loop {
        let trail = place.tenancy.audit_trail(&admin, Some(&place.acme), 0, 100).await.expect("the trail");
        if trail.iter().filter(|entry| entry.action == "job.cancel").count() >= times {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// A coordinator of the next process over the same store. Nothing tells the one before.
fn next_process(place: &Place) -> Coordinator {
    Place::coordinator(&place.store, &place.tenancy, &place.runner, &place.clock)
}

#[tokio::test]
async fn a_process_that_is_killed_before_the_run_has_ended_does_not_forget_a_cancellation() {
    let mut place = Place::new().await;
    // The runner never answers that it has stopped.
    place.runner.stays.store(true, Ordering::SeqCst);
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    let _run = place.start().await;
    place.until("clicks", JobState::Running).await;
    let (coordinator, acme) = (place.coordinator.clone(), place.acme.clone());
    let waits = tokio::spawn(async move { coordinator.cancel(&ann(), &acme, "clicks").await });
    asked(&place, 1).await;
    assert!(!waits.is_finished(), "its run has not ended");
    waits.abort();
    place.coordinator = next_process(&place);
    assert_eq!(place.coordinator.resume_all().await.expect("resumed"), 1);
    let ended = place.until("clicks", JobState::Cancelled).await;
    assert_eq!(ended.reason.as_deref(), Some("cancelled by ann"));
    assert!(place.starts.try_recv().is_err(), "it is not run again");
    // The wish went with the job: its next version runs.
    place.submit(&pipeline("clicks", 2)).await.expect("its place is free again");
    assert_eq!(place.start().await.key.name.as_str(), "clicks");
    place.until("clicks", JobState::Running).await;
}

#[tokio::test]
async fn a_cancelled_job_that_is_submitted_again_before_it_has_ended_is_not_run() {
    let mut place = Place::new().await;
    place.runner.stays.store(true, Ordering::SeqCst);
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    let _run = place.start().await;
    let (coordinator, acme) = (place.coordinator.clone(), place.acme.clone());
    let waits = tokio::spawn(async move { coordinator.cancel(&ann(), &acme, "clicks").await });
    asked(&place, 1).await;
    waits.abort();
    place.coordinator = next_process(&place);
    place.submit(&pipeline("clicks", 1)).await.expect("the same");
    place.until("clicks", JobState::Cancelled).await;
    assert!(place.starts.try_recv().is_err());
}

#[tokio::test]
async fn a_cancellation_concerns_no_other_job() {
    let mut place = Place::new().await;
    place.runner.stays.store(true, Ordering::SeqCst);
    for job in ["a", "b"] {
        place.submit(&pipeline(job, 1)).await.expect("accepted");
        let _ = place.start().await;
    }
    let (coordinator, acme) = (place.coordinator.clone(), place.acme.clone());
    let waits = tokio::spawn(async move { coordinator.cancel(&ann(), &acme, "a").await });
    asked(&place, 1).await;
    waits.abort();
    place.coordinator = next_process(&place);
    assert_eq!(place.coordinator.resume_all().await.expect("resumed"), 2);
    assert_eq!(place.start().await.key.name.as_str(), "b");
    place.until("a", JobState::Cancelled).await;
    place.until("b", JobState::Running).await;
    assert!(place.starts.try_recv().is_err());
}
