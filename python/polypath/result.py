"""Results of runs: what ``polypath sim --json`` tells, as objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from . import _native
from .flow import Direction, FlowResult, flow_of_report
from .table import Table


@dataclass(frozen=True, slots=True)
class PathResult:
    """What a connection sent on a path, both directions together."""

    name: str
    mbit_s: float
    """Payload, what was sent again included."""
    sent_bytes: int
    """Payload of the whole run, what was sent again included."""
    lost: int
    """Packets that were declared lost."""
    retransmitted: int
    """Packets that were sent again on this path."""
    srtt_ms: float | None
    """The smoothed round-trip time at the end, of the end that sent more."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What has passed by a rule of a bond's policy. To send is from behind the edge."""

    name: str | None
    """None for what no rule matched."""
    mode: str
    conversations: int
    datagrams_sent: int
    datagrams_received: int
    bytes_sent: int
    bytes_received: int
    dropped: int
    """Connections that were refused, and datagrams."""


@dataclass(frozen=True, slots=True)
class ConnectionResult:
    """What a connection did. Rates are means from the end of the warm-up on."""

    name: str
    transport: str
    goodput_mbit_s: float
    """Payload that came in order, both directions together, until its last flow ended."""
    up_mbit_s: float
    down_mbit_s: float
    aggregation_benefit: float | None
    """1 is the sum of the rates of the paths, 0 the best of them, -1 nothing; None where paths share
    links or have no constant rates."""
    delivered_bytes: int
    reinjected_bytes: int
    """Payload that was sent again on another path."""
    timeouts: int
    paths: list[PathResult]
    flows: list[FlowResult]
    rules: list[RuleResult]
    """Of a bond that others go through."""

    def path(self, name: str) -> PathResult:
        """The path of this name; KeyError if there is none."""
        return _named(self.paths, name)


@dataclass(frozen=True, slots=True)
class Dropped:
    """Dropped packets by reason."""

    queue_full: int
    aqm: int
    loss: int
    blackout: int
    mtu: int


@dataclass(frozen=True, slots=True)
class LinkResult:
    """What a link did in one direction."""

    link: str
    direction: Direction
    mbit_s: float
    """What came out, headers included."""
    utilisation: float | None
    """The share of a constant rate that this is."""
    sojourn_ms: float | None
    """The mean time that a packet spent in the queue and in service."""
    delivered_packets: int
    dropped_packets: Dropped
    marked_packets: int


class Series:
    """The time series that the scenario's ``[record]`` asks for (docs/series.md).

    A table of which nothing was asked for is a LookupError.
    """

    __slots__ = ("_tables",)

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = dict(tables)

    @property
    def paths(self) -> Table:
        """A row for each path of an end that sends, at a time."""
        return self._table("paths")

    @property
    def connections(self) -> Table:
        """A row for each end that sends, at a time."""
        return self._table("connections")

    @property
    def links(self) -> Table:
        """A row for each direction of a link, at a time."""
        return self._table("links")

    @property
    def names(self) -> list[str]:
        """The tables that there are."""
        return list(self._tables)

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            raise LookupError(
                f"no series of {name} was kept; those of a run are what the scenario's record.series "
                f"asks for: here {', '.join(self._tables) or 'nothing'}"
            )
        return self._tables[name]

    def __repr__(self) -> str:
        return f"<Series of {', '.join(self._tables) or 'nothing'}>"


@dataclass(frozen=True, slots=True)
class Result:
    """The results of a run."""

    seed: int
    sim_s: float
    """Simulated time in seconds."""
    segments_delivered: int
    """Data segments, or datagrams, that endpoints received, duplicates left out."""
    jain_index: float | None
    """Jain's index of the goodputs of the connections whose flows have begun."""
    connections: list[ConnectionResult]
    queues: list[LinkResult]
    """The links, each in both directions."""
    series: Series = field(compare=False)
    events: Table | None = field(compare=False)
    """Losses, timeouts, recoveries, states and failures of paths, by time, with the columns of
    ``events.parquet`` (docs/recording.md). None unless the scenario's ``record.events`` is true; in
    a sweep they are in the files of ``out`` only."""
    report: dict[str, Any] = field(repr=False)
    """The same, as ``polypath sim --json`` prints a run, without ``cpu_s``."""

    def connection(self, name: str) -> ConnectionResult:
        """The connection of this name; KeyError if there is none."""
        return _named(self.connections, name)


Named = TypeVar("Named", PathResult, ConnectionResult)


def _named(items: list[Named], name: str) -> Named:
    for item in items:
        if item.name == name:
            return item
    raise KeyError(f"{name!r}; there are {', '.join(item.name for item in items)}")


def of_outcome(outcome: _native.Outcome) -> Result:
    """The results of a native run."""
    kept = {name: outcome.series(name) for name in ("paths", "connections", "links")}
    tables = {name: Table(table) for name, table in kept.items() if table is not None}
    events = None if outcome.events is None else Table(outcome.events)
    return of_report(outcome.report, Series(tables), events)


def of_report(text: str, series: Series, events: Table | None = None) -> Result:
    """The results that a report, which is JSON, tells."""
    report: dict[str, Any] = json.loads(text)
    run = dict(report)
    run["connections"] = [_connection(connection) for connection in run["connections"]]
    run["queues"] = [_link(queue) for queue in run["queues"]]
    return Result(**run, series=series, events=events, report=report)


def _connection(report: dict[str, Any]) -> ConnectionResult:
    connection = dict(report)
    connection["paths"] = [PathResult(**path) for path in report["paths"]]
    connection["flows"] = [flow_of_report(flow) for flow in report["flows"]]
    connection["rules"] = [RuleResult(**rule) for rule in report["rules"]]
    return ConnectionResult(**connection)


def _link(report: dict[str, Any]) -> LinkResult:
    link = dict(report)
    link["dropped_packets"] = Dropped(**report["dropped_packets"])
    return LinkResult(**link)
