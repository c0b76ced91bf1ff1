"""Plots: axes with units, a line for each path, what cannot be drawn."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import polypath
from polypath import plot, predict


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No figure is left."""
    yield
    plt.close("all")


def names(axes: plt.Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_lines_are_the_series_by_path(two_paths: polypath.Scenario) -> None:
    result = polypath.run(two_paths)
    axes = plot.throughput(result)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (s)", "throughput (Mbit/s)")
    assert names(axes) == ["wifi", "lte"]
    rates = result.series.paths.column("throughput")
    np.testing.assert_allclose(axes.lines[0].get_ydata(), np.array(rates[:20]) * 1e-6)
    styles = {(line.get_color(), line.get_linestyle()) for line in axes.lines}
    assert len(styles) == 2
    windows = plot.windows(result, axes=plt.figure().add_subplot())
    assert windows.get_ylabel() == "congestion window (kB)"
    # A window that is not there yet is a gap, not zero.
    gaps = [value is None for value in result.series.paths.column("cwnd")]
    drawn = np.concatenate([np.asarray(line.get_ydata(), float) for line in windows.lines])
    assert np.isnan(drawn).tolist() == gaps


def test_several_connections_have_their_names(two_paths: polypath.Scenario) -> None:
    result = polypath.run(two_paths.set("connection.count", 2))
    assert names(plot.windows(result)) == [
        "both#1, wifi",
        "both#1, lte",
        "both#2, wifi",
        "both#2, lte",
    ]


def test_an_added_link_helps_or_hurts() -> None:
    """A tunnel suffers from a slow or late link; a bond leaves it out."""
    there = [(20.0, 0.02), (20.0, 0.03)]
    values = {"rates_mbit_s": [0.5, 20.0], "rtts_s": [0.02, 0.3]}

    def gain(axes: plt.Axes) -> list[float]:
        return np.exp2(np.asarray(axes.collections[0].get_array(), float)).ravel().tolist()

    tunnel = plot.added_link(there, predict.tunnel, **values)
    assert tunnel.get_xlabel() == "rate of the added link (Mbit/s)"
    assert tunnel.get_ylabel() == "RTT of the added link (ms)"
    alone = float(predict.tunnel(*np.array(there).T))
    with_it = float(predict.tunnel([20.0, 20.0, 0.5], [0.02, 0.03, 0.02]))
    assert gain(tunnel)[0] == pytest.approx(with_it / alone)
    slow, _, slow_and_late, late = gain(tunnel)
    assert max(slow, slow_and_late, late) < 0.6
    bond = plot.added_link(there, axes=plt.figure().add_subplot(), **values)
    assert min(gain(bond)) > 0.99
    # Three links of a rate instead of two.
    assert gain(bond)[1] == pytest.approx(1.5, rel=0.01)
    whole = plot.added_link(there, axes=plt.figure().add_subplot())
    assert whole.get_xlim() == pytest.approx((2.0, 200.0), rel=0.05)


def test_distributions_rise_from_zero_to_one() -> None:
    axes = plot.cdf({"a": [3.0, 1.0, 2.0, 2.0], "b": [5.0, np.nan]}, label="delay (ms)")
    assert axes.get_xlabel() == "delay (ms)"
    assert names(axes) == ["a", "b"]
    line = axes.lines[0]
    assert np.asarray(line.get_xdata()).tolist() == [1.0, 1.0, 2.0, 2.0, 3.0]
    assert np.asarray(line.get_ydata()).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    with pytest.raises(ValueError, match="'c' has no samples"):
        plot.cdf({"c": []}, label="delay (ms)")


def test_heat_maps_are_means(short: polypath.Scenario) -> None:
    delays, controls = ["10 ms", "50 ms"], ["lia", "cubic", "olia"]
    sweep = polypath.sweep(
        short, {"path.lte.delay": delays, "connection.congestion": controls}, seeds=2
    )
    axes = plot.heat_map(sweep, "path.lte.delay", "connection.congestion")
    goodputs = [result.connections[0].goodput_mbit_s for result in sweep.results]
    means = np.array(goodputs).reshape(2, 3, 2).mean(axis=2).T
    np.testing.assert_allclose(axes.images[0].get_array(), means)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == delays
    assert [tick.get_text() for tick in axes.get_yticklabels()] == controls
    labels = [other.get_ylabel() for other in axes.figure.axes]
    assert labels == ["connection.congestion", "goodput (Mbit/s)"]
    with pytest.raises(ValueError, match="no column 'delay'; it has path.lte.delay"):
        plot.heat_map(sweep, "delay", "connection.congestion")


def test_benefits_are_boxes_by_key(short: polypath.Scenario) -> None:
    sweep = polypath.sweep(short, {"connection.congestion": ["lia", "cubic"]}, seeds=3)
    axes = plot.aggregation_benefit(sweep, "connection.congestion")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["lia", "cubic"]
    assert axes.get_ylabel() == "aggregation benefit"
    plot.aggregation_benefit({"measured": [0.1, 0.5]}, axes=axes)
    with pytest.raises(ValueError, match="allowed: a key of the sweep: connection.congestion"):
        plot.aggregation_benefit(sweep)


def test_what_was_not_recorded_cannot_be_drawn(short: polypath.Scenario) -> None:
    with pytest.raises(LookupError, match="no series of paths was kept"):
        plot.windows(polypath.run(short))
    recorded = polypath.run(short.set("record.series", ["srtt"]))
    with pytest.raises(LookupError, match=r"set record.series to \['cwnd'\]"):
        plot.windows(recorded)
