"""What models say of many sets of links in one call (docs/models.md).

A set is a row: the last axis of each input is that of the links, all other axes are broadcast, and
the result has their shape. A link whose rate is NaN is none, so that sets may differ in size. Inputs
are numbers, NumPy arrays, or whatever NumPy takes for one, such as columns of Arrow tables. Results
are in Mbit/s. Other threads go on meanwhile; inputs out of range raise ValueError, which names the
set.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native

__all__ = ["bond", "striped", "tunnel"]

Numbers = NDArray[np.float64]


def bond(
    rate_mbit_s: ArrayLike,
    rtt_s: ArrayLike,
    *,
    loss: ArrayLike = 0.0,
    queue_bytes: ArrayLike | None = None,
    control: Literal["polypath", "bbr", "cubic", "reno"] = "polypath",
    scheduler: Literal["ahead", "selective", "greedy", "redundant"] = "ahead",
    receive_buffer: int = 16 << 20,
    segment_bytes: int = 1400,
    header_bytes: int = 72,
) -> Numbers:
    """Goodput of a bond, or of Multipath TCP, in a long transfer. ``rtt_s`` is the propagation delay
    there and back; queues are a bandwidth-delay product if not given. The receive buffer is in
    bytes."""
    rates, rtts = np.asarray(rate_mbit_s, float), np.asarray(rtt_s, float)
    queues = rates * 1e6 / 8.0 * rtts if queue_bytes is None else queue_bytes
    links, inputs, out = _sets(rates, rtts, loss, queues)
    options = (control, scheduler, receive_buffer, segment_bytes, header_bytes)
    _native.predict_bond(links, inputs, options, out.reshape(-1))
    return out


def striped(
    rate_mbit_s: ArrayLike,
    rtt_s: ArrayLike,
    *,
    bytes: int = 1_000_000,
    segment_bytes: int = 536,
    initial_window_bytes: int = 536,
    threshold_bytes: int = 65_535,
    segments_per_ack: int = 2,
) -> Numbers:
    """Goodput of one TCP whose segments are dealt to several links in turn, by S1's model
    (Sustainability 10(5):1337, 2018), which knows neither losses nor queues. ``rtt_s`` is the
    propagation delay there and back."""
    links, inputs, out = _sets(rate_mbit_s, rtt_s)
    transfer = (bytes, segment_bytes, initial_window_bytes, threshold_bytes)
    _native.predict_striped(links, inputs, transfer, segments_per_ack, out.reshape(-1))
    return out


def tunnel(
    rate_mbit_s: ArrayLike,
    rtt_s: ArrayLike,
    *,
    loss: ArrayLike = 0.0,
    queue_packets: ArrayLike = 100,
    control: Literal["reno", "cubic"] = "reno",
    bytes: int = 1_000_000,
    segment_bytes: int = 536,
    header_bytes: int = 72,
    initial_window_segments: int = 1,
    receive_buffer: int = 65_535,
    segments_per_ack: int = 2,
    horizon_segments: int = 2_000,
) -> Numbers:
    """Goodput of the same TCP, segment by segment: with queues, losses and needless retransmissions.
    The time it takes grows with ``horizon_segments``, up to which segments are followed."""
    links, inputs, out = _sets(rate_mbit_s, rtt_s, loss, queue_packets)
    transfer = (
        bytes,
        segment_bytes,
        header_bytes,
        initial_window_segments,
        receive_buffer,
        segments_per_ack,
        horizon_segments,
    )
    _native.predict_tunnel(links, inputs, control, transfer, out.reshape(-1))
    return out


def _sets(*given: ArrayLike) -> tuple[int, list[Numbers], Numbers]:
    """How many links a set has, the inputs in a row, and a place for the results."""
    arrays = np.broadcast_arrays(*(np.asarray(array, float) for array in given))
    if arrays[0].ndim == 0:
        raise ValueError("a set of links is a list")
    *shape, links = arrays[0].shape
    inputs = [np.ascontiguousarray(array, dtype=np.float64) for array in arrays]
    return links, inputs, np.empty(shape, dtype=np.float64)
