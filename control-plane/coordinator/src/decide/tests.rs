//! Decisions, one by one.

use super::*;

const POLICY: RestartPolicy = RestartPolicy {
    first_pause: Duration::from_secs(1),
    longest_pause: Duration::from_secs(5),
    restarts: 4,
    healthy_after_ms: 1000,
};

fn platform_fault() -> RunEnd {
    RunEnd::PlatformFault { reason: "no memory".into() }
}

#[test]
fn restarts_come_later_each_time_and_not_for_ever() {
    let mut restarts = 0;
    let mut pauses = Vec::new();
    loop {
        match after_run(platform_fault(), &Wish::Run, restarts, Ran::default(), &POLICY) {
            After::Restart { pause, restarts: next, .. } => {
                pauses.push(pause.as_secs());
                restarts = next;
            }
            After::End { state, reason } => {
                assert_eq!(state, JobState::Failed);
                let reason = reason.expect("a reason");
                assert_eq!(reason, "the platform failed the job 5 times in a row, the last time: no memory");
                break;
            }
            After::Leave => panic!("nobody asked for rest"),
        }
    }
    assert_eq!(pauses, [1, 2, 4, 5]);
}

#[test]
fn a_run_that_was_well_for_a_while_ends_a_row_of_restarts() {
    let after = after_run(platform_fault(), &Wish::Run, 4, Ran { ms: 1000, checkpoints: 0 }, &POLICY);
    assert!(matches!(after, After::Restart { restarts: 1, .. }), "{after:?}");
}

#[test]
fn a_run_that_completed_a_checkpoint_ends_a_row_of_restarts_however_short_it_was() {
    let after = |checkpoints| after_run(platform_fault(), &Wish::Run, 4, Ran { ms: 999, checkpoints }, &POLICY);
    assert_eq!(
        after(1),
        After::Restart { pause: Duration::from_secs(1), restarts: 1, reason: "no memory".into() },
        "the next run begins further on"
    );
    assert!(matches!(after(0), After::End { state: JobState::Failed, .. }), "it did not get on at all");
}

#[test]
fn a_job_that_is_killed_again_and_again_goes_on_for_as_long_as_it_gets_on() {
    let mut restarts = 0;
    let mut ends =
        |checkpoints| match after_run(platform_fault(), &Wish::Run, restarts, Ran { ms: 10, checkpoints }, &POLICY) {
            After::Restart { restarts: next, .. } => {
                restarts = next;
                true
            }
            _ => false,
        };
    // Two faults without a checkpoint between two with one, over and over.
    assert!((0..399).all(|run| ends(u64::from(run % 3 == 0))), "it failed although it got on");
    // The last two were without one; one more is borne.
    assert!(ends(0) && !ends(0), "it did not get on any more, and was started for ever");
}

#[test]
fn the_longest_recovery_that_transactions_are_checked_against_covers_the_policy() {
    let policy = RestartPolicy::default();
    let most = policy.longest_pause * policy.restarts;
    assert_eq!(i64::try_from(most.as_millis()), Ok(tidegate_pipeline::WORST_RECOVERY.0));
    let pauses: Duration = (1..=policy.restarts).map(|restart| policy.pause(restart)).sum();
    assert_eq!(pauses, Duration::from_secs(123), "docs/pipeline-file.md and docs/jobs.md say about two minutes");
}

#[test]
fn why_a_job_is_started_again_says_from_where() {
    let status = |id: Option<u64>| CheckpointStatus {
        last: id.map(|id| crate::CompletedCheckpoint { id, ..crate::CompletedCheckpoint::default() }),
        ..CheckpointStatus::default()
    };
    assert_eq!(
        starting_again("no memory", Some(&status(Some(12)))),
        "it is started again, from checkpoint 12: no memory"
    );
    let anew = starting_again("no memory", Some(&status(None)));
    assert_eq!(anew, "it is started again, from the start of its input, as no checkpoint was completed: no memory");
    let unknown = starting_again("no memory", None);
    assert_eq!(unknown, "it is started again, from its newest checkpoint if it has one: no memory");
}

#[test]
fn a_tenants_own_fault_never_restarts() {
    let end = RunEnd::TenantFault { reason: "the stream is sealed".into() };
    let after = after_run(end, &Wish::Run, 0, Ran::default(), &POLICY);
    assert_eq!(after, After::End { state: JobState::Failed, reason: Some("the stream is sealed".into()) });
}

#[test]
fn a_wish_decides_what_a_stop_means() {
    let stopped = |wish: &Wish| after_run(RunEnd::Stopped, wish, 0, Ran::default(), &POLICY);
    let cancelled = After::End { state: JobState::Cancelled, reason: Some("cancelled by ann".into()) };
    assert_eq!(stopped(&Wish::Cancel { by: "ann".into() }), cancelled);
    assert_eq!(stopped(&Wish::Rest), After::Leave);
    assert!(matches!(stopped(&Wish::Run), After::Restart { .. }));
    // A job that is cancelled while it fails for the platform's sake is cancelled, and one that rests stays live.
    assert_eq!(after_run(platform_fault(), &Wish::Cancel { by: "ann".into() }, 9, Ran::default(), &POLICY), cancelled);
    assert_eq!(after_run(platform_fault(), &Wish::Rest, 9, Ran::default(), &POLICY), After::Leave);
    // What has finished has finished, whatever was wished meanwhile.
    let finished = After::End { state: JobState::Finished, reason: None };
    assert_eq!(after_run(RunEnd::Finished, &Wish::Rest, 0, Ran::default(), &POLICY), finished);
}

fn standing(version: u64, state: JobState) -> Option<Standing<'static>> {
    Some(Standing { version, text: "text", state })
}

#[test]
fn a_version_is_submitted_once_and_grows() {
    let admit = |version, text, standing| admit_version("j", version, text, standing);
    assert_eq!(admit(1, "text", None).expect("new"), Admitted::New);
    for state in [JobState::Running, JobState::Cancelled, JobState::Failed] {
        assert_eq!(admit(3, "text", standing(3, state)).expect("the same"), Admitted::Again);
        let other = admit(3, "other", standing(3, state)).expect_err("another text");
        assert!(other.to_string().contains("a version never changes"), "{other}");
        let older = admit(2, "text", standing(3, state)).expect_err("older");
        assert!(matches!(older, SubmitError::VersionNotNewer { given: 2, latest: 3, .. }), "{older}");
    }
    assert_eq!(admit(4, "text", standing(3, JobState::Finished)).expect("newer"), Admitted::New);
    let running = admit(4, "text", standing(3, JobState::Running)).expect_err("it runs").to_string();
    assert!(running.contains("version 3 is running; cancel it first"), "{running}");
}

#[test]
fn live_jobs_are_counted_and_write_tables_of_their_own() {
    let none = LiveJobs::default();
    let writes = |tables: &[&str]| Writes { tables: tables.iter().map(ToString::to_string).collect(), precedence: 0 };
    let own = writes(&["s", "t"]);
    let one = admit_live(&none, "a", &own, 2).expect("room");
    let taken = admit_live(&one, "b", &writes(&["r", "t"]), 2).expect_err("taken").to_string();
    assert_eq!(
        taken,
        "table `t` is written by job `a` with the same precedence, 0, so that neither's rows are newer; name another table, \
         cancel that job, or give this one another `precedence`"
    );
    let two = admit_live(&one, "b", &Writes::default(), 2).expect("room");
    assert!(matches!(admit_live(&two, "c", &Writes::default(), 2), Err(SubmitError::Quota { limit: 2 })));
    // The same job again takes no second place, and may have its own tables.
    assert_eq!(admit_live(&two, "a", &own, 2).expect("its own place"), two);
}

#[test]
fn jobs_of_different_precedences_may_write_one_table() {
    let t = |precedence| Writes { tables: vec!["t".into()], precedence };
    let live = admit_live(&LiveJobs::default(), "live", &t(0), 9).expect("room");
    let both = admit_live(&live, "backfill", &t(-1), 9).expect("another precedence");
    assert!(admit_live(&both, "other", &t(-1), 9).is_err() && admit_live(&both, "other", &t(0), 9).is_err());
    // A job's next version may have another one, and leaves the old one to others.
    let changed = admit_live(&both, "backfill", &t(-2), 9).expect("its own place");
    admit_live(&changed, "other", &t(-1), 9).expect("free again");
    let mut alone = changed;
    alone.remove("backfill");
    assert_eq!(alone, live, "nothing is left of a job that has ended");
}

#[test]
fn a_list_of_live_jobs_is_read_as_it_was_written_before_jobs_had_several_tables() {
    let stored = r#"{"jobs": {"a": "t", "b": null, "c": ["s", "t"]}}"#;
    let live: LiveJobs = serde_json::from_str(stored).expect("a document");
    let tables: Vec<_> = live.jobs.values().map(|tables| tables.0.join(" ")).collect();
    assert_eq!(tables, ["t", "", "s t"]);
    let written = serde_json::to_value(&live).expect("JSON");
    assert_eq!(written["jobs"]["a"], serde_json::json!(["t"]));
    assert_eq!(serde_json::from_value::<LiveJobs>(written).expect("a document"), live);
}
