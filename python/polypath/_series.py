"""Lines over time, of one run or of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .table import Table

Numbers = NDArray[np.float64]

_KEYS = ("connection", "end", "path")


def lines_of(tables: Sequence[Table], column: str) -> tuple[list[float], dict[str, Numbers]]:
    """The times that all tables have, and each line by its name: a row for each table, a column for
    each time. What a table has no value of is NaN."""
    runs = [table.to_pydict() for table in tables]
    common = set[float].intersection(*(set(run["time"]) for run in runs))
    places = {time: place for place, time in enumerate(sorted(common))}
    telling = _telling(runs)
    lines: dict[str, Numbers] = {}
    for number, run in enumerate(runs):
        for row, (time, value) in enumerate(zip(run["time"], run[column], strict=True)):
            name = ", ".join(str(run[key][row]) for key in telling)
            line = lines.setdefault(name, np.full((len(runs), len(places)), np.nan))
            if time in places and value is not None:
                line[number, places[time]] = value
    return list(places), lines


def _telling(runs: Sequence[Mapping[str, Sequence[Any]]]) -> list[str]:
    """The columns that names of lines are made of: paths, and what tells them apart beside that."""
    values = {key: {value for run in runs for value in run[key]} for key in _KEYS}
    return [key for key in _KEYS if key == "path" or len(values[key]) > 1]
