use super::*;
use polypath_core::congestion::Congestion;
use polypath_units::PathId;

const MS: Duration = Duration::from_millis(1);

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A path with an RTT of 80 ms, on which a packet of 1,000 bytes leaves every millisecond from 0
/// on.
struct Sender {
    congestion: Congestion,
    flight: Flight,
    rtt: RttEstimator,
}

impl Sender {
    fn new(packets: u64) -> Self {
        let mut rtt = RttEstimator::default();
        rtt.on_sample(80 * MS);
        let congestion = Congestion::new(Default::default());
        let mut sender = Self { congestion, flight: Flight::default(), rtt };
        (0..packets).for_each(|number| sender.send(number));
        sender
    }

    fn send(&mut self, number: u64) {
        let packet = self.congestion.on_sent(PathId::default(), at(number), 1_000);
        let payload = Payload { len: number, ..Payload::default() };
        self.flight.insert(number, InFlight { packet, payload, standing: Standing::Counted });
    }

    /// These packets are acknowledged; which were declared lost and have arrived after all.
    fn ack(&mut self, numbers: impl IntoIterator<Item = u64>, millis: u64) -> Vec<bool> {
        let mut late = Vec::new();
        for number in numbers {
            match self.flight.on_acked(number, at(millis), Some(&self.rtt)) {
                Some(Acked::Late { spurious, .. }) => late.push(spurious),
                Some(Acked::InFlight(_)) | None => {}
            }
        }
        self.flight.end_acks();
        late
    }

    /// What is lost by now.
    fn lost(&mut self, millis: u64) -> Vec<u64> {
        let (flight, rtt) = (&mut self.flight, &self.rtt);
        let lost: Vec<_> =
            core::iter::from_fn(|| flight.next_lost(at(millis), rtt)).map(|p| p.packet).collect();
        if let Some(newest) = lost.last() {
            flight.end_losses(newest.sent_at, 80 * MS, at(millis));
        }
        lost.iter().map(|packet| packet.sent_at.since(Timestamp::ZERO).as_millis() as u64).collect()
    }
}

/// RFC 9002 section 6.1: by the third packet after it, or an eighth of a round trip after it was
/// due.
#[test]
fn a_path_that_keeps_the_order_loses_by_number_and_time() {
    let mut sender = Sender::new(10);
    sender.ack([2], 82);
    assert_eq!(sender.lost(82), []);
    assert_eq!(sender.flight.loss_at(&sender.rtt), Some(at(90)));
    sender.ack([4], 84);
    assert_eq!(sender.lost(84), [0, 1]);
    assert_eq!(sender.lost(92), []);
    assert_eq!(sender.lost(93), [3]);
    assert_eq!(sender.flight.loss_at(&sender.rtt), None, "nothing after 5 has arrived");
}

#[test]
fn the_order_within_one_acknowledgement_says_nothing() {
    let mut sender = Sender::new(10);
    sender.ack((0..10).rev(), 89);
    assert_eq!(sender.flight.reordering(&sender.rtt), Duration::ZERO);
}

/// It was late by 25 ms: two steps of 20 ms.
#[test]
fn a_loss_that_was_none_is_taken_back_and_is_waited_for_the_next_time() {
    let mut sender = Sender::new(300);
    sender.ack([1, 2, 3], 83);
    assert_eq!(sender.lost(83), [0]);
    assert_eq!(sender.flight.declared_lost().collect::<Vec<_>>(), [0]);
    assert_eq!(sender.ack([0], 105), [true]);
    assert_eq!(sender.flight.declared_lost().count(), 0);
    assert_eq!(sender.flight.reordering(&sender.rtt), 40 * MS);
    sender.ack(201..280, 280);
    assert_eq!(sender.lost(280), (4..=160).collect::<Vec<_>>(), "sent 120 ms ago");
    assert_eq!(sender.flight.loss_at(&sender.rtt), Some(at(281)));
}

/// Packets that were overtaken, but are acknowledged before they count as lost, widen the window
/// as well: on a path that reorders a little, nothing is lost in vain.
#[test]
fn packets_that_are_overtaken_in_time_are_seen() {
    let mut sender = Sender::new(300);
    sender.ack([1], 81);
    sender.ack([3], 83);
    assert_eq!(sender.flight.reordering(&sender.rtt), Duration::ZERO);
    sender.ack([0], 84);
    assert_eq!(sender.flight.reordering(&sender.rtt), 20 * MS);
    sender.ack([10], 90);
    assert_eq!(sender.lost(90), []);
    // One of 84 ms has raised what is usual by a sixteenth of the difference.
    assert_eq!(sender.lost(102), []);
    assert_eq!(sender.lost(103), [2]);
}

#[test]
fn one_real_loss_makes_an_episode_no_mistake() {
    let mut sender = Sender::new(10);
    sender.ack([5], 85);
    assert_eq!(sender.lost(85), [0, 1, 2]);
    assert_eq!(sender.ack([0, 1], 87), [false, false]);
    assert_eq!(sender.flight.declared_lost().collect::<Vec<_>>(), [2]);
}

#[test]
fn an_episode_goes_on_for_what_was_sent_before_it_began() {
    let mut sender = Sender::new(100);
    sender.ack([3], 83);
    assert_eq!(sender.lost(83), [0]);
    sender.ack([8], 88);
    assert_eq!(sender.lost(88), [1, 2, 4, 5]);
    assert_eq!(sender.ack([0, 1, 2, 4], 90), [false; 4]);
    assert_eq!(sender.ack([5], 91), [true], "the last one");
}

/// The carrier reports no more of them: they are settled, and say nothing of congestion.
#[test]
fn what_the_carrier_forgot_stays_forgotten() {
    let mut sender = Sender::new(10);
    sender.flight.forget();
    sender.send(10);
    sender.send(11);
    sender.ack([11], 92);
    let lost = sender.flight.next_lost(at(92), &sender.rtt).expect("the oldest");
    assert_eq!((lost.payload.len, lost.standing), (0, Standing::Forgotten));
    assert!(!sender.flight.has_lost());
    assert_eq!(sender.ack([0], 95), []);
}

#[test]
fn what_the_carrier_lost_counts_in_its_episode() {
    let mut sender = Sender::new(10);
    assert!(sender.flight.on_lost(0).is_some());
    assert!(sender.flight.on_lost(0).is_none());
    sender.ack([5], 85);
    assert_eq!(sender.lost(85), [1, 2]);
    assert_eq!(sender.ack([1, 2], 87), [false, false]);
    assert_eq!(sender.lost(200), [3, 4]);
}

#[test]
fn no_more_are_remembered_than_may_be() {
    let mut sender = Sender::new(9_000);
    sender.ack([8_999], 9_080);
    assert_eq!(sender.lost(9_080).len(), 8_997);
    assert_eq!(sender.flight.declared_lost().count(), 4_096);
    sender.send(9_000);
    sender.send(9_001);
    sender.ack([9_001], 9_700);
    assert_eq!(sender.lost(9_700), [8_997, 8_998, 9_000]);
    assert_eq!(sender.flight.declared_lost().collect::<Vec<_>>(), [8_997, 8_998, 9_000]);
}
