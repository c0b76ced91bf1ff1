"""The native half: private, but typed, since the rest of the package is checked against it."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]

__version__: str

class ScenarioError(ValueError): ...
class SimulationError(RuntimeError): ...

class AlgorithmError(RuntimeError):
    simulated_time_s: float

@final
class Scenario:
    @staticmethod
    def load(file: str | PathLike[str]) -> Scenario: ...
    @staticmethod
    def parse(text: str, file: str | PathLike[str]) -> Scenario: ...
    @staticmethod
    def restore(
        text: str, file: str | PathLike[str], overrides: list[str], traces: dict[Any, bytes]
    ) -> Scenario: ...
    @property
    def state(self) -> tuple[str, Any, list[str], dict[Any, bytes]]: ...
    def set(self, key: str, value: object) -> Scenario: ...
    def check(self) -> None: ...
    @property
    def name(self) -> str | None: ...
    @property
    def duration_s(self) -> float | None: ...
    @property
    def connections(self) -> list[str]: ...
    @property
    def links(self) -> list[str]: ...

@final
class Table:
    @staticmethod
    def from_columns(columns: dict[str, list[Any]]) -> Table: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def metadata(self, name: str) -> list[tuple[str, str]]: ...
    def column(self, name: str) -> list[Any]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Outcome:
    @property
    def report(self) -> str: ...
    @property
    def events(self) -> Table | None: ...
    def series(self, name: str) -> Table | None: ...

def run(
    scenario: Scenario,
    seed: int,
    out: str | PathLike[str] | None,
    schedulers: Sequence[tuple[str | None, Callable[[], tuple[object, list[str]]]]],
    avoidances: Sequence[tuple[str | None, Callable[[], tuple[object, list[str]]]]],
) -> Outcome: ...
def algorithms() -> str: ...
def render(document: dict[str, Any]) -> str: ...
def mathis(loss: list[float], rtt_s: list[float], packets_per_ack: list[float]) -> list[float]: ...
def pftk(inputs: list[list[float]], approximate: bool) -> list[float]: ...
def reno_window(loss: list[float]) -> list[float]: ...
def cubic_window(loss: list[float], rtt_s: list[float]) -> list[float]: ...
def equilibrium(control: str, loss: list[float], rtt_s: list[float]) -> list[float]: ...
def striped_throughput(
    links: list[tuple[float, float]],
    bytes: int,
    segment_bytes: int,
    initial_window_bytes: int,
    threshold_bytes: int,
    segments_per_ack: int,
) -> tuple[float, float, int]: ...
def predict_bond(
    links: int,
    paths: Sequence[Numbers],
    options: tuple[str, str, int, int, int],
    out: Numbers,
) -> None: ...
def predict_striped(
    links: int,
    paths: Sequence[Numbers],
    transfer: tuple[int, int, int, int],
    segments_per_ack: int,
    out: Numbers,
) -> None: ...
def predict_tunnel(
    links: int,
    paths: Sequence[Numbers],
    control: str,
    transfer: tuple[int, int, int, int, int, int, int],
    out: Numbers,
) -> None: ...
def jain_index(throughputs: list[float]) -> float | None: ...
def aggregation_benefit(goodput: float, capacities: list[float]) -> float | None: ...

class Pick:
    """A scheduler's answer; paths are numbers, ``PathView.id``."""

    @final
    class Send(Pick):
        """Send the segment on this path."""

        __match_args__ = ("path",)
        def __new__(cls, path: int) -> Pick.Send: ...
        @property
        def path(self) -> int: ...

    @final
    class Ahead(Pick):
        """Leave so many bytes of what is unsent to later picks, and send on this path what follows
        them: only as far as ``queue.reaches(skip)``."""

        __match_args__ = ("path", "skip")
        def __new__(cls, path: int, skip: int) -> Pick.Ahead: ...
        @property
        def path(self) -> int: ...
        @property
        def skip(self) -> int: ...

    @final
    class Duplicate(Pick):
        """Send a copy on each of these paths."""

        __match_args__ = ("paths",)
        def __new__(cls, paths: Sequence[int]) -> Pick.Duplicate: ...
        @property
        def paths(self) -> list[int]: ...

    @final
    class Wait(Pick):
        """Send nothing before an event (an acknowledgement, new data) or this time."""

        __match_args__ = ("until",)
        def __new__(cls, until: float = ...) -> Pick.Wait: ...
        @property
        def until(self) -> float: ...

@final
class PathView:
    """A path as a scheduler sees it: times in seconds, sizes in bytes."""

    @property
    def id(self) -> int: ...
    @property
    def srtt(self) -> float | None:
        """Smoothed round-trip time; None before the first sample."""
    @property
    def rtt_var(self) -> float: ...
    @property
    def min_rtt(self) -> float | None: ...
    @property
    def cwnd(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def mss(self) -> int:
        """Largest payload of one segment."""
    @property
    def rate(self) -> float:
        """Estimated delivery rate in bytes/s; 0 if unknown."""
    @property
    def in_slow_start(self) -> bool: ...
    @property
    def ssthresh(self) -> float: ...
    @property
    def available(self) -> bool:
        """Whether it may take a segment now."""
    @property
    def paced_until(self) -> float:
        """When pacing lets its next segment go."""
    @property
    def failed(self) -> bool: ...
    @property
    def backup(self) -> bool: ...
    @property
    def weight(self) -> float: ...
    @property
    def loss(self) -> float:
        """Share of packets lost recently."""
    @property
    def room(self) -> int:
        """Free window."""
    @property
    def allowed(self) -> bool:
        """Whether the rules that all schedulers share let the segment go there."""

@final
class QueueView:
    """What waits to be sent, in bytes, and how much room the receiver has."""

    @property
    def segment(self) -> int:
        """Length of the segment to be placed."""
    @property
    def unsent(self) -> int:
        """What has not been put on any path, this segment included."""
    @property
    def send_window(self) -> int:
        """How much of that the receiver's window still admits."""
    @property
    def window(self) -> int:
        """The receiver's whole window."""
    @property
    def outstanding(self) -> int:
        """Sent and not acknowledged at the data level, over all paths."""
    @property
    def sent_on(self) -> list[int]:
        """Paths that already carry this segment."""
    @property
    def reinjection(self) -> bool: ...
    @property
    def to_reinject(self) -> int:
        """What waits to be sent again, this segment included if it is a reinjection."""
    @property
    def blocked_since_last(self) -> bool: ...
    def reaches(self, skip: int) -> bool:
        """Whether a segment may be sent that leaves so many bytes to later picks."""
    def wait(self) -> Pick:
        """The answer when no path has room: for an event, or for the first that is only paced."""

@final
class Delivery:
    """New data that a path has delivered, by the path's own acknowledgement."""

    @property
    def path(self) -> int: ...
    @property
    def start(self) -> int:
        """Data sequence number of its first byte."""
    @property
    def end(self) -> int: ...
    @property
    def data_ack(self) -> int:
        """Everything below has arrived."""

@final
class Subflow:
    """A subflow as congestion avoidance sees it; the windows may be set."""

    cwnd: float
    """Congestion window in bytes."""
    ssthresh: float
    """Slow-start threshold in bytes; infinite until the first loss."""
    @property
    def id(self) -> int: ...
    @property
    def srtt(self) -> float | None: ...
    @property
    def min_rtt(self) -> float | None: ...
    @property
    def mss(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def in_recovery(self) -> bool: ...
    @property
    def usable(self) -> bool:
        """False while its path is declared failed."""
    @property
    def is_coupled(self) -> bool:
        """Whether it takes part in coupling: it is usable and has a round-trip time."""
    @property
    def coupling_window(self) -> float:
        """The window that counts in coupling formulas: the threshold during recovery."""
    def may_grow(self, ack: Ack) -> bool:
        """Whether the window limited sending, and there is no recovery."""

@final
class Ack:
    """One acknowledgement event of one subflow."""

    @property
    def now(self) -> float: ...
    @property
    def acked_bytes(self) -> int: ...
    @property
    def rtt(self) -> float | None: ...
    @property
    def flight_time(self) -> float | None:
        """How long the newly acknowledged bytes were on their way in the mean."""
    @property
    def delivery_rate(self) -> float | None:
        """In bytes/s, if there is a valid sample."""
    @property
    def app_limited(self) -> bool:
        """Whether that is only a lower bound."""
    @property
    def delivered(self) -> int: ...
    @property
    def prior_delivered(self) -> int: ...
    @property
    def cwnd_limited(self) -> bool: ...
    @property
    def round_start(self) -> bool: ...
    @property
    def ecn_ce_bytes(self) -> int: ...
    @property
    def lost_bytes(self) -> int: ...
    @property
    def prior_in_flight(self) -> int: ...
    @property
    def bytes_in_flight(self) -> int: ...
    @property
    def mss(self) -> int: ...

@final
class Loss:
    """A loss episode, or an expired retransmission timer."""

    @property
    def now(self) -> float: ...
    @property
    def lost_bytes(self) -> int: ...
    @property
    def bytes_in_flight(self) -> int: ...
    @property
    def ecn(self) -> bool: ...
    @property
    def mss(self) -> int: ...

@final
class LostPacket:
    """A packet that was declared lost."""

    @property
    def now(self) -> float: ...
    @property
    def bytes(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def tx_in_flight(self) -> int: ...
    @property
    def app_limited(self) -> bool: ...
    @property
    def delivered(self) -> int: ...
