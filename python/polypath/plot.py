"""Plots that a paper can print (``pip install polypath[plot]``, which brings matplotlib).

Each function draws into ``axes``, or a figure of its own, and returns the axes. Colours are those of
Okabe and Ito, which people with any kind of colour vision tell apart; lines differ in their dashes as
well, so that they survive a print in grey.
"""

# The types of matplotlib leave keyword arguments open.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from numpy.typing import ArrayLike, NDArray

from . import predict
from .result import Result
from .sweep import Sweep
from .table import Table

__all__ = ["added_link", "aggregation_benefit", "cdf", "heat_map", "throughput", "windows"]

# Okabe and Ito, Color Universal Design, 2008; without yellow, which is too light for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))

Numbers = NDArray[np.float64]


def throughput(run: Result | Table, *, axes: Axes | None = None) -> Axes:
    """Throughput over time by path. The scenario must record ``throughput``."""
    axes = _lines(run, "throughput", 1e-6, axes)
    axes.set_ylabel("throughput (Mbit/s)")
    return axes


def windows(run: Result | Table, *, axes: Axes | None = None) -> Axes:
    """Congestion windows over time by path. The scenario must record ``cwnd``."""
    axes = _lines(run, "cwnd", 1e-3, axes)
    axes.set_ylabel("congestion window (kB)")
    return axes


def cdf(samples: Mapping[str, ArrayLike], *, label: str, axes: Axes | None = None) -> Axes:
    """Cumulative distributions, one line for each name; ``label`` is the quantity with its unit,
    such as ``"completion time (s)"``."""
    axes = axes or _figure()
    styles = _styles()
    for name, sample in samples.items():
        given = np.asarray(sample, dtype=np.float64).ravel()
        ordered = np.sort(given[np.isfinite(given)])
        if ordered.size == 0:
            raise ValueError(f"{name!r} has no samples")
        steps = np.concatenate(([0.0], np.arange(1, ordered.size + 1) / ordered.size))
        values = np.concatenate((ordered[:1], ordered))
        axes.step(values, steps, where="post", label=name, **next(styles))
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel(label)
    axes.set_ylabel("share of samples")
    _finish(axes)
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
    columns = sweep.table.to_pydict()
    for name in (x, y, value):
        if name not in columns:
            raise ValueError(f"the sweep has no column {name!r}; it has {', '.join(columns)}")
    xs, ys = list(dict.fromkeys(columns[x])), list(dict.fromkeys(columns[y]))
    cells: list[list[list[float]]] = [[[] for _ in xs] for _ in ys]
    for at_x, at_y, number in zip(columns[x], columns[y], columns[value], strict=True):
        if number is not None:
            cells[ys.index(at_y)][xs.index(at_x)].append(number)
    means = np.array([[np.mean(cell) if cell else np.nan for cell in row] for row in cells])
    axes = axes or _figure()
    # cividis is made for all kinds of colour vision, and its lightness rises evenly.
    image = axes.imshow(means, cmap="cividis", origin="lower", aspect="auto")
    axes.set_xticks(range(len(xs)), [str(tick) for tick in xs])
    axes.set_yticks(range(len(ys)), [str(tick) for tick in ys])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _write_numbers(axes, means)
    axes.figure.colorbar(image, ax=axes, label=label or _label(value))
    return axes


def aggregation_benefit(
    runs: Sweep | Mapping[str, Iterable[float]], by: str | None = None, *, axes: Axes | None = None
) -> Axes:
    """Aggregation benefit by a key of a sweep, or by name: a box from quartile to quartile with the
    median, whiskers to the ends. 1 is the sum of the paths, 0 the best of them."""
    groups = _benefits(runs, by) if isinstance(runs, Sweep) else _lists(runs)
    axes = axes or _figure()
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
    axes = axes or _figure()
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


def _lines(run: Result | Table, column: str, scale: float, axes: Axes | None) -> Axes:
    table = run if isinstance(run, Table) else run.series.paths
    if column not in table.column_names:
        raise LookupError(f"the run has no series {column!r}: set record.series to [{column!r}]")
    columns = table.to_pydict()
    axes = axes or _figure()
    styles = _styles()
    for name, rows in _subjects(columns).items():
        times = [columns["time"][row] for row in rows]
        given = (columns[column][row] for row in rows)
        values = [np.nan if value is None else value * scale for value in given]
        axes.plot(times, values, label=name, **next(styles))
    axes.set_xlabel("time (s)")
    axes.set_ylim(bottom=0.0)
    _finish(axes)
    return axes


def _subjects(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[int]]:
    """The rows of each line, by a name that has only what tells the lines apart."""
    keys = ["connection", "end", "path"]
    telling = [key for key in keys if key == "path" or len(set(columns[key])) > 1]
    rows: dict[str, list[int]] = {}
    for row in range(len(columns["time"])):
        name = ", ".join(str(columns[key][row]) for key in telling)
        rows.setdefault(name, []).append(row)
    return rows


def _benefits(sweep: Sweep, by: str | None) -> dict[str, list[float]]:
    columns = sweep.table.to_pydict()
    if by is None or by not in columns:
        keys = ", ".join(sweep.points[0]) if sweep.points else "none"
        raise ValueError(f"`by` is {by!r}; allowed: a key of the sweep: {keys}")
    groups: dict[str, list[float]] = {}
    for name, benefit in zip(columns[by], columns["aggregation_benefit"], strict=True):
        if benefit is not None:
            groups.setdefault(str(name), []).append(benefit)
    if not groups:
        raise ValueError("no run has an aggregation benefit: paths share links, or have no rates")
    return groups


def _lists(runs: Mapping[str, Iterable[float]]) -> dict[str, list[float]]:
    return {name: list(values) for name, values in runs.items()}


def _write_numbers(axes: Axes, means: Numbers) -> None:
    """The numbers themselves, dark on light and light on dark."""
    middle = (np.nanmin(means) + np.nanmax(means)) / 2
    for (row, column), mean in np.ndenumerate(means):
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


def _figure() -> Axes:
    figure = plt.figure(figsize=(5.0, 3.2), dpi=150, layout="constrained")
    return figure.add_subplot()


def _styles() -> Iterator[dict[str, Any]]:
    for colour, dashes in zip(cycle(COLOURS), cycle(DASHES)):
        yield {"color": colour, "linestyle": dashes}


def _finish(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        # Outside, where it cannot hide a line.
        columns = min(len(handles), 4)
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False)
