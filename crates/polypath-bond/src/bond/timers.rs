//! What happens when time passes.

use super::Bond;
use crate::event::{BreakReason, Event};
use polypath_units::{PathSet, Timestamp};
use std::time::Duration;

/// Control messages without any sign of arrival are sent again after this at least.
const MIN_CONTROL_TIMEOUT: Duration = Duration::from_millis(200);

/// Chunks that are sent again at once when QUIC acknowledged them but the peer's bond did not.
const HINTED_AT_ONCE: usize = 64;

impl Bond {
    /// When [`Bond::handle_timeout`] must be called at the latest, if nothing else happens.
    pub fn poll_timeout(&mut self) -> Option<Timestamp> {
        if self.lifecycle.is_broken() {
            return None;
        }
        let detector =
            self.ask_detector(|detector, health, state| detector.next_timer(health, state));
        let probes = self.paths.iter().map(|path| path.probe.next_at).min();
        let timers = [
            self.acks
                .due()
                .filter(|_| self.paths.fastest(PathSet::EMPTY, &self.congestion).is_some()),
            self.lifecycle.deadline(),
            self.paths.iter().filter_map(|path| path.keep_alive_due()).min(),
            self.next_measurement(),
            self.selection.wake(),
            self.limits.release_at(),
            probes.filter(|&at| at < Timestamp::MAX),
            self.control.next_timer(self.silence_limit()),
            detector,
            self.next_flow_timer(),
            self.next_hint_check(),
            self.next_loss(),
            Some(self.paths.last_heard() + self.idle_timeout()),
        ];
        timers.into_iter().flatten().min()
    }

    /// Time has passed: call at the time of [`Bond::poll_timeout`] or later, then transmit.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        if self.lifecycle.is_broken() {
            return;
        }
        if self.paths.last_heard() + self.idle_timeout() <= now {
            self.break_off(BreakReason::IdleTimeout);
            return;
        }
        if self.lifecycle.deadline().is_some_and(|at| at <= now) {
            self.finish_close();
        }
        let limit = self.silence_limit();
        self.control.on_timer(now, limit);
        if self.next_hint_check().is_some_and(|at| at <= now) {
            self.chunks.reinject_hinted(now - limit, HINTED_AT_ONCE);
        }
        self.detect_late_losses(now);
        self.release_flows(now);
        let readers = self.limits.release_readers(now);
        self.events.extend(readers.into_iter().map(Event::StreamReadable));
        self.run_detector(now);
    }

    /// How long a path may be idle before the edge uses it: neither the path nor the bond must end
    /// because there is nothing to say.
    pub(super) fn keep_alive(&self) -> Duration {
        self.config.keep_alive_within(self.idle_timeout())
    }

    /// The lower of both ends' idle times; zero means none.
    fn idle_timeout(&self) -> Duration {
        let times = [self.config.idle_timeout, self.peer.idle_timeout];
        times.into_iter().filter(|time| !time.is_zero()).min().unwrap_or(Duration::MAX)
    }

    /// How long something may stay unacknowledged before it is sent again without any hint.
    fn silence_limit(&self) -> Duration {
        let rtts = self.paths.ids().filter_map(|id| self.congestion.rtt(id)?.srtt());
        (3 * rtts.max().unwrap_or_default() + self.peer.max_ack_delay).max(MIN_CONTROL_TIMEOUT)
    }

    /// QUIC acknowledged the oldest data but the peer's bond did not: its datagram queue may have
    /// overflowed. When to send it again.
    fn next_hint_check(&self) -> Option<Timestamp> {
        let oldest = self.chunks.oldest()?;
        oldest.hinted.map(|at| at + self.silence_limit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{hub, send_all, settings};
    use crate::codec::FlowConfig;
    use crate::codec::{FlowMode, Side};
    use crate::config::BondConfig;
    use bytes::Bytes;
    use polypath_units::PathId;

    const FLOW: FlowConfig = FlowConfig::of(FlowMode::Aggregate);

    /// What an edge with these times says first on a path on which nothing arrives, and when.
    fn first_word(config: BondConfig) -> Duration {
        let peer = Bond::parameters(&config);
        let mut bond = Bond::new(Side::Edge, config, &peer, Timestamp::ZERO);
        bond.add_path(PathId::default(), settings("a", None), Timestamp::ZERO);
        let at = bond.poll_timeout().unwrap();
        bond.handle_timeout(at);
        assert!(bond.poll_transmit(at).is_some());
        at.since(Timestamp::ZERO)
    }

    #[test]
    fn an_idle_path_is_used_in_time() {
        let (default, second) = (BondConfig::default(), Duration::from_secs(1));
        assert_eq!(first_word(default.clone()), 10 * second);
        let rarely = BondConfig {
            keep_alive: 60 * second,
            path_timeout: 180 * second,
            idle_timeout: 300 * second,
            ..default.clone()
        };
        assert_eq!(first_word(rarely.clone()), 60 * second);
        // What is told of one time lowers the others.
        assert_eq!(first_word(BondConfig { path_timeout: 6 * second, ..rarely }), 2 * second);
        assert_eq!(first_word(BondConfig { idle_timeout: 6 * second, ..default }), 2 * second);
    }

    /// Datagrams one way alone: the peer has nothing to say, and its carrier acknowledges them.
    #[test]
    fn a_peer_that_only_acknowledges_is_there() {
        let (second, only) = (Duration::from_secs(1), PathId::default());
        let mut bond = hub(BondConfig { idle_timeout: 30 * second, ..BondConfig::default() }, None);
        let flow = bond.open_flow(FLOW).unwrap();
        let mut number = 0;
        let mut run = |bond: &mut Bond, seconds: core::ops::Range<u64>, acknowledged| {
            for now in seconds.map(|at| Timestamp::from_millis(1_000 * at)) {
                let _ = bond.send_datagram(flow, &Bytes::from_static(b"a"), now);
                bond.handle_timeout(now);
                let first = number;
                send_all(bond, &mut number, now);
                if acknowledged {
                    (first..number).for_each(|number| bond.on_packet_acked(only, number, now));
                    bond.on_acks_end(only, now);
                }
            }
        };
        run(&mut bond, 0..100, true);
        assert!(!bond.is_closed());
        run(&mut bond, 100..131, false);
        assert!(bond.is_closed(), "30 s after the last acknowledgement");
    }
}
