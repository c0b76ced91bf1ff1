"""Plots that a paper can print (``pip install polypath[plot]``, which brings matplotlib).

Each function draws into ``axes``, or a figure of its own, and returns the axes. Colours are those of
Okabe and Ito, which people with any kind of colour vision tell apart, and others beyond seven lines;
lines differ in their dashes as well, so that they survive a print in grey. Names stand above the
axes: a figure of a plot's own grows by them, in axes that are given they take a third at most.
"""

# The types of matplotlib leave keyword arguments open.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.container import ErrorbarContainer
from numpy.typing import ArrayLike, NDArray

from . import predict
from ._canvas import (
    COLOURS,
    HEIGHT,
    WIDTH,
    finish,
    new_axes,
    stand_beside,
    styles,
    text_of,
    tilt_crowded,
)
from ._interval import mean_and_error
from ._series import lines_of
from .result import Result
from .sweep import Sweep
from .table import Table

__all__ = [
    "added_link",
    "aggregation_benefit",
    "cdf",
    "heat_map",
    "means",
    "throughput",
    "windows",
]

Numbers = NDArray[np.float64]

Runs = Result | Table | Sequence[Result | Table]
"""A run, its series of paths, or several runs of a scenario with different seeds."""


def throughput(runs: Runs, *, axes: Axes | None = None) -> Axes:
    """Throughput over time by path. The scenario must record ``throughput``. Of several runs it is
    the mean, in a band of its 95 % confidence interval, as long as all of them go on."""
    return _lines(runs, "throughput", 1e-6, "throughput (Mbit/s)", axes)


def windows(runs: Runs, *, axes: Axes | None = None) -> Axes:
    """Congestion windows over time by path, of several runs as :func:`throughput`. The scenario must
    record ``cwnd``."""
    return _lines(runs, "cwnd", 1e-3, "congestion window (kB)", axes)


def cdf(samples: Mapping[str, ArrayLike], *, label: str, axes: Axes | None = None) -> Axes:
    """Cumulative distributions, one line for each name; ``label`` is the quantity with its unit,
    such as ``"completion time (s)"``."""
    own, axes = axes is None, axes or new_axes()
    looks = styles()
    for name, sample in samples.items():
        given = np.asarray(sample, dtype=np.float64).ravel()
        ordered = np.sort(given[np.isfinite(given)])
        if ordered.size == 0:
            raise ValueError(f"{name!r} has no samples")
        steps = np.concatenate(([0.0], np.arange(1, ordered.size + 1) / ordered.size))
        values = np.concatenate((ordered[:1], ordered))
        axes.step(values, steps, where="post", label=name, **next(looks))
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel(label)
    axes.set_ylabel("share of samples")
    finish(axes, own=own)
    return axes


def means(
    sweep: Sweep,
    x: str,
    value: str = "goodput_mbit_s",
    by: str | None = None,
    *,
    label: str | None = None,
    axes: Axes | None = None,
) -> Axes:
    """The mean of a column of ``sweep.table`` over a key of the sweep, a line for each value of the
    key ``by``, with error bars: the 95 % confidence intervals over all else, such as the seeds; a
    single run has none. ``label`` is the value with its unit."""
    columns = _columns(sweep, x, value, *([by] if by else []))
    xs = list(dict.fromkeys(columns[x]))
    numbers = all(isinstance(at, int | float) and not isinstance(at, bool) for at in xs)
    if numbers:
        xs.sort()
    lines: dict[str | None, dict[Any, list[float]]] = {}
    names = map(text_of, columns[by]) if by else [None] * len(columns[x])
    for name, at, number in zip(names, columns[x], columns[value], strict=True):
        cells = lines.setdefault(name, {at: [] for at in xs})
        if number is not None:
            cells[at].append(number)
    own, axes = axes is None, axes or new_axes()
    places = xs if numbers else range(len(xs))
    drawn: list[ErrorbarContainer] = []
    for (name, cells), look in zip(lines.items(), styles(), strict=False):
        told = [mean_and_error(cell or [np.nan]) for cell in cells.values()]
        centre, error = np.array(told, dtype=np.float64).reshape(-1, 2).T
        bars = {"elinewidth": 0.8, "capsize": 2, "marker": "o", "markersize": 3}
        drawn.append(axes.errorbar(places, centre, error, label=name, **bars, **look))
    if numbers:
        axes.margins(x=0.1)
    else:
        axes.set_xlim(-0.5, len(xs) - 0.5)
        axes.set_xticks(range(len(xs)), [text_of(tick) for tick in xs])
        tilt_crowded(axes)
    axes.set_xlabel(x)
    axes.set_ylabel(label or _label(value))
    if min((number for number in columns[value] if number is not None), default=0.0) >= 0.0:
        axes.set_ylim(bottom=0.0)
    stand_beside(axes, drawn, places)
    finish(axes, own=own)
    return axes


def heat_map(
    sweep: Sweep,
    x: str,
    y: str,
    value: str = "goodput_mbit_s",
    *,
    label: str | None = None,
    axes: Axes | None = None,
) -> Axes:
    """The mean of a column of ``sweep.table`` for each pair of values of two keys of the sweep, over
    all else. ``label`` is what the colours mean, with the unit."""
    columns = _columns(sweep, x, y, value)
    xs, ys = list(dict.fromkeys(columns[x])), list(dict.fromkeys(columns[y]))
    cells: list[list[list[float]]] = [[[] for _ in xs] for _ in ys]
    for at_x, at_y, number in zip(columns[x], columns[y], columns[value], strict=True):
        if number is not None:
            cells[ys.index(at_y)][xs.index(at_x)].append(number)
    centres = np.array([[np.mean(cell) if cell else np.nan for cell in row] for row in cells])
    # A cell has room for its number.
    axes = axes or new_axes(max(WIDTH, 1.6 + 0.45 * len(xs)), max(HEIGHT, 0.8 + 0.22 * len(ys)))
    # cividis is made for all kinds of colour vision, and its lightness rises evenly.
    image = axes.imshow(centres, cmap="cividis", origin="lower", aspect="auto")
    axes.set_xticks(range(len(xs)), [text_of(tick) for tick in xs])
    axes.set_yticks(range(len(ys)), [text_of(tick) for tick in ys])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _write_numbers(axes, centres)
    axes.figure.colorbar(image, ax=axes, label=label or _label(value))
    tilt_crowded(axes)
    return axes


def aggregation_benefit(
    runs: Sweep | Mapping[str, Iterable[float]], by: str | None = None, *, axes: Axes | None = None
) -> Axes:
    """Aggregation benefit by a key of a sweep, or by name: a box from quartile to quartile with the
    median, whiskers to the ends. 1 is the sum of the paths, 0 the best of them."""
    groups = _benefits(runs, by) if isinstance(runs, Sweep) else _lists(runs)
    axes = axes or new_axes()
    for benefit, meaning in ((1.0, "sum of paths"), (0.0, "best path")):
        axes.axhline(benefit, color="0.6", linewidth=0.8)
        axes.annotate(
            meaning,
            (1.0, benefit),
            xytext=(4, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha="left",
            va="center",
            color="0.4",
            fontsize="small",
        )
    boxes = axes.boxplot(
        list(groups.values()),
        tick_labels=list(groups),
        whis=(0, 100),
        patch_artist=True,
        medianprops={"color": "black"},
    )
    for box, colour in zip(boxes["boxes"], cycle(COLOURS)):
        box.set_facecolor(colour)
        box.set_alpha(0.6)
    axes.set_xlabel(by or "")
    axes.set_ylabel("aggregation benefit")
    axes.spines[["top", "right"]].set_visible(False)
    tilt_crowded(axes)
    return axes


def added_link(
    links: Sequence[tuple[float, float]],
    goodput: Callable[[Numbers, Numbers], Numbers] = predict.bond,
    *,
    rates_mbit_s: ArrayLike | None = None,
    rtts_s: ArrayLike | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Where one more link helps and where it hurts: the goodput with it over that without it, over
    its rate and its RTT. ``links`` are those that are there, each a rate in Mbit/s and an RTT in
    seconds; circles mark them. ``goodput`` is a function of ``polypath.predict``, or one that takes
    rates and RTTs as they do. Where it is thrice as much or a third, or more, colours end."""
    given = np.array(links, dtype=np.float64).reshape(-1, 2)
    rates = _axis(rates_mbit_s, given[:, 0])
    rtts = _axis(rtts_s, given[:, 1])
    added = np.stack(np.meshgrid(rates, rtts), axis=-1)[..., np.newaxis, :]
    present = np.broadcast_to(given, (*added.shape[:2], *given.shape))
    sets = np.concatenate((present, added), axis=-2)
    gain = goodput(sets[..., 0], sets[..., 1]) / goodput(given[:, 0], given[:, 1])
    axes = axes or new_axes()
    steps = np.log2([1 / 3, 1 / 2, 1, 2, 3])
    norm = Normalize(steps[0], steps[-1])
    # Orange and purple are told apart by all kinds of colour vision, and in grey by lightness.
    image = axes.pcolormesh(
        rates, rtts * 1e3, np.log2(gain), cmap="PuOr", norm=norm, rasterized=True
    )
    axes.scatter(
        given[:, 0], given[:, 1] * 1e3, s=36, facecolor="white", edgecolor="black", zorder=3
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rate of the added link (Mbit/s)")
    axes.set_ylabel("RTT of the added link (ms)")
    bar = axes.figure.colorbar(image, ax=axes, extend="both", label="goodput with it / without it")
    bar.set_ticks(steps.tolist(), labels=["1/3", "1/2", "1", "2", "3"])
    return axes


def _axis(values: ArrayLike | None, there: Numbers) -> Numbers:
    """The values of an axis: if not given, ten times beyond those that are there, evenly in log."""
    if values is not None:
        return np.asarray(values, dtype=np.float64)
    return np.geomspace(there.min() / 10, there.max() * 10, 61)


def _lines(runs: Runs, column: str, scale: float, label: str, axes: Axes | None) -> Axes:
    given = [runs] if isinstance(runs, Result | Table) else list(runs)
    if not given:
        raise ValueError("there are no runs to draw")
    times, lines = lines_of([_paths(run, column) for run in given], column)
    own, axes = axes is None, axes or new_axes()
    for (name, values), look in zip(lines.items(), styles(), strict=False):
        mean, error = mean_and_error(values * scale)
        axes.plot(times, mean, label=name, **look)
        if len(given) > 1:
            low, high = np.maximum(mean - error, 0.0), mean + error
            alpha = min(0.2, 0.8 / len(lines))
            axes.fill_between(times, low, high, color=look["color"], alpha=alpha, linewidth=0)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0.0)
    finish(axes, own=own)
    return axes


def _paths(run: Result | Table, column: str) -> Table:
    table = run if isinstance(run, Table) else run.series.paths
    if column not in table.column_names:
        raise LookupError(f"the run has no series {column!r}: set record.series to [{column!r}]")
    return table


def _columns(sweep: Sweep, *names: str) -> dict[str, list[Any]]:
    columns = sweep.table.to_pydict()
    for name in names:
        if name not in columns:
            raise ValueError(f"the sweep has no column {name!r}; it has {', '.join(columns)}")
    return columns


def _benefits(sweep: Sweep, by: str | None) -> dict[str, list[float]]:
    columns = sweep.table.to_pydict()
    if by is None or by not in columns:
        keys = ", ".join(sweep.points[0]) if sweep.points else "none"
        raise ValueError(f"`by` is {by!r}; allowed: a key of the sweep: {keys}")
    groups: dict[str, list[float]] = {}
    for name, benefit in zip(columns[by], columns["aggregation_benefit"], strict=True):
        if benefit is not None:
            groups.setdefault(text_of(name), []).append(benefit)
    if not groups:
        raise ValueError("no run has an aggregation benefit: paths share links, or have no rates")
    return groups


def _lists(runs: Mapping[str, Iterable[float]]) -> dict[str, list[float]]:
    return {name: list(values) for name, values in runs.items()}


def _write_numbers(axes: Axes, centres: Numbers) -> None:
    """The numbers themselves, dark on light and light on dark."""
    middle = (np.nanmin(centres) + np.nanmax(centres)) / 2
    for (row, column), mean in np.ndenumerate(centres):
        if not np.isnan(mean):
            colour = "black" if mean > middle else "white"
            axes.text(column, row, f"{mean:#.3g}", ha="center", va="center", color=colour)


def _label(column: str) -> str:
    """A column of results with its unit, which its name ends in."""
    units = {"_mbit_s": "Mbit/s", "_bytes": "B", "_ms": "ms", "_s": "s"}
    for ending, unit in units.items():
        if column.endswith(ending):
            return f"{column.removesuffix(ending).replace('_', ' ')} ({unit})"
    return column.replace("_", " ")
