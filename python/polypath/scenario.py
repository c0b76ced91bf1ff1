"""Scenarios: a network and what runs on it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import _native

Value = str | int | float | bool | Sequence[object] | Mapping[str, object]
"""What a key of a scenario can be set to."""


class Scenario:
    """A scenario that has been read and checked. It never changes: :meth:`set` returns another one.

    What is wrong is raised as :class:`polypath.ScenarioError`, with file, line, key and what is
    allowed, as the command line tells it. Scenarios can be pickled; the traces that they name go
    with them.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Scenario) -> None:
        self._native = native

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Reads a scenario file, and the traces that it names relative to its folder."""
        return cls(_native.Scenario.load(path))

    @classmethod
    def parse(cls, text: str, *, file: str | os.PathLike[str] = "scenario.toml") -> Scenario:
        """Reads a scenario from TOML text. ``file`` is its name in errors; traces are looked for
        relative to its folder."""
        return cls(_native.Scenario.parse(text, file))

    def set(self, key: str, value: Value) -> Scenario:
        """The same scenario with another value of a key, as ``--set KEY=VALUE`` of the command line.

        Parts of the key are joined by dots; a table of a list is named by its ``name`` or its number
        from 0: ``path.lte.delay``, ``connection.congestion``, ``flow.0.bytes``. Text is text: a
        table is a dict, ``{"name": "cubic", "beta": 0.8}``.
        """
        return Scenario(self._native.set(key, value))

    def check(self) -> None:
        """Checks that it can be run: that there is a flow, and a route for each connection."""
        self._native.check()

    @property
    def text(self) -> str:
        """The TOML text that was read, without what :meth:`set` has changed since."""
        return self._native.state[0]

    @property
    def file(self) -> Path:
        """Its file, or the name it has in errors."""
        return Path(self._native.state[1])

    @property
    def overrides(self) -> list[str]:
        """What was :meth:`set`, each a ``KEY=VALUE`` that ``--set`` of the command line takes."""
        return list(self._native.state[2])

    @property
    def name(self) -> str | None:
        """What it is called in results."""
        return self._native.name

    @property
    def duration_s(self) -> float | None:
        """When a run ends at the latest, in seconds; None if that is left to its flows."""
        return self._native.duration_s

    @property
    def connections(self) -> list[str]:
        """The names of its connections, one by one."""
        return self._native.connections

    @property
    def links(self) -> list[str]:
        """The names of its links."""
        return self._native.links

    @property
    def digest(self) -> str:
        """A hash of all that it consists of, traces included: equal ones give equal results."""
        text, _, overrides, traces = self._native.state
        ordered = sorted(traces.items(), key=lambda entry: str(entry[0]))
        everything = repr((text, overrides, [trace for _, trace in ordered]))
        return hashlib.sha256(everything.encode()).hexdigest()

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _restore, self._native.state

    def __repr__(self) -> str:
        changes = "".join(f", {override}" for override in self.overrides)
        return f"<Scenario {self.name or str(self.file)!r}{changes}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._native.state == other._native.state

    def __hash__(self) -> int:
        return hash(self.digest)


def _restore(
    text: str,
    file: str | os.PathLike[str],
    overrides: list[str],
    traces: dict[str, bytes],
) -> Scenario:
    return Scenario(_native.Scenario.restore(text, file, overrides, traces))


def native_of(scenario: Scenario) -> _native.Scenario:
    """The native half, for the rest of the package."""
    return scenario._native  # pyright: ignore[reportPrivateUsage]
