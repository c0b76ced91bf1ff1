"""What releasing the interpreter brings: two runs in two threads against one after the other.

At most 0.6 of the time on two cores: `python benches/threads.py`. Uses the best of 2000 short runs of
each, so that other work on the machine counts little.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import polypath
from polypath import objects

SCENARIO = polypath.build(
    duration="500 ms",
    path=[
        objects.Path(name="wifi", rate="80 Mbit/s", delay="5 ms"),
        objects.Path(name="lte", rate="40 Mbit/s", delay="30 ms"),
    ],
    connection=objects.MptcpConnection(),
    flow=[objects.BulkFlow()],
)


def one_after_the_other() -> None:
    for seed in (1, 2):
        polypath.run(SCENARIO, seed=seed)


def at_once() -> None:
    threads = [
        threading.Thread(target=polypath.run, args=(SCENARIO,), kwargs={"seed": seed})
        for seed in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    serial, parallel = (
        min(seconds(work) for _ in range(2_000)) * 1e3 for work in (one_after_the_other, at_once)
    )
    told = f"one after the other {serial:.1f} ms, at once {parallel:.1f} ms"
    print(f"{told}: {parallel / serial:.2f} of the time")


if __name__ == "__main__":
    main()
