//! Each start of a job has a higher number than all before it, whatever lay between: versions of its rows depend on it.

use super::*;

#[tokio::test]
async fn starts_are_counted_over_restarts_versions_and_processes() {
    let mut place = Place::new().await;
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    for epoch in [1, 2] {
        let run = place.start().await;
        assert_eq!(run.restore_epoch, epoch);
        run.end.send(RunEnd::PlatformFault { reason: "no memory".to_owned() }).unwrap();
    }
    let run = place.start().await;
    assert_eq!(run.restore_epoch, 3);
    run.end.send(RunEnd::Finished).unwrap();
    place.until("clicks", JobState::Finished).await;

    place.submit(&pipeline("clicks", 2)).await.expect("accepted");
    assert_eq!(place.start().await.restore_epoch, 4, "a new version goes on counting");
    place.until("clicks", JobState::Running).await;
    place.coordinator.rest().await;
    let next = Place::coordinator(&place.store, &place.tenancy, &place.runner, &place.clock);
    next.resume_all().await.expect("the store is there");
    assert_eq!(place.start().await.restore_epoch, 5, "so does the next process");
}

#[tokio::test]
async fn a_start_that_was_refused_leaves_a_gap_and_no_number_comes_twice() {
    let mut place = Place::new().await;
    place.runner.refusals.lock().unwrap().push_back(StartError::Platform { reason: "no threads".into() });
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    assert_eq!(place.start().await.restore_epoch, 2);
}

#[tokio::test]
async fn a_name_whose_record_was_forgotten_goes_on_above_what_it_had() {
    let mut place = Place::new().await;
    let mut finish = async |name: &str, version: u32, epoch: u64| {
        place.clock.0.fetch_add(1, Ordering::SeqCst);
        place.submit(&pipeline(name, version)).await.expect("accepted");
        let run = place.start().await;
        assert_eq!(run.restore_epoch, epoch, "{name}, version {version}");
        run.end.send(RunEnd::Finished).unwrap();
        place.until(name, JobState::Finished).await;
    };
    finish("a", 1, 1).await;
    finish("a", 2, 2).await;
    finish("b", 1, 1).await;
    finish("c", 1, 1).await;
    // Three records are kept: that of `a` makes room.
    finish("d", 1, 3).await;
    finish("a", 1, 3).await;
}
