"""Sweeps on the cores of this machine."""

from __future__ import annotations

import _thread
import json
from pathlib import Path

import polars
import pytest

import polypath

OVER = {"path.lte.delay": ["20 ms", "80 ms"], "connection.congestion": ["lia", "cubic"]}


def test_the_grid_is_in_order(short: polypath.Scenario) -> None:
    sweep = polypath.sweep(short, OVER, seeds=[3, 1], progress=False)
    order = [
        (point["path.lte.delay"], point["connection.congestion"], result.seed)
        for point, result in zip(sweep.points, sweep.results, strict=True)
    ]
    delays, controls = OVER.values()
    assert order == [(d, c, seed) for d in delays for c in controls for seed in (3, 1)]
    for point, result in zip(sweep.points, sweep.results, strict=True):
        at = short
        for key, value in point.items():
            at = at.set(key, value)
        assert result == polypath.run(at, seed=result.seed)


def test_results_do_not_depend_on_the_workers(short: polypath.Scenario) -> None:
    one, three = (polypath.sweep(short, OVER, seeds=3, workers=n) for n in (1, 3))
    assert one == three
    assert one.table.to_pydict() == three.table.to_pydict()


def test_results_are_tables(short: polypath.Scenario) -> None:
    sweep = polypath.sweep(
        short, {"connection.congestion": ["lia", {"name": "cubic", "beta": 0.8}]}, seeds=2
    )
    frame = polars.DataFrame(sweep)
    assert frame.height == len(sweep) == 4
    assert frame["connection.congestion"].to_list()[2:] == ['{"name": "cubic", "beta": 0.8}'] * 2
    assert frame["seed"].to_list() == [1, 2, 1, 2]
    goodputs = [result.connections[0].goodput_mbit_s for result in sweep.results]
    assert frame["goodput_mbit_s"].to_list() == goodputs
    paths = sweep.paths.to_polars()
    assert paths["path"].to_list() == ["wifi", "lte"] * 4
    links = sweep.links.to_polars()
    assert links.height == 16
    assert links["dropped_packets_loss"].sum() == sum(
        queue.dropped_packets.loss for result in sweep.results for queue in result.queues
    )
    assert sweep.flows.to_polars()["kind"].to_list() == ["bulk"] * 4


def test_progress_is_told(short: polypath.Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int]] = []
    polypath.sweep(short, seeds=3, progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    polypath.sweep(short, seeds=2, progress=True)
    assert capsys.readouterr().err.endswith("2 of 2 runs\n")


def test_what_is_wrong_is_told_before_the_first_run(short: polypath.Scenario) -> None:
    def never(done: int, total: int) -> None:
        raise AssertionError

    with pytest.raises(polypath.ScenarioError, match="lai"):
        polypath.sweep(short, {"connection.congestion": ["lia", "lai"]}, progress=never)
    with pytest.raises(ValueError, match="allowed: 'threads', 'ray'"):
        polypath.sweep(short, engine="rya")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="allowed: from 1"):
        polypath.sweep(short, workers=0)


def test_an_interrupt_leaves_finished_runs(short: polypath.Scenario, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == 3:
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        polypath.sweep(short, seeds=500, out=tmp_path, progress=stop, workers=2)
    kept = (tmp_path / "runs.jsonl").read_text().splitlines()
    # The two that were under way are finished, the others are not begun.
    assert sorted(json.loads(line)["seed"] for line in kept) == [1, 2, 3, 4, 5]
    told: list[int] = []
    again = polypath.sweep(
        short, seeds=10, out=tmp_path, progress=lambda done, total: told.append(done)
    )
    assert told == list(range(len(kept), 11))
    assert again == polypath.sweep(short, seeds=10)


def test_a_torn_line_is_done_again(short: polypath.Scenario, tmp_path: Path) -> None:
    first = polypath.sweep(short, seeds=2, out=tmp_path, workers=1)
    file = tmp_path / "runs.jsonl"
    file.write_text(file.read_text()[:-10])
    told: list[int] = []
    again = polypath.sweep(
        short, seeds=2, out=tmp_path, progress=lambda done, total: told.append(done)
    )
    assert told == [1, 2]
    assert again == first
    told.clear()
    polypath.sweep(short, seeds=2, out=tmp_path, progress=lambda done, total: told.append(done))
    assert told == [2]
    file.write_text("{}\n")
    with pytest.raises(ValueError, match=r"runs.jsonl:1: not a line of results"):
        polypath.sweep(short, seeds=2, out=tmp_path)


def test_changed_scenarios_are_run_again(short: polypath.Scenario, tmp_path: Path) -> None:
    polypath.sweep(short, seeds=1, out=tmp_path)
    changed = short.set("path.wifi.delay", "11 ms")
    assert polypath.sweep(changed, seeds=1, out=tmp_path) == polypath.sweep(changed, seeds=1)


def test_a_finished_sweep_is_read_back(short: polypath.Scenario, tmp_path: Path) -> None:
    first = polypath.sweep(short, OVER, seeds=2, out=tmp_path)
    told: list[int] = []
    again = polypath.sweep(
        short, OVER, seeds=2, out=tmp_path, progress=lambda done, total: told.append(done)
    )
    assert told == [8]
    assert again == first == polypath.sweep(short, OVER, seeds=2)


def test_two_sweeps_do_not_share_a_folder(short: polypath.Scenario, tmp_path: Path) -> None:
    def another(done: int, total: int) -> None:
        with pytest.raises(BlockingIOError, match="another sweep writes to it"):
            polypath.sweep(short, seeds=1, out=tmp_path)

    polypath.sweep(short, seeds=1, out=tmp_path, progress=another)


def test_recordings_of_a_sweep_lie_by_their_keys(
    two_paths: polypath.Scenario, tmp_path: Path
) -> None:
    scenario = two_paths.set("duration", "200 ms")
    polypath.sweep(scenario, {"path.lte.delay": ["20 ms", "40 ms"]}, seeds=2, out=tmp_path)
    frame = polars.read_parquet(tmp_path / "**/paths.parquet", hive_partitioning=True)
    assert frame.group_by("path.lte.delay", "seed").len().height == 4


def test_runs_that_fail_are_reported(short: polypath.Scenario, tmp_path: Path) -> None:
    """A folder of one of the recordings cannot be made; the other runs are done all the same."""
    recorded = short.set("record.series", ["cwnd"])
    (tmp_path / "path.lte.delay=20 ms").touch()
    with pytest.raises(
        polypath.SweepError, match="1 of the runs failed.*20 ms.*cannot write"
    ) as told:
        polypath.sweep(recorded, {"path.lte.delay": ["20 ms", "40 ms"]}, seeds=1, out=tmp_path)
    assert [failure.point for failure in told.value.failures] == [{"path.lte.delay": "20 ms"}]
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 1
