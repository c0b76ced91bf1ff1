"""Plots: axes with units, a line for each path, what cannot be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.transforms import Bbox

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


def many_paths(count: int) -> polypath.Scenario:
    """A connection over so many paths."""
    path = '[[path]]\nname = "path{}"\nrate = "{} Mbit/s"\ndelay = "10 ms"\nloss = 0.01\n'
    paths = "".join(path.format(number, number + 1) for number in range(count))
    rest = '[connection]\ntransport = "mptcp"\n[[flow]]\nkind = "bulk"\n[record]\n'
    series = 'series = ["cwnd", "throughput"]\ninterval = "100 ms"\n'
    return polypath.Scenario.parse('duration = "1 s"\n' + paths + rest + series)


def boxes(axes: plt.Axes) -> tuple[Bbox, Bbox, Bbox]:
    """Where the figure, the axes and the names are, in pixels."""
    legend = axes.get_legend()
    assert legend is not None
    axes.figure.draw_without_rendering()
    return axes.figure.bbox, axes.get_window_extent(), legend.get_window_extent()


@pytest.mark.parametrize("draw", [plot.throughput, plot.windows])
@pytest.mark.parametrize("count", [3, 16])
def test_names_leave_room_for_the_lines(
    draw: Callable[[polypath.Result], plt.Axes], count: int
) -> None:
    """A figure grows by its names: the axes keep 2.3 of the 3.2 inches that a figure without names
    has, and more than half of the figure."""
    axes = draw(polypath.run(many_paths(count)))
    assert names(axes) == [f"path{number}" for number in range(count)]
    figure, lines, legend = boxes(axes)
    assert lines.height > 2.3 * 150
    assert lines.height > 0.55 * figure.height and lines.width > 0.8 * figure.width
    assert legend.y0 >= lines.y1
    assert figure.y1 >= legend.y1 and figure.x1 >= legend.x1


@pytest.mark.parametrize("name", ["a scheduler with number {}", "{}"])
def test_names_take_a_third_of_axes_that_are_given(name: str) -> None:
    """Which does not grow: names without room are counted, in a cell that may be the widest."""
    given = plt.figure(figsize=(4, 3), layout="constrained").add_subplot()
    samples = {name.format(number): [1.0, 2.0] for number in range(48)}
    axes = plot.cdf(samples, label="delay (ms)", axes=given)
    figure, lines, legend = boxes(axes)
    assert figure.height == 300
    assert lines.height > 0.5 * figure.height
    assert legend.y0 >= lines.y1 and figure.y1 >= legend.y1
    assert legend.width <= lines.width
    told = names(axes)
    assert told[-1] == f"and {48 - (len(told) - 1)} more"
    assert told[:-1] == list(samples)[: len(told) - 1]


def test_sixteen_lines_are_told_apart() -> None:
    """Each line has a colour of its own, and 64 lines are different. Colours are 30 apart in sRGB of
    0 to 255 at least; two that differ by less than 25 can be mistaken for each other."""
    axes = plot.cdf({str(number): [1.0] for number in range(64)}, label="delay (ms)")
    colours = [255 * np.array(to_rgb(line.get_color())) for line in axes.lines]
    for one, other in combinations(colours[:16], 2):
        assert np.abs(one - other).max() >= 30
    looks = {(str(line.get_color()), line._unscaled_dash_pattern) for line in axes.lines}
    assert len(looks) == 64


def test_several_runs_are_a_mean_in_a_band(two_paths: polypath.Scenario) -> None:
    runs = [polypath.run(two_paths, seed=seed) for seed in (1, 2, 3)]
    axes = plot.throughput(runs)
    assert names(axes) == ["wifi", "lte"]
    rates = np.array([run.series.paths.column("throughput")[:20] for run in runs]) * 1e-6
    np.testing.assert_allclose(axes.lines[0].get_ydata(), rates.mean(axis=0))
    # Student's t with two degrees of freedom.
    error = 4.303 * rates.std(axis=0, ddof=1) / np.sqrt(3)
    band = axes.collections[0].get_datalim(axes.transData)
    assert band.y1 == pytest.approx((rates.mean(axis=0) + error).max())
    assert not plot.throughput(runs[0]).collections
    shorter = polypath.run(two_paths.set("duration", "1 s"), seed=4)
    assert len(plot.throughput([*runs, shorter]).lines[0].get_xdata()) == 10
    with pytest.raises(ValueError, match="no runs to draw"):
        plot.windows([])


def series(rows: list[tuple[float, str, str, float | None]]) -> polypath.Table:
    """Of a connection: time, end, path, throughput in Mbit/s."""
    columns = zip(*rows, strict=True)
    names = ("time", "end", "path", "throughput")
    given = {name: list(column) for name, column in zip(names, columns, strict=True)}
    given["throughput"] = [value and 1e6 * value for value in given["throughput"]]
    return polypath.Table.from_columns({"connection": ["c"] * len(rows), **given})


def test_what_a_run_lacks_is_a_gap() -> None:
    """A path that came up in one of the runs only, and an end that sent in one of them only."""
    one = series([(1.0, "up", "a", 4.0), (2.0, "up", "a", 6.0), (2.0, "up", "b", 8.0)])
    other = series([(1.0, "up", "a", 2.0), (2.0, "up", "a", None), (1.0, "down", "a", 1.0)])
    axes = plot.throughput([one, other])
    drawn = {line.get_label(): np.asarray(line.get_ydata(), float) for line in axes.lines}
    np.testing.assert_equal(
        drawn,
        {
            "up, a": np.array([3.0, 6.0]),
            "up, b": np.array([np.nan, 8.0]),
            "down, a": np.array([1.0, np.nan]),
        },
    )
    assert names(plot.throughput(one)) == ["a", "b"]


def test_means_have_error_bars(short: polypath.Scenario) -> None:
    over = {"path.lte.delay": ["10 ms", "50 ms"], "connection.congestion": ["lia", "cubic"]}
    sweep = polypath.sweep(short, over, seeds=3)
    axes = plot.means(sweep, "path.lte.delay", by="connection.congestion")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("path.lte.delay", "goodput (Mbit/s)")
    assert names(axes) == ["lia", "cubic"]
    goodputs = [result.connections[0].goodput_mbit_s for result in sweep.results]
    runs = np.array(goodputs).reshape(2, 2, 3)
    error = 4.303 * runs.std(axis=2, ddof=1) / np.sqrt(3)
    for control, container in enumerate(axes.containers):
        line, _, bars = container.lines
        np.testing.assert_allclose(line.get_ydata(), runs[:, control].mean(axis=1))
        ends = np.array([segment[:, 1] for segment in bars[0].get_segments()])
        np.testing.assert_allclose(np.diff(ends)[:, 0], 2 * error[:, control])
    with pytest.raises(ValueError, match="no column 'delay'"):
        plot.means(sweep, "delay")


@pytest.mark.parametrize("key", ["path.lte.loss", "path.lte.delay"])
@pytest.mark.parametrize("count", [2, 16])
def test_error_bars_stand_beside_each_other(short: polypath.Scenario, key: str, count: int) -> None:
    """Each of them nearer to its own place than to another, and all within the axes."""
    places = {"path.lte.loss": [0.0, 0.01], "path.lte.delay": ["10 ms", "20 ms"]}[key]
    over = {key: places, "path.wifi.queue": [f"{20 + size} kB" for size in range(count)]}
    given = plt.figure(figsize=(2, 3), layout="constrained").add_subplot()
    sweep = polypath.sweep(short.set("duration", "50 ms"), over, seeds=1)
    axes = plot.means(sweep, key, by="path.wifi.queue", axes=given)
    axes.figure.draw_without_rendering()
    lines = [container.lines[0] for container in axes.containers]
    at = np.array([line.get_transform().transform(line.get_xydata())[:, 0] for line in lines])
    first, second = at.T
    assert np.diff(first).min() > 0.0
    assert first[-1] < axes.transData.transform((np.mean(lines[0].get_xdata()), 0.0))[0] < second[0]
    frame = axes.get_window_extent()
    assert frame.x0 < first[0] and second[-1] < frame.x1


def test_means_below_zero_are_seen(short: polypath.Scenario) -> None:
    sweep = polypath.sweep(short, {"path.lte.delay": ["10 ms", "90 ms"]}, seeds=1)
    axes = plot.means(sweep, "path.lte.delay", "aggregation_benefit")
    lowest = np.asarray(axes.lines[0].get_ydata()).min()
    assert axes.get_ylim()[0] < lowest < 0.0
    assert plot.means(sweep, "path.lte.delay").get_ylim()[0] == 0.0


def test_means_of_single_runs_have_no_error_bars(short: polypath.Scenario) -> None:
    """Numbers are in their order, whatever that of the sweep."""
    sweep = polypath.sweep(short, {"path.lte.loss": [0.01, 0.0]}, seeds=1)
    axes = plot.means(sweep, "path.lte.loss")
    assert axes.get_legend() is None
    assert np.asarray(axes.lines[0].get_xdata()).tolist() == [0.0, 0.01]
    _, _, bars = axes.containers[0].lines
    assert [len(bar) for bar in bars[0].get_segments()] == [0, 0]
    switches = polypath.sweep(short, {"connection.coupled": [True, False]}, seeds=2)
    ticks = plot.means(switches, "connection.coupled").get_xticklabels()
    assert [tick.get_text() for tick in ticks] == ["True", "False"]


def test_numbers_are_named_as_people_write_them(short: polypath.Scenario) -> None:
    """0.1 + 0.2 is 0.30000000000000004 in floating point."""
    over = {"path.lte.loss": [0.1 + 0.2, 0.0], "path.lte.delay": ["10 ms", "20 ms"]}
    sweep = polypath.sweep(short, over, seeds=1)
    assert names(plot.means(sweep, "path.lte.delay", by="path.lte.loss")) == ["0.3", "0"]
    map_of_both = plot.heat_map(sweep, "path.lte.loss", "path.lte.delay")
    ticks = [tick.get_text() for tick in map_of_both.get_xticklabels()]
    boxes = plot.aggregation_benefit(sweep, "path.lte.loss")
    assert ticks == [tick.get_text() for tick in boxes.get_xticklabels()] == ["0.3", "0"]


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
