"""A scheduler and a congestion avoidance written in Python, beside the built-in ones."""

from __future__ import annotations

from collections.abc import Sequence

from quickstart import network

import polypath
from polypath import Ack, PathView, Pick, QueueView, Subflow


class FastestRate(polypath.Scheduler):
    """The path with room that delivers most."""

    def pick(self, paths: Sequence[PathView], queue: QueueView, now: float) -> Pick:
        open_paths = [path for path in paths if path.allowed and path.available]
        if not open_paths:
            return queue.wait()
        return Pick.Send(max(open_paths, key=lambda path: path.rate).id)


class Scalable(polypath.CongestionAvoidance):
    """Grows by a hundredth of what is acknowledged (Kelly 2003); loses an eighth at a loss."""

    def on_ack(self, subflow: Subflow, ack: Ack, subflows: Sequence[Subflow]) -> None:
        if subflow.may_grow(ack):
            subflow.cwnd += 0.01 * ack.acked_bytes

    def on_loss(self, subflow: Subflow, loss: polypath.Loss, subflows: Sequence[Subflow]) -> None:
        subflow.ssthresh = subflow.cwnd = max(0.875 * subflow.cwnd, 2.0 * loss.mss)


def main() -> None:
    scenario = network()
    for scheduler in (None, FastestRate):
        for congestion in (None, Scalable):
            result = polypath.run(scenario, seed=1, scheduler=scheduler, congestion=congestion)
            names = [own.__name__ if own else "built-in" for own in (scheduler, congestion)]
            print(*names, f"{result.connections[0].goodput_mbit_s:.1f} Mbit/s")


if __name__ == "__main__":
    main()
