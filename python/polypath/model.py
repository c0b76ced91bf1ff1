"""What theory predicts, without a simulation (docs/models.md).

Inputs are numbers or NumPy arrays, which are broadcast; times are in seconds, losses are shares of
packets. Inputs out of range raise ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native

Numbers = NDArray[np.float64]


def mathis(loss: ArrayLike, rtt_s: ArrayLike, packets_per_ack: ArrayLike = 1.0) -> Numbers:
    """The rate of a TCP that halves its window at each loss, in packets/s (Mathis et al. 1997,
    equation 3)."""
    shape, inputs = _broadcast(loss, rtt_s, packets_per_ack)
    return _shaped(_native.mathis(*inputs), shape)


def pftk(
    loss: ArrayLike,
    rtt_s: ArrayLike,
    first_timeout_s: ArrayLike,
    *,
    packets_per_ack: ArrayLike = 2.0,
    window_limit: ArrayLike = np.inf,
    approximate: bool = False,
) -> Numbers:
    """The rate of a Reno TCP in packets/s, timeouts included (Padhye et al. 2000, equation 32, or
    the approximation, equation 33). ``window_limit`` is in packets."""
    shape, inputs = _broadcast(loss, rtt_s, packets_per_ack, first_timeout_s, window_limit)
    rows = [list(row) for row in zip(*inputs, strict=True)]
    return _shaped(_native.pftk(rows, approximate), shape)


def reno_window(loss: ArrayLike) -> Numbers:
    """The mean window of a Reno TCP with one loss in each ``1 / loss`` packets, in packets."""
    shape, inputs = _broadcast(loss)
    return _shaped(_native.reno_window(*inputs), shape)


def cubic_window(loss: ArrayLike, rtt_s: ArrayLike) -> Numbers:
    """The same of CUBIC (RFC 9438, figures 6 and 7)."""
    shape, inputs = _broadcast(loss, rtt_s)
    return _shaped(_native.cubic_window(*inputs), shape)


def equilibrium(control: str, loss: ArrayLike, rtt_s: ArrayLike) -> Numbers:
    """The windows, in segments, where the subflows of a connection settle; ``control`` is ``lia``,
    ``olia``, ``balia`` or ``reno``. The last axis is that of the paths."""
    losses, rtts = np.broadcast_arrays(np.asarray(loss, float), np.asarray(rtt_s, float))
    if losses.ndim == 0:
        raise ValueError("equilibrium() needs a list of paths")
    count = losses.shape[-1]
    pairs = zip(losses.reshape(-1, count), rtts.reshape(-1, count), strict=True)
    windows = [_native.equilibrium(control, p.tolist(), rtt.tolist()) for p, rtt in pairs]
    return np.array(windows, dtype=np.float64).reshape(losses.shape)


@dataclass(frozen=True, slots=True)
class StripedPrediction:
    """What the model says of a transfer."""

    throughput_mbit_s: float
    seconds: float
    """How long it lasts."""
    rounds: int


def striped_throughput(
    links: Sequence[tuple[float, float]],
    *,
    bytes: int = 1_000_000,
    segment_bytes: int = 536,
    initial_window_bytes: int = 536,
    threshold_bytes: int = 65_535,
    segments_per_ack: int = 2,
) -> StripedPrediction:
    """One TCP whose segments are dealt to several links in turn (Sustainability 10(5):1337, 2018).

    Each link is its rate in Mbit/s and its propagation delay there and back in seconds.
    """
    bytes_per_s, seconds, rounds = _native.striped_throughput(
        list(links), bytes, segment_bytes, initial_window_bytes, threshold_bytes, segments_per_ack
    )
    return StripedPrediction(bytes_per_s * 8e-6, seconds, rounds)


def jain_index(throughputs: ArrayLike) -> float | None:
    """Jain's index of fairness: 1 if all are equal, ``1/n`` if one has everything; None of none."""
    return _native.jain_index(np.asarray(throughputs, float).ravel().tolist())


def aggregation_benefit(goodput: float, capacities: ArrayLike) -> float | None:
    """What several paths gained: 1 is the sum of the capacities, 0 the best of them, -1 nothing.
    None unless a capacity is positive."""
    return _native.aggregation_benefit(goodput, np.asarray(capacities, float).ravel().tolist())


def _broadcast(*inputs: ArrayLike) -> tuple[tuple[int, ...], list[list[float]]]:
    arrays = np.broadcast_arrays(*(np.asarray(given, float) for given in inputs))
    return arrays[0].shape, [array.ravel().tolist() for array in arrays]


def _shaped(values: list[float], shape: tuple[int, ...]) -> Numbers:
    return np.array(values, dtype=np.float64).reshape(shape)
