"""Algorithms in Python beside the built-in ones."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path

import pytest

import polypath
from polypath import Ack, PathView, Pick, QueueView, Subflow


# [round robin]
class RoundRobin(polypath.Scheduler):
    def __init__(self) -> None:
        self.used: set[int] = set()

    def pick(self, paths: Sequence[PathView], queue: QueueView, now: float) -> Pick:
        ring = [path.id for path in paths if path.allowed and path.available]
        if not ring:
            return queue.wait()
        if self.used.issuperset(ring):
            self.used.clear()
        turn = next(path for path in ring if path not in self.used)
        self.used.add(turn)
        return Pick.Send(turn)


# [/round robin]


class Lia(polypath.CongestionAvoidance):
    """RFC 6356, equations 1 and 2."""

    coupled = True

    def on_ack(self, subflow: Subflow, ack: Ack, subflows: Sequence[Subflow]) -> None:
        if not subflow.may_grow(ack):
            return
        acked = subflow.mss * ack.acked_bytes
        members = [(s.coupling_window, s.srtt) for s in subflows if s.is_coupled and s.srtt]
        if not subflow.is_coupled:
            subflow.cwnd += acked / subflow.cwnd
            return
        total = sum(window for window, _ in members)
        rate = sum(window / rtt for window, rtt in members)
        alpha = total * max(window / rtt**2 for window, rtt in members) / rate**2
        subflow.cwnd += min(alpha * acked / total, acked / subflow.cwnd)


class Broken(RoundRobin):
    """Works for half a second."""

    def pick(self, paths: Sequence[PathView], queue: QueueView, now: float) -> Pick:
        if now >= 0.5:
            raise LookupError("no idea")
        return super().pick(paths, queue, now)


TRANSPORTS = [
    {"transport": "mptcp", "congestion": "lia", "scheduler": "round_robin"},
    {"transport": "bond", "congestion": "lia", "scheduler": "round_robin"},
    {"transport": "bond", "carrier": "light", "congestion": "lia", "scheduler": "round_robin"},
    {"transport": "tunnel", "congestion": "reno", "scheduler": "round_robin"},
]


@pytest.mark.parametrize("connection", TRANSPORTS, ids=lambda c: c.get("carrier", c["transport"]))
def test_a_round_robin_gives_the_trace_of_the_built_in_one(
    two_paths: polypath.Scenario, tmp_path: Path, connection: dict[str, str]
) -> None:
    """All that is recorded is the same, byte by byte: series, events, every packet. Losses,
    reinjections and pacing make all kinds of picks."""
    scenario = two_paths.set("connection", {"name": "both", **connection})
    scenario = scenario.set("record.events", True).set("record.pcapng", True)
    ours = polypath.run(
        scenario.set("connection.scheduler", "low_rtt"),
        seed=3,
        out=tmp_path / "ours",
        scheduler=RoundRobin,
    )
    built_in = polypath.run(scenario, seed=3, out=tmp_path / "built in")
    assert ours == built_in
    files = sorted((tmp_path / "ours" / "seed=3").iterdir())
    assert {"events.parquet", "paths.parquet"} <= {file.name for file in files}
    for file in files:
        # What QUIC encrypts has other bytes each time.
        if file.suffix == ".pcapng" and connection == TRANSPORTS[1]:
            continue
        assert file.read_bytes() == (tmp_path / "built in" / "seed=3" / file.name).read_bytes()
    # The scheduler matters: another one gives another trace. The bonds here send whatever a path
    # has room for, and any scheduler that uses both paths does the same.
    blind = scenario.set("connection.scheduler", {"name": "round_robin", "num_segments": 64})
    assert (polypath.run(blind, seed=3) != built_in) == (connection["transport"] != "bond")


def test_a_lia_gives_the_windows_of_the_built_in_one(two_paths: polypath.Scenario) -> None:
    """To 1e-9 of the window over 20 s with losses; windows are recorded in whole bytes, so a
    difference of less could still show as one byte."""
    scenario = two_paths.set("duration", "20 s").set("record.interval", "10 ms")
    ours = polypath.run(
        scenario.set("connection.congestion", "cubic"), seed=2, congestion=Lia
    ).series.paths
    built_in = polypath.run(scenario, seed=2).series.paths
    pairs = list(zip(ours.column("cwnd"), built_in.column("cwnd"), strict=True))
    assert len(pairs) == 4000
    assert len({window for _, window in pairs}) > 500
    for one, other in pairs:
        assert one == other or abs(one - other) <= max(1, 1e-9 * other)


def test_algorithms_can_be_those_of_one_connection(two_paths: polypath.Scenario) -> None:
    plain = '[[connection]]\nname = "plain"\ntransport = "tcp"\n'
    flow = '[[flow]]\nconnection = "plain"\nkind = "bulk"\n'
    text = two_paths.text.replace("[connection]", plain + "[[connection]]")
    text = text.replace("[[flow]]", flow + '[[flow]]\nconnection = "both"')
    scenario = polypath.Scenario.parse(text)
    other = scenario.set("connection.both.scheduler", "low_rtt")
    ours = polypath.run(other, scheduler={"both": RoundRobin}, congestion={"both": Lia})
    assert ours.segments_delivered == polypath.run(scenario).segments_delivered
    # Of all that have a scheduler: TCP has none and is left alone.
    assert polypath.run(other, scheduler=RoundRobin) == polypath.run(scenario)
    with pytest.raises(polypath.ScenarioError, match='no connection "bath"; there are plain, both'):
        polypath.run(scenario, scheduler={"bath": RoundRobin})
    with pytest.raises(polypath.ScenarioError, match='connection "plain": it has no scheduler'):
        polypath.run(scenario, scheduler={"plain": RoundRobin})


def test_what_is_raised_surfaces(two_paths: polypath.Scenario) -> None:
    with pytest.raises(
        polypath.AlgorithmError, match="s of simulated time: LookupError: no idea"
    ) as told:
        polypath.run(two_paths, scheduler=Broken)
    cause = told.value.__cause__
    assert isinstance(cause, LookupError)
    assert "raise LookupError" in "".join(traceback.format_exception(cause))
    # At the first pick from half a second on; there is one with every segment.
    assert 0.5 <= told.value.simulated_time_s < 0.6


class Picks(polypath.Scheduler):
    """Gives one answer."""

    answer: object = Pick.Wait()

    def pick(self, paths: Sequence[PathView], queue: QueueView, now: float) -> Pick:
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Pick.Send(7), "pick() chose path 7; available: 0"),
        (Pick.Wait(0.0), "pick() waits until 0 s; allowed: times after now"),
        (Pick.Duplicate([]), "pick() sends copies on no path"),
        (Pick.Ahead(0, 0), "pick() leaves 0 bytes to later picks"),
        (0, "'int' object"),
    ],
)
def test_wrong_answers_are_told(two_paths: polypath.Scenario, answer: object, problem: str) -> None:
    def make() -> Picks:
        picks = Picks()
        picks.answer = answer
        return picks

    with pytest.raises(polypath.AlgorithmError) as told:
        polypath.run(two_paths, scheduler=make)
    assert problem in str(told.value)


def test_what_cannot_be_made_is_told(two_paths: polypath.Scenario) -> None:
    with pytest.raises(polypath.AlgorithmError, match="abstract"):
        polypath.run(two_paths, scheduler=polypath.Scheduler)  # type: ignore[type-abstract]
    with pytest.raises(polypath.AlgorithmError, match="is no polypath.CongestionAvoidance"):
        polypath.run(two_paths, congestion=RoundRobin)  # type: ignore[arg-type]

    class Negative(Lia):
        def on_loss(self, subflow: Subflow, loss: object, subflows: object) -> None:
            subflow.cwnd = -1.0

    with pytest.raises(polypath.AlgorithmError, match="cwnd cannot be -1; allowed: bytes from 0"):
        polypath.run(two_paths, congestion=Negative)


def test_every_event_is_told(two_paths: polypath.Scenario) -> None:
    heard: set[str] = set()

    class Listener(Lia):
        def on_packet_lost(self, subflow: Subflow, lost: object, subflows: object) -> None:
            heard.add("on_packet_lost")

        def on_delivery(self, subflow: Subflow, ack: Ack, subflows: object) -> None:
            heard.add("on_delivery")
            # It is not kept.
            subflow.cwnd = 1.0

        def on_round(self, subflow: Subflow, ack: Ack, subflows: object) -> None:
            assert ack.round_start
            heard.add("on_round")

        def on_recovery_exit(self, subflow: Subflow, ack: Ack, subflows: object) -> None:
            heard.add("on_recovery_exit")

        def on_slow_start_exit(self, subflow: Subflow, ack: Ack, subflows: object) -> None:
            heard.add("on_slow_start_exit")

        def pacing_rate(self, subflow: int) -> float | None:
            heard.add("pacing_rate")
            return None

    ours = polypath.run(two_paths, congestion=Listener)
    assert ours == polypath.run(two_paths, congestion=Lia)
    told = {"on_packet_lost", "on_delivery", "on_round", "on_recovery_exit", "pacing_rate"}
    assert told <= heard


def test_algorithms_run_in_sweeps(two_paths: polypath.Scenario) -> None:
    """Runs at once have objects of their own: the sweep is that of the built-in ones."""
    short = two_paths.set("duration", "500 ms").set("record.series", [])
    other = short.set("connection.scheduler", "low_rtt")
    over = {"path.lte.delay": ["20 ms", "80 ms"]}
    ours = polypath.sweep(other, over, seeds=3, scheduler=RoundRobin, workers=3)
    assert ours == polypath.sweep(short, over, seeds=3)
    assert ours != polypath.sweep(other, over, seeds=3)
    with pytest.raises(polypath.SweepError, match="2 of the runs failed.*AlgorithmError.*no idea"):
        polypath.sweep(two_paths, seeds=2, scheduler=Broken)


def test_finished_runs_are_those_of_a_version(short: polypath.Scenario, tmp_path: Path) -> None:
    class Other(RoundRobin):
        """The same by another name."""

    def begun(version: str | None, scheduler: type[polypath.Scheduler] = RoundRobin) -> int:
        told: list[int] = []
        polypath.sweep(
            short,
            seeds=2,
            out=tmp_path,
            scheduler=scheduler,
            version=version,
            progress=lambda done, total: told.append(done),
        )
        return 2 - told[0]

    assert [begun(version) for version in ("1", "1", "2", "1")] == [2, 0, 2, 0]
    assert [begun("1", Other), begun("1", Other)] == [2, 0]
    with pytest.raises(ValueError, match="`out` needs a `version`"):
        begun(None)
    told: list[int] = []
    polypath.sweep(short, seeds=2, out=tmp_path, progress=lambda done, total: told.append(done))
    assert told[0] == 0
