"""Grids of runs: parameters times seeds."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import quote

from . import _engines
from ._engines import Ended, Failure, Job, SweepError
from ._native import __version__
from ._store import Store
from .algorithm import Avoidances, OwnAlgorithms, Schedulers
from .result import Result, Series, of_report
from .scenario import Scenario, Value
from .table import Table

__all__ = ["Failure", "Sweep", "SweepError", "sweep"]

Progress = Callable[[int, int], None]
"""Is told how many runs are over, and how many there are."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """The results of a sweep, in the order of the grid: the first key of ``over`` changes slowest,
    the seeds fastest. It can be used as the Arrow table :attr:`table` itself."""

    points: list[dict[str, Any]]
    """What the keys were set to, for each run."""
    results: list[Result]
    """The results of each run. Time series are in the files of ``out`` only."""
    retried: list[Failure]
    """What failed and was done again (``engine="ray"``)."""

    @property
    def table(self) -> Table:
        """A row for each connection of each run: keys, seed, what the run and the connection did."""

        def rows(run: dict[str, Any]) -> Iterable[dict[str, Any]]:
            common = _without(run, "seed", "connections", "queues")
            for connection in run["connections"]:
                rest = _without(connection, "name", "paths", "flows")
                yield {**common, "connection": connection["name"], **rest}

        return self._table(rows)

    @property
    def paths(self) -> Table:
        """A row for each path of each connection of each run."""

        def rows(run: dict[str, Any]) -> Iterable[dict[str, Any]]:
            for connection in run["connections"]:
                for path in connection["paths"]:
                    names = {"connection": connection["name"], "path": path["name"]}
                    yield {**names, **_without(path, "name")}

        return self._table(rows)

    @property
    def flows(self) -> Table:
        """A row for each flow of each connection of each run; what only some kinds measure is null
        for the others."""

        def rows(run: dict[str, Any]) -> Iterable[dict[str, Any]]:
            for connection in run["connections"]:
                for flow in connection["flows"]:
                    yield {"connection": connection["name"], **_flat(flow)}

        return self._table(rows)

    @property
    def links(self) -> Table:
        """A row for each direction of each link of each run."""
        return self._table(lambda run: map(_flat, run["queues"]))

    def _table(self, rows: Callable[[dict[str, Any]], Iterable[dict[str, Any]]]) -> Table:
        all_rows = [
            {**point, "seed": result.seed, **row}
            for point, result in zip(self.points, self.results, strict=True)
            for row in rows(result.report)
        ]
        names = dict.fromkeys(name for row in all_rows for name in row)
        return Table.from_columns(
            {name: _alike([row.get(name) for row in all_rows]) for name in names}
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.results)


def sweep(
    scenario: Scenario,
    over: Mapping[str, Sequence[Value]] | None = None,
    *,
    seeds: int | Iterable[int] = 10,
    scheduler: Schedulers | None = None,
    congestion: Avoidances | None = None,
    version: str | None = None,
    engine: Literal["threads", "ray"] = "threads",
    workers: int | None = None,
    retries: int = 3,
    out: str | os.PathLike[str] | None = None,
    progress: bool | Progress | None = None,
) -> Sweep:
    """Runs a scenario for all combinations of values and seeds.

    ``over`` has for each key, as :meth:`Scenario.set` takes it, the values that it is to have.
    ``seeds`` are the seeds, or how many from 1 on. Results and their order do not depend on the
    engine, nor on how many runs are done at a time: ``workers`` threads, as many as this process may
    use cores if nothing is said, or what a Ray cluster has (``pip install polypath[ray]``). Ray does
    runs again, at most ``retries`` times, whose worker died; :attr:`Sweep.retried` tells which.

    ``scheduler`` and ``congestion`` are algorithms written in Python, as :func:`run` takes them.
    Threads take turns in them, for their calls hold the interpreter; Ray's workers do not, and get
    them by cloudpickle. ``version`` is a text of yours that tells one state of their code from
    another: with ``out``, runs of other versions, and of classes of other names, are done again.

    ``out`` is a folder, which with Ray all nodes must see. Every run that is over is kept there, in
    ``runs.jsonl``; an interrupted sweep that is started again goes on where it was. What the
    scenario records goes to ``out/KEY=VALUE/.../seed=N/``.

    ``progress`` is told how far it is: True is a line on standard error, None one if that is a
    terminal.

    Raises ScenarioError before the first run if one of them could not be done, SweepError after the
    last if some failed.
    """
    own = OwnAlgorithms(scheduler, congestion)
    if own and out is not None and version is None:
        raise ValueError(
            "with algorithms in Python `out` needs a `version`, a text that you change with their "
            "code: else finished runs of an older state would count as done"
        )
    folder = None if out is None else Path(out)
    jobs = _grid(scenario, over or {}, _seeds(seeds), folder, own, version)
    if engine not in ("threads", "ray"):
        raise ValueError(f"engine is {engine!r}; allowed: 'threads', 'ray'")
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}; allowed: from 1")
    reports: dict[int, str] = {}
    tell = _teller(progress)
    store = None if out is None else Store(out)
    try:
        for job in jobs:
            known = store.get(job.key) if store else None
            if known is not None:
                reports[job.index] = known
        tell(len(reports), len(jobs))

        def done(job: Job, report: str) -> None:
            if store:
                store.append(job.key, job.point, job.seed, report)
            reports[job.index] = report
            tell(len(reports), len(jobs))

        left = [job for job in jobs if job.index not in reports]
        ended = _run(left, engine, workers, retries, done)
    finally:
        if store:
            store.close()
    if ended.failed:
        raise SweepError(_engines.failures(ended.failed))
    series = Series({})
    results = [of_report(reports[job.index], series) for job in jobs]
    return Sweep([job.point for job in jobs], results, _engines.failures(ended.retried))


def _run(
    jobs: Sequence[Job], engine: str, workers: int | None, retries: int, done: _engines.Done
) -> Ended:
    if not jobs:
        return Ended([], [])
    if engine == "ray":
        return _engines.on_ray(jobs, retries, done)
    return _engines.threads(jobs, workers, done)


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    return list(range(1, seeds + 1)) if isinstance(seeds, int) else list(seeds)


def _grid(
    scenario: Scenario,
    over: Mapping[str, Sequence[Value]],
    seeds: Sequence[int],
    out: Path | None,
    own: OwnAlgorithms,
    version: str | None,
) -> list[Job]:
    code = f" {own.names()} {version}" if own else ""
    jobs: list[Job] = []
    for values in itertools.product(*over.values()):
        point = dict(zip(over, values, strict=True))
        at = scenario
        folder = out
        for key, value in point.items():
            at = at.set(key, value)
            folder = folder and folder / quote(f"{key}={_text(value)}", safe="= ")
        at.check()
        for seed in seeds:
            told = f"{__version__} {at.digest} {seed}{code}"
            key = hashlib.sha256(told.encode()).hexdigest()
            jobs.append(Job(len(jobs), point, at, seed, key, folder, own))
    return jobs


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _teller(progress: bool | Progress | None) -> Progress:
    if callable(progress):
        return progress
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return lambda done, total: None
    return _tell


def _tell(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\r{done} of {total} runs", end=end, file=sys.stderr, flush=True)


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose tables are spread out: ``dropped_packets_loss``."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            inner = cast(dict[str, Any], value)
            flat.update({f"{name}_{key}": item for key, item in inner.items()})
        else:
            flat[name] = value
    return flat


def _alike(values: list[Any]) -> list[Any]:
    """Values that one column can hold: texts, if they are of several types, or tables."""
    given = [value for value in values if value is not None]
    for types in ((bool,), (str,), (int, float)):
        if all(isinstance(value, types) for value in given):
            return values
    return [None if value is None else _text(value) for value in values]
