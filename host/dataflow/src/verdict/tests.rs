//! The search condemns exactly the guilty, within the bound of isolation's row 30.

use super::*;

#[derive(Default)]
struct Trial {
    guilty: Vec<usize>,
    calls: usize,
    done: Vec<usize>,
    condemned: Vec<usize>,
}

impl Work for Trial {
    fn run(&mut self, call: Call, from: usize, to: usize) -> Result<Result<(), GuestFailure>, OperatorError> {
        self.calls += 1;
        assert!(call.fresh_instance);
        if self.guilty.iter().any(|at| (from..to).contains(at)) {
            return Ok(Err(GuestFailure { code: "trap", detail: String::new(), fuel_used: 0 }));
        }
        self.done.extend(from..to);
        Ok(Ok(()))
    }

    fn condemn(&mut self, at: usize, _failure: GuestFailure) {
        self.condemned.push(at);
    }
}

#[test]
fn condemns_exactly_the_guilty_and_runs_the_rest_in_order() {
    for guilty in [vec![0], vec![999], vec![500], vec![3, 4], (0..1000).step_by(7).collect(), (0..1000).collect()] {
        let mut trial = Trial { guilty: guilty.clone(), ..Trial::default() };
        search(&mut trial, 0, 1000, &mut 0).expect("no platform failure");
        assert_eq!(trial.condemned, guilty);
        assert!(trial.done.is_sorted());
        assert_eq!(trial.done.len() + guilty.len(), 1000);
        if guilty.len() < CONDEMNED_BEFORE_SINGLE {
            assert!(trial.calls <= 2 * guilty.len() * 11 + 1, "{} calls for {} guilty", trial.calls, guilty.len());
        }
    }
}

#[test]
fn a_call_that_the_wall_clock_stops_is_tried_again_and_then_pauses_the_job() {
    let mut left = 2;
    let answer = insist("map", || {
        left -= 1;
        if left > 0 { Err(HookError::Interrupted { millis: 1 }) } else { Ok(Answer { value: 7, fuel_used: 0 }) }
    });
    assert_eq!(answer.expect("goes on").expect("answers").value, 7);
    let stopped = insist::<()>("map", || Err(HookError::Interrupted { millis: 1 }));
    assert!(matches!(stopped, Err(OperatorError::Paused { stops: 3, .. })));
}
