//! Packets that are lost: by what is acknowledged, by time, or because a carrier says so.

use super::Bond;
use crate::flight::{InFlight, Standing};
use crate::path::Path;
use polypath_units::{PathId, PathSet, Timestamp};

impl Bond {
    /// Declares lost what is, by the last acknowledgement and by the time.
    pub(super) fn detect_losses(&mut self, id: PathId, now: Timestamp) {
        let mut newest = None;
        loop {
            let (Some(path), Some(rtt)) = (self.paths.get_mut(id), self.congestion.rtt(id)) else {
                return;
            };
            let Some(packet) = path.flight.next_lost(now, rtt) else { break };
            if packet.standing == Standing::Counted {
                newest = Some(packet.packet.sent_at);
            }
            self.lose(id, &packet, now);
        }
        if let Some(newest) = newest {
            self.end_losses(id, newest, now);
        }
    }

    /// When the next packet counts as lost, if nothing is heard of it.
    pub(super) fn next_loss(&self) -> Option<Timestamp> {
        let due = |path: &Path| path.flight.loss_at(self.congestion.rtt(path.id)?);
        self.paths.iter().filter_map(due).min()
    }

    /// Time has passed: declares lost what has had its time.
    pub(super) fn detect_late_losses(&mut self, now: Timestamp) {
        if self.next_loss().is_some_and(|at| at <= now) {
            let paths: PathSet = self.paths.ids().collect();
            paths.iter().for_each(|id| self.detect_losses(id, now));
        }
    }

    /// The carrier has lost a packet. The bond most often knew before, unless packets of the path
    /// overtake each other by more than a round trip. End a batch with [`Bond::on_losses_end`].
    pub fn on_packet_lost(&mut self, id: PathId, number: u64, now: Timestamp) {
        let Some(path) = self.paths.get_mut(id) else { return };
        if let Some(packet) = path.flight.on_lost(number) {
            self.lose(id, &packet, now);
        }
    }

    /// All packets that a carrier lost at once have been reported; the newest was sent at
    /// `newest_sent`.
    pub fn on_losses_end(&mut self, id: PathId, newest_sent: Timestamp, now: Timestamp) {
        if self.paths.get(id).is_some_and(|path| path.flight.has_lost()) {
            self.end_losses(id, newest_sent, now);
        }
    }

    fn lose(&mut self, id: PathId, packet: &InFlight, now: Timestamp) {
        if let Some(path) = self.paths.get_mut(id) {
            path.counters.packets_lost += 1;
        }
        match packet.standing {
            Standing::Counted => self.congestion.on_packet_lost(id, now, &packet.packet),
            Standing::Forgotten | Standing::WrittenOff => {
                self.congestion.on_packet_discarded(id, &packet.packet);
            }
        }
        if packet.standing != Standing::WrittenOff {
            self.give_up(id, &packet.payload, now);
        }
    }

    fn end_losses(&mut self, id: PathId, newest_sent: Timestamp, now: Timestamp) {
        let srtt = self.srtt(id).unwrap_or_default();
        if let Some(path) = self.paths.get_mut(id) {
            path.flight.end_losses(newest_sent, srtt, now);
        }
        if self.paths.is_working(id) {
            self.congestion.on_loss(id, now, newest_sent);
        }
        // With nothing in flight, silence means nothing: the detector must know at once.
        if self.congestion.bytes_in_flight(id) == 0 {
            self.detector.on_idle(id);
        }
    }

    /// All that a carrier lost of late has arrived after all: packets overtake each other by more
    /// than it waits for.
    pub(crate) fn on_spurious_losses(&mut self, id: PathId) {
        if let Some(path) = self.paths.get_mut(id) {
            path.flight.on_spurious(self.congestion.rtt(id));
        }
        self.congestion.on_spurious_loss(id);
    }

    /// The carrier will not say what becomes of the packets that are in flight now.
    pub(crate) fn on_packets_forgotten(&mut self, id: PathId) {
        if let Some(path) = self.paths.get_mut(id) {
            path.flight.forget();
        }
    }

    /// Numbers of packets of a path that were declared lost of late and have not arrived,
    /// ascending.
    pub fn declared_lost(&self, id: PathId) -> impl Iterator<Item = u64> {
        self.paths.get(id).into_iter().flat_map(|path| path.flight.declared_lost())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::hub;
    use crate::config::BondConfig;
    use crate::path::Payload;

    const PATH: PathId = PathId::new(0).unwrap();

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// A path of 80 ms on which a packet left in each of the first ten milliseconds.
    fn sending() -> Bond {
        let mut bond = hub(BondConfig::default(), None);
        for number in 0..10 {
            bond.on_packet_sent(PATH, number, 1_000, Payload::default(), at(number));
        }
        bond
    }

    fn ack(bond: &mut Bond, numbers: &[u64], millis: u64) {
        for &number in numbers {
            bond.on_packet_acked(PATH, number, at(millis));
        }
        bond.on_acks_end(PATH, at(millis));
    }

    fn lost(bond: &Bond) -> u64 {
        bond.paths.get(PATH).unwrap().counters.packets_lost
    }

    #[test]
    fn what_was_lost_and_has_arrived_after_all_leaves_no_trace() {
        let mut bond = sending();
        let window = bond.congestion().window(PATH);
        ack(&mut bond, &[3], 83);
        assert_eq!((lost(&bond), bond.congestion().bytes_in_flight(PATH)), (1, 8_000));
        ack(&mut bond, &[0], 84);
        assert_eq!((lost(&bond), bond.congestion().bytes_in_flight(PATH)), (0, 8_000));
        assert!(bond.congestion().window(PATH) >= window, "it has been given back");
    }

    #[test]
    fn what_is_late_is_lost_when_its_time_has_come() {
        let mut bond = sending();
        ack(&mut bond, &[2], 82);
        let due = bond.poll_timeout().expect("two packets before it are missing");
        assert_eq!(due, at(90), "sent at 0 ms, and an eighth more than 80 ms");
        bond.handle_timeout(at(90));
        assert_eq!(lost(&bond), 1);
        bond.handle_timeout(at(91));
        assert_eq!(lost(&bond), 2);
    }

    /// It says so much later, of packets that are settled; and of one that is not.
    #[test]
    fn a_carrier_that_loses_packets_is_believed_once() {
        let mut bond = sending();
        ack(&mut bond, &[3], 83);
        for number in [0, 1, 1] {
            bond.on_packet_lost(PATH, number, at(84));
        }
        bond.on_losses_end(PATH, at(1), at(84));
        assert_eq!((lost(&bond), bond.congestion().bytes_in_flight(PATH)), (2, 7_000));
        let window = bond.congestion().window(PATH);
        bond.on_losses_end(PATH, at(9), at(300));
        assert_eq!(bond.congestion().window(PATH), window, "nothing was lost since");
    }

    #[test]
    fn what_a_carrier_forgot_says_nothing_of_congestion() {
        let mut bond = sending();
        let window = bond.congestion().window(PATH);
        bond.on_packets_forgotten(PATH);
        ack(&mut bond, &[9], 89);
        assert_eq!(lost(&bond), 7);
        assert_eq!(bond.congestion().bytes_in_flight(PATH), 2_000, "7 and 8 have time left");
        assert!(bond.congestion().window(PATH) >= window);
    }
}
