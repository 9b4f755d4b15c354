//! `tidegate run`: a pipeline over files, in one process, to the end of its input (docs/local-run.md).
//!
//! Everything that can be wrong with the pipeline, a component or a flag is found before an output is created. Standard
//! output carries what flags send there and nothing else; the last line on standard error is the summary.

mod components;
mod given;
mod hooks;
mod named;
mod outputs;
mod pipeline;
mod reading;
mod report;
mod summary;
mod tally;
mod trust;

use std::sync::Arc;
use std::time::Duration;

use tidegate_connectors::source::ErrorKind;
use tidegate_connectors::{FileSourceConfig, Input, Source, SourceError, open_files};
use tidegate_dataflow::{Account, JobOptions, SourcePartition};
use tidegate_pipeline::{Form, Parsed, Pipeline};
use tidegate_types::Clock;
use tidegate_worker::{BoundedRun, Observer, PiecesError, PiecesRun, RunError, run_bounded, run_in_pieces};

use crate::cli::{MAX_PARALLELISM, RunArgs};
use crate::clock::SystemClock;
use crate::console::Console;
use crate::failure::{Failure, describe};
use crate::live::{Live, Watching};
use components::Components;
use hooks::Opener;
use outputs::Destinations;
use reading::{Pace, Reading, total_bytes};
use report::Report;
use summary::Summary;
use tally::{Tally, so_far};
use trust::Trust;

pub(crate) use outputs::Destinations as Outputs;
pub(crate) use pipeline::load as load_pipeline;
pub(crate) use reading::Meter;
pub(crate) use report::as_max_delay;

/// Runs a pipeline to the end of its input.
///
/// # Errors
/// With status 2 if the pipeline, a component or a flag is wrong, with status 1 for anything else.
pub(crate) fn run(args: &RunArgs, console: &Console) -> Result<(), Failure> {
    let parsed = pipeline::load(&args.pipeline, console)?;
    let parallelism = parallelism(args, &parsed, console);
    let files = components::resolve(&parsed, &args.component)?;
    let destinations = Destinations::of(args, &parsed.pipeline)?;
    let sources = named::inputs(&parsed.pipeline, &args.input)?;
    let inputs: Vec<Input> = sources.iter().map(|file| file.input.clone()).collect();
    let trust = Trust::of(args, &files)?;
    let mut needed = outputs::needed(&args.pipeline, files.values());
    needed.extend(args.trust.iter().map(|file| ("a trusted key", file.as_path())));
    needed.extend(trust.envelopes().into_iter().map(|file| ("a signature", file)));
    destinations.check(&inputs, &needed)?;
    let watching = watching(args, &destinations, console)?;
    let total = total_bytes(&inputs);
    let pace = pace(args, total)?;

    let components = Components::load(&files, &trust)?;
    let source = open(args, &parsed.pipeline, inputs)?;
    let wall_clock: Option<Arc<dyn Clock>> =
        args.arrival_field.is_none().then(|| Arc::new(SystemClock) as Arc<dyn Clock>);
    let opener = Opener { parsed: &parsed, components: &components, fresh_instances: args.fresh_instances, console };
    let options = JobOptions {
        parallelism,
        batch_rows: args.batch_rows,
        partitions: named::partition_names(&sources, source.partitions())
            .into_iter()
            .map(|(source, name)| SourcePartition { source, name })
            .collect(),
        arrival_field: args.arrival_field.clone(),
        wall_clock: wall_clock.as_ref().map(|clock| clock.now()),
    };
    let job = opener.assemble(options.clone())?;

    let form = parsed.pipeline.form;
    let meter = Arc::new(Meter::default());
    let (outputs, report_file) = destinations.open()?.begin(&parsed.pipeline, job.results())?;
    let (live, watcher) = Live::start(watching, &parsed.pipeline, job.results(), Arc::clone(&meter), total, console)?;
    let (observer, account) = Tally::before(watcher);
    let source = Box::new(Reading::new(source, meter, pace));
    let observer: Option<Box<dyn Observer>> = Some(observer);
    if let Some(every) = args.restore_every {
        let mut make = |parallelism| opener.assemble(JobOptions { parallelism, ..options.clone() });
        let (make, every) = (&mut make as _, every.into());
        let run = PiecesRun { make, source, outputs, clock: wall_clock, observer, every, parallelism };
        let ended = run_in_pieces(run);
        live.finish(ended.as_ref().ok(), &destinations);
        let ended = ended.map_err(in_pieces)?;
        return conclude(&ended.account, form, console);
    }
    let ended = run_bounded(BoundedRun { job, source, outputs, clock: wall_clock, observer });
    live.finish(ended.as_ref().ok(), &destinations);
    let ended = ended.map_err(|error| failed(&error, &so_far(&account), form, console))?;
    if let Some(file) = report_file {
        file.write(&Report::of(&parsed.pipeline, &ended))?;
    }
    conclude(&ended.account, form, console)
}

/// How many tasks share the work of the windows: as many as were asked for, and as may. It changes no output.
fn parallelism(args: &RunArgs, parsed: &Parsed, console: &Console) -> u32 {
    let Pipeline { parallelism, max_parallelism, .. } = &parsed.pipeline;
    let (asked_by, asked) = match args.parallelism {
        Some(asked) => ("--parallelism", asked),
        None => ("parallelism", parallelism.unwrap_or(1)),
    };
    let (most, limit) = if *max_parallelism < MAX_PARALLELISM {
        (*max_parallelism, "as the pipeline's `max_parallelism` says")
    } else {
        (MAX_PARALLELISM, "in one process")
    };
    if asked > most {
        console.line(&format!("warning: {asked_by}: {most} tasks at most share the work, {limit}; not {asked}"));
    }
    asked.min(most)
}

/// What is shown while the run goes on.
fn watching(args: &RunArgs, destinations: &Destinations, console: &Console) -> Result<Watching, Failure> {
    let environment = console.environment();
    let panes_in_the_way = destinations.uses_stdout() && environment.stdout_is_terminal;
    match (args.live, environment.can_redraw) {
        (true, true) if panes_in_the_way => Err(Failure::invalid(
            "--live: an output would go to the same terminal; send it to a file (--output panes.ndjson) or through a pipe",
        )),
        (true, true) => Ok(Watching::Table),
        (true, false) => Ok(Watching::Lines),
        (false, true) if !panes_in_the_way => Ok(Watching::Status),
        (false, _) => Ok(Watching::Nothing),
    }
}

fn pace(args: &RunArgs, total: Option<u64>) -> Result<Option<Pace>, Failure> {
    let Some(seconds) = args.live_seconds else { return Ok(None) };
    let over = Duration::from_secs(seconds.into());
    match total {
        Some(total) => Ok(Some(Pace::new(over, total))),
        None => {
            Err(Failure::invalid("--live-seconds: needs inputs of a known size; name files that are there, not `-`"))
        }
    }
}

fn open(args: &RunArgs, pipeline: &Pipeline, inputs: Vec<Input>) -> Result<Box<dyn Source>, Failure> {
    if args.partition_field.is_some() && pipeline.sources.len() > 1 {
        return Err(Failure::invalid(
            "--partition-field: deals the records of one source, and the pipeline has several; give each source its files",
        ));
    }
    let config = FileSourceConfig {
        inputs,
        partition_field: args.partition_field.clone(),
        arrival_field: args.arrival_field.clone(),
    };
    open_files(&config).map_err(|error| match SourceError::kind(&error) {
        ErrorKind::Invalid => Failure::invalid(describe(&error)),
        ErrorKind::External => Failure::external(describe(&error)),
    })
}

/// A run that did not come to its end. Where only its reader has left, what was done until then is summed up.
fn failed(error: &RunError, done: &Account, form: Form, console: &Console) -> Failure {
    if !error.is_closed() {
        return Failure::external(describe(error));
    }
    let reason = describe(error);
    console.line(&format!("warning: {reason}: the run ended there, and the summary counts what was done until then"));
    console.line(&Summary::of(done, form).line());
    Failure::silent()
}

/// A run in pieces that did not come to its end.
fn in_pieces(error: PiecesError<Failure>) -> Failure {
    match error {
        PiecesError::Job(failure) => failure,
        PiecesError::Task(_) | PiecesError::Malformed(_) => Failure::external(error.to_string()),
    }
}

/// The last words of a run that came to its end.
fn conclude(account: &Account, form: Form, console: &Console) -> Result<(), Failure> {
    if account.failed_panes > 0 {
        console.line(&format!(
            "warning: a hook failed to make {} panes; the dead letters `pane-failed` say which (--dead-letter)",
            account.failed_panes
        ));
    }
    if account.failed_pairs > 0 {
        console.line(&format!(
            "warning: a join hook refused or failed to make {} pairs; the dead letters say which (--dead-letter)",
            account.failed_pairs
        ));
    }
    if account.failed_timers > 0 {
        console.line(&format!(
            "warning: a process hook failed on {} timers; the dead letters `timer-failed` say which (--dead-letter)",
            account.failed_timers
        ));
    }
    let balances = account.balances();
    if !balances {
        console.line("error: not every record is accounted for; this is a mistake in Tidegate, please report it");
    }
    console.line(&Summary::of(account, form).line());
    if balances { Ok(()) } else { Err(Failure::silent()) }
}
