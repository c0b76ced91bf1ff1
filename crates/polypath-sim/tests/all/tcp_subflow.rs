//! What a layer above TCP (MPTCP) uses: segments with tags, reports, one congestion control for
//! several subflows.

use crate::tcp_pipe::timeline::Timeline;
use polypath_core::congestion::{Congestion, CongestionConfig, CongestionKind};
use polypath_core::slow_start::SlowStartKind;
use polypath_sim::tcp::{Report, Segment, State, TcpConfig, TcpEndpoint};
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// Two hosts with one subflow on each of two paths; the client stripes tagged segments over them.
struct Hosts {
    now: Timestamp,
    ends: [[TcpEndpoint; 2]; 2],
    congestion: [Congestion; 2],
    events: Timeline<(usize, usize, Segment)>,
    sent: u64,
    lose_every: u64,
    next_tag: u64,
    reports: Vec<(usize, usize, Report)>,
}

const DELAYS: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(35)];
const SEGMENTS: u64 = 3_000;

impl Hosts {
    fn new(avoidance: CongestionKind, lose_every: u64) -> Self {
        let config = TcpConfig { segment_reports: true, option_reserve: 20, ..TcpConfig::LINUX };
        let paths = [0, 1].map(|number| PathId::new(number).unwrap());
        let congestion = CongestionConfig {
            avoidance: avoidance.into(),
            slow_start: SlowStartKind::Standard.into(),
            coupled: true,
            ..CongestionConfig::default()
        };
        Self {
            now: Timestamp::ZERO,
            ends: [
                paths.map(|path| TcpEndpoint::connect(config, path)),
                paths.map(|path| TcpEndpoint::listen(config, path)),
            ],
            congestion: [congestion.clone(), congestion].map(Congestion::new),
            events: Timeline::new(),
            sent: 0,
            lose_every,
            next_tag: 0,
            reports: Vec::new(),
        }
    }

    fn run(&mut self) {
        loop {
            self.transmit();
            let timers = self.ends.iter().flatten().map(TcpEndpoint::next_timeout);
            let departures = self.ends[0].iter().map(TcpEndpoint::next_departure);
            let waits = self.next_tag < SEGMENTS;
            let departures = departures.filter(|&at| waits && at > self.now);
            let arrival = self.events.next_time().unwrap_or(Timestamp::MAX);
            let next = timers.chain(departures).fold(arrival, Timestamp::min);
            if next == Timestamp::MAX || next > Timestamp::from_millis(100_000) {
                return;
            }
            self.now = next;
            if arrival == next {
                let (host, path, segment) = self.events.pop().unwrap().1;
                let congestion = &mut self.congestion[host];
                self.ends[host][path].on_segment(next, &segment, false, congestion);
            } else {
                for (ends, congestion) in self.ends.iter_mut().zip(&mut self.congestion) {
                    ends.iter_mut().for_each(|end| end.on_timeout(next, congestion));
                }
            }
        }
    }

    /// Hands the next segment to each path that can take it, in turn.
    fn stripe(&mut self) {
        let mut idle = 0;
        for path in [0, 1].into_iter().cycle() {
            let (end, congestion) = (&mut self.ends[0][path], &mut self.congestion[0]);
            idle += 1;
            if self.next_tag < SEGMENTS && end.can_send(self.now, congestion) {
                idle = 0;
                end.send_new(self.now, end.mss(), self.next_tag);
                self.next_tag += 1;
                let segment = end.poll_transmit(self.now, congestion).expect("it can send");
                self.events_push(0, path, segment);
            }
            if idle == 2 {
                return;
            }
        }
    }

    fn transmit(&mut self) {
        self.stripe();
        for host in 0..2 {
            for path in 0..2 {
                while let Some(segment) =
                    self.ends[host][path].poll_transmit(self.now, &mut self.congestion[host])
                {
                    self.events_push(host, path, segment);
                }
                while let Some(report) = self.ends[host][path].poll_report() {
                    self.reports.push((host, path, report));
                }
            }
        }
    }

    fn events_push(&mut self, host: usize, path: usize, segment: Segment) {
        self.sent += u64::from(segment.len > 0);
        let unlucky = self.lose_every > 0 && self.sent.is_multiple_of(self.lose_every);
        let lost = unlucky && segment.len > 0;
        if !lost {
            self.events.push(self.now + DELAYS[path], (1 - host, path, segment));
        }
    }

    fn check(&self) {
        assert_eq!(self.next_tag, SEGMENTS);
        let mut received = BTreeMap::new();
        let mut next = [1, 1];
        let mut acked = BTreeMap::new();
        for (host, path, report) in &self.reports {
            match *report {
                Report::Received { seq, len, tag } => {
                    assert_eq!((*host, seq), (1, next[*path]), "in the order of the subflow");
                    next[*path] += u64::from(len);
                    *received.entry(tag).or_insert(0) += 1;
                }
                Report::Acked { tag, .. } => *acked.entry(tag).or_insert(0) += 1,
                _ => {}
            }
        }
        for counts in [received, acked] {
            assert_eq!(counts.len() as u64, SEGMENTS);
            assert!(counts.values().all(|&count| count == 1));
        }
        for (path, end) in self.ends[0].iter().enumerate() {
            assert_eq!((end.state(), end.bytes_in_flight()), (State::Established, 0));
            let path = PathId::new(path as u8).unwrap();
            assert_eq!(self.congestion[0].bytes_in_flight(path), 0);
            // 1460 less 12 of timestamps and 20 for the option of the layer above.
            assert_eq!(end.mss(), 1_428);
        }
    }
}

#[test]
fn each_tag_arrives_once_in_the_order_of_its_subflow() {
    for avoidance in [CongestionKind::Lia, CongestionKind::Bbr] {
        let mut hosts = Hosts::new(avoidance, 0);
        hosts.run();
        hosts.check();
        let lost = hosts.reports.iter().any(|(_, _, r)| matches!(r, Report::Lost { .. }));
        assert!(!lost, "{avoidance:?}");
    }
}

#[test]
fn tags_survive_loss_and_retransmission() {
    for lose_every in [7, 50] {
        let mut hosts = Hosts::new(CongestionKind::Lia, lose_every);
        hosts.run();
        hosts.check();
        let lost = hosts.reports.iter().filter(|(_, _, r)| matches!(r, Report::Lost { .. }));
        let retransmissions: u64 = hosts.ends[0].iter().map(|e| e.stats().retransmissions).sum();
        assert!(lost.count() as u64 <= retransmissions && retransmissions >= SEGMENTS / lose_every);
    }
}
