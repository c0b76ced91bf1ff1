"""A first look: a bond of two links, recorded, changed, and swept over delays and seeds."""

from __future__ import annotations

import polars

import polypath
from polypath import objects


def network() -> polypath.Scenario:
    """Wi-Fi beside LTE, and a transfer over both."""
    return polypath.build(
        duration="5 s",
        path=[
            objects.Path(name="wifi", rate="80 Mbit/s", delay="5 ms", loss=0.0005),
            objects.Path(name="lte", rate="40 Mbit/s", delay="30 ms", queue="1 MB"),
        ],
        connection=objects.MptcpConnection(congestion="balia", scheduler="blest"),
        flow=[objects.BulkFlow(direction="down")],
        record=objects.Record(series=["cwnd", "throughput"], interval="100 ms"),
    )


def main() -> None:
    scenario = network()
    result = polypath.run(scenario, seed=1)
    for path in result.connections[0].paths:
        print(f"{path.name}: {path.mbit_s:.1f} Mbit/s, {path.lost} packets lost")
    print(result.series.paths.to_polars().tail())

    sweep = polypath.sweep(
        scenario.set("duration", "2 s"),
        over={"path.lte.delay": ["10 ms", "60 ms"], "connection.scheduler": ["blest", "low_rtt"]},
        seeds=3,
    )
    points = sweep.table.to_polars().group_by(*sweep.points[0], maintain_order=True)
    print(points.agg(polars.mean("goodput_mbit_s"), polars.mean("reinjected_bytes")))

    for algorithm in polypath.algorithms("scheduler"):
        settings = ", ".join(parameter.name for parameter in algorithm.parameters)
        print(f"{algorithm.name}: {algorithm.purpose} ({settings or 'no parameters'})")

    print(polypath.model.mathis(loss=[0.001, 0.01], rtt_s=0.05))


if __name__ == "__main__":
    main()
