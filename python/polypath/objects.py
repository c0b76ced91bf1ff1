"""Objects that scenarios are built of, each with the keys of its table (docs/scenario.md).

Written by tools/write_objects.py from the schema of scenario files; change that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ._build import Item, scenario_of
from .scenario import Scenario


__all__ = [
    "BaliaCongestion",
    "Bbr3Congestion",
    "BbrCongestion",
    "BessSlowStart",
    "Blackout",
    "BlestScheduler",
    "Blockage",
    "BlockageRadio",
    "BondConnection",
    "BrfCongestion",
    "BulkFlow",
    "CabeCongestion",
    "CdfPoint",
    "CdfSizes",
    "CellLoad",
    "CodelLeaf",
    "CodelQueue",
    "CongestionSettings",
    "Connection",
    "ConstantRateFlow",
    "Controller",
    "CpConservativeScheduler",
    "CpRadicalScheduler",
    "CssSlowStart",
    "CubicCongestion",
    "DapsScheduler",
    "DropTailLeaf",
    "DropTailQueue",
    "DumbbellNetwork",
    "EcfScheduler",
    "EdpfScheduler",
    "Event",
    "ExponentialSizes",
    "FailureSettings",
    "FixedRadio",
    "Flow",
    "FpfFailure",
    "FpsScheduler",
    "FqCodelLeaf",
    "FqCodelQueue",
    "Generate",
    "GilbertElliott",
    "Handover",
    "HrrnScheduler",
    "HtbClass",
    "HtbQueue",
    "HystartPpSlowStart",
    "HystartSlowStart",
    "Leaf",
    "LiaCongestion",
    "Link",
    "LlsmScheduler",
    "LognormalSizes",
    "Loss",
    "LowRttScheduler",
    "MptcpConnection",
    "NPathNetwork",
    "Network",
    "Node",
    "OliaCongestion",
    "OnOffFlow",
    "OneWay",
    "Pair",
    "ParetoSizes",
    "ParkingLotNetwork",
    "Path",
    "PolypathCongestion",
    "PriorityQueue",
    "Queue",
    "QuicConnection",
    "Radio",
    "RateStep",
    "Record",
    "Recovery",
    "RedLeaf",
    "RedQueue",
    "RedundantScheduler",
    "RenoCongestion",
    "RequestResponseFlow",
    "RoundRobinScheduler",
    "RouterChainNetwork",
    "RtoFailure",
    "SchedulerSettings",
    "SharedBottleneckNetwork",
    "Sizes",
    "SlowStartSettings",
    "StandardSlowStart",
    "Station",
    "StmsScheduler",
    "Switch",
    "TcpConnection",
    "TcpOptions",
    "TokenBucketQueue",
    "TraceFile",
    "TunnelConnection",
    "TustinCongestion",
    "TwoPathNetwork",
    "UdpConnection",
    "UniformSizes",
    "VideoFlow",
    "WalkRadio",
    "WeightedScheduler",
    "WestwoodCongestion",
    "WestwoodPlusCongestion",
    "WvegasCongestion",
    "build",
]


@dataclass(frozen=True, kw_only=True)
class AirKeys(Item):
    """Keys that several tables have."""

    cell: Literal["lte", "nr_mid_band", "nr_mm_wave"]
    """What the cell is like."""

    alpha: float | None = None
    """What an implementation reaches of Shannon's bound: 0.6 down, 0.4 up (TR 36.942)."""

    antenna_gain: str | None = None
    """The gain of both antennas, less losses in cables and bodies. Value: a ratio such as "20 dB"
    (dB), from -50 dB to 100 dB."""

    bandwidth: str | None = None
    """The bandwidth that carries signal. Value: a frequency such as "28 GHz" (Hz, kHz, MHz, GHz),
    from 1 kHz to 10 GHz."""

    base_height: str | None = None
    """The height of the base station's antenna. Value: a distance such as "120 m" (m, km), from
    1.5 m to 150 m."""

    carrier: str | None = None
    """The carrier. Value: a frequency such as "28 GHz" (Hz, kHz, MHz, GHz), from 0.5 GHz to 100
    GHz."""

    efficiency_cap: float | None = None
    """The most that a layer carries, in bit/s/Hz."""

    environment: Literal["umi", "uma"] | None = None
    """The environment of the path loss (TR 38.901)."""

    interference_margin: str | None = None
    """By how much other cells raise the noise. Value: a ratio such as "20 dB" (dB), from 0 dB to
    50 dB."""

    least_snr: str | None = None
    """Nothing is received below this signal-to-noise ratio. Value: a ratio such as "20 dB" (dB),
    from -50 dB to 50 dB."""

    max_layers: int | None = None
    """The most MIMO layers."""

    noise_figure: str | None = None
    """The noise figure of the receiver. Value: a ratio such as "20 dB" (dB), from 0 dB to 50 dB."""

    overhead: float | None = None
    """The share of resources for control and reference signals, below 1."""

    time_share: float | None = None
    """The share of time for this direction: 1 with FDD."""

    transmit_power: str | None = None
    """The power of the transmitter over that bandwidth. Value: a power such as "30 dBm" (dBm),
    from -50 dBm to 100 dBm."""

    user_height: str | None = None
    """The height of the user's antenna; up to 13 m with `uma`. Value: a distance such as "120 m"
    (m, km), from 1.5 m to 22.5 m."""


@dataclass(frozen=True, kw_only=True)
class CoDelKeys(Item):
    """Keys that several tables have."""

    ecn: bool | None = None
    """Whether ECN-capable packets are marked instead of dropped. Default: false."""

    interval: str | None = None
    """How long the delay may stay above the target. Value: a time such as "5 ms" (ns, us, ms, s,
    min, h), from 1 ns to 1 h. Default: "100 ms"."""

    limit: str | None = None
    """How much may wait. Value: a queue such as "1 bdp", "1500 packets" or "1 MB". Default: "1000
    packets"."""

    target: str | None = None
    """The delay that may stay, up to the interval. Value: a time such as "5 ms" (ns, us, ms, s,
    min, h), from 0 s to 1 h. Default: "5 ms"."""


@dataclass(frozen=True, kw_only=True)
class CompositionOptionsKeys(Item):
    """Keys that several tables have."""

    blocking_protection: bool | None = None
    """Whether the scheduler is shown only the paths that the receive buffer has room for, so that
    no path makes the others wait (Oh and Lee, ToN 24(6), 2016)."""

    coupled: bool | None = None
    """Whether one congestion control sees the subflows of all paths."""

    failure: Literal["rto", "fpf"] | FailureSettings | None = None
    """What decides that a path is dead."""

    opportunistic_retransmission: bool | None = None
    """Whether an idle fast path sends again what blocks the shared receive window, if it would
    deliver it earlier (Raiciu et al., NSDI 2012, section 4.2)."""

    penalisation: bool | None = None
    """Whether the slower path that blocks the receive window has its window halved (ibid.)."""

    scheduler: (
        Literal["round_robin", "weighted", "low_rtt", "blest", "ecf", "edpf", "daps", "stms",
        "llsm", "fps", "cp_radical", "cp_conservative", "hrrn", "redundant"] | SchedulerSettings |
        None
    ) = None
    """What chooses the path of the next segment."""


@dataclass(frozen=True, kw_only=True)
class ConnectionKeys(Item):
    """Keys that several tables have."""

    class_: int | None = None
    """The class of service of its packets, in both directions, for queues that have classes.
    Default: 0."""

    count: int | None = None
    """How many there are. Default: 1."""

    from_: str | None = None
    """The host that opens it. Without `from` and `to`, connections take the network's pairs of
    hosts in turn: `client` and `server`, or those of the preset. Value: a name."""

    name: str | None = None
    """The name, unique; if not given, `connection1` and so on by position. Value: a name."""

    paths: Sequence[str | Sequence[str]] | None = None
    """The paths: names of links of the host that opens the connection, or lists of the nodes from
    end to end. If not given, all paths, one over each link of the host; for TCP, QUIC and UDP
    the one of least delay."""

    stagger: str | None = None
    """The time between the starts of two of them. Value: a time such as "5 ms" (ns, us, ms, s,
    min, h), from 0 s to 1 h. Default: "0 s"."""

    through: str | None = None
    """The connection by `bond` that it goes through, as through a gateway, between the hosts of
    that. TCP, QUIC and UDP go through bonds. Value: a name."""

    to: str | None = None
    """The host that it is opened to. Value: a name."""

    traffic: str | None = None
    """What a policy looks at of a connection that goes `through` a bond, as `polypath policy test`
    takes it: `"udp 192.0.2.1:5000 dscp ef"`. If not given, nothing is known but the protocol.
    Value: a name."""


@dataclass(frozen=True, kw_only=True)
class DeliveryKeys(Item):
    """Keys that several tables have."""

    delivery: Literal["stream", "datagram"] | None = None
    """How it is carried. Over UDP a flow consists of datagrams without being told. Default:
    "stream"."""

    mode: (
        Literal["aggregate", "redundant", "best", "smallest_delay", "load_balancing"] | None
    ) = None
    """Which paths its datagrams take; if not given, `aggregate`."""

    resequence: str | None = None
    """How long a datagram waits for those before it; if not given, as long as datagrams come late.
    Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 0 s to 1 min."""


@dataclass(frozen=True, kw_only=True)
class DropTailKeys(Item):
    """Keys that several tables have."""

    limit: str
    """How much may wait. Value: a queue such as "1 bdp", "1500 packets" or "1 MB"."""


@dataclass(frozen=True, kw_only=True)
class FlowKeys(Item):
    """Keys that several tables have."""

    connection: str | None = None
    """The name of the connection; if not given, the only one. Value: a name."""

    direction: Literal["up", "down"] | None = None
    """Where it goes. Default: "up"."""

    start: str | None = None
    """When it begins, after the start of its connection. Value: a time such as "5 ms" (ns, us, ms,
    s, min, h). Default: "0 s"."""

    stop: str | None = None
    """When it ends, if it did not before. Value: a time such as "5 ms" (ns, us, ms, s, min, h)."""


@dataclass(frozen=True, kw_only=True)
class FqCoDelKeys(Item):
    """Keys that several tables have."""

    ecn: bool | None = None
    """Whether ECN-capable packets are marked instead of dropped. Default: true."""

    interval: str | None = None
    """How long the delay may stay above the target. Value: a time such as "5 ms" (ns, us, ms, s,
    min, h), from 1 ns to 1 h. Default: "100 ms"."""

    limit: str | None = None
    """How much may wait in all flow queues together. Value: a queue such as "1 bdp", "1500
    packets" or "1 MB". Default: "10240 packets"."""

    quantum: str | None = None
    """How much a flow queue may send in its turn. Value: a size such as "4 MB" (B, kB, MB, GB,
    KiB, MiB, GiB), from 1 B to 1 GiB. Default: "1514 B"."""

    queues: int | None = None
    """The number of flow queues. Default: 1024."""

    target: str | None = None
    """The delay that may stay, up to the interval. Value: a time such as "5 ms" (ns, us, ms, s,
    min, h), from 0 s to 1 h. Default: "5 ms"."""


@dataclass(frozen=True, kw_only=True)
class LinkKeys(Item):
    """Keys that several tables have."""

    blackout: Sequence[Blackout] | None = None
    """Outages that nobody is told of."""

    blockage: Blockage | None = None
    """A rate from one time on, or until another; after it the schedule holds again."""

    delay: str | None = None
    """The propagation delay, one way. Required. Value: a time such as "5 ms" (ns, us, ms, s, min,
    h), from 0 s to 1 h."""

    generate: Generate | None = None
    """A trace that is generated."""

    jitter: str | None = None
    """Each packet's delay varies by up to this, plus or minus, uniformly. Value: a time such as "5
    ms" (ns, us, ms, s, min, h), from 0 s to 1 h."""

    loss: float | Loss | None = None
    """Loss on the line: a probability for each packet, or a model."""

    mtu: str | None = None
    """Larger packets are dropped. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB),
    from 1 B to 4294967295 B."""

    queue: str | Queue | None = None
    """The queue: how much may wait in a drop-tail queue, or a discipline. A BDP is the rate of the
    direction, the highest of a schedule or of `radio`, the mean of a trace, times the
    `queue_rtt`. If not given, `"1 bdp"`."""

    queue_rtt: str | None = None
    """The round-trip time that a queue in BDPs refers to; if not given, the delays of both
    directions of this link. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 0 s to 1
    h."""

    radio: Radio | None = None
    """A rate over time as a model of radio has it."""

    rate: str | None = None
    """The rate. A link has one of `rate`, `trace`, `generate`, `radio`. Value: a rate such as "500
    Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s)."""

    rate_schedule: Sequence[RateStep] | None = None
    """Changes of the rate, in order of time."""

    recovery: Literal["lte", "nr", "none"] | Recovery | None = None
    """Retransmission on the radio layer, which shows as delay. If not given, `"none"`."""

    reorder: bool | None = None
    """Whether jitter, and recovery that is not in order, may reorder packets."""

    trace: str | TraceFile | None = None
    """A file of delivery opportunities in the format of Mahimahi, or a table of rates over time,
    relative to this file; or a table of the file and what it does not say itself."""

    trace_loop: bool | None = None
    """Whether the trace starts over at its end (that is so if nothing is said)."""


@dataclass(frozen=True, kw_only=True)
class PairKeys(Item):
    """Keys that several tables have."""

    down: OneWay | None = None
    """What is different in the direction down."""

    up: OneWay | None = None
    """What is different in the direction up: from the client to the server, or from the first to
    the second end."""


@dataclass(frozen=True, kw_only=True)
class ReceiveBufferKeys(Item):
    """Keys that several tables have."""

    receive_buffer: str | None = None
    """The receive buffer that all paths share, of a fixed size. Value: a size such as "4 MB" (B,
    kB, MB, GB, KiB, MiB, GiB), from 1 kB to 1000 GB."""

    receive_buffer_max: str | None = None
    """The size up to which the receive buffer grows as it is needed. Value: a size such as "4 MB"
    (B, kB, MB, GB, KiB, MiB, GiB), from 1 kB to 1000 GB."""


@dataclass(frozen=True, kw_only=True)
class RedKeys(Item):
    """Keys that several tables have."""

    ecn: bool | None = None
    """Whether ECN-capable packets are marked instead of dropped. Default: false."""

    gentle: bool | None = None
    """Whether the probability rises on to 1 at twice the upper threshold, or jumps. Default: true."""

    limit: str | None = None
    """How much may really wait. Value: a queue such as "1 bdp", "1500 packets" or "1 MB". Default:
    "100 packets"."""

    max_probability: float | None = None
    """The probability of a drop at the upper threshold, above 0. Default: 0.1."""

    max_threshold: str | None = None
    """The average queue at which the probability has reached `max_probability`. If neither
    threshold is given, 15 packets. In bytes, large packets are dropped more often. Value: a
    queue length such as "15 packets" or "15 kB"."""

    mean_packet: str | None = None
    """The mean packet, for idle time and for thresholds in bytes. Value: a size such as "4 MB" (B,
    kB, MB, GB, KiB, MiB, GiB), from 1 B to 4294967295 B. Default: "1000 B"."""

    min_threshold: str | None = None
    """The average queue from which packets are dropped, and both thresholds' unit. If neither
    threshold is given, 5 packets. Value: a queue length such as "15 packets" or "15 kB"."""

    weight: float | None = None
    """The weight of a sample in the average, above 0. Default: 0.002."""


@dataclass(frozen=True, kw_only=True)
class SeedKeys(Item):
    """Keys that several tables have."""

    seed: int | None = None
    """The seed. If not given, one that the name of the link makes: links differ from each other,
    and each is the same in every run."""


@dataclass(frozen=True, kw_only=True)
class WindowControlKeys(Item):
    """Keys that several tables have."""

    congestion: (
        Literal["balia", "bbr", "bbr3", "brf", "cabe", "cubic", "lia", "olia", "polypath", "reno",
        "tustin", "westwood", "westwood_plus", "wvegas"] | CongestionSettings | None
    ) = None
    """The congestion control after slow start."""

    slow_start: (
        Literal["bess", "css", "hystart", "hystart_pp", "standard"] | SlowStartSettings | None
    ) = None
    """The slow start."""


@dataclass(frozen=True, kw_only=True)
class Blackout(Item):
    """An outage."""

    from_: str
    """The first moment without the link. Value: a time such as "5 ms" (ns, us, ms, s, min, h)."""

    to: str
    """The first moment with it again. Value: a time such as "5 ms" (ns, us, ms, s, min, h)."""


@dataclass(frozen=True, kw_only=True)
class Blockage(Item):
    """A rate for some time."""

    at: str
    """When it begins. Value: a time such as "5 ms" (ns, us, ms, s, min, h)."""

    rate: str
    """The rate during it. Value: a rate such as "500 Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s)."""

    until: str | None = None
    """When it ends; without it, never. Value: a time such as "5 ms" (ns, us, ms, s, min, h)."""


@dataclass(frozen=True, kw_only=True)
class CdfPoint(Item):
    """A point of a cumulative distribution."""

    share: float
    """The share of sizes up to this one."""

    size: str
    """A size. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB)."""


@dataclass(frozen=True, kw_only=True)
class CellLoad(Item):
    """Others in each cell; they come and go at random."""

    mean_users: float
    """How many there are in the mean."""

    mean_stay: str | None = None
    """How long one stays in the mean. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 1
    ms to 1000 h. Default: "5 s"."""


@dataclass(frozen=True, kw_only=True)
class BaliaCongestion(Item):
    """coupled increase and decrease, friendliness balanced with a quick response."""

    name: Literal["balia"] = "balia"
    """The name of the algorithm."""


@dataclass(frozen=True, kw_only=True)
class BbrCongestion(Item):
    """follows measured bandwidth and RTT instead of loss (version 1)."""

    name: Literal["bbr"] = "bbr"
    """The name of the algorithm."""

    bandwidth_rounds: float | None = None
    """window of the bandwidth maximum, in rounds. Default: 10."""

    cwnd_gain: float | None = None
    """window of ProbeBW in bandwidth-delay products. Default: 2."""

    full_pipe_growth: float | None = None
    """growth of the bandwidth in a round that keeps start-up going. Default: 1.25."""

    full_pipe_rounds: float | None = None
    """rounds without that growth that end start-up, in rounds. Default: 3."""

    high_gain: float | None = None
    """pacing gain of start-up; drain uses its inverse. Default: 2.88890625."""

    min_cwnd: float | None = None
    """smallest window, and that of ProbeRTT, in segments. Default: 4."""

    pacing_margin: float | None = None
    """share by which pacing stays below the estimate. Default: 0.01."""

    probe_rtt_duration: float | None = None
    """least length of ProbeRTT, in ms. Default: 200."""

    rtprop_window: float | None = None
    """window of the RTT minimum, in s. Default: 10."""

    startup_cwnd_gain: float | None = None
    """window gain of start-up and drain (Linux: 2.889). Default: 2."""

    startup_loss_events: float | None = None
    """ACKs of the round that must have told of losses for that. Default: 6."""

    startup_loss_share: float | None = None
    """share of a round whose loss ends start-up; 1 = never (Linux). Default: 0.02."""


@dataclass(frozen=True, kw_only=True)
class Bbr3Congestion(Item):
    """follows measured bandwidth and RTT, bounded by what loss has taught (version 3)."""

    name: Literal["bbr3"] = "bbr3"
    """The name of the algorithm."""

    beta: float | None = None
    """what remains of a bound after loss, at least. Default: 0.7."""

    cwnd_gain: float | None = None
    """window in bandwidth-delay products. Default: 2."""

    down_pacing_gain: float | None = None
    """pacing gain of ProbeBW_DOWN. Default: 0.9."""

    drain_pacing_gain: float | None = None
    """pacing gain of Drain. Default: 0.5."""

    extra_acked_rounds: float | None = None
    """window of ACK aggregation, in rounds. Default: 10."""

    full_pipe_growth: float | None = None
    """growth in a round that is no plateau. Default: 1.25."""

    full_pipe_rounds: float | None = None
    """rounds of a plateau of bandwidth, in rounds. Default: 3."""

    headroom: float | None = None
    """share of the long-term bound left to others. Default: 0.15."""

    loss_threshold: float | None = None
    """share of a flight whose loss is too much. Default: 0.02."""

    min_cwnd: float | None = None
    """smallest window, in segments. Default: 4."""

    min_rtt_window: float | None = None
    """window of the RTT minimum, in s. Default: 10."""

    pacing_margin: float | None = None
    """share by which pacing stays below the estimate. Default: 0.01."""

    probe_rtt_cwnd_gain: float | None = None
    """the same in ProbeRTT. Default: 0.5."""

    probe_rtt_duration: float | None = None
    """least length of ProbeRTT, in ms. Default: 200."""

    probe_rtt_interval: float | None = None
    """least time between ProbeRTTs, in s. Default: 5."""

    probe_wait: float | None = None
    """least time between probes; up to 1 s more, in s. Default: 2."""

    probe_wait_rounds: float | None = None
    """most rounds between probes, in rounds. Default: 63."""

    startup_loss_events: float | None = None
    """ACKs with loss that end start-up. Default: 6."""

    startup_pacing_gain: float | None = None
    """pacing gain of start-up. Default: 2.772588722239781."""

    up_cwnd_gain: float | None = None
    """the same in ProbeBW_UP. Default: 2.25."""

    up_pacing_gain: float | None = None
    """pacing gain of ProbeBW_UP. Default: 1.25."""


@dataclass(frozen=True, kw_only=True)
class BrfCongestion(Item):
    """sends at the rate that the switches of the network tell it; without them CUBIC."""

    name: Literal["brf"] = "brf"
    """The name of the algorithm."""

    feedback_rtts: float | None = None
    """time without a rate after which CUBIC takes over, in RTTs. Default: 4."""

    feedback_timeout: float | None = None
    """least such time, in s. Default: 1."""

    max_rate: float | None = None
    """a higher rate is taken for this, in Mbit/s. Default: 1000000."""

    min_cwnd: float | None = None
    """smallest window, in segments. Default: 4."""

    min_rate: float | None = None
    """a lower rate is taken for this: less than a switch allots, in segments/s. Default: 2."""

    window_gain: float | None = None
    """window in products of rate and RTT: a safety bound. Default: 2."""


@dataclass(frozen=True, kw_only=True)
class CabeCongestion(Item):
    """coupled increase; a loss leaves the adaptively measured bandwidth times RTT."""

    name: Literal["cabe"] = "cabe"
    """The name of the algorithm."""

    beta_u: float | None = None
    """what remains of the restlessness U of the samples at each sample. Default: 0.6."""

    interval_rtts: float | None = None
    """interval over which the bandwidth is sampled, in RTTs. Default: 1."""

    min_interval: float | None = None
    """shortest interval over which the bandwidth is sampled, in ms. Default: 10."""

    n_rtt: float | None = None
    """by how much the largest restlessness lengthens the time constant, in RTTs. Default: 10."""

    start_share: float | None = None
    """weight of the filter's start in the estimate above which a loss leaves at least half.
    Default: 0.02."""

    u_window: float | None = None
    """over which the largest restlessness is taken, in samples. Default: 10."""


@dataclass(frozen=True, kw_only=True)
class CubicCongestion(Item):
    """cubic growth towards the last maximum: the default of most TCPs."""

    name: Literal["cubic"] = "cubic"
    """The name of the algorithm."""

    beta: float | None = None
    """what remains of the window after a loss. Default: 0.7."""

    c: float | None = None
    """how steep the cubic is, in segments/s^3. Default: 0.4."""

    fast_convergence: int | None = None
    """1: a loss below the last maximum gives way to new flows. Default: 1."""

    late_alpha: float | None = None
    """growth of Reno's window above that before the loss; 0 = as below it (Linux), in
    segments/round. Default: 1."""

    linux_min_rtt: int | None = None
    """1: the target looks one minimum RTT ahead, as Linux does. Default: 0."""


@dataclass(frozen=True, kw_only=True)
class LiaCongestion(Item):
    """coupled increase: as much as one TCP on the best path, no more on a shared one."""

    name: Literal["lia"] = "lia"
    """The name of the algorithm."""


@dataclass(frozen=True, kw_only=True)
class OliaCongestion(Item):
    """coupled increase that moves traffic to the best paths (Pareto-optimal)."""

    name: Literal["olia"] = "olia"
    """The name of the algorithm."""


@dataclass(frozen=True, kw_only=True)
class PolypathCongestion(Item):
    """BBR's model with a window that follows standing queues: the default of a bond."""

    name: Literal["polypath"] = "polypath"
    """The name of the algorithm."""

    bandwidth_rounds: float | None = None
    """window of the bandwidth maximum while no queue stands, in rounds. Default: 10."""

    cwnd_gain: float | None = None
    """window after start-up in bandwidth-delay products. Default: 1."""

    min_cwnd: float | None = None
    """smallest window, in segments. Default: 4."""

    overflow_loss: float | None = None
    """share of losses with a queue above which the room above a BDP is cut; 1 = never. Default:
    0.05."""

    pacing_gain: float | None = None
    """pacing gain after start-up. Default: 1.25."""

    rtprop_window: float | None = None
    """age at which the propagation time is measured anew, in s. Default: 10."""


@dataclass(frozen=True, kw_only=True)
class RenoCongestion(Item):
    """additive increase, halving on loss: the uncoupled baseline."""

    name: Literal["reno"] = "reno"
    """The name of the algorithm."""


@dataclass(frozen=True, kw_only=True)
class TustinCongestion(Item):
    """Westwood with the bilinear filter of its paper, which silence lowers."""

    name: Literal["tustin"] = "tustin"
    """The name of the algorithm."""

    cutoff: float | None = None
    """time constant tau of the filter, in s. Default: 0.5."""

    per_round: int | None = None
    """1: a sample for each round trip, not for each ACK. Default: 0."""

    silence_divisor: float | None = None
    """m: every tau/m without an ACK counts as a sample of zero. Default: 2."""

    start_share: float | None = None
    """weight of the filter's start in the estimate above which a loss leaves at least half.
    Default: 0.02."""


@dataclass(frozen=True, kw_only=True)
class WestwoodCongestion(Item):
    """as Reno, but a loss leaves the measured bandwidth times the smallest RTT."""

    name: Literal["westwood"] = "westwood"
    """The name of the algorithm."""

    per_round: int | None = None
    """1: a sample for each round trip, not for each ACK. Default: 0."""

    pole: float | None = None
    """what remains of the estimate at each sample. Default: 0.9."""

    start_share: float | None = None
    """weight of the filter's start in the estimate above which a loss leaves at least half.
    Default: 0.02."""


@dataclass(frozen=True, kw_only=True)
class WestwoodPlusCongestion(Item):
    """Westwood with one bandwidth sample for each round trip, as in Linux."""

    name: Literal["westwood_plus"] = "westwood_plus"
    """The name of the algorithm."""

    linux_hz: float | None = None
    """whole bytes per tick of such a kernel, rounded down; 0 = real numbers, in 1/s. Default: 0."""

    min_interval: float | None = None
    """shortest interval over which the bandwidth is sampled, in ms. Default: 50."""

    start_share: float | None = None
    """weight of the filter's start in the estimate above which a loss leaves at least half.
    Default: 0.02."""


@dataclass(frozen=True, kw_only=True)
class WvegasCongestion(Item):
    """coupled by delay: equal queues on all paths, and short ones."""

    name: Literal["wvegas"] = "wvegas"
    """The name of the algorithm."""

    drain_always: int | None = None
    """1: queues below alpha are drained, too, when they double (kernel). Default: 0."""

    gamma: float | None = None
    """what in queues ends slow start, in segments. Default: 1."""

    initial_alpha: float | None = None
    """what a subflow aims at before its rate is known, in segments. Default: 2."""

    total_alpha: float | None = None
    """what all subflows together aim to have in queues, in segments. Default: 10."""


CongestionSettings = (
    BaliaCongestion
    | BbrCongestion
    | Bbr3Congestion
    | BrfCongestion
    | CabeCongestion
    | CubicCongestion
    | LiaCongestion
    | OliaCongestion
    | PolypathCongestion
    | RenoCongestion
    | TustinCongestion
    | WestwoodCongestion
    | WestwoodPlusCongestion
    | WvegasCongestion
)
"""An algorithm and those of its parameters that are not to have their defaults."""


@dataclass(frozen=True, kw_only=True)
class BondConnection(CompositionOptionsKeys, ConnectionKeys, WindowControlKeys, ReceiveBufferKeys):
    """A bond: a QUIC connection for each path and one byte sequence over all."""

    carrier: Literal["quic", "light"] | None = None
    """What carries the frames of the bond on a path. Default: "quic"."""

    policy: str | None = None
    """What decides about the connections that go `through` the bond: a file as `polypath edge
    --policy` reads it, relative to this one. If not given, the standard policy. Value: a name."""

    tcp: Literal["split", "tunnel"] | None = None
    """What becomes of TCP connections that go `through` the bond. Default: "split"."""

    transport: Literal["bond"] = "bond"
    """How a connection transports. Default: "bond"."""


@dataclass(frozen=True, kw_only=True)
class TcpConnection(ConnectionKeys, WindowControlKeys, ReceiveBufferKeys):
    """TCP over one path."""

    transport: Literal["tcp"] = "tcp"
    """How a connection transports."""

    tcp: TcpOptions | None = None
    """Options of TCP itself."""


@dataclass(frozen=True, kw_only=True)
class MptcpConnection(CompositionOptionsKeys, ConnectionKeys, WindowControlKeys, ReceiveBufferKeys):
    """Multipath TCP (RFC 8684): a subflow for each path."""

    transport: Literal["mptcp"] = "mptcp"
    """How a connection transports."""

    backup: Sequence[str | Sequence[str]] | None = None
    """The paths that carry data only when no other one can: some of `paths`."""

    subflow_buffers: bool | None = None
    """Whether data is dealt to send buffers of the subflows ahead of time, as Linux does, in place
    of the scheduler, opportunistic retransmission and penalisation."""

    tcp: TcpOptions | None = None
    """Options of each subflow's TCP."""


@dataclass(frozen=True, kw_only=True)
class TunnelConnection(ConnectionKeys, WindowControlKeys, ReceiveBufferKeys):
    """TCP through a tunnel that spreads its packets over all paths."""

    transport: Literal["tunnel"] = "tunnel"
    """How a connection transports."""

    failure: Literal["rto", "fpf"] | FailureSettings | None = None
    """What decides that a path is dead."""

    resequencing: str | None = None
    """How long the far end holds packets back to put them in order; at zero it does not. Value: a
    time such as "5 ms" (ns, us, ms, s, min, h), from 0 s to 10 s. Default: "0 s"."""

    scheduler: (
        Literal["round_robin", "weighted", "low_rtt", "blest", "ecf", "edpf", "daps", "stms",
        "llsm", "fps", "cp_radical", "cp_conservative", "hrrn", "redundant"] | SchedulerSettings |
        None
    ) = None
    """What chooses the path of the next packet."""

    tcp: TcpOptions | None = None
    """Options of the TCP inside."""


@dataclass(frozen=True, kw_only=True)
class QuicConnection(ConnectionKeys, WindowControlKeys):
    """QUIC over one path, as a browser speaks it: it takes reordering by three packets for loss."""

    transport: Literal["quic"] = "quic"
    """How a connection transports."""

    max_packet: str | None = None
    """The UDP payload of a full packet. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB,
    GiB), from 1200 B to 65507 B. Default: "1350 B"."""

    packet_threshold: int | None = None
    """So many later packets must be acknowledged before one is taken for lost (RFC 9002, section
    6.1.1). Default: 3."""


@dataclass(frozen=True, kw_only=True)
class UdpConnection(ConnectionKeys):
    """Datagrams over one path, without acknowledgements."""

    transport: Literal["udp"] = "udp"
    """How a connection transports."""


Connection = (
    BondConnection
    | TcpConnection
    | MptcpConnection
    | TunnelConnection
    | QuicConnection
    | UdpConnection
)
"""Connections of one kind."""


@dataclass(frozen=True, kw_only=True)
class Controller(Item):
    """The controller of all switches: polls the counters of their links and tells them which are
    congested."""

    control_delay: str | None = None
    """How long a message takes to a switch, from it, or to a neighbour. Value: a time such as "5
    ms" (ns, us, ms, s, min, h), from 0 s to 10 s. Default: "0 s"."""

    period: str | None = None
    """Time between two readings of a counter. Value: a time such as "5 ms" (ns, us, ms, s, min,
    h), from 1 ms to 1 h. Default: "100 ms"."""

    queue_threshold: float | None = None
    """Share of the queue of `brf` above which a link is congested. Default: 0.1."""

    rate_threshold: float | None = None
    """Share of a link's rate above which it is congested. Default: 0.98."""


@dataclass(frozen=True, kw_only=True)
class Event(Item):
    """A change of a link at a time. It needs at least one of `down`, `rate`, `delay`, `jitter`,
    `reorder`, `queue`, `loss`, `mtu`."""

    at: str
    """When. Value: a time such as "5 ms" (ns, us, ms, s, min, h)."""

    delay: str | None = None
    """The delay from then on. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 0 s to 1
    h."""

    direction: Literal["up", "down"] | None = None
    """Only this direction; if not given, both."""

    down: bool | None = None
    """Whether the link is silently down from then on."""

    jitter: str | None = None
    """The jitter from then on. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 0 s to 1
    h."""

    link: str | None = None
    """The name of the link. Value: a name."""

    loss: float | Loss | None = None
    """The loss from then on: a probability for each packet, or a model of bursts."""

    mtu: str | None = None
    """Larger packets are dropped from then on. Value: a size such as "4 MB" (B, kB, MB, GB, KiB,
    MiB, GiB), from 1 B to 4294967295 B."""

    path: str | None = None
    """The same as `link`, for networks of paths. Value: a name."""

    queue: str | Queue | None = None
    """The queue from then on; what waits moves to it."""

    queue_rtt: str | None = None
    """The round-trip time that this `queue` in BDPs refers to; if not given, the delays of both
    directions of the link as its table has them. Value: a time such as "5 ms" (ns, us, ms, s,
    min, h), from 0 s to 1 h."""

    rate: str | None = None
    """The rate from then on, in place of a schedule and a blockage. Value: a rate such as "500
    Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s)."""

    reorder: bool | None = None
    """Whether jitter may reorder packets from then on."""


@dataclass(frozen=True, kw_only=True)
class RtoFailure(Item):
    """a path fails when its retransmission timer expires, and recovers on any ACK."""

    name: Literal["rto"] = "rto"
    """The name of the algorithm."""


@dataclass(frozen=True, kw_only=True)
class FpfFailure(Item):
    """asks the receiver over a stable path whether a silent path is dead."""

    name: Literal["fpf"] = "fpf"
    """The name of the algorithm."""

    guard_segments: int | None = None
    """how near the out-of-order span must come to the receive window, in segments. Default: 1."""

    peer_absence: float | None = None
    """time from an RTO to the failure of a silent path of which no answer tells, in ms. Default:
    5000."""

    report_interval: float | None = None
    """time between equal reports while the receiver knows no RTT, in ms. Default: 100."""

    timer_margin: float | None = None
    """added to the suspicion time for the noise of timers, in ms. Default: 10."""


FailureSettings = RtoFailure | FpfFailure
"""An algorithm and those of its parameters that are not to have their defaults."""


@dataclass(frozen=True, kw_only=True)
class BulkFlow(FlowKeys, DeliveryKeys):
    """A transfer as fast as the network allows."""

    kind: Literal["bulk"] = "bulk"
    """What a flow is."""

    bytes: str | None = None
    """Its size; if not given, it is endless. Value: a size such as "4 MB" (B, kB, MB, GB, KiB,
    MiB, GiB)."""


@dataclass(frozen=True, kw_only=True)
class OnOffFlow(FlowKeys, DeliveryKeys):
    """Times of sending and times of silence."""

    kind: Literal["on_off"] = "on_off"
    """What a flow is."""

    off: str
    """How long it is silent, or the mean of it. Value: a time such as "5 ms" (ns, us, ms, s, min,
    h), from 0 s to 24 h."""

    on: str
    """How long it sends, or the mean of it. Value: a time such as "5 ms" (ns, us, ms, s, min, h),
    from 1 us to 24 h."""

    durations: Literal["constant", "exponential"] | None = None
    """How the times are spread. Default: "exponential"."""

    rate: str | None = None
    """How fast it sends; if not given, as fast as the network allows. Value: a rate such as "500
    Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s), from 1 bit/s to 1000000 Gbit/s."""


@dataclass(frozen=True, kw_only=True)
class RequestResponseFlow(FlowKeys, DeliveryKeys):
    """Requests in the flow's direction and responses in the other."""

    kind: Literal["request_response"] = "request_response"
    """What a flow is."""

    response: str | Sizes
    """The size of a response."""

    interarrival: str | None = None
    """The time between two requests, whether or not there was a response: an open loop. Value: a
    time such as "5 ms" (ns, us, ms, s, min, h), from 1 us to 24 h."""

    request: str | None = None
    """The size of a request. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from 1 B
    to 1000 GB. Default: "200 B"."""

    requests: int | None = None
    """After so many requests the flow ends."""

    think: str | None = None
    """The time between a response and the next request: a closed loop of one user. Value: a time
    such as "5 ms" (ns, us, ms, s, min, h), from 0 s to 24 h."""

    times: Literal["constant", "exponential"] | None = None
    """How these times are spread around their mean. Default: "exponential"."""


@dataclass(frozen=True, kw_only=True)
class ConstantRateFlow(FlowKeys, DeliveryKeys):
    """Packets of one size at equal distances."""

    kind: Literal["constant_rate"] = "constant_rate"
    """What a flow is."""

    rate: str
    """The rate of the payload. Value: a rate such as "500 Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s),
    from 1 bit/s to 1000000 Gbit/s."""

    deadline: str | None = None
    """How long a packet may take to be of use; results then tell how many took no longer. Value: a
    time such as "5 ms" (ns, us, ms, s, min, h), from 1 us to 1 h."""

    packet: str | None = None
    """The size of each packet's payload. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB,
    GiB), from 1 B to 65507 B. Default: "1200 B"."""


@dataclass(frozen=True, kw_only=True)
class VideoFlow(FlowKeys, DeliveryKeys):
    """Video in chunks, of which the player chooses the bit rate; it goes in the flow's direction."""

    bit_rates: Sequence[str]
    """The bit rates in which each chunk is to be had, in ascending order."""

    kind: Literal["video"] = "video"
    """What a flow is."""

    buffer: str | None = None
    """How much the player loads ahead. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from
    10 ms to 1 h. Default: "30 s"."""

    chunk: str | None = None
    """How much time a chunk plays. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 10
    ms to 1 min. Default: "4 s"."""


Flow = BulkFlow | OnOffFlow | RequestResponseFlow | ConstantRateFlow | VideoFlow
"""Something that a connection carries; where the connection has a `count`, each of them."""


@dataclass(frozen=True, kw_only=True)
class Generate(SeedKeys):
    """A trace from the seeded generator, as `polypath trace generate` makes it; it repeats."""

    preset: Literal["static", "walk", "drive", "train", "mmwave_urban"]
    """Where the user is."""

    duration: str | None = None
    """How long it is until it repeats; if not given, the `duration` of the scenario, or 10 min.
    Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 1 s to 24 h."""

    mean: str | None = None
    """The mean rate; if not given, 50 Mbit/s for `static`, 30 Mbit/s for `walk`, 7.2 Mbit/s for
    `drive`, 7.6 Mbit/s for `train`, 400 Mbit/s for `mmwave_urban`. Value: a rate such as "500
    Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s), from 1 kbit/s to 100 Gbit/s."""


@dataclass(frozen=True, kw_only=True)
class GilbertElliott(Item):
    """A chain of a good and a bad state, which may change before each packet."""

    bad_to_good: float
    """The probability of going from bad to good."""

    good_to_bad: float
    """The probability of going from good to bad."""

    loss_bad: float | None = None
    """The probability of loss in the bad state. Default: 1.0."""

    loss_good: float | None = None
    """The probability of loss in the good state. Default: 0.0."""


@dataclass(frozen=True, kw_only=True)
class Handover(Item):
    """Event A3 of TS 38.331: a neighbour is better than the serving cell."""

    hysteresis: str | None = None
    """It must be better by this much more, and stays in the event down to this much less. Value: a
    ratio such as "20 dB" (dB), from 0 dB to 15 dB. Default: "1 dB"."""

    interruption: str | None = None
    """How long nothing is sent in a handover. Value: a time such as "5 ms" (ns, us, ms, s, min,
    h), from 0 s to 1 min. Default: "40 ms"."""

    offset: str | None = None
    """By how much it must be better. Value: a ratio such as "20 dB" (dB), from -15 dB to 15 dB.
    Default: "3 dB"."""

    packets: Literal["forwarded", "lost"] | None = None
    """What becomes of the packets in it. Default: "forwarded"."""

    time_to_trigger: str | None = None
    """For how long. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 0 s to 10 s.
    Default: "320 ms"."""


@dataclass(frozen=True, kw_only=True)
class HtbClass(Item):
    """A class of HTB. It has classes in it, or is a leaf, which `serves` packets."""

    name: str
    """A name for errors. Value: a name."""

    rate: str
    """What it gets at least. Those of the classes in it should not add up to more. Value: a rate
    such as "500 Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s), from 1 bit/s to 1000000 Gbit/s."""

    burst: str | None = None
    """How much it may send at once of its rate; if not given, 1 ms of it and 1600 B. Value: a size
    such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from 1 B to 4294967295 B."""

    ceil: str | None = None
    """What it gets at most, at least `rate`; if not given, `rate`: it does not borrow. Value: a
    rate such as "500 Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s)."""

    ceil_burst: str | None = None
    """How much it may send at once of its ceiling; if not given, 1 ms of it and 1600 B. Value: a
    size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from 1 B to 4294967295 B."""

    class_: Sequence[HtbClass] | None = None
    """The classes in it."""

    priority: int | None = None
    """Of a leaf: the lowest number is served, and borrows, first. Default: 0."""

    quantum: str | None = None
    """Of a leaf: what is borrowed is shared in this proportion. If not given, a tenth of the rate
    in bytes per second, from 1500 B to 200 kB. Value: a size such as "4 MB" (B, kB, MB, GB,
    KiB, MiB, GiB), from 1 B to 4294967295 B."""

    queue: str | Leaf | None = None
    """Of a leaf: what waits. If not given, `"1000 packets"`."""

    serves: Sequence[int] | None = None
    """Of a leaf: the classes of packets that it serves."""


@dataclass(frozen=True, kw_only=True)
class DropTailLeaf(DropTailKeys):
    """First in, first out; what does not fit is dropped."""

    kind: Literal["drop_tail"] = "drop_tail"
    """A queue inside another one."""


@dataclass(frozen=True, kw_only=True)
class RedLeaf(RedKeys):
    """Random early detection."""

    kind: Literal["red"] = "red"
    """A queue inside another one."""


@dataclass(frozen=True, kw_only=True)
class CodelLeaf(CoDelKeys):
    """Controlled delay."""

    kind: Literal["codel"] = "codel"
    """A queue inside another one."""


@dataclass(frozen=True, kw_only=True)
class FqCodelLeaf(FqCoDelKeys):
    """Flow queues with controlled delay."""

    kind: Literal["fq_codel"] = "fq_codel"
    """A queue inside another one."""


Leaf = DropTailLeaf | RedLeaf | CodelLeaf | FqCodelLeaf
"""A queue inside another one."""


@dataclass(frozen=True, kw_only=True)
class OneWay(LinkKeys):
    """A link in one direction; what is not said is as in the table around it."""


@dataclass(frozen=True, kw_only=True)
class Link(LinkKeys, PairKeys):
    """A pair of links between two nodes, one for each direction."""

    between: Sequence[str]
    """The names of the two nodes; up leads from the first to the second."""

    name: str
    """The name, unique. Value: a name."""


@dataclass(frozen=True, kw_only=True)
class Loss(Item):
    """A model of loss: one of the two."""

    every: int | None = None
    """Exactly every n-th packet is lost, retransmissions and handshakes counted: what response
    functions such as that of RFC 9438 assume."""

    gilbert_elliott: GilbertElliott | None = None
    """Bursts: the two-state Markov chain of Gilbert and Elliott."""


@dataclass(frozen=True, kw_only=True)
class Node(Item):
    """A host or router. Nodes that only links name need no table."""

    name: str
    """The name, unique. Value: a name."""

    brf: Switch | None = None
    """Makes it a switch that tells `brf` senders their rate; `{}` for the defaults."""


@dataclass(frozen=True, kw_only=True)
class Pair(LinkKeys, PairKeys):
    """A pair of links, one for each direction."""


@dataclass(frozen=True, kw_only=True)
class Path(LinkKeys, PairKeys):
    """A path: a pair of links between the hosts `client` and `server`."""

    name: str
    """The name, unique. Value: a name."""


@dataclass(frozen=True, kw_only=True)
class TwoPathNetwork(Item):
    """Two paths of one link each between `client` and `server`: `path1` and `path2`."""

    path1: Pair
    """The link `path1`."""

    path2: Pair
    """The link `path2`."""

    preset: Literal["two_path"] = "two_path"
    """A network that experiments share."""


@dataclass(frozen=True, kw_only=True)
class NPathNetwork(Item):
    """As many equal paths as `count` says, of one link each, between `client` and `server`:
    `path1`, `path2` and so on."""

    count: int
    """The number of paths."""

    path: Pair
    """The link of each path."""

    preset: Literal["n_path"] = "n_path"
    """A network that experiments share."""


@dataclass(frozen=True, kw_only=True)
class SharedBottleneckNetwork(Item):
    """The host `multipath` has the links `access1`, `access2` and so on to `router`, the host
    `single` has the link `single`; all share the link `bottleneck` to `server`."""

    access: Pair
    """Each access link."""

    bottleneck: Pair
    """The link that all share."""

    preset: Literal["shared_bottleneck"] = "shared_bottleneck"
    """A network that experiments share."""

    count: int | None = None
    """The number of access links of the host `multipath`. Default: 2."""


@dataclass(frozen=True, kw_only=True)
class DumbbellNetwork(Item):
    """Pairs of hosts, `left1` and `right1` and so on, with the links `near1` and `far1` and so on
    to the routers `west` and `east`, which the link `bottleneck` joins."""

    access: Pair
    """The link of each host."""

    bottleneck: Pair
    """The link that all share."""

    preset: Literal["dumbbell"] = "dumbbell"
    """A network that experiments share."""

    count: int | None = None
    """The number of pairs. Default: 2."""

    far_access: Pair | None = None
    """The link of each host on the right, if it is not as those on the left."""


@dataclass(frozen=True, kw_only=True)
class ParkingLotNetwork(Item):
    """The links `bottleneck1`, `bottleneck2` and so on in a row: connections from `client` to
    `server` cross all, those from `from1` to `to1` only the first, and so on."""

    access: Pair
    """The link of each host."""

    bottleneck: Pair
    """Each bottleneck."""

    preset: Literal["parking_lot"] = "parking_lot"
    """A network that experiments share."""

    count: int | None = None
    """The number of bottlenecks. Default: 3."""


@dataclass(frozen=True, kw_only=True)
class RouterChainNetwork(Item):
    """The links `hop1`, `hop2` and so on in a row between `client` and `server`, with the routers
    `r1`, `r2` and so on."""

    link: Pair
    """Each link."""

    preset: Literal["router_chain"] = "router_chain"
    """A network that experiments share."""

    count: int | None = None
    """The number of links. Default: 2."""


Network = (
    TwoPathNetwork
    | NPathNetwork
    | SharedBottleneckNetwork
    | DumbbellNetwork
    | ParkingLotNetwork
    | RouterChainNetwork
)
"""A network that experiments share."""


@dataclass(frozen=True, kw_only=True)
class DropTailQueue(DropTailKeys):
    """First in, first out; what does not fit is dropped."""

    kind: Literal["drop_tail"] = "drop_tail"
    """A queue discipline."""


@dataclass(frozen=True, kw_only=True)
class RedQueue(RedKeys):
    """Random early detection: drops at random, the more the longer the average queue."""

    kind: Literal["red"] = "red"
    """A queue discipline."""


@dataclass(frozen=True, kw_only=True)
class CodelQueue(CoDelKeys):
    """Controlled delay: drops while the delay has stayed above a target for an interval."""

    kind: Literal["codel"] = "codel"
    """A queue discipline."""


@dataclass(frozen=True, kw_only=True)
class FqCodelQueue(FqCoDelKeys):
    """Flow queues in deficit round robin, each under CoDel; sparse flows first."""

    kind: Literal["fq_codel"] = "fq_codel"
    """A queue discipline."""


@dataclass(frozen=True, kw_only=True)
class PriorityQueue(Item):
    """Bands, of which one sends only while all before it are empty."""

    kind: Literal["priority"] = "priority"
    """A queue discipline."""

    bands: Sequence[str | Leaf] | None = None
    """The queue of each band, the most urgent first, up to 256. Packets of class 0 go to the first
    one, and so on; those of classes without a band to the last. Default: ["1000 packets", "1000
    packets", "1000 packets"]."""


@dataclass(frozen=True, kw_only=True)
class TokenBucketQueue(Item):
    """A shaper before the rate of the link."""

    burst: str
    """How much may be sent at once after a pause. Larger packets are dropped. Value: a size such
    as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from 1 B to 4294967295 B."""

    kind: Literal["token_bucket"] = "token_bucket"
    """A queue discipline."""

    rate: str
    """The sustained rate. Value: a rate such as "500 Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s), from
    1 bit/s to 1000000 Gbit/s."""

    peak_burst: str | None = None
    """How much may be sent faster than `peak_rate`. Larger packets are dropped. Value: a size such
    as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from 1 B to 4294967295 B."""

    peak_rate: str | None = None
    """The rate of a burst, at least `rate`; if not given, that of the link. Value: a rate such as
    "500 Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s)."""

    queue: str | Leaf | None = None
    """What waits. Default: "1000 packets"."""


@dataclass(frozen=True, kw_only=True)
class HtbQueue(Item):
    """A tree of classes with a rate each, which lend each other what they do not use."""

    class_: Sequence[HtbClass]
    """The classes at the top. They do not borrow, so usually it is one for the whole link."""

    kind: Literal["htb"] = "htb"
    """A queue discipline."""

    default: int | None = None
    """Packets of classes that no leaf serves count as of this one. Default: 0."""


Queue = (
    DropTailQueue
    | RedQueue
    | CodelQueue
    | FqCodelQueue
    | PriorityQueue
    | TokenBucketQueue
    | HtbQueue
)
"""A queue discipline."""


@dataclass(frozen=True, kw_only=True)
class FixedRadio(AirKeys):
    """The user stays at one distance, with or without line of sight."""

    distance: str
    """The distance from the base station, on the ground. Value: a distance such as "120 m" (m,
    km), from 0 m to 5 km."""

    extra_loss: str | None = None
    """Loss beyond the mean, such as a body in the way; negative for a place better than most.
    Value: a ratio such as "20 dB" (dB), from -50 dB to 100 dB. Default: "0 dB"."""

    kind: Literal["fixed"] = "fixed"
    """A rate over time, computed before the run by a model of radio. Default: "fixed"."""

    line_of_sight: bool | None = None
    """Whether there is line of sight. Default: true."""


@dataclass(frozen=True, kw_only=True)
class BlockageRadio(AirKeys, SeedKeys):
    """The user stays at one distance, where line of sight is lost and found again."""

    distance: str
    """The distance from the base station, on the ground. Value: a distance such as "120 m" (m,
    km), from 0 m to 5 km."""

    kind: Literal["blockage"] = "blockage"
    """A rate over time, computed before the run by a model of radio."""

    attenuation: str | None = None
    """What an obstacle takes away: 20 to 30 dB for a body or a vehicle at 28 GHz. If not given, it
    is a building: the path loss without line of sight. Value: a ratio such as "20 dB" (dB),
    from 0 dB to 100 dB."""

    changes: Sequence[str] | None = None
    """The times at which the view changes to the other one, in order, later than 0 s."""

    first: Literal["clear", "blocked"] | None = None
    """The view before the first of the `changes`; if not given, `"clear"`."""

    mean_blocked: str | None = None
    """The mean time for which it stays blocked. Value: a time such as "5 ms" (ns, us, ms, s, min,
    h), from 1 ms to 1000 h."""

    mean_clear: str | None = None
    """The mean time for which the view stays clear; such times are exponential. Value: a time such
    as "5 ms" (ns, us, ms, s, min, h), from 1 ms to 1000 h."""


@dataclass(frozen=True, kw_only=True)
class WalkRadio(AirKeys, SeedKeys):
    """The user moves past base stations, with shadow fading, handovers and load of the cells."""

    kind: Literal["walk"] = "walk"
    """A rate over time, computed before the run by a model of radio."""

    aside: str | None = None
    """With `spacing`: how far the base stations are from the way; if not given, 10 m. Value: a
    distance such as "120 m" (m, km), from 0 m to 5 km."""

    handover: Handover | None = None
    """When the user is handed over from cell to cell, and what it costs."""

    load: CellLoad | None = None
    """Others in each cell, who take their shares of it; if not given, there are none."""

    neighbour_activity: float | None = None
    """The share of time in which each other base station transmits on the same carrier. Above 0,
    the `interference_margin` is 0 dB if not given. Default: 0.0."""

    shadow_fading: bool | None = None
    """Whether there is shadow fading, with the deviation and decorrelation distance of TR 38.901.
    Default: true."""

    sight: Literal["by_distance", "los", "nlos"] | None = None
    """Whether base stations are seen. Default: "by_distance"."""

    spacing: str | None = None
    """Base stations at 0 m and every this far in both directions, as many as the way needs. Value:
    a distance such as "120 m" (m, km), from 10 m to 100 km."""

    speed: str | None = None
    """How fast the user moves; negative the other way. Value: a speed such as "50 km/h" (m/s,
    km/h), from -300 m/s to 300 m/s. Default: "1.4 m/s"."""

    start: str | None = None
    """Where along the street the user is at first. Value: a distance such as "120 m" (m, km), from
    -1000 km to 1000 km. Default: "0 m"."""

    station: Sequence[Station] | None = None
    """The base stations. Either these or `spacing`."""

    step: str | None = None
    """The time between two changes of the rate. Value: a time such as "5 ms" (ns, us, ms, s, min,
    h), from 1 ms to 10 s. Default: "100 ms"."""


Radio = FixedRadio | BlockageRadio | WalkRadio
"""A rate over time, computed before the run by a model of radio."""


@dataclass(frozen=True, kw_only=True)
class RateStep(Item):
    """A step of a rate schedule."""

    at: str
    """When. Value: a time such as "5 ms" (ns, us, ms, s, min, h)."""

    rate: str
    """The rate from then on. Value: a rate such as "500 Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s)."""


@dataclass(frozen=True, kw_only=True)
class Record(Item):
    """What is recorded."""

    events: bool | None = None
    """Whether events are kept: losses, timeouts, states of paths. Default: false."""

    interval: str | None = None
    """The time between two points of a series. Value: a time such as "5 ms" (ns, us, ms, s, min,
    h), from 1 us to 1 h. Default: "100 ms"."""

    pcapng: bool | None = None
    """Whether packets are kept, as pcapng. Default: false."""

    qlog: bool | None = None
    """Whether the transport is logged, as qlog. Default: false."""

    series: (
        Sequence[Literal["cwnd", "ssthresh", "srtt", "in_flight", "pacing_rate", "delivery_rate",
        "bandwidth_estimate", "queue", "receive_buffer", "out_of_order", "goodput", "throughput",
        "losses"]] | None
    ) = None
    """The quantities of which time series are kept."""


@dataclass(frozen=True, kw_only=True)
class Recovery(Item):
    """Retransmission by HARQ, and by RLC when that gives up: delay instead of loss."""

    block_error: float | None = None
    """The probability that the first transmission of a packet fails."""

    harq_rtt: str | None = None
    """From one transmission to the next. Value: a time such as "5 ms" (ns, us, ms, s, min, h),
    from 0 s to 10 s."""

    harq_transmissions: int | None = None
    """How often HARQ transmits before it leaves the packet to RLC."""

    in_order: bool | None = None
    """Whether packets wait for those before them. If not, `reorder` of the link must be set too,
    or the line restores the order."""

    retransmission_error: float | None = None
    """The probability that a further one fails."""

    rlc_delay: str | None = None
    """From the last transmission of HARQ to the one after the status report of RLC. Value: a time
    such as "5 ms" (ns, us, ms, s, min, h), from 0 s to 10 s."""

    system: Literal["lte", "nr"] | None = None
    """What is not given is as this system has it. Default: "nr"."""


@dataclass(frozen=True, kw_only=True)
class RoundRobinScheduler(Item):
    """the paths in turn."""

    name: Literal["round_robin"] = "round_robin"
    """The name of the algorithm."""

    cwnd_limited: int | None = None
    """1: a path without room loses its turn; 0: it is waited for. Default: 1."""

    num_segments: int | None = None
    """segments that a path takes in its turn, in segments. Default: 1."""


@dataclass(frozen=True, kw_only=True)
class WeightedScheduler(Item):
    """the paths in proportion to their weights or estimated rates."""

    name: Literal["weighted"] = "weighted"
    """The name of the algorithm."""

    renewal: float | None = None
    """how long weights from estimated rates stand, in s. Default: 1."""


@dataclass(frozen=True, kw_only=True)
class LowRttScheduler(Item):
    """the path with room that has the smallest smoothed RTT."""

    name: Literal["low_rtt"] = "low_rtt"
    """The name of the algorithm."""


@dataclass(frozen=True, kw_only=True)
class BlestScheduler(Item):
    """lowest RTT, but waits where a slow path would block the receive window."""

    name: Literal["blest"] = "blest"
    """The name of the algorithm."""

    decrease: float | None = None
    """taken off the factor in each round of the slow path without blocking. Default: 0.01."""

    increase: float | None = None
    """added to the factor in a round in which the window blocked. Default: 0.04."""

    lambda_: float | None = None
    """initial correction factor of the blocking estimate. Default: 1.2."""

    max_lambda: float | None = None
    """upper bound of the correction factor. Default: 1.3."""

    min_lambda: float | None = None
    """lower bound of the correction factor. Default: 1."""


@dataclass(frozen=True, kw_only=True)
class EcfScheduler(Item):
    """lowest RTT, but waits for the fastest path where that completes earlier."""

    name: Literal["ecf"] = "ecf"
    """The name of the algorithm."""

    beta: float | None = None
    """hysteresis: how much longer to go on waiting. Default: 0.25."""

    kernel: int | None = None
    """1: the queue counts as one window at least, as in the kernel; 0: as in the paper. Default:
    1."""


@dataclass(frozen=True, kw_only=True)
class EdpfScheduler(Item):
    """the path that delivers the segment first; may wait for it; guards small windows."""

    name: Literal["edpf"] = "edpf"
    """The name of the algorithm."""

    ahead: int | None = None
    """1: a slower path sends what will be next in order when it arrives; 0: what is next now.
    Default: 1."""

    loss_cost: float | None = None
    """time that each expected loss costs, in rtt. Default: 1."""

    rate_headroom: float | None = None
    """factor by which cwnd/srtt may raise the measured rate. Default: 1.25."""

    slow_start_growth: float | None = None
    """growth of a path in slow start that the use of the receive window is reckoned with. Default:
    2."""

    tail_share: float | None = None
    """share of what is to be sent, or sent again, that faster paths must overtake with to wait.
    Default: 1."""

    variability_cost: float | None = None
    """times of a path's longest queue that its load costs, while the application limits. Default:
    1."""

    window_share: float | None = None
    """share of the receive window that a hole may let fill; 0 = no window rule. Default: 0.9."""


@dataclass(frozen=True, kw_only=True)
class DapsScheduler(Item):
    """deals a stretch of the data to the paths so that it arrives in order."""

    name: Literal["daps"] = "daps"
    """The name of the algorithm."""

    granularity: float | None = None
    """what delays are rounded to before their least common multiple is taken, in s. Default:
    0.004."""

    horizon: float | None = None
    """the longest plan, in s. Default: 10."""


@dataclass(frozen=True, kw_only=True)
class StmsScheduler(Item):
    """slow paths send so far ahead that their data arrives together with the fast one's."""

    name: Literal["stms"] = "stms"
    """The name of the algorithm."""

    gain: float | None = None
    """share of the mean error of a round that the gap is corrected by. Default: 0.5."""


@dataclass(frozen=True, kw_only=True)
class LlsmScheduler(Item):
    """the path that would have transmitted the segment first; waits as blest does."""

    name: Literal["llsm"] = "llsm"
    """The name of the algorithm."""

    decrease: float | None = None
    """taken off the factor in each round of the slow path without blocking. Default: 0.01."""

    increase: float | None = None
    """added to the factor in a round in which the window blocked. Default: 0.04."""

    lambda_: float | None = None
    """initial correction factor of the blocking estimate. Default: 1.2."""

    max_lambda: float | None = None
    """upper bound of the correction factor. Default: 1.3."""

    min_lambda: float | None = None
    """lower bound of the correction factor. Default: 1."""


@dataclass(frozen=True, kw_only=True)
class FpsScheduler(Item):
    """a slow path sends what will be next in order when it arrives."""

    name: Literal["fps"] = "fps"
    """The name of the algorithm."""

    last_segment: int | None = None
    """1: a slow path sends the last segment where its index lies beyond the queue; 0: nothing.
    Default: 0."""


@dataclass(frozen=True, kw_only=True)
class CpRadicalScheduler(Item):
    """lowest RTT, without paths whose delay would fill the receive buffer."""

    name: Literal["cp_radical"] = "cp_radical"
    """The name of the algorithm."""

    hysteresis: float | None = None
    """share by which a path must stay below the bound to be used again. Default: 0.1."""

    phi: float | None = None
    """share of the difference of RTTs for which data comes out of order. Default: 1."""

    probe_interval: float | None = None
    """how often a path that is not used gets a copy of a segment, in s. Default: 1."""


@dataclass(frozen=True, kw_only=True)
class CpConservativeScheduler(Item):
    """lowest RTT, without paths that would fill the receive buffer or hold data up."""

    name: Literal["cp_conservative"] = "cp_conservative"
    """The name of the algorithm."""

    hysteresis: float | None = None
    """share by which a path must stay below the bound to be used again. Default: 0.1."""

    max_delay: float | None = None
    """the longest delay that out-of-order data may add, in s. Default: 0.02."""

    phi: float | None = None
    """share of the difference of RTTs for which data comes out of order. Default: 1."""

    probe_interval: float | None = None
    """how often a path that is not used gets a copy of a segment, in s. Default: 1."""


@dataclass(frozen=True, kw_only=True)
class HrrnScheduler(Item):
    """short blocks of data, and those that have waited long, first."""

    name: Literal["hrrn"] = "hrrn"
    """The name of the algorithm."""

    block_size: int | None = None
    """the largest block of data that is served without interruption, in bytes. Default: 65536."""


@dataclass(frozen=True, kw_only=True)
class RedundantScheduler(Item):
    """a copy of every segment on every path with room: lowest latency, not throughput."""

    name: Literal["redundant"] = "redundant"
    """The name of the algorithm."""


SchedulerSettings = (
    RoundRobinScheduler
    | WeightedScheduler
    | LowRttScheduler
    | BlestScheduler
    | EcfScheduler
    | EdpfScheduler
    | DapsScheduler
    | StmsScheduler
    | LlsmScheduler
    | FpsScheduler
    | CpRadicalScheduler
    | CpConservativeScheduler
    | HrrnScheduler
    | RedundantScheduler
)
"""An algorithm and those of its parameters that are not to have their defaults."""


@dataclass(frozen=True, kw_only=True)
class UniformSizes(Item):
    """Every size between two is as likely."""

    distribution: Literal["uniform"] = "uniform"
    """A distribution of sizes."""

    maximum: str
    """The largest size. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB)."""

    minimum: str
    """The smallest size. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB)."""


@dataclass(frozen=True, kw_only=True)
class ExponentialSizes(Item):
    """Exponential."""

    distribution: Literal["exponential"] = "exponential"
    """A distribution of sizes."""

    mean: str
    """The mean size. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from 1 B to 1000
    GB."""


@dataclass(frozen=True, kw_only=True)
class ParetoSizes(Item):
    """Pareto, with a heavy tail."""

    distribution: Literal["pareto"] = "pareto"
    """A distribution of sizes."""

    minimum: str
    """The smallest size. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from 1 B to
    1000 GB."""

    shape: float
    """The shape: the smaller, the heavier the tail; up to 1 there is no mean without `maximum`."""

    maximum: str | None = None
    """No larger size is drawn: the distribution is cut off here. Value: a size such as "4 MB" (B,
    kB, MB, GB, KiB, MiB, GiB)."""


@dataclass(frozen=True, kw_only=True)
class LognormalSizes(Item):
    """The logarithm is normal."""

    distribution: Literal["lognormal"] = "lognormal"
    """A distribution of sizes."""

    median: str
    """The median size. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from 1 B to
    1000 GB."""

    sigma: float
    """The standard deviation of the natural logarithm."""


@dataclass(frozen=True, kw_only=True)
class CdfSizes(Item):
    """A measured distribution."""

    distribution: Literal["cdf"] = "cdf"
    """A distribution of sizes."""

    points: Sequence[CdfPoint]
    """Points of the cumulative distribution, of ascending size and share; the last share is 1.
    Between two points it is linear, the first size has its share alone."""


Sizes = UniformSizes | ExponentialSizes | ParetoSizes | LognormalSizes | CdfSizes
"""A distribution of sizes."""


@dataclass(frozen=True, kw_only=True)
class BessSlowStart(Item):
    """doubling until what is in flight fills the paths, by their ACK trains."""

    name: Literal["bess"] = "bess"
    """The name of the algorithm."""

    conssthresh: float | None = None
    """threshold of the connection over its smallest RTT; 0 = infinite, in segments. Default: 0."""

    min_acks: float | None = None
    """ACKs of a round after which its rate is measured, in ACKs. Default: 8."""

    pacing_gain: float | None = None
    """pacing while trains are measured, in windows/RTT. Default: 8."""


@dataclass(frozen=True, kw_only=True)
class CssSlowStart(Item):
    """coupled: the subflows grow together as one TCP on the fastest path."""

    name: Literal["css"] = "css"
    """The name of the algorithm."""

    conssthresh: float | None = None
    """threshold of the connection over its smallest RTT; 0 = infinite, in segments. Default: 0."""

    coupled_growth: float | None = None
    """1: growth of one TCP for all subflows; 0: each doubles. Default: 1."""


@dataclass(frozen=True, kw_only=True)
class HystartSlowStart(Item):
    """doubling until ACK trains or the RTT tell of a full pipe, as Linux's CUBIC."""

    name: Literal["hystart"] = "hystart"
    """The name of the algorithm."""

    ack_gap: float | None = None
    """largest time between two ACKs of a train, in ms. Default: 2."""

    low_window: float | None = None
    """smallest window that is judged, in segments. Default: 16."""

    max_rtt_threshold: float | None = None
    """rise of the RTT that always counts, in ms. Default: 16."""

    min_rtt_divisor: float | None = None
    """the rise that counts is the smallest RTT divided by this. Default: 8."""

    min_rtt_threshold: float | None = None
    """smallest rise of the RTT that counts, in ms. Default: 4."""

    rtt_samples: float | None = None
    """RTT samples of a round before it is judged, in samples. Default: 8."""

    train_slack: float | None = None
    """what the smallest RTT is taken to be longer for a train, in ms. Default: 1."""

    unpaced_share: float | None = None
    """share of the smallest RTT that a train may last if the sender does not pace. Default: 0.5."""


@dataclass(frozen=True, kw_only=True)
class HystartPpSlowStart(Item):
    """doubling until the RTT rises, then a slower growth for five rounds."""

    name: Literal["hystart_pp"] = "hystart_pp"
    """The name of the algorithm."""

    burst_limit: float | None = None
    """L: largest growth for one ACK; 0 = no limit, for paced senders, in segments. Default: 0."""

    css_growth_divisor: float | None = None
    """growth in conservative slow start is divided by this. Default: 4."""

    css_rounds: float | None = None
    """length of conservative slow start, in rounds. Default: 5."""

    max_rtt_threshold: float | None = None
    """rise of the RTT that always counts, in ms. Default: 16."""

    min_rtt_divisor: float | None = None
    """the rise that counts is the RTT of the last round divided by this. Default: 8."""

    min_rtt_threshold: float | None = None
    """smallest rise of the RTT that counts, in ms. Default: 4."""

    rtt_samples: float | None = None
    """RTT samples of a round needed to judge it, in samples. Default: 8."""


@dataclass(frozen=True, kw_only=True)
class StandardSlowStart(Item):
    """doubling every round until loss."""

    name: Literal["standard"] = "standard"
    """The name of the algorithm."""

    burst_limit: float | None = None
    """L: largest growth for one ACK; 0 = no limit, for paced senders, in segments. Default: 0."""


SlowStartSettings = (
    BessSlowStart
    | CssSlowStart
    | HystartSlowStart
    | HystartPpSlowStart
    | StandardSlowStart
)
"""An algorithm and those of its parameters that are not to have their defaults."""


@dataclass(frozen=True, kw_only=True)
class Station(Item):
    """A base station."""

    along: str
    """Where along the street. Value: a distance such as "120 m" (m, km), from -1000 km to 1000 km."""

    aside: str | None = None
    """How far from the way of the user. Value: a distance such as "120 m" (m, km), from 0 m to 5
    km. Default: "10 m"."""


@dataclass(frozen=True, kw_only=True)
class Switch(Item):
    """Makes the node a switch that shares its links out among flows and tells `brf` senders their
    rate. The links that leave it have a constant rate and a queue without classes, of which
    each class of traffic has one."""

    ack_rtts: float | None = None
    """RTTs without an acknowledgement after which neighbours are told of a flow ... Default: 3.0."""

    ack_time: str | None = None
    """... and the least such time. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 0 s
    to 1 h. Default: "200 ms"."""

    active_rtts: float | None = None
    """RTTs of the slowest flow without data after which a flow has no allocation ... Default: 4.0."""

    active_time: str | None = None
    """... and the least such time. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 0 s
    to 1 h. Default: "1 s"."""

    burst_utilisation: float | None = None
    """The utilisation that ends a burst. Default: 0.95."""

    drain_floor: float | None = None
    """The least factor by which a period of reduction multiplies. Default: 0.1."""

    drain_rtts: float | None = None
    """RTTs of the slowest flow in which a queue is to be drained. Default: 1.0."""

    floor_packets: float | None = None
    """The least allocation, in packets each period. Default: 2.0."""

    flow_capacity: int | None = None
    """Flows in the table at most. Default: 65536."""

    idle_timeout: str | None = None
    """Time without data after which a flow is forgotten. Value: a time such as "5 ms" (ns, us, ms,
    s, min, h), from 0 s to 1000 h. Default: "60 s"."""

    limited_growth: float | None = None
    """What a limited flow gets, in multiples of what it sends. Default: 1.05."""

    limited_share: float | None = None
    """A flow that sends less than this share of its allocation is limited by its application.
    Default: 0.95."""

    max_period: str | None = None
    """The longest one. Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 1 us to 1 h.
    Default: "1 s"."""

    min_period: str | None = None
    """The shortest period of allocation. Value: a time such as "5 ms" (ns, us, ms, s, min, h),
    from 1 us to 1 h. Default: "10 ms"."""

    packet: str | None = None
    """Bytes of a packet. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from 1 B to
    65535 B. Default: "1500 B"."""

    per_connection: bool | None = None
    """Whether the subflows of a connection on one link share one weight. Default: false."""

    prediction_capacity: int | None = None
    """Services of which such rates are kept. Default: 4096."""

    prediction_gain: float | None = None
    """Weight of a finished flow in the rate that those to the same service begin with. Default:
    0.125."""

    reduction_periods: int | None = None
    """Periods after which reduction ends, congested or not. Default: 4."""

    resumed_share: float | None = None
    """What share it must send to count as unlimited again. Default: 0.975."""

    scale_by: Literal["allocated", "measured"] | None = None
    """How room is made for a new flow. Default: "allocated"."""

    settling_periods: int | None = None
    """Periods in which a flow whose allocation rose is not judged. Default: 2."""

    target_utilisation: float | None = None
    """Share of the rest that TCP is given. Default: 0.97."""

    udp_burst: str | None = None
    """What UDP may send at once, as time at its rate. Value: a time such as "5 ms" (ns, us, ms, s,
    min, h), from 0 s to 10 s. Default: "10 ms"."""

    udp_share: float | None = None
    """Share of each link that is the limit of UDP; what exceeds it is dropped. Default: 0.05."""

    unknown_rtt: str | None = None
    """The RTT of flows whose handshake was not seen. Value: a time such as "5 ms" (ns, us, ms, s,
    min, h), from 1 us to 1 h. Default: "100 ms"."""


@dataclass(frozen=True, kw_only=True)
class TcpOptions(Item):
    """Options of TCP; what is not said is as in the simulator's TCP."""

    delayed_ack: str | None = None
    """How long an acknowledgement may wait; at zero each segment is acknowledged at once. Value: a
    time such as "5 ms" (ns, us, ms, s, min, h), from 0 s to 500 ms."""

    dupack_threshold: int | None = None
    """This many duplicate acknowledgements mean a loss (RFC 5681)."""

    ecn: bool | None = None
    """Explicit congestion notification (RFC 3168)."""

    gro: bool | None = None
    """Whether the receiver merges segments that arrive together before it acknowledges."""

    gso: bool | None = None
    """Whether the sender leaves it to the network card to cut bursts into segments: what is paced
    leaves in bursts of a millisecond then, otherwise segment by segment (that is so in the
    namespaces of the emulator). If not given, it does."""

    idle_restart: bool | None = None
    """Whether the window starts anew after an idle time (RFC 5681, section 4.1)."""

    initial_window: int | None = None
    """The initial window, in segments (RFC 6928)."""

    min_rto: str | None = None
    """The shortest retransmission timeout (RFC 6298). Value: a time such as "5 ms" (ns, us, ms, s,
    min, h), from 1 ms to 60 s."""

    mss: str | None = None
    """The maximum segment size. Value: a size such as "4 MB" (B, kB, MB, GB, KiB, MiB, GiB), from
    88 B to 65495 B."""

    pacing: Literal["off", "internal", "controller"] | None = None
    """What spreads the segments of a window over time."""

    rack: bool | None = None
    """Loss detection by time (RFC 8985)."""

    sack: bool | None = None
    """Selective acknowledgements (RFC 2018)."""

    timestamps: bool | None = None
    """Timestamps (RFC 7323)."""

    tlp: bool | None = None
    """Tail loss probes (RFC 8985, section 7)."""


@dataclass(frozen=True, kw_only=True)
class TraceFile(Item):
    """A trace file with what it does not say itself."""

    file: str
    """The file, relative to this one. Value: a name."""

    rate: str | None = None
    """The column of the rates, by its name or its number from 1, and its unit: `"DL_bitrate in
    kbit/s"`, `"2 in Mbit/s"`, `"in Mbit/s"`; `"5 in B"` for bytes since the line before. Value:
    a column such as "DL_bitrate in kbit/s" (NAME, NAME in UNIT, in UNIT)."""

    time: str | None = None
    """The column of the times, by its name or its number from 1, and its unit: `"Timestamp"`, `"1
    in ms"`, `"in ms"`; or how far the lines are apart: `"every 1 s"`. Value: a column such as
    "Timestamp in ms" (NAME, NAME in UNIT, in UNIT, or every TIME)."""


def build(
    *,
    brf: Controller | None = None,
    connection: Connection | Sequence[Connection] | None = None,
    duration: str | None = None,
    event: Sequence[Event] | None = None,
    flow: Sequence[Flow] | None = None,
    link: Sequence[Link] | None = None,
    name: str | None = None,
    network: Network | None = None,
    node: Sequence[Node] | None = None,
    path: Sequence[Path] | None = None,
    record: Record | None = None,
    warm_up: str | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Scenario:
    """Builds a scenario. It is rendered as TOML and read like a file, with the same checks.

    ``folder`` is where traces are looked for; if not given, the present one.

    brf: The controller of the nodes with `brf`.
    connection: Connections; without any, there is one of defaults.
    duration: When the run ends at the latest. Required if a flow does not end by itself.
        Value: a time such as "5 ms" (ns, us, ms, s, min, h), from 1 us to 1000 h.
    event: Scripted changes of links.
    flow: What the connections carry.
    link: The network as links between nodes.
    name: What the scenario is called in results. Value: a name.
    network: The network as one of those that experiments share.
    node: Hosts and routers of a network of `[[link]]`s.
    path: The network as paths between two hosts, each a pair of links.
    record: What is recorded.
    warm_up: This long after the start averages begin. Value: a time such as "5 ms" (ns, us,
        ms, s, min, h), from 0 s to 1000 h. Default: "0 s".
    """
    document: Mapping[str, object] = {
        "brf": brf,
        "connection": connection,
        "duration": duration,
        "event": event,
        "flow": flow,
        "link": link,
        "name": name,
        "network": network,
        "node": node,
        "path": path,
        "record": record,
        "warm_up": warm_up,
    }
    return scenario_of(document, folder)
