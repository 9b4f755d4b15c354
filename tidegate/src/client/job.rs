//! `tidegate job`: submit pipelines, and watch what becomes of them.

mod checkpoints;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::http::Call;
use super::path::part;
use super::read::ListArgs;
use super::settings::Connection;
use super::{Client, read, value, watch};
use crate::failure::Failure;

/// The arguments of `tidegate job`.
#[derive(Debug, Args)]
pub(crate) struct JobArgs {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(subcommand)]
    pub(super) action: JobAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum JobAction {
    /// Submit a pipeline file: its job begins to run
    Submit {
        /// The pipeline file
        pipeline: PathBuf,
    },
    /// List the jobs
    List(ListArgs),
    /// Show where a job is, and what became of its records
    Status {
        /// The job
        name: String,
        /// Show its windows while they change, until it ends; without a terminal, lines of progress
        #[arg(long)]
        watch: bool,
    },
    /// Stop a job for good
    Cancel {
        /// The job
        name: String,
    },
}

pub(super) fn act(client: &Client<'_>, action: &JobAction) -> Result<(), Failure> {
    match action {
        JobAction::Submit { pipeline } => submit(client, pipeline),
        JobAction::List(args) => {
            let jobs = read::items(client, "/v1/jobs", "jobs", *args)?;
            let header = ["job", "version", "state", "read", "behind", "watermark"];
            client.list(&jobs, &header, "no jobs yet: tidegate job submit FILE", |job| {
                let [name, version, state] = ["/name", "/version", "/state"].map(|at| value::text(job, at));
                let [read, behind] = ["/account/read", "/lag/records"].map(|at| value::text(job, at));
                vec![name, version, state, read, behind, value::time(job, "/watermark")]
            })
        }
        JobAction::Status { name, watch: true } => watch::job(client, name),
        JobAction::Status { name, watch: false } => {
            let job = one(client, name)?;
            if let Some(alert) = checkpoints::alert(&job) {
                client.console.line(&format!("warning: {alert}"));
            }
            client.tell(&job, |job| shown(job) + &checkpoints::guarantee(job))
        }
        JobAction::Cancel { name } => {
            client.api.must(&Call::delete(&path(name)))?;
            client.tell(&json!({"name": name, "cancelled": true}), |_| format!("job {name} is cancelled\n"))
        }
    }
}

fn path(name: &str) -> String {
    format!("/v1/jobs/{}", part(name))
}

/// A job as the API shows it.
pub(super) fn one(client: &Client<'_>, name: &str) -> Result<Value, Failure> {
    client.api.must(&Call::get(&path(name)))?.json()
}

fn submit(client: &Client<'_>, pipeline: &Path) -> Result<(), Failure> {
    let text = std::fs::read(pipeline);
    let text = text.map_err(|error| Failure::invalid(format!("{}: {error}", pipeline.display())))?;
    let is_json = pipeline.extension().is_some_and(|extension| extension == "json");
    let media_type = if is_json { "application/json" } else { "application/yaml" };
    let job: Value = client.api.must(&Call::post("/v1/jobs", media_type, &text))?.json()?;
    let warnings = job.get("warnings").and_then(Value::as_array).cloned().unwrap_or_default();
    for warning in warnings.iter().filter_map(Value::as_str) {
        client.console.line(&format!("warning: {}", crate::failure::one_line(warning)));
    }
    client.tell(&job, |job| submitted(job) + "\n" + &checkpoints::guarantee(job))
}

/// What became of a submission. A version that has ended already is the same submission as before.
fn submitted(job: &Value) -> String {
    let [name, version, state] = ["/name", "/version", "/state"].map(|at| value::text(job, at));
    let told = format!("job {name}, version {version}, is {state}");
    match state.as_str() {
        "finished" | "failed" | "cancelled" => {
            let why =
                job.get("reason").and_then(Value::as_str).map_or_else(String::new, |reason| format!(" ({reason})"));
            format!(
                "{told}{why}: it was submitted before, and a version runs once; to run it again, raise `version` in the file"
            )
        }
        _ => told,
    }
}

/// Everything about a job in words.
pub(super) fn shown(job: &Value) -> String {
    let mut facts = vec![
        ("job", format!("{}, version {}", value::text(job, "/name"), value::text(job, "/version"))),
        ("state", value::text(job, "/state")),
    ];
    if job.get("reason").is_some_and(Value::is_string) {
        facts.push(("reason", value::text(job, "/reason")));
    }
    facts.extend([
        ("submitted", value::time(job, "/submitted_at")),
        ("parallelism", value::text(job, "/parallelism")),
        ("behind", format!("{} records, {} ms", value::text(job, "/lag/records"), value::text(job, "/lag/age_ms"))),
        ("watermark", watermark(job)),
    ]);
    facts.extend(checkpoints::facts(job));
    for (name, at) in [
        ("read", "/account/read"),
        ("accepted", "/account/accepted"),
        ("filtered", "/account/filtered"),
        ("too late", "/account/too_late"),
        ("duplicate", "/account/duplicate"),
        ("rejected", "/account/rejected"),
    ] {
        facts.push((name, value::text(job, at)));
    }
    let panes = ["/account/panes/EARLY", "/account/panes/ON_TIME", "/account/panes/LATE"];
    let [early, on_time, late] = panes.map(|at| value::text(job, at));
    facts.push(("panes", format!("{early} early, {on_time} on time, {late} late")));
    facts.push(("table", several(job, "/sinks", "table", "/table")));
    let streams = several(job, "/sinks", "stream", "/streams/panes");
    if streams != "-" {
        facts.push(("stream", streams));
    }
    facts.push(("too late in", several(job, "/late_outputs", "stream", "/streams/too_late")));
    facts.push(("dead letters in", value::text(job, "/streams/dead_letters")));
    value::facts(&facts)
}

/// A member of each object of a list; where the platform does not tell the list, the one that it tells at `one`.
fn several(job: &Value, list: &str, member: &str, one: &str) -> String {
    match job.pointer(list) {
        Some(_) => value::each(job, list, member),
        None => value::text(job, one),
    }
}

fn watermark(job: &Value) -> String {
    match (job.get("watermark").and_then(Value::as_i64), job["state"].as_str()) {
        (Some(_), _) => {
            format!("{}, {} ms behind", value::time(job, "/watermark"), value::text(job, "/watermark_lag_ms"))
        }
        (None, Some("finished")) => "end of input".to_owned(),
        (None, _) => "none yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_with_several_outputs_is_shown_with_all_of_them() {
        let job = json!({
            "name": "j", "table": "a", "streams": {"panes": "out", "too_late": "late-a", "dead_letters": "dead"},
            "sinks": [{"name": "x", "stream": null, "table": "a"}, {"name": "y", "stream": "out", "table": null},
                {"name": "z", "stream": null, "table": "b"}],
            "late_outputs": [{"operator": "x", "stream": "late-a"}, {"operator": "y", "stream": "late-b"}],
        });
        let shown = shown(&job);
        let fact = |name: &str| {
            let line = shown.lines().find(|line| line.starts_with(&format!("{name}  "))).expect("the fact is shown");
            line[name.len()..].trim().to_owned()
        };
        assert_eq!(
            (fact("table"), fact("stream"), fact("too late in")),
            ("a, b".into(), "out".into(), "late-a, late-b".into())
        );
        let before =
            json!({"name": "j", "table": "a", "streams": {"panes": null, "too_late": "late", "dead_letters": "d"}});
        let before = super::shown(&before);
        assert!(before.contains("table            a\n") && before.contains("too late in      late\n"), "{before}");
        assert!(!before.lines().any(|line| line.starts_with("stream ")), "{before}");
    }

    #[test]
    fn a_version_that_has_ended_is_told_with_the_way_to_run_it_again() {
        let job = |state: &str, reason: Value| json!({"name": "j", "version": 3, "state": state, "reason": reason});
        assert_eq!(submitted(&job("submitted", Value::Null)), "job j, version 3, is submitted");
        assert_eq!(
            submitted(&job("cancelled", json!("cancelled by ann"))),
            "job j, version 3, is cancelled (cancelled by ann): it was submitted before, and a version runs once; to run it \
             again, raise `version` in the file"
        );
        assert!(
            submitted(&job("finished", Value::Null)).starts_with("job j, version 3, is finished: it was submitted")
        );
    }
}
