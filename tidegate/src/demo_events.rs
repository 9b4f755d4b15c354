//! `tidegate demo-events`: ad events for the demo and the tutorial, as JSON lines on standard output.
//!
//! The events follow from the seed and the start alone, so a run can be repeated; the pace only says when each line is
//! written. The last line on standard error is how many of each kind there were.

mod chance;
mod stream;

use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use tidegate_types::{Clock, EventTime};

use crate::clock::SystemClock;
use crate::console::Console;
use crate::failure::Failure;
use stream::{AdStream, Shape};

/// The flags of `tidegate demo-events`.
#[derive(Debug, Args)]
pub(crate) struct DemoEventsArgs {
    /// What the events follow from
    #[arg(long, default_value = "1")]
    seed: u64,
    /// How much event time they cover, minutes
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u32).range(1..=1440))]
    minutes: u32,
    /// Events in a second of event time
    #[arg(long, default_value = "80", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// When they begin (RFC 3339) [default: so that they end now]
    #[arg(long, value_name = "TIME")]
    start: Option<String>,
    /// Write them over about this many seconds, in place of at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: Option<u32>,
}

/// Writes the events.
///
/// # Errors
/// If the start is no time, or standard output fails. A reader that has left ends it quietly.
pub(crate) fn run(args: &DemoEventsArgs, console: &Console) -> Result<(), Failure> {
    let span_ms = u64::from(args.minutes) * 60_000;
    let start = start(args, span_ms)?;
    let stream = AdStream::generate(args.seed, &Shape { start, span_ms, rate: args.rate });
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.seconds {
        None => stream.lines.iter().try_for_each(|line| writeln!(out, "{}", line.text)).and_then(|()| out.flush()),
        Some(seconds) => write_paced(&stream, Duration::from_secs(seconds.into()), &mut out),
    };
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::silent()),
        Err(error) => Err(Failure::external(format!("standard output: {error}"))),
        Ok(()) => {
            console.line(&stream.made.line());
            Ok(())
        }
    }
}

fn start(args: &DemoEventsArgs, span_ms: u64) -> Result<EventTime, Failure> {
    match &args.start {
        None => Ok(SystemClock.now().saturating_sub_unsigned(span_ms)),
        Some(text) => tidegate_formats::parse_rfc3339(text)
            .filter(|time| *time >= 0)
            .ok_or_else(|| Failure::invalid(format!("--start {text}: no time; write it as 2026-10-22T09:00:00Z"))),
    }
}

/// Writes each line at its part of `over`, about twenty times a second.
fn write_paced(stream: &AdStream, over: Duration, out: &mut impl Write) -> std::io::Result<()> {
    const STEPS_A_SECOND: u64 = 20;
    let Some(last) = stream.lines.last() else { return Ok(()) };
    let first = stream.lines.first().map_or(0, |line| line.arrival);
    let span = u64::try_from(last.arrival - first).unwrap_or(0).max(1);
    let steps = (over.as_secs() * STEPS_A_SECOND).max(1);
    let begun = now();
    let mut lines = stream.lines.iter().peekable();
    for step in 1..=steps {
        let due = first.saturating_add_unsigned(span * step / steps);
        while let Some(line) = lines.next_if(|line| line.arrival <= due) {
            writeln!(out, "{}", line.text)?;
        }
        out.flush()?;
        wait_until(begun + Duration::from_millis(step * 1000 / STEPS_A_SECOND));
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "the pace is for a person's eyes; no result depends on it")]
fn now() -> Instant {
    Instant::now()
}

#[allow(clippy::disallowed_methods, reason = "a pause for the eye, not for another thread")]
fn wait_until(due: Instant) {
    thread::sleep(due.saturating_duration_since(now()));
}
