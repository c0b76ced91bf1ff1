//! What is sent next: the order in which everything that waits goes.

use super::{Bond, Transmit, Urgent};
use crate::codec::Frame;
use crate::path::{Path, Payload};
use bytes::BytesMut;
use polypath_core::failure::SuspicionReport;
use polypath_units::{PathSet, Timestamp};

impl Bond {
    /// The next datagram to hand to a carrier. Call until `None`, then see
    /// [`Bond::poll_timeout`]. A datagram must reach [`Bond::on_packet_sent`] before much time
    /// passes: the bond counts it as sent.
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Transmit> {
        if self.lifecycle.is_broken() {
            return None;
        }
        self.poll_probe(now)
            .or_else(|| self.poll_keep_alive(now))
            .or_else(|| self.poll_measurement(now))
            .or_else(|| self.poll_pong())
            .or_else(|| self.poll_urgent(now))
            .or_else(|| self.poll_ack(now))
            .or_else(|| self.poll_control(now))
            .or_else(|| {
                self.selection.renew(&mut self.paths, &self.congestion, now);
                self.poll_within_limit(now)
            })
    }

    /// What counts against the limit of the rate.
    fn poll_within_limit(&mut self, now: Timestamp) -> Option<Transmit> {
        let transmit = match self.limits.check_send(now) {
            Ok(()) => self.poll_in_turn(now),
            Err(again) => {
                self.selection.wake_at(again);
                None
            }
        };
        let Some(transmit) = transmit else {
            self.mark_app_limited();
            return None;
        };
        self.limits.on_sent(transmit.payload.len);
        Some(transmit)
    }

    /// Datagrams of flows go first, because they are worth the most when they are new; but streams
    /// have their turns. What flows send in a turn that streams could not use costs them none.
    fn poll_in_turn(&mut self, now: Timestamp) -> Option<Transmit> {
        if self.flows.backlog().is_empty() {
            return self.poll_streams(now);
        }
        let contended = self.streams_wait();
        if contended && !self.turns.flows_first() {
            return self.poll_streams(now).or_else(|| self.poll_flows(now));
        }
        let datagram = self.poll_flows(now);
        if let Some(transmit) = datagram.as_ref().filter(|_| contended) {
            self.turns.on_flows(transmit.payload.len);
        }
        datagram.or_else(|| self.poll_streams(now))
    }

    /// A failed path is probed with a datagram of full size: small ones pass where large do not.
    fn poll_probe(&mut self, now: Timestamp) -> Option<Transmit> {
        let path = self.paths.iter_mut().find(|path| path.probe.next_at <= now)?;
        let (id, size) = (path.id, path.max_datagram as usize);
        let probe = path.probe.take(now);
        let payload = Payload { probe: Some(probe), ..Payload::default() };
        Some(self.commit_frame(id, &Frame::Ping { id: probe }, payload, size))
    }

    /// An idle path is used now and then, so that NATs keep their state and both ends know that it
    /// works.
    fn poll_keep_alive(&mut self, now: Timestamp) -> Option<Transmit> {
        let interval = self.keep_alive();
        let idle = |path: &&mut Path| path.keep_alive_due().is_some_and(|at| at <= now);
        let path = self.paths.iter_mut().find(idle)?;
        path.keep_alive_at = Some(now + interval);
        let (id, ping) = (path.id, path.probe.take_small());
        Some(self.commit_frame(id, &Frame::Ping { id: ping }, Payload::default(), 0))
    }

    fn poll_pong(&mut self) -> Option<Transmit> {
        let path = self.paths.iter_mut().find(|path| !path.pongs.is_empty())?;
        let (id, pong) = (path.id, path.pongs.pop_front()?);
        Some(self.commit_frame(id, &Frame::Pong { id: pong }, Payload::default(), 0))
    }

    fn poll_urgent(&mut self, now: Timestamp) -> Option<Transmit> {
        let Urgent { mut frame, avoid } = self.urgent.pop_front()?;
        if let Frame::PathSuspect(report) = &mut frame {
            self.renew(report, now);
        }
        let path = self.paths.fastest(avoid, &self.congestion)?;
        Some(self.commit_frame(path, &frame, Payload::default(), 0))
    }

    /// Since a report was made, sockets may have been read on which something had waited.
    fn renew(&self, report: &mut SuspicionReport, now: Timestamp) {
        for suspect in &mut report.suspects {
            if let Some(path) = self.paths.get(suspect.path) {
                suspect.silent_for = suspect.silent_for.min(now - path.last_arrival);
            }
        }
    }

    /// Control messages, as many as fit, over the fastest path.
    fn poll_control(&mut self, now: Timestamp) -> Option<Transmit> {
        self.control.peek()?;
        let id = self.paths.fastest(PathSet::EMPTY, &self.congestion)?;
        let path = self.paths.get(id)?;
        let room = path.max_datagram as usize;
        if self.congestion.bytes_in_flight(id) + path.committed > self.congestion.window(id) {
            return None;
        }
        let mut buf = BytesMut::new();
        let mut payload = Payload::default();
        while let Some((seq, message)) = self.control.peek() {
            let frame = Frame::Control { seq, message: message.clone() };
            if !buf.is_empty() && buf.len() + frame.encoded_size(false) > room {
                break;
            }
            frame.encode(&mut buf, false);
            payload.control.push(seq);
            self.control.on_sent(seq, id, now);
        }
        Some(self.commit(id, buf.freeze(), payload))
    }

    /// Nothing is sent now: paths with room are limited by the application or the scheduler, not
    /// by the network.
    fn mark_app_limited(&mut self) {
        for view in self.selection.open() {
            self.congestion.set_app_limited(view.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{OVERHEAD, hub};
    use crate::codec::FlowConfig;
    use crate::codec::{FlowId, FlowMode};
    use crate::config::BondConfig;
    use bytes::Bytes;
    use polypath_units::PathId;
    use std::time::Duration;

    /// A bond with so many bytes of a stream to send, and a flow.
    fn stream_and_flow(bytes: usize) -> (Bond, FlowId) {
        let mut bond = hub(BondConfig::default(), None);
        let id = bond.open_stream().unwrap();
        bond.write(id, &Bytes::from(vec![0; bytes])).unwrap();
        let config = FlowConfig::of(FlowMode::Aggregate);
        let flow = bond.open_flow(config).unwrap();
        (bond, flow)
    }

    /// Sends until all of the stream is sent, in rounds of 10 ms after which all is acknowledged.
    /// `queue` is called before each datagram. Which were of the flow, and their lengths.
    fn send_all(
        bond: &mut Bond,
        mut queue: impl FnMut(&mut Bond, usize, Timestamp),
    ) -> Vec<(bool, u64)> {
        let (mut now, mut number, mut sent) = (Timestamp::ZERO, 0, Vec::new());
        while bond.send.unsent() > 0 {
            // Pacing lets two datagrams or more go in a round: 2,100 of them take 11 s.
            assert!(now < Timestamp::from_millis(30_000), "the stream has starved");
            let first = number;
            // What flows send when the stream is sent takes nothing from it.
            while bond.send.unsent() > 0 {
                queue(bond, sent.len(), now);
                let Some(Transmit { path, payload, .. }) = bond.poll_transmit(now) else { break };
                if payload.is_data() {
                    sent.push((payload.datagram, payload.len));
                }
                let bytes = payload.len + OVERHEAD;
                bond.on_packet_sent(path, number, bytes, payload, now);
                number += 1;
            }
            now += Duration::from_millis(10);
            (first..number).for_each(|n| bond.on_packet_acked(PathId::default(), n, now));
            bond.on_acks_end(PathId::default(), now);
        }
        sent
    }

    /// A flow with more than the path carries may be 64 KiB ahead of seven eighths, and a datagram
    /// of each.
    #[test]
    fn a_flow_that_is_never_done_leaves_an_eighth_to_a_stream() {
        let (mut bond, flow) = stream_and_flow(200_000);
        let data = Bytes::from_static(&[1; 700]);
        let sent = send_all(
            &mut bond,
            |bond, _, now| while bond.send_datagram(flow, &data, now).is_ok() {},
        );
        let sum = |of| -> u64 { sent.iter().filter(|sent| sent.0 == of).map(|sent| sent.1).sum() };
        let (flow, stream) = (sum(true), sum(false));
        let due = (64 << 10) + 7 * stream;
        assert!(stream > 200_000 && flow.abs_diff(due) <= 700 + 7 * 1_200, "{flow} {stream}");
    }

    /// A datagram of 700 bytes for two of 1,200.
    #[test]
    fn a_small_flow_waits_for_no_stream() {
        let (mut bond, flow) = stream_and_flow(1_000_000);
        let mut queued = Vec::new();
        let sent = send_all(&mut bond, |bond, sent, now| {
            if sent % 3 == 0 && queued.last() != Some(&sent) {
                bond.send_datagram(flow, &Bytes::from_static(&[1; 700]), now).unwrap();
                queued.push(sent);
            }
        });
        let of_flow: Vec<_> = (0..sent.len()).filter(|&n| sent[n].0).collect();
        assert_eq!(of_flow, queued[..of_flow.len()], "each went next");
        assert!(of_flow.len() >= queued.len() - 1 && queued.len() > 300);
    }
}
