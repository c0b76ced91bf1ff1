//! A connection of polypath-core in a random life, and the events that the kernel would tell of it.

use super::event::{Event, Kind, Windows};
use super::link::{Link, Profile};
use super::tap::{Log, Told};
use polypath_core::congestion::{Congestion, CongestionConfig, CongestionKind, Subflow};
use polypath_core::estimator::SentPacket;
use polypath_core::random::SplitMix64;
use polypath_core::slow_start::SlowStartKind;
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

/// What a trace is of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Composition {
    pub(crate) kind: CongestionKind,
    pub(crate) slow_start: SlowStartKind,
    pub(crate) coupled: bool,
}

/// What the C is told, and what polypath-core has after each of it.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) events: Vec<Event>,
    pub(crate) expected: Vec<Windows>,
}

/// Draws what a path is like.
pub(crate) type Draw = fn(&mut SplitMix64) -> Profile;

/// A connection and its paths.
pub(crate) struct Life {
    congestion: Congestion,
    log: Log,
    links: Vec<Link>,
    random: SplitMix64,
    now: Timestamp,
    draw: Draw,
    disturbance: u64,
    trace: Trace,
}

fn path(number: usize) -> PathId {
    PathId::new(number as u8).expect("a trace has few paths")
}

/// A finite threshold above the largest window is as good as that: the C does not go beyond.
fn reachable(threshold: f64) -> f64 {
    if threshold.is_finite() { threshold.min(Congestion::MAX_WINDOW as f64) } else { threshold }
}

fn nanos(duration: Option<Duration>) -> u64 {
    duration.map_or(0, |duration| duration.as_nanos() as u64)
}

impl Life {
    /// One with `paths` paths.
    pub(crate) fn new(of: Composition, paths: usize, draw: Draw, seed: u64) -> Self {
        let log = Log::default();
        let config = CongestionConfig {
            own_avoidance: Some(log.factory(of.kind)),
            slow_start: of.slow_start.into(),
            coupled: of.coupled,
            ..CongestionConfig::default()
        };
        let mut life = Self {
            congestion: Congestion::new(config),
            log,
            links: Vec::new(),
            random: SplitMix64::new(seed),
            now: Timestamp::from_nanos(1),
            draw,
            disturbance: 64,
            trace: Trace::default(),
        };
        (0..paths).for_each(|number| life.join(path(number)));
        life
    }

    /// One to which something happens in one of so many steps, in the mean.
    pub(crate) fn disturbed_in(self, steps: u64) -> Self {
        Self { disturbance: steps, ..self }
    }

    /// Lives until it has this many events.
    pub(crate) fn until(mut self, events: usize) -> Trace {
        while self.trace.events.len() < events {
            self.send_all();
            self.happen();
            if self.random.below(self.disturbance) == 0 {
                self.disturb();
            }
        }
        self.trace
    }

    fn note(&mut self, event: Event) {
        let in_flight = self.congestion.bytes_in_flight(event.flow);
        let state = self.congestion.subflow(event.flow);
        let (window, threshold) = state.map_or((0.0, 0.0), |s| (s.cwnd, s.ssthresh));
        self.trace.expected.push(Windows { window, threshold: reachable(threshold) });
        self.trace.events.push(Event { in_flight, ..event });
    }

    fn event(&self, kind: Kind, flow: PathId) -> Event {
        Event::new(kind, flow, self.now.as_nanos())
    }

    /// What the congestion control was told in the last call; `again`: the timer expired before.
    fn note_told(&mut self, flow: PathId, again: bool) {
        for told in self.log.take() {
            let event = match told {
                Told::Ack { ack, srtt, min_rtt, recovered } => Event {
                    bytes: ack.acked_bytes,
                    rtt: nanos(ack.rtt),
                    srtt: nanos(srtt),
                    min_rtt: nanos(min_rtt),
                    cwnd_limited: ack.cwnd_limited,
                    round_start: ack.round_start,
                    recovered,
                    ..self.event(Kind::Ack, flow)
                },
                Told::Loss(loss) => {
                    Event { prior_in_flight: loss.bytes_in_flight, ..self.event(Kind::Loss, flow) }
                }
                Told::Timeout(loss) => Event {
                    prior_in_flight: loss.bytes_in_flight,
                    yes: again,
                    ..self.event(Kind::Timeout, flow)
                },
                Told::SpuriousLoss => self.event(Kind::SpuriousLoss, flow),
                Told::IdleRestart => self.event(Kind::IdleRestart, flow),
            };
            self.note(event);
        }
    }

    fn join(&mut self, id: PathId) {
        let mss = 500 + self.random.below(8_501);
        let link = Link::new(id, (self.draw)(&mut self.random), mss, self.now);
        self.links.push(link);
        self.congestion.add_subflow(id, mss, None);
        let bytes = self.congestion.window(id);
        self.note(Event { mss, bytes, ..self.event(Kind::Join, id) });
    }

    fn leave(&mut self, at: usize) {
        let id = self.links.remove(at).id;
        self.congestion.remove_subflow(id);
        self.note(self.event(Kind::Leave, id));
    }

    fn send_all(&mut self) {
        for at in 0..self.links.len() {
            loop {
                let bytes = self.links[at].next_size(&self.congestion);
                if !self.links[at].may_send(&self.congestion, self.now, bytes) {
                    break;
                }
                self.send(at, bytes);
            }
            // Where the window is below the next packet, or there is hardly any appetite.
            if self.links[at].is_empty() && self.now >= self.links[at].sleeps_until {
                self.send(at, self.links[at].mss);
            }
        }
    }

    fn send(&mut self, at: usize, bytes: u64) {
        let id = self.links[at].id;
        let packet = self.congestion.on_sent(id, self.now, bytes);
        self.note_told(id, false);
        self.links[at].send(packet, self.now, &mut self.random);
        self.note(Event { bytes, ..self.event(Kind::Sent, id) });
    }

    /// The next thing that happens on any path.
    fn happen(&mut self) {
        let next = |link: &Link| link.next_event(&self.congestion);
        let Some(at) = (0..self.links.len()).min_by_key(|&at| next(&self.links[at])) else {
            return;
        };
        self.now = self.now.max(next(&self.links[at]));
        if self.links[at].is_stuck() {
            self.time_out(at);
        } else if !self.links[at].is_empty() {
            self.acknowledge(at);
        }
    }

    fn acknowledge(&mut self, at: usize) {
        let id = self.links[at].id;
        let most = 1 + self.random.below(4) as usize;
        let arrived = self.links[at].arrive(self.now, most);
        for packet in &arrived.acked {
            self.congestion.on_packet_acked(id, self.now, packet);
        }
        self.congestion.on_ack_end(id, self.now);
        self.note_told(id, false);
        self.lose(id, &arrived.lost);
    }

    fn lose(&mut self, id: PathId, lost: &[SentPacket]) {
        let Some(newest) = lost.last() else { return };
        for packet in lost {
            self.congestion.on_packet_lost(id, self.now, packet);
        }
        self.congestion.on_loss(id, self.now, newest.sent_at);
        self.note_told(id, false);
        self.note(self.event(Kind::Sent, id));
    }

    fn time_out(&mut self, at: usize) {
        let id = self.links[at].id;
        for packet in self.links[at].give_up() {
            self.congestion.on_packet_lost(id, self.now, &packet);
        }
        let again = self.congestion.rtt(id).is_some_and(|rtt| rtt.back_off_count() > 0);
        self.congestion.on_timeout(id, self.now);
        self.note_told(id, again);
    }

    /// Something that seldom happens to a path.
    fn disturb(&mut self) {
        let at = self.random.below(self.links.len() as u64) as usize;
        let id = self.links[at].id;
        match self.random.below(16) {
            0..4 => self.links[at].appetite = 0.1 + 1.8 * self.random.unit(),
            4..6 => self.links[at].profile = (self.draw)(&mut self.random),
            6 => self.mark(id),
            7 => self.undo(id),
            8 => self.sleep(at),
            9..11 => self.switch(at),
            11 => self.resize(at),
            12 => {
                self.leave(at);
                self.join(id);
            }
            // A silence of the path, or two time-outs.
            13 => {
                let lost = self.links[at].give_up();
                self.lose(id, &lost);
            }
            14 => self.time_out(at),
            _ => self.links[at].appetite = 1.0,
        }
    }

    fn mark(&mut self, id: PathId) {
        self.congestion.on_ecn(id, self.now, self.now);
        self.note_told(id, false);
    }

    fn undo(&mut self, id: PathId) {
        self.congestion.on_spurious_loss(id);
        self.note_told(id, false);
    }

    fn sleep(&mut self, at: usize) {
        let rto = self.congestion.rtt(self.links[at].id).map_or(Duration::ZERO, |rtt| rtt.rto());
        self.links[at].sleeps_until = self.now + rto.mul_f64(4.0 * self.random.unit());
    }

    fn switch(&mut self, at: usize) {
        let link = &mut self.links[at];
        let (id, usable) = (link.id, !link.usable);
        link.usable = usable;
        self.congestion.set_usable(id, usable);
        self.note(Event { yes: usable, ..self.event(Kind::Usable, id) });
    }

    fn resize(&mut self, at: usize) {
        let mss = 500 + self.random.below(8_501);
        self.links[at].mss = mss;
        let id = self.links[at].id;
        self.congestion.set_mss(id, mss);
        let initial = self.congestion.subflow(id).map_or(0.0, Subflow::initial_window);
        self.note(Event { mss, bytes: initial as u64, ..self.event(Kind::Mss, id) });
    }
}
