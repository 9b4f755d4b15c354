//! What follows from how checkpoints fare.

use super::*;

fn failing(in_a_row: u64) -> CheckpointStatus {
    let failing = FailingCheckpoints { in_a_row, since: 7, last_error: "the store does not answer".into() };
    CheckpointStatus { failures: 9, failing: Some(failing), ..CheckpointStatus::default() }
}

#[test]
fn nobody_is_alerted_before_the_third_failure_in_a_row() {
    assert_eq!(CheckpointStatus::default().alert(), None);
    assert_eq!((failing(1).alert(), failing(2).alert()), (None, None));
    let alert = failing(3).alert().expect("an alert");
    assert_eq!(
        alert,
        "the last 3 checkpoints failed; the job goes on, and a restart now would go back to the beginning, as none was \
         completed. The last failure: the store does not answer"
    );
    // A checkpoint that was completed ends the row, however many failed before.
    let ended = CheckpointStatus { failing: None, ..failing(5) };
    assert_eq!((ended.failures, ended.alert()), (9, None));
}

#[test]
fn the_newest_is_this_runs_last_or_the_one_it_began_with() {
    let restored = RestoredCheckpoint { id: 4, taken_at: 400, ..RestoredCheckpoint::default() };
    let began = CheckpointStatus { restored: Some(restored), ..failing(3) };
    assert_eq!((began.newest(), began.newest_at()), (Some(4), Some(400)));
    assert!(began.alert().expect("an alert").contains("would go back to checkpoint 4"));
    let last = CompletedCheckpoint { id: 6, completed_at: 600, ..CompletedCheckpoint::default() };
    let went_on = CheckpointStatus { last: Some(last), ..began };
    assert_eq!((went_on.newest(), went_on.newest_at()), (Some(6), Some(600)));
    assert_eq!((CheckpointStatus::default().newest(), CheckpointStatus::default().newest_at()), (None, None));
}

#[test]
fn what_an_older_release_wrote_is_read() {
    let read: CheckpointStatus = serde_json::from_str(r#"{"last": {"id": 3}, "completed": 2}"#).expect("a status");
    assert_eq!((read.newest(), read.completed, read.failing), (Some(3), 2, None));
    let written = serde_json::to_string(&failing(3)).expect("JSON");
    assert_eq!(serde_json::from_str::<CheckpointStatus>(&written).expect("a status"), failing(3));
}
