"""Algorithms written in Python: subclass one, hand it to :func:`polypath.run`.

Times are in seconds since the start of the run, sizes in bytes, rates in bytes/s. What a method
raises ends the run with :class:`polypath.AlgorithmError`, which has the exception as its cause and
tells the simulated time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from ._native import Ack, Delivery, Loss, LostPacket, PathView, Pick, QueueView, Subflow

__all__ = ["CongestionAvoidance", "Scheduler"]


class Scheduler(ABC):
    """Chooses the path of the next segment.

    There is an object for each end of a connection. It must be deterministic: what it draws at
    random must come from a seed of its own.
    """

    @abstractmethod
    def pick(self, paths: Sequence[PathView], queue: QueueView, now: float) -> Pick:
        """Chooses for one segment, among the ``paths`` that are ``available``.

        ``path.allowed`` tells whether the rules that all schedulers share let the segment go there
        (failed paths, backups, reinjections); ``queue.wait()`` is the answer if none of those has
        room.
        """

    def on_delivered(self, delivery: Delivery, now: float) -> None:
        """A path has delivered new data."""

    def on_remove(self, path: int) -> None:
        """A path is gone: forget it."""


class CongestionAvoidance(ABC):
    """The rule by which windows grow after slow start and shrink on loss.

    An object serves all subflows of one end of a connection if they are coupled, or else one subflow.
    Events are about ``subflow``, whose ``cwnd`` and ``ssthresh`` may be set; ``subflows`` are all, by
    path number. The library keeps windows at one segment or more.
    """

    coupled: bool = False
    """Whether the growth of a subflow depends on the others: Multipath TCP then has one object for
    all, unless the scenario says otherwise."""

    owns_start_up: bool = False
    """Whether it does its own start-up, without a slow start."""

    min_window_segments: float = 2.0
    """The smallest window after a loss, in segments."""

    @abstractmethod
    def on_ack(self, subflow: Subflow, ack: Ack, subflows: Sequence[Subflow]) -> None:
        """Data was acknowledged and the subflow is not in slow start. Called also in recovery and
        while the window does not limit sending: ask ``subflow.may_grow(ack)``."""

    def on_loss(self, subflow: Subflow, loss: Loss, subflows: Sequence[Subflow]) -> None:
        """Loss, or an ECN mark, began a new recovery: set ``ssthresh`` and ``cwnd``. As Reno if it is
        not overridden."""

    def on_timeout(self, subflow: Subflow, loss: Loss, subflows: Sequence[Subflow]) -> None:
        """The retransmission timer expired. As Reno if it is not overridden."""

    def on_packet_lost(
        self, subflow: Subflow, lost: LostPacket, subflows: Sequence[Subflow]
    ) -> None:
        """A packet was declared lost; windows that are set here are not kept."""

    def on_delivery(self, subflow: Subflow, ack: Ack, subflows: Sequence[Subflow]) -> None:
        """Data was acknowledged, in slow start or not; windows that are set here are not kept."""

    def on_round(self, subflow: Subflow, ack: Ack, subflows: Sequence[Subflow]) -> None:
        """A packet-timed round ended."""

    def on_recovery_exit(self, subflow: Subflow, ack: Ack, subflows: Sequence[Subflow]) -> None:
        """A packet sent after recovery began has been acknowledged."""

    def on_slow_start_exit(self, subflow: Subflow, ack: Ack, subflows: Sequence[Subflow]) -> None:
        """Slow start ended without loss: ``ssthresh`` has been set to the window."""

    def on_remove(self, subflow: int) -> None:
        """A subflow is gone: forget it."""

    def pacing_rate(self, subflow: int) -> float | None:
        """A pacing rate in bytes/s; None leaves it to window over round-trip time."""
        return None


Own = TypeVar("Own", Scheduler, CongestionAvoidance)

Builder = Callable[[], tuple[object, list[str]]]

Schedulers = Callable[[], Scheduler] | Mapping[str, Callable[[], Scheduler]]
"""What makes schedulers: for all connections that have one, or for those that are named."""

Avoidances = Callable[[], CongestionAvoidance] | Mapping[str, Callable[[], CongestionAvoidance]]
"""The same for congestion avoidance."""

Builders = list[tuple[str | None, Builder]]


@dataclass(frozen=True, slots=True)
class OwnAlgorithms:
    """Those that stand in place of the scenario's."""

    scheduler: Schedulers | None = None
    congestion: Avoidances | None = None

    def __bool__(self) -> bool:
        return self.scheduler is not None or self.congestion is not None

    def names(self) -> str:
        """What is where, by the names of classes and functions."""
        return f"scheduler {_names(self.scheduler)}, congestion {_names(self.congestion)}"

    def builders(self) -> tuple[Builders, Builders]:
        """What the library calls, for schedulers and for congestion avoidance."""
        schedulers = _builders(self.scheduler, Scheduler)
        return schedulers, _builders(self.congestion, CongestionAvoidance)


def _names(own: Schedulers | Avoidances | None) -> str:
    if own is None:
        return "none"
    if callable(own):
        return _name(own)
    return ", ".join(f"{connection!r} {_name(make)}" for connection, make in own.items())


def _name(make: Callable[[], object]) -> str:
    """That of the class or function, or of the class of another object that can be called."""
    return getattr(make, "__qualname__", type(make).__qualname__)


def _builders(
    own: Callable[[], Own] | Mapping[str, Callable[[], Own]] | None, base: type[Own]
) -> Builders:
    """What makes the objects, for each connection that is named, or for all (None)."""
    if own is None:
        return []
    if callable(own):
        return [(None, _builder(own, base))]
    return [(name, _builder(make, base)) for name, make in own.items()]


def _builder(make: Callable[[], Own], base: type[Own]) -> Builder:
    def build() -> tuple[object, list[str]]:
        made = cast(object, make())
        if not isinstance(made, base):
            raise TypeError(f"{made!r} is no polypath.{base.__name__}")
        return made, _overridden(type(made), base)

    return build


def _overridden(cls: type, base: type) -> list[str]:
    """The methods that a class has of its own: the library calls no others."""
    methods = (name for name in vars(base) if not name.startswith("_"))
    return [name for name in methods if getattr(cls, name) is not getattr(base, name)]
