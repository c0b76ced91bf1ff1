//! Conversations that others carry: connections, and datagrams of clients.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polypath_policy::{Protocol, SteeringMode};
use polypath_steering::{Carriage, RuleCounters, Way, steering_mode};
use polypath_units::Timestamp;
use tokio::task::yield_now;
use tokio::time::Instant;

use super::{Carried, Conversation, Conversations, PAGE, Top, Wanted};
use crate::tunnel::{Host, Target};

/// Those that are under way. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct LiveTalks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Of the clock that they go by.
    epoch: Instant,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// By number, in the order of their beginnings.
    talks: BTreeMap<u64, Arc<Shared>>,
    next: u64,
}

/// Who talks.
#[derive(Clone, Debug)]
pub(crate) struct Parties {
    pub(crate) carried: Carried,
    /// At a hub: whose it is.
    pub(crate) edge: Option<Arc<str>>,
    pub(crate) source: Option<SocketAddr>,
    pub(crate) target: Target,
}

/// What has passed in one, which others may read meanwhile. It is over when this is dropped.
#[derive(Debug)]
pub(crate) struct Talk {
    shared: Arc<Shared>,
    number: u64,
    among: LiveTalks,
}

#[derive(Debug)]
struct Shared {
    parties: Parties,
    begun: Timestamp,
    /// When something passed last, in nanoseconds.
    used: AtomicU64,
    /// Packets and bytes, each sent and received.
    packets: [AtomicU64; 2],
    bytes: [AtomicU64; 2],
    /// Changes rarely.
    steered: Mutex<Option<Steered>>,
}

/// What has been decided about one.
#[derive(Clone, Debug)]
struct Steered {
    counters: Arc<RuleCounters>,
    carriage: Carriage,
}

impl LiveTalks {
    /// None yet. `epoch` is when the clock began that they go by.
    pub(crate) fn new(epoch: Instant) -> Self {
        Self(Arc::new(Inner { epoch, known: Mutex::default() }))
    }

    fn now(&self) -> Timestamp {
        Timestamp::ZERO + self.0.epoch.elapsed()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One begins now.
    pub(crate) fn begin(&self, parties: Parties) -> Talk {
        let begun = self.now();
        let shared = Arc::new(Shared {
            parties,
            begun,
            used: AtomicU64::new(begun.as_nanos()),
            packets: Default::default(),
            bytes: Default::default(),
            steered: Mutex::default(),
        });
        let mut known = self.known();
        let number = known.next;
        known.next += 1;
        known.talks.insert(number, Arc::clone(&shared));
        Talk { shared, number, among: self.clone() }
    }

    /// Those that are wanted; `names` are those of an address.
    pub(crate) async fn told(
        &self,
        wanted: &Wanted,
        names: impl Fn(IpAddr) -> Vec<String>,
    ) -> Conversations {
        let mut top = Top::new(wanted.most);
        let mut from = Some(0);
        while let Some(first) = from {
            from = self.look_at_page(first, wanted, &mut top);
            yield_now().await;
        }
        let now = self.now();
        let (kept, left_out) = top.finish();
        let told = kept.into_iter().map(|(_, talk)| talk.told(&names, now));
        Conversations { conversations: told.collect(), left_out }
    }

    /// Looks at some from this number on. Returns where to go on.
    fn look_at_page(&self, from: u64, wanted: &Wanted, top: &mut Top<Arc<Shared>>) -> Option<u64> {
        let known = self.known();
        let mut rest = known.talks.range(from..);
        for (_, talk) in rest.by_ref().take(PAGE) {
            if talk.is_among(wanted) {
                top.offer(talk.all_bytes(), || Arc::clone(talk));
            }
        }
        rest.next().map(|(number, _)| *number)
    }
}

impl Talk {
    /// So many bytes of a stream have passed.
    pub(crate) fn pass(&self, way: Way, bytes: usize) {
        self.shared.bytes[way as usize].fetch_add(bytes as u64, Relaxed);
        self.shared.used.store(self.among.now().as_nanos(), Relaxed);
    }

    /// A packet of so many bytes has passed.
    pub(crate) fn pass_packet(&self, way: Way, bytes: usize) {
        self.shared.packets[way as usize].fetch_add(1, Relaxed);
        self.pass(way, bytes);
    }

    /// It is carried so from now on, by the rule of these counters.
    pub(crate) fn steer(&self, counters: &Arc<RuleCounters>, carriage: &Carriage) {
        let steered = Steered { counters: Arc::clone(counters), carriage: carriage.clone() };
        *self.shared.steered() = Some(steered);
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.among.known().talks.remove(&self.number);
    }
}

impl Shared {
    fn steered(&self) -> MutexGuard<'_, Option<Steered>> {
        self.steered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_among(&self, wanted: &Wanted) -> bool {
        wanted.rule.is_none()
            || wanted
                .has(self.steered().as_ref().and_then(|steered| Some(&**steered.counters.rule()?)))
    }

    fn all_bytes(&self) -> u64 {
        self.bytes.iter().map(|bytes| bytes.load(Relaxed)).sum()
    }

    fn told(&self, names: impl Fn(IpAddr) -> Vec<String>, now: Timestamp) -> Conversation {
        let Parties { carried, edge, source, target } = &self.parties;
        let steered = self.steered().clone();
        let is_stream = *carried == Carried::Stream;
        let protocol = if is_stream { Protocol::TCP } else { Protocol::UDP };
        let mode = steered.as_ref().map(|steered| steering_mode(steered.carriage.mode));
        let mode = if is_stream { Some(SteeringMode::Aggregate) } else { mode };
        let paths = steered.as_ref().map(|steered| &steered.carriage.paths);
        let packets = |way: Way| (!is_stream).then(|| self.packets[way as usize].load(Relaxed));
        let bytes = |way: Way| self.bytes[way as usize].load(Relaxed);
        let used = Timestamp::from_nanos(self.used.load(Relaxed));
        Conversation {
            carried: *carried,
            edge: edge.as_deref().map(str::to_owned),
            protocol: protocol.to_string(),
            source: source.map(|source| source.to_string()),
            destination: target.to_string(),
            names: names_of(target, names),
            rule: steered.as_ref().and_then(|by| Some(by.counters.rule()?.to_string())),
            mode: mode.map(|mode| mode.name().to_owned()),
            may_take: paths
                .filter(|paths| !paths.is_empty())
                .map(|paths| paths.iter().map(|path| path.name.clone()).collect()),
            packets_sent: packets(Way::Sent),
            packets_received: packets(Way::Received),
            bytes_sent: bytes(Way::Sent),
            bytes_received: bytes(Way::Received),
            age_s: now.since(self.begun).as_secs_f64(),
            idle_s: now.since(used).as_secs_f64(),
            order: None,
        }
    }
}

/// Of a target that was called by name there are no others.
fn names_of(target: &Target, names: impl Fn(IpAddr) -> Vec<String>) -> Vec<String> {
    match target.host {
        Host::Ip(address) => names(address),
        Host::Domain(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::{Steering, SteeringRules};
    use polypath_bond::FlowMode;
    use std::time::Duration;
    use tokio::time::{advance, timeout};

    const ALL: Wanted = Wanted { most: 100, rule: None };

    fn parties(carried: Carried, target: &str) -> Parties {
        let source = Some(([10, 0, 0, 2], 9).into());
        Parties { carried, edge: None, source, target: target.parse().unwrap() }
    }

    fn no_names(_: IpAddr) -> Vec<String> {
        Vec::new()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_told_is_what_has_passed_until_it_is_over() {
        let talks = LiveTalks::new(Instant::now());
        let stream = talks.begin(parties(Carried::Stream, "192.0.2.1:443"));
        let datagrams = talks.begin(parties(Carried::Datagrams, "a.org:53"));
        advance(Duration::from_secs(2)).await;
        stream.pass(Way::Sent, 5);
        stream.pass(Way::Received, 700);
        datagrams.pass_packet(Way::Sent, 40);
        advance(Duration::from_secs(1)).await;
        let name = |address: IpAddr| vec![format!("name of {address}")];
        let told = talks.told(&ALL, name).await.conversations;
        let [one, other] = &told[..] else { panic!("{told:?}") };
        assert_eq!((one.bytes_sent, one.bytes_received, one.packets_sent), (5, 700, None));
        assert_eq!((one.age_s, one.idle_s, &*one.protocol), (3.0, 1.0, "tcp"));
        assert_eq!(
            (&*one.destination, &*one.names),
            ("192.0.2.1:443", &name([192, 0, 2, 1].into())[..])
        );
        assert_eq!((other.bytes_sent, other.packets_sent, &*other.protocol), (40, Some(1), "udp"));
        assert_eq!((other.packets_received, &*other.destination), (Some(0), "a.org:53"));
        drop(stream);
        let left = talks.told(&ALL, no_names).await.conversations;
        assert_eq!(left.len(), 1, "the stream is over");
        assert_eq!(left[0].carried, Carried::Datagrams);
    }

    /// Of more than a page, whoever holds the lock meanwhile.
    #[tokio::test]
    async fn an_answer_is_as_long_as_was_asked_for_however_many_there_are() {
        let talks = LiveTalks::new(Instant::now());
        let many: Vec<_> =
            (0..20_000).map(|_| talks.begin(parties(Carried::Stream, "192.0.2.1:443"))).collect();
        for (bytes, talk) in many.iter().enumerate() {
            talk.pass(Way::Sent, bytes);
        }
        let told = talks.told(&Wanted { most: 3, rule: None }, no_names);
        let told = timeout(Duration::from_secs(60), told).await.unwrap();
        let bytes: Vec<_> = told.conversations.iter().map(|told| told.bytes_sent).collect();
        assert_eq!((bytes, told.left_out), (vec![19_999, 19_998, 19_997], 19_997));
    }

    #[tokio::test]
    async fn those_of_a_rule_are_found_by_what_it_has_decided_last() {
        let rules =
            "[[rule]]\nname = \"small\"\npacket_size = { at_most = 9 }\nmode = \"redundant\"\n";
        let policy = polypath_policy::Policy::parse(std::path::Path::new("p"), rules).unwrap();
        let steering = Steering::new(SteeringRules::new(policy, FlowMode::Best));
        let talks = LiveTalks::new(Instant::now());
        let talk = talks.begin(parties(Carried::Datagrams, "192.0.2.1:53"));
        let steer = |bytes| {
            let traffic = polypath_policy::Traffic {
                packet_size: Some(bytes),
                ..polypath_policy::Traffic::of(Protocol::UDP)
            };
            let by = steering.pass(&traffic, Way::Sent, 9).unwrap();
            talk.steer(&by.counters, &by.carriage);
        };
        let small = Wanted { rule: Some("small".to_owned()), ..ALL };
        steer(9);
        let told = talks.told(&small, no_names).await.conversations;
        assert_eq!(told[0].rule.as_deref(), Some("small"));
        assert_eq!(told[0].mode.as_deref(), Some("redundant"));
        steer(10);
        assert_eq!(talks.told(&small, no_names).await, Conversations::default());
        let told = talks.told(&ALL, no_names).await.conversations;
        assert_eq!(
            (told[0].rule.as_deref(), told[0].mode.as_deref()),
            (None, Some("active_standby"))
        );
    }
}
