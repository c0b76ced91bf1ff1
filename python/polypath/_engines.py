"""Where the runs of a sweep are done: threads of this process, or a Ray cluster."""

from __future__ import annotations

import importlib
import os
import pickle
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _native
from .algorithm import OwnAlgorithms
from .scenario import Scenario, native_of


@dataclass(frozen=True, slots=True)
class Job:
    """A run to be done."""

    index: int
    """Its place in the grid."""
    point: dict[str, Any]
    """What the keys are set to."""
    scenario: Scenario
    seed: int
    key: str
    """Equal keys are equal runs."""
    folder: Path | None
    """Where what it records goes."""
    own: OwnAlgorithms


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that failed."""

    point: dict[str, Any]
    """What the keys were set to."""
    seed: int
    reason: str
    """Why."""


class SweepError(RuntimeError):
    """Some runs of a sweep failed; the others were done, and are in ``out`` if there is one."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self.failures = list(failures)
        first = failures[0]
        place = "".join(f"{key}={value!r}, " for key, value in first.point.items())
        super().__init__(
            f"{len(failures)} of the runs failed; the first, {place}seed={first.seed}: {first.reason}"
        )


@dataclass(slots=True)
class Ended:
    """How the runs of an engine ended."""

    failed: list[tuple[Job, str]]
    """Those that failed, and why."""
    retried: list[tuple[Job, str]]


Done = Callable[[Job, str], None]
"""Is told of each run that is over, in the thread that called the engine, with its report."""


def report_of(scenario: Scenario, seed: int, folder: Path | None, own: OwnAlgorithms) -> str:
    """The report of a run, as JSON."""
    schedulers, avoidances = own.builders()
    return _native.run(native_of(scenario), seed, folder, schedulers, avoidances).report


def threads(jobs: Sequence[Job], workers: int | None, done: Done) -> Ended:
    """Does the runs in threads, as many at once as this process may use cores.

    An interrupt ends it when the runs under way are over; they count as done.
    """
    count = workers or len(os.sched_getaffinity(0))
    failed: list[tuple[Job, str]] = []
    pool = ThreadPoolExecutor(count, thread_name_prefix="polypath")
    waiting = deque(jobs)
    running: dict[Future[str], Job] = {}

    def begin() -> None:
        while waiting and len(running) < count:
            job = waiting.popleft()
            run = pool.submit(report_of, job.scenario, job.seed, job.folder, job.own)
            running[run] = job

    def collect() -> None:
        over, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in sorted(over, key=lambda future: running[future].index):
            job = running.pop(future)
            # First, so that no core waits for what is done with the result.
            begin()
            error = future.exception()
            if error is None:
                done(job, future.result())
            else:
                failed.append((job, _reason(error)))

    try:
        begin()
        while running:
            collect()
    finally:
        waiting.clear()
        while running:
            collect()
        pool.shutdown()
    return Ended(failed, [])


def on_ray(jobs: Sequence[Job], retries: int, done: Done) -> Ended:
    """Does the runs as tasks of Ray, which does those again whose worker died."""
    ray: Any = importlib.import_module("ray")
    if not ray.is_initialized():
        ray.init()
    own = _sent(ray, jobs[0].own)
    ledger = ray.remote(num_cpus=0)(Ledger).remote()
    task = ray.remote(num_cpus=1, max_retries=retries)(_ray_task)
    scenarios: dict[str, Any] = {}
    running: dict[Any, Job] = {}
    failed: list[tuple[Job, str]] = []
    for job in jobs:
        digest = job.scenario.digest
        if digest not in scenarios:
            scenarios[digest] = ray.put(job.scenario)
        reference = task.remote(ledger, job.index, scenarios[digest], job.seed, job.folder, own)
        running[reference] = job
    try:
        while running:
            over, _ = ray.wait(list(running), num_returns=1)
            job = running.pop(over[0])
            try:
                done(job, ray.get(over[0]))
            except ray.exceptions.RayError as error:
                failed.append((job, _reason(getattr(error, "cause", None) or error)))
    finally:
        for reference in running:
            ray.cancel(reference)
    lost: dict[int, list[str]] = ray.get(ledger.lost.remote())
    ray.kill(ledger)
    by_index = {job.index: job for job in jobs}
    retried = [(by_index[index], reason) for index, reasons in lost.items() for reason in reasons]
    return Ended(failed, retried)


def _sent(ray: Any, own: OwnAlgorithms) -> Any:
    """The algorithms where all workers find them."""
    try:
        return ray.put(own)
    except (TypeError, pickle.PicklingError) as error:
        raise TypeError(
            "the algorithms cannot be sent to the workers of Ray; allowed: classes and functions "
            f"that cloudpickle takes, or engine='threads', which takes all: {error}"
        ) from error


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def failures(ended: list[tuple[Job, str]]) -> list[Failure]:
    """Those runs, in the order of the grid."""
    ordered = sorted(ended, key=lambda pair: pair[0].index)
    return [Failure(job.point, job.seed, reason) for job, reason in ordered]


class Ledger:
    """Keeps count of the tasks that were begun more than once."""

    def __init__(self) -> None:
        self._begun: dict[int, list[str]] = {}

    def begin(self, index: int, where: str) -> None:
        """A task begins."""
        self._begun.setdefault(index, []).append(where)

    def lost(self) -> dict[int, list[str]]:
        """Where the tasks were that did not end there."""
        return {
            index: [f"its worker died ({where})" for where in places[:-1]]
            for index, places in self._begun.items()
            if len(places) > 1
        }


def _ray_task(
    ledger: Any,
    index: int,
    scenario: Scenario,
    seed: int,
    folder: Path | None,
    own: OwnAlgorithms,
) -> str:
    ray: Any = importlib.import_module("ray")
    context = ray.get_runtime_context()
    ray.get(ledger.begin.remote(index, f"node {context.get_node_id()}, process {os.getpid()}"))
    return report_of(scenario, seed, folder, own)
