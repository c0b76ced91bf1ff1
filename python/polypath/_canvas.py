"""What plots share: figures, the looks of lines, and names that leave room for the lines."""

# The types of matplotlib leave keyword arguments open.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.transforms import offset_copy

# Okabe and Ito, Color Universal Design, 2008, without yellow, which is too light for lines; then nine
# that are as far from all before them as can be in CIELAB, and, seen with deuteranopia, from those
# of the same dashes.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"),
    *("#0000FF", "#00C300", "#FF00E1", "#694BD2", "#698700", "#78695A", "#96003C", "#FF002D"),
    "#B42DFF",
)
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))

WIDTH, HEIGHT = 5.0, 3.2
"""Of a figure without names, in inches."""
OWN_SHARE, GIVEN_SHARE = 1.0, 0.35
"""How high the names may be, in heights of the axes: of figures that grow, and of those that are
given."""
STEP = 2.5
"""From an error bar to that of the next line, in points, where there is room."""


def new_axes(width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Axes of a figure of their own."""
    figure = plt.figure(figsize=(width, height), dpi=150, layout="constrained")
    return figure.add_subplot()


def styles() -> Iterator[dict[str, Any]]:
    """How lines look, one after the other: four times as many as there are colours."""
    number = 0
    while True:
        around, colour = divmod(number, len(COLOURS))
        dashes = DASHES[(colour + around) % len(DASHES)]
        yield {"color": COLOURS[colour], "linestyle": dashes}
        number += 1


def text_of(value: object) -> str:
    """A value of a key as people write it: 0.3, where floating point has 0.30000000000000004."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def finish(axes: Axes, *, own: bool) -> None:
    """Frame, grid and names. A figure of the axes' ``own`` grows by the height of the names; in one
    that is given they take no more than a share of the axes, and those for which there is no room
    are counted."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    handles, names = axes.get_legend_handles_labels()
    if not handles:
        return
    figure = _figure(axes)
    figure.draw_without_rendering()
    extent = axes.get_window_extent()
    most = extent.height * (OWN_SHARE if own else GIVEN_SHARE)
    height = _write_names(axes, handles, names, extent.width, most)
    if own:
        figure.set_figheight(figure.get_figheight() + height / figure.dpi)


def stand_beside(axes: Axes, lines: Sequence[ErrorbarContainer], places: Sequence[float]) -> None:
    """Moves lines with the same places aside, so that no error bar hides another and none comes
    near those of the next place. Their data stay as they are, and so do the limits of the axes."""
    figure = _figure(axes)
    figure.draw_without_rendering()
    at = np.sort(axes.transData.transform([(place, 0.0) for place in places])[:, 0])
    extent = axes.get_window_extent()
    room = min([2 * (at[0] - extent.x0), 2 * (extent.x1 - at[-1]), *np.diff(at)])
    step = min(STEP, 0.8 * room * 72 / figure.dpi / len(lines))
    for number, container in enumerate(lines):
        line, caps, bars = container.lines
        assert line is not None
        aside = step * (number - (len(lines) - 1) / 2)
        moved = offset_copy(axes.transData, figure, x=aside, units="points")
        for artist in (line, *caps, *bars):
            artist.set_transform(moved)


def tilt_crowded(axes: Axes) -> None:
    """Tilts the names below the axes if they would run into each other."""
    _figure(axes).draw_without_rendering()
    labels = [label for label in axes.get_xticklabels() if label.get_text()]
    extents = [label.get_window_extent() for label in labels]
    if any(right.x0 < left.x1 + 4 for left, right in pairwise(extents)):
        axes.tick_params(axis="x", labelrotation=45)
        for label in labels:
            label.set(ha="right", rotation_mode="anchor")


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def _legend(axes: Axes, handles: list[Artist], names: list[str], columns: int) -> Legend:
    """Above the axes, where it cannot hide a line."""
    return axes.legend(
        handles,
        names,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        ncols=columns,
        frameon=False,
        fontsize="small",
    )


def _write_names(
    axes: Axes, handles: list[Artist], names: list[str], width: float, most: float
) -> float:
    """Writes names in as many columns as fit into the width. Returns how high they are."""
    for columns in range(min(len(names), 6), 1, -1):
        extent = _limited(axes, handles, names, columns, most).get_window_extent()
        if extent.width <= width:
            return extent.height
    return _limited(axes, handles, names, 1, most).get_window_extent().height


def _limited(
    axes: Axes, handles: list[Artist], names: list[str], columns: int, most: float
) -> Legend:
    """As many names as fit into the height, and the number of the rest."""
    legend = _legend(axes, handles, names, columns)
    height = legend.get_window_extent().height
    if height <= most:
        return legend
    rows = -(-len(names) // columns)
    kept = max(int(most / height * rows) * columns - 1, 1)
    shown = [*names[:kept], f"and {len(names) - kept} more"]
    rest = Line2D([], [], linestyle="none")
    return _legend(axes, [*handles[:kept], rest], shown, columns)
