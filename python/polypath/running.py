"""Running scenarios."""

from __future__ import annotations

import os

from . import _native
from .algorithm import Avoidances, OwnAlgorithms, Schedulers
from .result import Result, of_outcome
from .scenario import Scenario, native_of


def run(
    scenario: Scenario,
    *,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    scheduler: Schedulers | None = None,
    congestion: Avoidances | None = None,
) -> Result:
    """Runs a scenario once. Equal seeds give equal results, on every machine.

    The interpreter is released meanwhile, so that runs in several threads go on at once. ``out`` is
    a folder for the files of what the scenario's ``[record]`` asks for, as ``--out`` of ``polypath
    sim``; without one, only time series and events are kept, in memory. An interrupt (Ctrl-C) stops a run
    of the main thread.

    ``scheduler`` and ``congestion`` are algorithms written in Python, subclasses of
    :class:`polypath.Scheduler` and :class:`polypath.CongestionAvoidance`, or what makes them without
    arguments. They stand in place of those of the scenario: for all connections that have such a
    thing, or for those that a dict names.

    Raises ScenarioError if the scenario cannot be run, SimulationError if files cannot be written,
    AlgorithmError if an algorithm in Python raises something.
    """
    schedulers, avoidances = OwnAlgorithms(scheduler, congestion).builders()
    return of_outcome(_native.run(native_of(scenario), seed, out, schedulers, avoidances))
