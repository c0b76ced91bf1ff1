"""What predictions cost: sets of 8 links in one call, in processor time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from polypath import predict

LINKS = 8


def cost(name: str, sets: int, call: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    """Prints the best of three calls."""
    draw = np.random.default_rng(1)
    rates = draw.uniform(5.0, 50.0, (sets, LINKS))
    rtts = draw.uniform(0.02, 0.055, (sets, LINKS))
    took: list[float] = []
    for _ in range(3):
        began = time.process_time()
        call(rates, rtts)
        took.append(time.process_time() - began)
    each = min(took) / sets
    print(f"{name:22} {each * 1e6:8.2f} us each, {each * 1e5:6.2f} s for 100,000")


def main() -> None:
    cost("bond", 100_000, predict.bond)
    cost("striped (S1)", 100_000, predict.striped)
    for horizon in (200, 500, 1_000, 2_000):

        def tunnel(rates: np.ndarray, rtts: np.ndarray, horizon: int = horizon) -> np.ndarray:
            return predict.tunnel(rates, rtts, horizon_segments=horizon)

        cost(f"tunnel, {horizon} segments", 2_000_000 // horizon, tunnel)


if __name__ == "__main__":
    main()
