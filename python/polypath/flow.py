"""What flows did: a class for each thing that kinds of flows measure (docs/applications.md)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, cast

__all__ = [
    "BurstsResult",
    "Direction",
    "FlowResult",
    "MessagesResult",
    "RequestsResult",
    "Spread",
    "TransferResult",
    "VideoResult",
    "flow_of_report",
]

Direction = Literal["up", "down"]
"""Up is from the end that opens the connection, or the first node of the link."""

Kind = Literal["bulk", "on_off", "request_response", "constant_rate", "video"]
"""A kind of flow, as in scenario files."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution, summed up; its unit is that of the field that has it. Quantiles are within
    1/128, mean and maximum exact."""

    mean: float
    p50: float
    """The median."""
    p95: float
    p99: float
    max: float


@dataclass(frozen=True, slots=True)
class FlowResult:
    """What a flow did; its class tells what is measured of it."""

    kind: Kind
    direction: Direction
    start_s: float
    """When it was to begin."""
    finished_s: float | None
    """When it ended and all of it was there; None if it did not."""


@dataclass(frozen=True, slots=True)
class TransferResult(FlowResult):
    """Of a ``bulk`` flow: its end."""


@dataclass(frozen=True, slots=True)
class BurstsResult(FlowResult):
    """Of an ``on_off`` flow over a stream."""

    bursts: int
    """On-times that have begun."""
    on_s: float
    """How long they have lasted together."""


@dataclass(frozen=True, slots=True)
class RequestsResult(FlowResult):
    """Of a ``request_response`` flow."""

    completed: int
    """Requests with the whole response."""
    outstanding: int
    """Requests whose response is not complete."""
    response_bytes: int
    """Of complete responses."""
    completion_ms: Spread | None
    """From the request to the last byte of the response; None without any."""


@dataclass(frozen=True, slots=True)
class MessagesResult(FlowResult):
    """Of a ``constant_rate`` flow, and of an ``on_off`` flow in datagrams."""

    produced: int
    delivered: int
    """How many came whole."""
    missing: int
    """How many did not come although a later one did."""
    reordered: int
    """How many came after a later one."""
    in_time: int | None
    """How many came within their deadline; None without one."""
    delay_ms: Spread | None
    """From the production of a message to its delivery; None without any."""


@dataclass(frozen=True, slots=True)
class VideoResult(FlowResult):
    """Of a ``video`` flow."""

    startup_delay_s: float | None
    """From the start to the first picture; None if there was none."""
    stalls: int
    """How often the picture stood still after that."""
    stall_s: float
    """How long, all together."""
    played_s: float
    """How much was played."""
    chunks: int
    """Chunks that came whole."""
    bit_rate_mbit_s: float | None
    """The mean of their bit rates."""
    switches: int
    """How often the bit rate changed."""


_CLASSES: dict[frozenset[str], type[FlowResult]] = {
    frozenset(field.name for field in fields(cls)): cls
    for cls in (TransferResult, BurstsResult, RequestsResult, MessagesResult, VideoResult)
}


def flow_of_report(report: dict[str, Any]) -> FlowResult:
    """The flow of a report: what is in it tells the class, since an ``on_off`` flow in datagrams
    measures other things than one over a stream."""
    values: dict[str, Any] = dict(report)
    for name, value in report.items():
        if isinstance(value, dict):
            values[name] = Spread(**cast(dict[str, float], value))
    return _CLASSES[frozenset(report)](**values)
