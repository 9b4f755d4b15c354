//! Places under owners that want more than their part.

use std::sync::mpsc::channel;
use std::thread;

use super::*;

const NOT_AT_ALL: Option<Duration> = Some(Duration::ZERO);
const LONG: Option<Duration> = Some(Duration::from_secs(60));

fn wait_for_waiting(places: &Places, many: usize) {
    while places.lock().queue.len() < many {
        thread::yield_now();
    }
}

#[test]
fn an_owner_has_one_place_and_leaves_the_others_to_others() {
    let places = Places::new(2, 10, 2);
    let a = places.take("a", NOT_AT_ALL).unwrap();
    assert!(places.take("a", NOT_AT_ALL).is_none());
    let _b = places.take("b", NOT_AT_ALL).unwrap();
    assert!(places.take("c", NOT_AT_ALL).is_none());
    drop(a);
    assert!(places.take("c", NOT_AT_ALL).is_some());
}

#[test]
fn who_waits_gets_the_place_that_is_freed() {
    let places = Places::new(1, 1, 1);
    let first = places.take("a", NOT_AT_ALL).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| places.take("b", LONG).is_some());
        wait_for_waiting(&places, 1);
        assert!(places.take("c", LONG).is_none(), "too many wait");
        drop(first);
        assert!(waiting.join().unwrap());
    });
}

#[test]
fn an_owner_that_floods_waits_behind_the_others_and_keeps_none_from_waiting() {
    let places = Places::new(1, 64, 2);
    let first = places.take("flood", NOT_AT_ALL).unwrap();
    let (told, served) = channel();
    thread::scope(|scope| {
        let places = &places;
        let mut queued = 0;
        for owner in ["flood", "flood", "honest", "third"] {
            let told = told.clone();
            scope.spawn(move || {
                let place = places.take(owner, LONG).expect("its turn comes");
                told.send(owner).expect("the test listens");
                drop(place);
            });
            queued += 1;
            wait_for_waiting(places, queued);
            if queued == 2 {
                for _ in 0..62 {
                    assert!(places.take("flood", LONG).is_none(), "two of an owner wait already");
                }
            }
        }
        drop(first);
    });
    drop(told);
    assert_eq!(served.iter().collect::<Vec<_>>(), ["honest", "third", "flood", "flood"]);
}

#[test]
fn who_waits_as_long_as_it_takes_is_never_told_to_come_again() {
    let places = Places::new(1, 0, 0);
    let first = places.take("a", NOT_AT_ALL).unwrap();
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..10).map(|_| scope.spawn(|| places.take("a", None).is_some())).collect();
        wait_for_waiting(&places, 10);
        assert!(places.take("b", LONG).is_none(), "who has a patience is bounded still");
        drop(first);
        assert!(waiting.into_iter().all(|waiting| waiting.join().unwrap()));
    });
}
