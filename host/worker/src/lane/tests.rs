//! Lanes end: when their tasks have finished, when one fails, and when another lane panics.

use super::*;

/// Waits for its queue for ever.
struct Patient;

impl Task for Patient {
    fn step(&mut self, _now: Option<EventTime>) -> Result<Progress, TaskError> {
        Ok(Progress::Waiting { until: None })
    }
}

struct Panics;

impl Task for Panics {
    fn step(&mut self, _now: Option<EventTime>) -> Result<Progress, TaskError> {
        panic!("a defect, planted by this test");
    }
}

/// Works so often, then has finished.
struct Works(u32);

impl Task for Works {
    fn step(&mut self, _now: Option<EventTime>) -> Result<Progress, TaskError> {
        self.0 -= 1;
        Ok(if self.0 == 0 { Progress::Finished } else { Progress::Worked })
    }
}

#[test]
fn a_lane_ends_when_its_tasks_have_finished() {
    let lane =
        start("lane".into(), vec![Box::new(Works(3)), Box::new(Works(5))], Signal::new(), None).expect("a thread");
    assert!(lane.join().expect("no panic").is_ok());
}

#[test]
fn a_lane_that_waits_ends_when_another_panics() {
    let signal = Signal::new();
    let patient = start("patient".into(), vec![Box::new(Patient)], Arc::clone(&signal), None).expect("a thread");
    let panics = start("panics".into(), vec![Box::new(Panics)], signal, None).expect("a thread");
    assert!(panics.join().is_err());
    assert!(patient.join().expect("no panic of its own").is_ok());
}
