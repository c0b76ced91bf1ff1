"""What releasing the interpreter brings: two runs in two threads against one after the other.

At most 0.6 of the time on two free cores: `python benches/threads.py`. Uses the best of five of each,
so that other work on the machine counts little.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import polypath
from polypath import objects

SCENARIO = polypath.build(
    duration="30 s",
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
        min(seconds(work) for _ in range(5)) for work in (one_after_the_other, at_once)
    )
    print(f"one after the other {serial:.2f} s, at once {parallel:.2f} s: {parallel / serial:.2f}")


if __name__ == "__main__":
    main()
