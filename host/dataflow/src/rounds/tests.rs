//! How far an operator works through a round of which not all is there.

use tidegate_types::NO_CLOCK;

use super::*;
use crate::channel::{Sender, Signal, channel};

/// Inputs with one sender each, and the senders.
fn inputs(count: usize) -> (Inputs, Vec<Sender<Piece>>) {
    let schema = Arc::new(Schema::new(Vec::new()));
    let signal = Signal::new();
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| channel(4, &signal)).unzip();
    let inputs = receivers.into_iter().map(|receiver| (Arc::clone(&schema), vec![receiver])).collect();
    (Inputs::new(inputs, 10), senders)
}

/// A piece without rows, which moves the watermark at each of these positions to the position.
fn piece(moves: &[u32], ends: Ends) -> Piece {
    let mut progress = Progress::default();
    for position in moves {
        let watermark = Watermark::at(i64::from(*position));
        progress.push(ProgressEntry { position: *position, watermark, clock: NO_CLOCK });
    }
    Piece { parts: Vec::new(), progress: Arc::new(progress), ends }
}

/// The positions of the next stretch's changes, and how far it goes; none if there is nothing to do yet.
fn stretch(inputs: &mut Inputs) -> Option<(Vec<u32>, Ends)> {
    match inputs.next() {
        Next::Stretch(_, progress, ends) => Some((progress.entries.iter().map(|entry| entry.position).collect(), ends)),
        Next::Nothing => None,
        Next::Between(_) | Next::Barrier(_) | Next::Ended => {
            panic!("nothing was sent between rounds, and no sender has gone")
        }
    }
}

#[test]
fn a_part_of_a_round_that_has_no_rows_is_worked_through_too() {
    // Whoever sent it may have no credit for more until somebody else hears from here that these events are done.
    let (mut inputs, senders) = inputs(1);
    senders[0].send(piece(&[3], Ends::Before(5)));
    assert_eq!(stretch(&mut inputs), Some((vec![3], Ends::Before(5))));
    assert_eq!(stretch(&mut inputs), None, "it is done once");
    senders[0].send(piece(&[], Ends::Before(5)));
    assert_eq!(stretch(&mut inputs), None, "nothing new was said");
    senders[0].send(piece(&[7], Ends::Round));
    assert_eq!(stretch(&mut inputs), Some((vec![7], Ends::Round)));
}

#[test]
fn no_input_gets_ahead_of_another() {
    let (mut inputs, senders) = inputs(2);
    senders[0].send(piece(&[3, 6], Ends::Before(9)));
    assert_eq!(stretch(&mut inputs), None);
    senders[1].send(piece(&[4], Ends::Before(5)));
    assert_eq!(stretch(&mut inputs), Some((vec![3, 4], Ends::Before(5))));
    senders[1].send(piece(&[6], Ends::Round));
    assert_eq!(stretch(&mut inputs), Some((vec![6], Ends::Before(9))));
    senders[0].send(piece(&[], Ends::Round));
    assert_eq!(stretch(&mut inputs), Some((vec![], Ends::Round)));
}

#[test]
fn a_barrier_waits_for_all_senders_and_stands_between_two_rounds() {
    let (mut inputs, senders) = inputs(2);
    senders[0].send(piece(&[3], Ends::Round));
    senders[0].send(piece(&[], Ends::Barrier(7)));
    senders[0].send(piece(&[4], Ends::Round));
    assert_eq!(stretch(&mut inputs), None, "the other sender's part of the round is not there");
    senders[1].send(piece(&[3], Ends::Round));
    assert_eq!(stretch(&mut inputs), Some((vec![3], Ends::Round)));
    assert_eq!(stretch(&mut inputs), None, "nothing behind a barrier is looked at");
    senders[1].send(piece(&[], Ends::Barrier(7)));
    assert!(matches!(inputs.next(), Next::Barrier(7)));
    assert_eq!(stretch(&mut inputs), None);
    senders[1].send(piece(&[4], Ends::Round));
    assert_eq!(stretch(&mut inputs), Some((vec![4], Ends::Round)));
}

#[test]
fn a_sender_that_has_gone_keeps_no_barrier_waiting() {
    let (mut inputs, mut senders) = inputs(2);
    drop(senders.remove(1));
    senders[0].send(piece(&[], Ends::Barrier(1)));
    assert!(matches!(inputs.next(), Next::Barrier(1)));
}

#[test]
fn inputs_go_on_where_those_before_them_stood() {
    let (mut before, senders) = inputs(2);
    senders[0].send(piece(&[3, 9], Ends::Round));
    senders[1].send(piece(&[5], Ends::Round));
    assert!(stretch(&mut before).is_some());
    let mut head = Vec::new();
    before.write(&mut head);
    let head = InputsHead::read(&mut Stored::new(&head)).expect("a head");
    let (mut after, senders) = inputs(2);
    after.restore(&head);
    senders[0].send(piece(&[20], Ends::Round));
    senders[1].send(piece(&[], Ends::Round));
    let Next::Stretch(_, progress, _) = after.next() else { panic!("a round was sent") };
    assert_eq!(
        progress.entries.last().map(|entry| entry.watermark),
        Some(Watermark::at(5)),
        "the other input holds it"
    );
}
