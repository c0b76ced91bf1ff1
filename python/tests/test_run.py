"""Runs: results, series, files, threads, interrupts."""

from __future__ import annotations

import _thread
import json
import os
import subprocess
import threading
from dataclasses import asdict
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


FLOWS: dict[str, tuple[str, dict[str, object]]] = {
    "bulk": ("tcp", {"kind": "bulk", "bytes": "1 MB"}),
    "request_response": ("tcp", {"kind": "request_response", "response": "100 kB"}),
    "video": ("tcp", {"kind": "video", "bit_rates": ["1 Mbit/s", "4 Mbit/s"]}),
    "on_off": ("tcp", {"kind": "on_off", "on": "200 ms", "off": "100 ms"}),
    "constant_rate": ("tcp", {"kind": "constant_rate", "rate": "1 Mbit/s"}),
    "datagrams": ("udp", {"kind": "on_off", "rate": "1 Mbit/s", "on": "9 ms", "off": "9 ms"}),
}


def run_flow(name: str) -> polypath.FlowResult:
    """A flow for three seconds, alone on a link of 20 Mbit/s."""
    transport, flow = FLOWS[name]
    path = {"name": "a", "rate": "20 Mbit/s", "delay": "10 ms"}
    document = {"duration": "3 s", "path": [path], "flow": [flow]}
    text = _native.render({**document, "connection": {"transport": transport}})
    result = polypath.run(polypath.Scenario.parse(text))
    (told,) = result.connections[0].flows
    assert asdict(told) == result.report["connections"][0]["flows"][0]
    return told


def test_transfers_tell_their_end() -> None:
    flow = run_flow("bulk")
    assert isinstance(flow, polypath.TransferResult)
    # A megabyte at 20 Mbit/s takes 0.4 s, and slow start a few round trips of 20 ms.
    assert flow.finished_s is not None and 0.4 < flow.finished_s < 0.7


def test_on_off_flows_tell_their_bursts() -> None:
    flow = run_flow("on_off")
    assert isinstance(flow, polypath.BurstsResult)
    assert flow.bursts > 1
    assert 0.0 < flow.on_s < 3.0
    assert isinstance(run_flow("datagrams"), polypath.MessagesResult)


def test_requests_and_messages_tell_their_times() -> None:
    requests = run_flow("request_response")
    assert isinstance(requests, polypath.RequestsResult)
    assert requests.response_bytes == requests.completed * 100_000 > 0
    messages = run_flow("constant_rate")
    assert isinstance(messages, polypath.MessagesResult)
    assert messages.delivered > 0 and messages.in_time is None
    # Request, then 100 kB at 20 Mbit/s; a message takes the way once.
    for spread, least in ((requests.completion_ms, 20.0 + 40.0), (messages.delay_ms, 10.0)):
        assert isinstance(spread, polypath.Spread)
        assert least < spread.p50 <= spread.p95 <= spread.p99 <= spread.max < 4 * least


def test_video_tells_what_was_seen() -> None:
    flow = run_flow("video")
    assert isinstance(flow, polypath.VideoResult)
    assert flow.startup_delay_s is not None and 0.0 < flow.startup_delay_s < 2.0
    assert flow.stalls == 0 and flow.played_s == pytest.approx(3.0 - flow.startup_delay_s)


def test_events_are_there_without_files(two_paths: polypath.Scenario, tmp_path: Path) -> None:
    assert polypath.run(two_paths).events is None
    recorded = two_paths.set("record.events", True)
    events = polypath.run(recorded, seed=7).events
    assert events is not None and events.unit("time") == "s"
    lost = [row for row in events.to_rows() if row["event"] == "lost"]
    paths = polypath.run(recorded, seed=7).connections[0].paths
    assert len(lost) == sum(path.lost for path in paths) > 0
    import pyarrow.parquet

    polypath.run(recorded, seed=7, out=tmp_path)
    file = tmp_path / "seed=7" / "events.parquet"
    written = pyarrow.parquet.read_table(file, partitioning=None)
    assert written.to_pylist() == events.to_rows()


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
