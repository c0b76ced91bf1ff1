"""What a call of an algorithm in Python costs: `python benches/own_algorithms.py`.

Processor time of runs with the round robin and the LIA of the tests, less that with the built-in ones,
over the number of calls.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polypath

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from conftest import TWO_PATHS
from test_algorithm import Lia, RoundRobin

calls = 0


class CountedRoundRobin(RoundRobin):
    def pick(
        self, paths: Sequence[polypath.PathView], queue: polypath.QueueView, now: float
    ) -> polypath.Pick:
        global calls
        calls += 1
        return super().pick(paths, queue, now)


class CountedLia(Lia):
    def on_ack(
        self, subflow: polypath.Subflow, ack: polypath.Ack, subflows: Sequence[polypath.Subflow]
    ) -> None:
        global calls
        calls += 1
        super().on_ack(subflow, ack, subflows)


def cost(scenario: polypath.Scenario, **own: Any) -> float:
    """Processor seconds, the best of five."""

    def once() -> float:
        start = time.process_time()
        polypath.run(scenario, seed=1, **own)
        return time.process_time() - start

    return min(once() for _ in range(5))


def main() -> None:
    global calls
    scenario = polypath.Scenario.parse(TWO_PATHS).set("duration", "60 s")
    scenario = scenario.set("record.series", [])
    built_in = cost(scenario)
    for key, counted, plain in (
        ("scheduler", CountedRoundRobin, RoundRobin),
        ("congestion", CountedLia, Lia),
    ):
        calls = 0
        own: dict[str, Any] = {key: counted}
        result = polypath.run(scenario, seed=1, **own)
        with_own = cost(scenario, **{key: plain})
        each = (with_own - built_in) / calls * 1e6
        print(
            f"{key}: {calls} calls, {each:.1f} us each; {with_own:.2f} s against {built_in:.2f} s "
            f"for {result.segments_delivered} segments"
        )


if __name__ == "__main__":
    main()
