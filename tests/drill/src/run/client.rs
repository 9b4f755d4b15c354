//! What the drill asks of the platform: streams, jobs, input, and in the end everything that came out.

use std::time::Duration;

use serde_json::{Value, json};
use tidegate_e2e::platform::Http;

use super::{Drill, pause};
use crate::outcome::{Outcome, json_lines};
use crate::plan::{Delivery, JobPlan};
use crate::workload::Output;

const NDJSON: (&str, &str) = ("content-type", "application/x-ndjson");
/// So many rows and records at once.
const PAGE: usize = 10_000;
/// Between two looks at a job, ms.
const LOOK: u64 = 25;

impl Drill<'_> {
    /// Makes the streams and submits the jobs.
    pub(super) fn prepare(&mut self) -> Result<(), String> {
        for job in &self.plan.jobs {
            for stream in job.workload.streams {
                let body = json!({"name": stream.name, "partitions": stream.partitions}).to_string();
                self.post("/v1/streams", &[("content-type", "application/json")], &body)?;
            }
            self.post("/v1/jobs", &[("content-type", "application/yaml")], &pipeline(job))?;
        }
        Ok(())
    }

    /// Appends a piece of everything, each batch under its number.
    pub(super) fn append(&mut self, piece: u64) -> Result<(), String> {
        for job in &self.plan.jobs {
            for stream in job.workload.streams {
                let partitions = job.workload.input(stream, job.input);
                for (partition, lines) in partitions.iter().enumerate() {
                    let path = format!("/v1/streams/{}/records?partition={partition}", stream.name);
                    let producer = format!("drill-{}-{partition}", stream.name);
                    let sequence = piece.to_string();
                    let headers = [NDJSON, ("tidegate-producer", &producer), ("tidegate-sequence", &sequence)];
                    let body = cut(lines, piece, self.plan.pieces).join("\n") + "\n";
                    self.post(&path, &headers, &body)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the input of every job.
    pub(super) fn seal(&mut self) -> Result<(), String> {
        for stream in self.plan.jobs.iter().flat_map(|job| job.workload.streams) {
            self.post(&format!("/v1/streams/{}/seal", stream.name), &[], "")?;
        }
        Ok(())
    }

    /// Waits until a job is finished.
    pub(super) fn finished(&mut self, job: &JobPlan) -> Result<(), String> {
        loop {
            let status = self.status(job)?;
            match status["state"].as_str() {
                Some("finished") => return Ok(()),
                Some("failed" | "cancelled") => return Err(format!("{} does not go on: {status}", job.workload.name)),
                _ if self.is_late() => return Err(format!("{} is not finished in time: {status}", job.workload.name)),
                _ => pause(LOOK),
            }
        }
    }

    /// Everything that came out of a job.
    pub(super) fn outcome(&mut self, job: &JobPlan) -> Result<Outcome, String> {
        let account = self.status(job)?["account"].clone();
        let mut outcome = Outcome { account, ..Outcome::default() };
        for output in job.workload.outputs {
            let records = match output {
                Output::Table(name) => self.rows(name)?,
                stream => self.records(stream.name())?,
            };
            outcome.outputs.insert(output.name(), records);
        }
        Ok(outcome)
    }

    fn status(&mut self, job: &JobPlan) -> Result<Value, String> {
        let body = self.get(&format!("/v1/jobs/{}", job.workload.name))?;
        serde_json::from_str(&body).map_err(|error| format!("{body}: {error}"))
    }

    fn rows(&mut self, table: &str) -> Result<Vec<(u64, Value)>, String> {
        let rows = json_lines(&self.get(&format!("/v1/tables/{table}/rows?limit={PAGE}"))?)?;
        if rows.len() == PAGE {
            Err(format!("{table} has too many rows"))
        } else {
            Ok(rows.into_iter().map(|row| (0, row)).collect())
        }
    }

    fn records(&mut self, stream: &str) -> Result<Vec<(u64, Value)>, String> {
        let body = self.get(&format!("/v1/streams/{stream}"))?;
        let about: Value = serde_json::from_str(&body).map_err(|error| format!("{body}: {error}"))?;
        let mut all = Vec::new();
        for partition in 0..about["partitions"].as_u64().unwrap_or(0) {
            let mut from = 0;
            loop {
                let path = format!("/v1/streams/{stream}/records?partition={partition}&from={from}&limit={PAGE}");
                let page = json_lines(&self.get(&path)?)?;
                let Some(last) = page.last() else { break };
                from = last["offset"].as_u64().ok_or("a record without an offset")? + 1;
                all.extend(page.into_iter().map(|mut line| (partition, line["record"].take())));
            }
        }
        Ok(all)
    }

    fn get(&mut self, path: &str) -> Result<String, String> {
        self.ask(path, |http| http.get(path))
    }

    fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &str) -> Result<String, String> {
        self.ask(path, |http| http.post(path, headers, body))
    }

    /// Asks until there is an answer, also if the process dies at its point meanwhile.
    fn ask(&mut self, path: &str, ask: impl Fn(&Http) -> Option<(u16, String)>) -> Result<String, String> {
        while !self.is_late() {
            match self.site.http().and_then(&ask) {
                Some((200 | 201, body)) => return Ok(body),
                Some((429 | 503, _)) => pause(LOOK),
                Some((status, body)) => return Err(format!("{path}: {status} {body}")),
                None if self.site.ends_within(Duration::from_millis(LOOK)) => {
                    self.note_death()?;
                    self.start()?;
                }
                None => {}
            }
        }
        Err(format!("{path}: no answer in time"))
    }
}

fn pipeline(job: &JobPlan) -> String {
    let log = match job.delivery {
        Delivery::AtLeastOnce => "log",
        Delivery::Once => "transactional_log",
    };
    let text = job.workload.pipeline.replace("$LOG", log).replace("$INTERVAL", &format!("{}ms", job.interval));
    text.replace("$PARALLELISM", &job.parallelism.to_string())
}

/// The piece of this number out of so many.
fn cut(lines: &[String], piece: u64, pieces: u64) -> &[String] {
    let small = |number: u64| usize::try_from(number).expect("a small number");
    let place = |piece: u64| lines.len() * small(piece) / small(pieces);
    &lines[place(piece)..place(piece + 1)]
}
