"""Sweeps on a Ray cluster."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import polypath

ray: Any = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """A local cluster of two workers."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()


def workers() -> set[int]:
    """The processes of workers that have tasks of sweeps."""
    running = set()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"ray::_ray_task" in entry.read_bytes():
                running.add(int(entry.parent.name))
        except OSError:
            continue
    return running


def runs_equal_the_local_ones_though_a_worker_dies(short: polypath.Scenario, seeds: int) -> None:
    over = {
        "path.lte.delay": [f"{delay} ms" for delay in range(10, 60, 10)],
        "connection.congestion": ["lia", "olia", "balia", "cubic"],
    }
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        # From the middle on, until one was caught at work.
        if done >= total // 2 and not killed:
            for process in workers():
                os.kill(process, signal.SIGKILL)
                killed.append(process)
                break

    on_ray = polypath.sweep(short, over, seeds=seeds, engine="ray", progress=kill)
    assert len(on_ray) == 20 * seeds
    assert len(killed) == 1
    local = polypath.sweep(short, over, seeds=seeds)
    assert on_ray.points == local.points
    assert on_ray.results == local.results
    assert on_ray.table.to_pydict() == local.table.to_pydict()
    # At most what the worker was at; nothing if it was between two tasks.
    assert len(on_ray.retried) <= 1


def test_runs_equal_the_local_ones_though_a_worker_dies(short: polypath.Scenario) -> None:
    # So long that workers are at work for most of the time, and not all is done when half is told.
    long = short.set("duration", "3 s")
    runs_equal_the_local_ones_though_a_worker_dies(long, 2)


@pytest.mark.experiment
def test_500_runs_equal_the_local_ones_though_a_worker_dies(short: polypath.Scenario) -> None:
    runs_equal_the_local_ones_though_a_worker_dies(short, 25)


def test_what_a_worker_was_at_is_done_again_and_reported(
    two_paths: polypath.Scenario, tmp_path: Path
) -> None:
    scenario = two_paths.set("duration", "30 s").set("record.pcapng", True)
    killed: list[int] = []

    def kill() -> None:
        # The capture is opened when the run begins.
        while not (tmp_path / "seed=1" / "both.client.pcapng").exists():
            time.sleep(0.001)
        killed.extend(workers())
        for process in killed:
            os.kill(process, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    sweep = polypath.sweep(scenario, seeds=1, engine="ray", out=tmp_path)
    killer.join()
    assert len(killed) == 1
    (failure,) = sweep.retried
    assert failure.seed == 1
    assert re.fullmatch(rf"its worker died \(node \w+, process {killed[0]}\)", failure.reason)
    assert sweep.results == [polypath.run(scenario, seed=1)]


def test_runs_that_fail_do_not_stop_the_others(short: polypath.Scenario, tmp_path: Path) -> None:
    recorded = short.set("record.series", ["cwnd"])
    over = {"path.lte.delay": ["20 ms", "40 ms"]}
    (tmp_path / "path.lte.delay=20 ms").touch()
    with pytest.raises(polypath.SweepError, match="cannot write") as told:
        polypath.sweep(recorded, over, seeds=2, out=tmp_path, engine="ray")
    assert [failure.seed for failure in told.value.failures] == [1, 2]
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 2
    (tmp_path / "path.lte.delay=20 ms").unlink()
    again = polypath.sweep(recorded, over, seeds=2, out=tmp_path, engine="ray")
    assert again.results == polypath.sweep(recorded, over, seeds=2).results


def test_own_algorithms_go_to_the_workers(short: polypath.Scenario) -> None:
    class First(polypath.Scheduler):
        """The first path that has room."""

        def pick(
            self, paths: Sequence[polypath.PathView], queue: polypath.QueueView, now: float
        ) -> polypath.Pick:
            ring = [path.id for path in paths if path.allowed and path.available]
            return polypath.Pick.Send(ring[0]) if ring else queue.wait()

    on_ray = polypath.sweep(short, seeds=2, engine="ray", scheduler=First)
    assert on_ray == polypath.sweep(short, seeds=2, scheduler=First)
    assert on_ray != polypath.sweep(short, seeds=2)
    lock = threading.Lock()

    def locked() -> First:
        with lock:
            return First()

    with pytest.raises(TypeError, match=r"sent to the workers of Ray.*engine='threads'"):
        polypath.sweep(short, seeds=1, engine="ray", scheduler=locked)
