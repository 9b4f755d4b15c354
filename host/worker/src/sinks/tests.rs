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

/// What a transactional sink was asked to do.
#[derive(Clone, Default)]
struct Transactional(Arc<Mutex<Vec<String>>>);

impl Transactional {
    fn note(&self, what: String) {
        self.0.lock().expect("no panic").push(what);
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no panic"))
    }
}

impl ResultSink for Transactional {
    fn write_panes(&mut self, _panes: &PaneBatch) -> Result<(), SinkError> {
        self.note("write".into());
        Ok(())
    }

    fn write_rows(&mut self, _rows: &RowBatch) -> Result<(), SinkError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn prepare(&mut self, checkpoint: u64) -> Result<Option<Prepared>, SinkError> {
        self.note(format!("prepare {checkpoint}"));
        Ok(Some(Prepared(vec![1])))
    }

    fn commit(&mut self, checkpoint: u64) -> Result<(), SinkError> {
        self.note(format!("commit {checkpoint}"));
        Ok(())
    }
}

/// A sink task of two tasks' emissions that takes part in checkpoints, after checkpoint 4.
struct Kept {
    task: SinkTask,
    senders: Vec<tidegate_dataflow::channel::Sender<Emission>>,
    sink: Transactional,
    checkpoints: Arc<tidegate_dataflow::checkpoint::Checkpoints>,
    handed: std::sync::mpsc::Receiver<Handed>,
    signal: Arc<Signal>,
}

impl Kept {
    fn new() -> Self {
        let signal = Signal::new();
        let (senders, receivers) = (0..2).map(|_| channel(4, &signal)).unzip();
        let sink = Transactional::default();
        let outputs =
            Outputs { results: vec![Box::new(sink.clone())], too_late: None, duplicates: None, dead_letters: None };
        let mut task = SinkTask::new(receivers, outputs, None, false, Arc::default());
        let (hand_over, checkpoints, handed) = crate::checkpoints::hand_over(4, &signal);
        task.keep(hand_over, Account { read: 100, ..Account::default() });
        Self { task, senders, sink, checkpoints, handed, signal }
    }

    fn emit(&self, from: usize, read: u64) {
        let results = vec![(0, Results::Panes(PaneBatch::default()))];
        let account = Account { read, ..Account::default() };
        self.senders[from].send(Emission { results, account, ..Emission::default() });
    }

    fn barrier(&self, from: usize, checkpoint: u64) {
        self.senders[from].send(Emission { barrier: Some(checkpoint), ..Emission::default() });
    }

    fn finish(&mut self) {
        for sender in self.senders.drain(..) {
            sender.send(Emission { report: Some(TaskReport::Sources(Vec::new())), ..Emission::default() });
        }
    }

    /// Steps until it waits or has finished, and tells what the sink was asked to do.
    fn run(&mut self) -> (Progress, Vec<String>) {
        loop {
            match self.task.step(Some(0)).expect("works") {
                Progress::Worked => {}
                progress => return (progress, self.sink.taken()),
            }
        }
    }

    /// The account that was handed over for a checkpoint.
    fn account(&self) -> (Option<u64>, u64) {
        match self.handed.try_recv().expect("something was handed over") {
            Handed::Sinks { checkpoint, prepared, account } => {
                assert_eq!(prepared, [Some(vec![1])]);
                let account = Account::restore(&mut tidegate_types::stored::Stored::new(&account)).expect("an account");
                (checkpoint, account.read)
            }
            other => panic!("{other:?}"),
        }
    }
}

const WAITS: Progress = Progress::Waiting { until: None };

#[test]
fn what_is_prepared_is_what_came_before_the_barrier_of_every_task() {
    let mut kept = Kept::new();
    kept.emit(0, 1);
    kept.barrier(0, 5);
    kept.emit(0, 10);
    kept.emit(1, 2);
    assert_eq!(kept.run(), (WAITS, vec!["write".into(), "write".into()]), "what is behind the barrier is not taken");
    kept.barrier(1, 5);
    assert_eq!(kept.run(), (WAITS, vec!["prepare 5".into(), "write".into()]));
    assert_eq!(kept.account(), (Some(5), 103), "the account goes on from the earlier run's");
    kept.checkpoints.complete(5);
    assert_eq!(kept.run(), (WAITS, vec!["commit 5".into()]));
    assert_eq!(kept.run().1, Vec::<String>::new(), "it is committed once");
}

#[test]
fn the_last_checkpoint_comes_once_all_tasks_have_finished() {
    let mut kept = Kept::new();
    kept.emit(1, 7);
    kept.finish();
    assert_eq!(kept.run(), (WAITS, vec!["write".into(), "prepare 5".into()]));
    assert_eq!(kept.account(), (None, 107));
    // The first try failed; it was saved under the next number.
    kept.checkpoints.complete(6);
    assert_eq!(kept.run(), (Progress::Finished, vec!["commit 6".into()]));
}

#[test]
fn nothing_is_committed_of_a_run_that_ends_early() {
    let mut kept = Kept::new();
    kept.emit(1, 7);
    kept.signal.stop();
    kept.senders.clear();
    assert_eq!(kept.run(), (Progress::Finished, vec!["write".into()]), "its tasks left without having finished");
    let mut kept = Kept::new();
    kept.finish();
    assert_eq!(kept.run(), (WAITS, vec!["prepare 5".into()]));
    kept.signal.stop();
    assert_eq!(kept.run(), (Progress::Finished, Vec::new()), "the last checkpoint was not saved");
}
