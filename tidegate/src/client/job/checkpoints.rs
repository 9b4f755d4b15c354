//! A job's checkpoints and its guarantee, as a person reads them. What an older platform does not tell is left out.

use serde_json::Value;

use crate::client::value;
use crate::live::clean;

/// What is told of a job's checkpoints.
pub(super) fn facts(job: &Value) -> Vec<(&'static str, String)> {
    let mut facts = vec![("last checkpoint", last(job))];
    if job.pointer("/checkpoints/last").is_some_and(Value::is_object) {
        let [full, sent, kept] = ["full", "transferred", "referenced"].map(|of| text(job, &format!("last/bytes/{of}")));
        facts.push(("its bytes", format!("{full}: {sent} sent for it, {kept} of earlier ones")));
    }
    if !job.get("checkpoints").is_some_and(Value::is_object) {
        return facts;
    }
    facts.push((
        "checkpoints",
        format!("{} completed, {} failed in this run", text(job, "completed"), text(job, "failures")),
    ));
    if count(job, "failures_in_a_row") > 0 {
        let since = value::time(job, "/checkpoints/failing_since");
        let row = format!("{} in a row since {since}: {}", text(job, "failures_in_a_row"), text(job, "last_error"));
        facts.push(("failing", row));
    }
    for (name, at, unit) in [
        ("oldest kept", "oldest_kept_age_ms", "ms old"),
        ("store takes", "store_bytes_per_second", "bytes a second"),
        ("oldest prepared", "oldest_prepared_transaction_ms", "ms waiting to be committed"),
    ] {
        if is_known(job, at) {
            facts.push((name, format!("{} {unit}", text(job, at))));
        }
    }
    if is_known(job, "restored_from") {
        facts.push(("restored from", restored(job)));
    }
    facts
}

/// The newest checkpoint: this run's last, or the one that it began with.
fn last(job: &Value) -> String {
    let at = value::time(job, "/last_checkpoint");
    if is_known(job, "last/id") {
        let [id, took, aligned] = ["last/id", "last/duration_ms", "last/alignment_ms"].map(|at| text(job, at));
        return format!("{id}, at {at}, in {took} ms ({aligned} ms aligning)");
    }
    match job.get("last_checkpoint") {
        None | Some(Value::Null) => "none yet".to_owned(),
        Some(_) => at,
    }
}

/// The checkpoint that the run began with, and the phases of its restore that are over.
fn restored(job: &Value) -> String {
    let phases = ["assign", "download", "open", "warm", "replay"].into_iter().filter_map(|phase| {
        let at = format!("restore/{phase}_ms");
        is_known(job, &at).then(|| format!("{phase} {} ms", text(job, &at)))
    });
    let phases: Vec<String> = phases.collect();
    let id = text(job, "restored_from");
    if phases.is_empty() { id } else { format!("{id} ({})", phases.join(", ")) }
}

/// What somebody should know now.
pub(super) fn alert(job: &Value) -> Option<String> {
    job.pointer("/checkpoints/alert").and_then(Value::as_str).map(crate::failure::one_line)
}

/// What the job promises, below a heading; nothing where the platform does not tell.
pub(super) fn guarantee(job: &Value) -> String {
    let sentences = job.get("guarantee").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let lines: String = sentences.map(|sentence| format!("  {}\n", clean(sentence))).collect();
    if lines.is_empty() { lines } else { format!("\nWhat it guarantees:\n{lines}") }
}

fn text(job: &Value, at: &str) -> String {
    value::text(job, &format!("/checkpoints/{at}"))
}

fn count(job: &Value, at: &str) -> u64 {
    value::number(job, &format!("/checkpoints/{at}"))
}

fn is_known(job: &Value, at: &str) -> bool {
    job.pointer(&format!("/checkpoints/{at}")).is_some_and(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(job: &Value) -> Vec<String> {
        facts(job).into_iter().map(|(name, fact)| format!("{name}: {fact}")).collect()
    }

    #[test]
    fn a_job_tells_of_its_checkpoints_in_full() {
        let job = json!({"last_checkpoint": 1_792_662_060_999_i64, "checkpoints": {
            "last": {"id": 12, "completed_at": 1_792_662_060_999_i64, "duration_ms": 1420, "alignment_ms": 3,
                "bytes": {"full": 1_000, "transferred": 50, "referenced": 950}},
            "completed": 2, "failures": 4, "failures_in_a_row": 3, "failing_since": 1_792_662_070_999_i64,
            "last_error": "the store does not answer", "alert": "the last 3 checkpoints failed",
            "oldest_kept_age_ms": 30_000, "store_bytes_per_second": 125_000, "restored_from": 11,
            "restore": {"assign_ms": 1, "download_ms": 20, "open_ms": 5, "warm_ms": 9, "replay_ms": null},
            "oldest_prepared_transaction_ms": 700,
        }});
        assert_eq!(
            told(&job),
            [
                "last checkpoint: 12, at 2026-10-22T09:41:00Z, in 1,420 ms (3 ms aligning)",
                "its bytes: 1,000: 50 sent for it, 950 of earlier ones",
                "checkpoints: 2 completed, 4 failed in this run",
                "failing: 3 in a row since 2026-10-22T09:41:10Z: the store does not answer",
                "oldest kept: 30,000 ms old",
                "store takes: 125,000 bytes a second",
                "oldest prepared: 700 ms waiting to be committed",
                "restored from: 11 (assign 1 ms, download 20 ms, open 5 ms, warm 9 ms)",
            ]
        );
        assert_eq!(alert(&job).as_deref(), Some("the last 3 checkpoints failed"));
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let none = json!({"last_checkpoint": null, "checkpoints": null});
        assert_eq!(told(&none), ["last checkpoint: none yet"]);
        assert_eq!((alert(&none), guarantee(&none)), (None, String::new()));
        assert_eq!(told(&json!({})), ["last checkpoint: none yet"], "an older platform");
        let restored = json!({"last_checkpoint": 1_792_662_060_999_i64, "checkpoints": {
            "last": null, "completed": 0, "failures": 0, "failures_in_a_row": 0, "alert": null, "restored_from": 7,
            "restore": {"assign_ms": null},
        }});
        assert_eq!(
            told(&restored),
            [
                "last checkpoint: 2026-10-22T09:41:00Z",
                "checkpoints: 0 completed, 0 failed in this run",
                "restored from: 7",
            ]
        );
        assert_eq!(alert(&restored), None);
    }

    #[test]
    fn a_guarantee_is_a_line_for_each_sentence() {
        let job = json!({"guarantee": ["Source `a`: once.", "State:\u{1b}[2J once."]});
        let shown = guarantee(&job);
        assert!(shown.starts_with("\nWhat it guarantees:\n  Source `a`: once.\n  State:"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "what a terminal obeys is taken out");
    }
}
