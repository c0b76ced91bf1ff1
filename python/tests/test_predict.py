"""Models over many sets of links in one call."""

from __future__ import annotations

import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import polypath
from polypath import predict

RATES = [35.9, 18.4, 33.3, 14.7]
RTTS = [0.02, 0.045, 0.03, 0.06]


def test_each_set_is_that_of_the_model_alone() -> None:
    """One call for three sets gives what three calls give, and what the model gives for one."""
    rates = np.array([RATES, RATES[::-1], [50.0] * 4])
    told = predict.striped(rates, RTTS)
    assert told.shape == (3,)
    for row, throughput in zip(rates, told, strict=True):
        links = list(zip(row.tolist(), RTTS, strict=True))
        assert throughput == polypath.model.striped_throughput(links).throughput_mbit_s
        assert float(predict.striped(row, RTTS)) == throughput
    for function in (predict.bond, predict.tunnel):
        all_at_once = function(rates, RTTS)
        one_by_one = [float(function(row, RTTS)) for row in rates]
        assert all_at_once.tolist() == one_by_one


def test_axes_are_broadcast_and_nan_is_no_link() -> None:
    delays = np.array([[[0.02, 0.02]], [[0.02, 0.07]]])
    rates = np.array([[10.0, np.nan], [10.0, 10.0], [10.0, 5.0]])
    told = predict.tunnel(rates, delays)
    assert told.shape == (2, 3)
    # Alone, the delay of the link that is not there does not matter; reordering costs half.
    alone = float(predict.tunnel([10.0], [0.02]))
    assert told[0, 0] == told[1, 0] == alone
    assert told[0, 1] > 1.5 * alone
    assert told[1, 1] < 0.5 * alone


def test_all_models_take_rates_and_rtts_by_name() -> None:
    for function in (predict.bond, predict.striped, predict.tunnel):
        told = function(rate_mbit_s=[RATES, RATES], rtt_s=0.04)
        assert told.tolist() == function([RATES, RATES], [0.04] * 4).tolist()


def test_columns_of_arrow_tables() -> None:
    table = pa.table({"rate": [20.0, 40.0], "rtt": [0.02, 0.02]})
    told = predict.bond(
        np.column_stack([table["rate"], table["rate"]]),
        np.column_stack([table["rtt"], table["rtt"]]),
    )
    # Two links of 20 Mbit/s, less headers and BBR's margin.
    assert told[0] == pytest.approx(2 * 20 * 1400 / 1472, rel=0.03)
    assert told[1] == pytest.approx(2 * told[0], rel=0.005)


def test_options_reach_the_models() -> None:
    lossy = {"loss": 0.01}
    assert predict.bond(RATES, RTTS, control="cubic", **lossy) < predict.bond(RATES, RTTS, **lossy)
    small = predict.bond(RATES, [0.2] * 4, receive_buffer=100_000)
    assert small < 0.2 * predict.bond(RATES, [0.2] * 4)
    redundant = predict.bond(RATES, RTTS, scheduler="redundant")
    assert redundant < predict.bond(RATES, RTTS)
    large = predict.tunnel([50.0], [0.1], receive_buffer=10_000_000, bytes=10_000_000)
    assert large > 1.1 * predict.tunnel([50.0], [0.1], bytes=10_000_000)
    assert predict.tunnel([50.0], [0.1], loss=0.05) < predict.tunnel([50.0], [0.1])
    assert predict.striped(RATES, RTTS, bytes=10_000) != predict.striped(RATES, RTTS)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match=r"set 1 \(from 0\): the loss is 2; allowed: from 0"):
        predict.bond([[1.0], [1.0]], [0.1], loss=[[0.0], [2.0]])
    with pytest.raises(ValueError, match=r"set 0 \(from 0\): no link; allowed: 1 to 64"):
        predict.tunnel([np.nan], [0.1])
    with pytest.raises(ValueError, match="the RTT is -0.1 s; allowed: times from 0"):
        predict.tunnel([1.0], [-0.1])
    with pytest.raises(ValueError, match="a queue is -1 packets"):
        predict.tunnel([1.0], [0.1], queue_packets=-1)
    with pytest.raises(ValueError, match="rate of a link in bytes/s is 0"):
        predict.striped([0.0], [0.1])
    with pytest.raises(
        ValueError, match='unknown scheduler "fast"; allowed: ahead, selective, greedy'
    ):
        predict.bond([1.0], [0.1], scheduler="fast")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="a set of links is a list"):
        predict.bond(1.0, 0.1)
    with pytest.raises(OverflowError):
        predict.striped([1.0], [0.1], bytes=-1)


def test_no_set_is_no_result() -> None:
    assert predict.bond(np.empty((0, 3)), np.empty((0, 3))).shape == (0,)


def test_other_threads_go_on() -> None:
    """While a call takes its time, the interpreter counts."""
    rates = np.tile(RATES, (20_000, 1))
    done = threading.Event()

    def work() -> None:
        predict.tunnel(rates, RTTS)
        done.set()

    thread = threading.Thread(target=work)
    began = time.perf_counter()
    thread.start()
    turns = 0
    while not done.is_set():
        time.sleep(0.001)
        turns += 1
    took = time.perf_counter() - began
    thread.join()
    # Held, the interpreter would turn a few times in all; released, hundreds of times in a second.
    assert turns > 20 * took
