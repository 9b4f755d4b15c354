//! The sink task holds nothing back while its inputs are silent.

use std::sync::atomic::{AtomicUsize, Ordering};

use tidegate_dataflow::OperatorStanding;
use tidegate_dataflow::channel::{Signal, channel};
use tidegate_types::RowBatch;

use super::*;

/// Counts what is written and what is out for good.
#[derive(Clone, Default)]
struct Counting {
    written: Arc<AtomicUsize>,
    flushed: Arc<AtomicUsize>,
}

impl ResultSink for Counting {
    fn write_panes(&mut self, _panes: &PaneBatch) -> Result<(), SinkError> {
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn write_rows(&mut self, _rows: &RowBatch) -> Result<(), SinkError> {
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.flushed.store(self.written.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn what_was_emitted_is_out_before_the_task_waits() {
    let (sender, receiver) = channel(4, &Signal::new());
    let sink = Counting::default();
    let outputs =
        Outputs { results: vec![Box::new(sink.clone())], too_late: None, duplicates: None, dead_letters: None };
    let mut task = SinkTask::new(vec![receiver], outputs, None, false, Arc::default());
    sender.send(Emission { results: vec![(0, Results::Panes(PaneBatch::default()))], ..Emission::default() });
    assert_eq!(task.step(None).expect("works"), Progress::Worked);
    assert_eq!(sink.flushed.load(Ordering::Relaxed), 0);
    assert_eq!(task.step(None).expect("works"), Progress::Waiting { until: None });
    assert_eq!(sink.flushed.load(Ordering::Relaxed), 1);
}

#[test]
fn a_task_that_never_waits_holds_nothing_back_for_long() {
    let (sender, receiver) = channel(4, &Signal::new());
    let sink = Counting::default();
    let outputs =
        Outputs { results: vec![Box::new(sink.clone())], too_late: None, duplicates: None, dead_letters: None };
    let mut task = SinkTask::new(vec![receiver], outputs, None, false, Arc::default());
    let mut step = |now: i64| {
        sender.send(Emission { results: vec![(0, Results::Panes(PaneBatch::default()))], ..Emission::default() });
        assert_eq!(task.step(Some(now)).expect("works"), Progress::Worked);
        sink.flushed.load(Ordering::Relaxed)
    };
    assert_eq!(step(1000), 0);
    assert_eq!(step(1000 + LONGEST_HELD_MS - 1), 0);
    assert_eq!(step(1000 + LONGEST_HELD_MS), 3);
    assert_eq!(step(1000 + LONGEST_HELD_MS + 1), 3);
}

/// Keeps how far the operators were.
struct Watching(Arc<Mutex<Vec<OperatorStatus>>>);

impl Observer for Watching {
    fn panes(&mut self, _sink: usize, _panes: &PaneBatch) {}

    fn rows(&mut self, _sink: usize, _rows: &RowBatch) {}

    fn progress(&mut self, progress: &RunProgress) {
        self.0.lock().expect("no panic").clone_from(&progress.operators);
    }
}

#[test]
fn whoever_watches_sees_how_far_each_subtask_is() {
    let (sender, receiver) = channel(4, &Signal::new());
    let outputs =
        Outputs { results: vec![Box::new(Counting::default())], too_late: None, duplicates: None, dead_letters: None };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut task =
        SinkTask::new(vec![receiver], outputs, Some(Box::new(Watching(Arc::clone(&seen)))), false, Arc::default());
    let status = |subtask, watermark| OperatorStatus {
        operator: "window".into(),
        subtask,
        standing: OperatorStanding { watermark: Watermark::at(watermark), clock: NO_CLOCK },
        state_bytes: 0,
    };
    for (subtask, watermark) in [(1, 5), (0, 7), (1, 6)] {
        sender.send(Emission { operator: Some(status(subtask, watermark)), ..Emission::default() });
        assert_eq!(task.step(None).expect("works"), Progress::Worked);
    }
    assert_eq!(*seen.lock().expect("no panic"), [status(0, 7), status(1, 6)]);
}
