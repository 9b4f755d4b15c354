//! Appends lines to a stream, in batches that a retry never doubles.
//!
//! Each batch has the producer's name and the next sequence number. A batch that got no answer is sent again with the same
//! number: if it was appended, the platform gives the first answer again. Invariant: batches are appended in order, one
//! after the other.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Client;
use super::batches::{Batch, Batches};
use super::http::{Answer, Call, Trouble};
use crate::console::terminal_size;
use crate::failure::Failure;
use crate::live::count;

/// The first wait before a batch is sent again; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Between two drawings of the progress.
const REDRAW: Duration = Duration::from_millis(100);

/// Who appends, and where.
pub(super) struct Appending<'a> {
    pub(super) client: &'a Client<'a>,
    pub(super) stream: &'a str,
    /// The path with its query.
    pub(super) path: String,
    pub(super) producer: String,
    /// The number of the next batch.
    pub(super) sequence: u64,
    /// How long a batch is sent again and again.
    pub(super) patience: Duration,
}

/// What was appended.
#[derive(Debug, Default)]
struct Appended {
    records: u64,
    batches: u64,
    /// Batches that the platform had already.
    repeated: u64,
}

impl Appending<'_> {
    /// Appends everything.
    ///
    /// # Errors
    /// If the input cannot be read, the platform refuses a batch, or does not answer for too long. What was appended
    /// before stays.
    pub(super) fn all(mut self, mut batches: Batches) -> Result<(), Failure> {
        let mut appended = Appended::default();
        let mut drawn: Option<Instant> = None;
        while let Some(batch) = batches.next()? {
            let answer = self.one(&batch).map_err(|failure| self.explain(failure, &appended))?;
            self.sequence += 1;
            appended.records += u64::try_from(batch.records).unwrap_or(u64::MAX);
            appended.batches += 1;
            appended.repeated += u64::from(answer.get("repeated") == Some(&Value::Bool(true)));
            if drawn.is_none_or(|drawn| now() - drawn >= REDRAW) {
                drawn = Some(now());
                self.draw(&appended);
            }
        }
        self.client.console.clear_region();
        let Appended { records, batches, repeated } = appended;
        let result = json!({
            "stream": self.stream, "producer": self.producer, "records": records, "batches": batches, "repeated": repeated,
        });
        self.client.tell(&result, |_| {
            let again =
                if repeated > 0 { format!(", {} of them there already", count(repeated)) } else { String::new() };
            format!("appended {} records to {} in {} batches{again}\n", count(records), self.stream, count(batches))
        })
    }

    /// Appends one batch, however often it takes.
    fn one(&self, batch: &Batch) -> Result<Value, Failure> {
        let begun = now();
        let mut wait = FIRST_WAIT;
        loop {
            let trouble = match self.send(batch) {
                Ok(answer) => return answer.json(),
                Err(trouble) => trouble,
            };
            let asked = match &trouble {
                Trouble::Refused(problem) => Duration::from_secs(problem.retry_after.unwrap_or(0)),
                Trouble::NoAnswer(_) => Duration::ZERO,
            };
            if !trouble.may_pass() || now() - begun >= self.patience {
                return Err(trouble.failure());
            }
            pause(wait.max(asked).min(LONGEST_WAIT));
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    fn send(&self, batch: &Batch) -> Result<Answer, Trouble> {
        let call = Call::post(&self.path, "application/x-ndjson", &batch.body)
            .header("tidegate-producer", &self.producer)
            .header("tidegate-sequence", self.sequence.to_string());
        self.client.api.ask(&call)
    }

    fn draw(&self, appended: &Appended) {
        if self.client.console.environment().can_redraw {
            let line = format!("{} records appended to {}", count(appended.records), self.stream);
            self.client.console.draw(vec![line], terminal_size());
        }
    }

    /// What failed, what is there, and how to go on.
    fn explain(&self, failure: Failure, appended: &Appended) -> Failure {
        self.client.console.clear_region();
        let message = failure.message.map(|message| {
            format!(
                "{message} ({} records in {} batches were appended before; the batch that failed has the sequence {} of \
                 producer {})",
                count(appended.records),
                count(appended.batches),
                self.sequence,
                self.producer
            )
        });
        Failure { message, ..failure }
    }
}

#[allow(clippy::disallowed_methods, reason = "how long a person waits is real time; no result depends on it")]
fn now() -> Instant {
    Instant::now()
}

#[allow(clippy::disallowed_methods, reason = "a platform that does not answer is asked again after a while")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
