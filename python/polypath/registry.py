"""The registry of algorithms."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from . import _native

Kind = Literal["congestion", "slow_start", "scheduler", "failure"]
"""What an algorithm is: the key of a connection that it is a value of."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an algorithm."""

    name: str
    """Its name, as in scenarios."""
    default: float
    """Its default, in ``unit``."""
    unit: str
    """Its unit; empty for a plain number."""
    purpose: str
    """What it does."""
    lowest: float
    """Its least value."""
    highest: float
    """Its greatest value."""
    whole: bool
    """Whether it is a whole number; one from 0 to 1 is a switch."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """An algorithm that a scenario can name."""

    kind: Kind
    """Its kind."""
    name: str
    """Its name, as in scenarios."""
    purpose: str
    """What it is for."""
    source: str
    """Paper and equation, or RFC and section."""
    parameters: tuple[Parameter, ...]
    """Its parameters."""


def algorithms(kind: Kind | None = None) -> list[Algorithm]:
    """All algorithms, or those of a kind, with their parameters, defaults and ranges."""
    rows: list[dict[str, Any]] = json.loads(_native.algorithms())
    return [_algorithm(row) for row in rows if kind in (None, row["kind"])]


def _algorithm(row: dict[str, Any]) -> Algorithm:
    parameters = tuple(Parameter(**parameter) for parameter in row["parameters"])
    return Algorithm(row["kind"], row["name"], row["purpose"], row["source"], parameters)
