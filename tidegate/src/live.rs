//! What a person sees while a run goes on: a table of windows, a line of progress, or lines where there is no terminal.
//!
//! The engine's thread only notes what happened; a thread of its own draws it, at most ten times a second, so that watching
//! slows nothing down and a pause of the input leaves nothing undrawn. Nothing here changes a result.

mod closing;
mod job;
mod lateness;
mod rate;
mod table;
mod text;
mod view;
mod windows;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tidegate_pipeline::Pipeline;
use tidegate_types::{PaneBatch, PaneFields, ResultFields, RowBatch};
use tidegate_worker::{Observer, RunProgress, RunReport};

use crate::console::{Console, Size, terminal_size};
use crate::failure::Failure;
use crate::run::{Meter, Outputs};
use rate::Stopwatch;
use view::View;
use windows::Windows;

pub(crate) use job::{JobProgress, JobShow, WindowRow};
pub(crate) use text::{clean, count, width};

/// Between two drawings of the terminal.
const REDRAW: Duration = Duration::from_millis(100);
/// Between two lines where there is no terminal.
const LINES: Duration = Duration::from_secs(2);
/// A run shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is shown while a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watching {
    /// Nothing.
    Nothing,
    /// One line of progress, if the run takes long; gone at the end.
    Status,
    /// A line every two seconds, and the last windows at the end.
    Lines,
    /// The windows and the progress, drawn again and again.
    Table,
}

/// What the engine told.
#[derive(Default)]
struct Seen {
    windows: Windows,
    progress: Option<RunProgress>,
    changed: bool,
}

/// The show around a run.
pub(crate) struct Live {
    watching: Watching,
    console: Console,
    drawer: Option<(Sender<()>, JoinHandle<Drawer>)>,
}

/// Draws what was seen.
struct Drawer {
    watching: Watching,
    view: View,
    seen: Arc<Mutex<Seen>>,
    meter: Arc<Meter>,
    stopwatch: Stopwatch,
    console: Console,
}

/// Notes what the engine tells.
struct Notes {
    seen: Arc<Mutex<Seen>>,
    /// The sink whose windows are shown.
    sink: Option<usize>,
}

impl Live {
    /// Starts the show; the observer is for the engine.
    ///
    /// # Errors
    /// If there is no thread to draw on.
    pub(crate) fn start(
        watching: Watching,
        pipeline: &Pipeline,
        results: &[ResultFields],
        meter: Arc<Meter>,
        total_bytes: Option<u64>,
        console: &Console,
    ) -> Result<(Self, Option<Box<dyn Observer>>), Failure> {
        let console = console.clone();
        if watching == Watching::Nothing {
            return Ok((Self { watching, console, drawer: None }, None));
        }
        let seen = Arc::new(Mutex::new(Seen::default()));
        // The windows of the first sink that takes any.
        let panes = results.iter().enumerate().find_map(|(sink, fields)| match fields {
            ResultFields::Panes(fields) => Some((sink, fields.clone())),
            ResultFields::Rows(_) => None,
        });
        let (sink, fields) = panes.map_or_else(|| (None, PaneFields::default()), |(sink, of)| (Some(sink), of));
        let sink = sink.filter(|_| watching != Watching::Status);
        let notes: Box<dyn Observer> = Box::new(Notes { seen: Arc::clone(&seen), sink });
        let view = View::new(pipeline, fields, total_bytes, console.environment().colour);
        let drawer = Drawer { watching, view, seen, meter, stopwatch: Stopwatch::start(), console: console.clone() };
        let (stop, stopped) = channel();
        let thread = thread::Builder::new().name("tidegate-live".into()).spawn(move || drawer.run(&stopped));
        let thread = thread.map_err(|error| Failure::external(format!("--live: no thread to draw on: {error}")))?;
        Ok((Self { watching, console, drawer: Some((stop, thread)) }, Some(notes)))
    }

    /// Ends the show: what is left on the screen is how it ended. `report` is that of a run that came to its end.
    pub(crate) fn finish(self, report: Option<&RunReport>, outputs: &Outputs) {
        let Some((stop, thread)) = self.drawer else { return };
        drop(stop);
        let Ok(drawer) = thread.join() else { return };
        if self.watching == Watching::Status {
            return self.console.clear_region();
        }
        drawer.draw_end();
        if let Some(report) = report {
            closing::lines(report, outputs, drawer.stopwatch.elapsed()).iter().for_each(|line| self.console.line(line));
        }
    }
}

impl Drawer {
    fn run(mut self, stopped: &Receiver<()>) -> Self {
        let interval = if self.watching == Watching::Lines { LINES } else { REDRAW };
        while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            self.draw();
        }
        self
    }

    fn draw(&mut self) {
        let (records, bytes) = self.meter.read();
        let moved = self.stopwatch.note(records);
        let read = view::Read { records, bytes, rate: self.stopwatch.rate() };
        if self.watching == Watching::Status && self.stopwatch.elapsed() < PATIENCE {
            return;
        }
        let size = terminal_size();
        let picture = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if !std::mem::take(&mut seen.changed) && !moved {
                return;
            }
            self.picture(&read, &seen, size)
        };
        // The engine does not wait for the terminal.
        self.show(picture, size);
    }

    /// What there is to see now.
    fn picture(&self, read: &view::Read, seen: &Seen, size: Size) -> Vec<String> {
        let progress = seen.progress.as_ref();
        match self.watching {
            Watching::Nothing => Vec::new(),
            Watching::Status => vec![self.view.status(read, progress, size.columns)],
            Watching::Lines => vec![self.view.line(read, progress)],
            Watching::Table => self.view.screen(read, progress, &seen.windows, size),
        }
    }

    fn show(&self, picture: Vec<String>, size: Size) {
        match self.watching {
            Watching::Nothing | Watching::Lines => picture.iter().for_each(|line| self.console.line(line)),
            Watching::Status | Watching::Table => self.console.draw(picture, size),
        }
    }

    /// The last picture, which stays.
    fn draw_end(&self) {
        let (records, bytes) = self.meter.read();
        let read = view::Read { records, bytes, rate: self.stopwatch.average(records) };
        let size = terminal_size();
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.show(self.picture(&read, &seen, size), size);
        self.console.keep_region();
        if self.watching == Watching::Lines {
            self.view.last_windows(&seen.windows).iter().for_each(|line| self.console.line(line));
        }
    }
}

impl Observer for Notes {
    fn rows(&mut self, _sink: usize, _rows: &RowBatch) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).changed = true;
    }

    fn panes(&mut self, sink: usize, panes: &PaneBatch) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if self.sink == Some(sink) {
            seen.windows.note(panes);
        }
        seen.changed = true;
    }

    fn progress(&mut self, progress: &RunProgress) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.progress = Some(progress.clone());
        seen.changed = true;
    }
}
