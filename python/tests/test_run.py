"""Runs: results, series, files, threads, interrupts."""

from __future__ import annotations

import _thread
import json
import os
import subprocess
import threading
from pathlib import Path

import pytest
from conftest import SCENARIOS

import polypath
from polypath import _native


def test_equal_seeds_give_equal_results(two_paths: polypath.Scenario) -> None:
    one, again, other = (polypath.run(two_paths, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.connections != other.connections


def test_results_are_typed(two_paths: polypath.Scenario) -> None:
    result = polypath.run(two_paths, seed=3)
    connection = result.connection("both")
    assert result.seed == 3
    assert result.sim_s == 2.0
    assert connection.transport == "mptcp"
    assert 10.0 < connection.goodput_mbit_s < 30.0
    assert connection.path("wifi").sent_bytes > 0 < connection.path("lte").sent_bytes
    assert connection.flows[0].kind == "bulk"
    assert [(queue.link, queue.direction) for queue in result.queues] == [
        ("wifi", "up"),
        ("wifi", "down"),
        ("lte", "up"),
        ("lte", "down"),
    ]
    assert result.queues[0].dropped_packets.loss > 0
    with pytest.raises(KeyError, match="there are wifi, lte"):
        connection.path("5g")


@pytest.mark.parametrize("kind", ["request_response", "video", "on_off", "constant_rate"])
def test_every_kind_of_flow_tells_what_it_measures(kind: str) -> None:
    flows = {
        "request_response": {"kind": kind, "response": "100 kB", "think": "50 ms"},
        "video": {"kind": kind, "bit_rates": ["1 Mbit/s", "4 Mbit/s"]},
        "on_off": {"kind": kind, "on": "200 ms", "off": "100 ms"},
        "constant_rate": {"kind": kind, "rate": "1 Mbit/s"},
    }
    text = _native.render(
        {
            "duration": "3 s",
            "path": [{"name": "a", "rate": "20 Mbit/s", "delay": "10 ms"}],
            "flow": [flows[kind]],
        }
    )
    flow = polypath.run(polypath.Scenario.parse(text)).connections[0].flows[0]
    assert flow.kind == kind
    assert flow.observed


@pytest.mark.parametrize("name", ["two-equal.toml", "web.toml"])
def test_the_command_line_gives_the_same_numbers(name: str) -> None:
    program = os.environ.get("POLYPATH")
    if program is None:
        pytest.skip("POLYPATH does not name the command line")
    changes = ["duration=1s", "connection.congestion=olia"]
    settings = [part for change in changes for part in ("--set", change)]
    command = [program, "sim", SCENARIOS / name, "--seed", "5", "--runs", "2", "--json", *settings]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    scenario = polypath.Scenario.load(SCENARIOS / name)
    scenario = scenario.set("duration", "1s").set("connection.congestion", "olia")
    for run in told["runs"]:
        del run["cpu_s"]
        assert polypath.run(scenario, seed=run["seed"]).report == run
    assert [run["seed"] for run in told["runs"]] == [5, 6]


def test_recordings_go_to_files(two_paths: polypath.Scenario, tmp_path: Path) -> None:
    recorded = two_paths.set("record.pcapng", True).set("record.events", True)
    result = polypath.run(recorded, seed=7, out=tmp_path)
    files = {file.name for file in (tmp_path / "seed=7").iterdir()}
    assert {"paths.parquet", "events.parquet", "both.client.pcapng"} <= files
    assert result == polypath.run(two_paths, seed=7)
    import pyarrow.parquet

    written = pyarrow.parquet.read_table(tmp_path / "seed=7" / "paths.parquet", partitioning=None)
    assert written.to_pylist() == result.series.paths.to_pyarrow().to_pylist()


def test_a_folder_that_cannot_be_written_is_told(
    two_paths: polypath.Scenario, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(polypath.SimulationError, match="cannot write"):
        polypath.run(two_paths, out=tmp_path / "file")


class Begun(polypath.CongestionAvoidance):
    """Tells that its run has begun."""

    event = threading.Event()

    def __init__(self) -> None:
        self.event.set()

    def on_ack(self, subflow: object, ack: object, subflows: object) -> None:
        raise AssertionError("a connection of one small transfer never leaves slow start")


def test_two_runs_go_on_at_once_and_an_interrupt_stops_one(two_paths: polypath.Scenario) -> None:
    """While this thread is in a run of hours, another thread does a whole run of its own, which it
    begins when the first has begun. If the interpreter were not released it could not; then the
    first would end by itself, without the interrupt that comes after."""
    small = '[[connection]]\nname = "small"\ntransport = "tcp"\n'
    small += '[[flow]]\nconnection = "small"\nkind = "bulk"\nbytes = "1 kB"\n'
    text = two_paths.text.replace("[connection]", "[[connection]]").replace(
        "[[flow]]", '[[flow]]\nconnection = "both"'
    )
    hours = polypath.Scenario.parse(text + small).set("duration", "4 h").set("record.series", [])
    Begun.event.clear()
    results: list[polypath.Result] = []

    def meanwhile() -> None:
        Begun.event.wait()
        results.append(polypath.run(two_paths, seed=1))
        _thread.interrupt_main()

    other = threading.Thread(target=meanwhile)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        polypath.run(hours, congestion={"small": Begun})
    other.join()
    assert results == [polypath.run(two_paths, seed=1)]
