"""Scenarios: reading, changing, building, and what is wrong with them."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from conftest import SCENARIOS, TWO_PATHS

import polypath


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.toml")), ids=lambda file: file.name)
def test_shipped_scenarios_are_read_and_can_be_run(file: Path) -> None:
    scenario = polypath.Scenario.load(file)
    scenario.check()
    assert scenario.connections
    assert scenario.links


def test_what_it_says_of_itself(two_paths: polypath.Scenario) -> None:
    assert two_paths.name is None
    assert two_paths.duration_s == 2.0
    assert two_paths.connections == ["both"]
    assert two_paths.links == ["wifi", "lte"]
    assert two_paths.text == TWO_PATHS


def test_errors_are_those_of_the_reader() -> None:
    with pytest.raises(polypath.ScenarioError, match=r"^net.toml:2: .*unknown key `rtae` in"):
        polypath.Scenario.parse('[[path]]\nrtae = "1 Mbit/s"', file="net.toml")
    with pytest.raises(polypath.ScenarioError, match=r"nowhere.toml: cannot be read"):
        polypath.Scenario.load("nowhere.toml")
    with pytest.raises(
        polypath.ScenarioError, match=r"unknown congestion control \"lai\"; allowed"
    ):
        polypath.Scenario.parse(TWO_PATHS.replace('"lia"', '"lai"'))
    assert issubclass(polypath.ScenarioError, ValueError)


def test_a_scenario_without_flow_is_read_but_not_run() -> None:
    scenario = polypath.Scenario.parse('[[path]]\nname = "a"\nrate = "1 Mbit/s"\ndelay = "1 ms"')
    with pytest.raises(polypath.ScenarioError, match="no \\[\\[flow\\]\\]"):
        scenario.check()
    with pytest.raises(polypath.ScenarioError, match="no \\[\\[flow\\]\\]"):
        polypath.run(scenario)


def test_set_makes_another_scenario(two_paths: polypath.Scenario) -> None:
    changed = two_paths.set("duration", "3 s").set("path.wifi.loss", 0.5)
    assert (two_paths.duration_s, changed.duration_s) == (2.0, 3.0)
    assert changed.overrides == ['duration="3 s"', "path.wifi.loss=0.5"]
    assert changed != two_paths
    assert changed == two_paths.set("duration", "3 s").set("path.wifi.loss", 0.5)


def test_values_of_every_type_can_be_set(two_paths: polypath.Scenario) -> None:
    cubic = {"name": "cubic", "beta": 0.8, "fast_convergence": 0}
    changed = (
        two_paths.set("connection.congestion", cubic)
        .set("connection.coupled", False)
        .set("connection.count", 3)
        .set("record.series", ["cwnd"])
        .set("name", 'with "quotes"')
    )
    assert changed.connections == ["both#1", "both#2", "both#3"]
    assert changed.name == 'with "quotes"'
    result = polypath.run(changed.set("duration", "100 ms"))
    assert result.series.paths.column_names[-1] == "cwnd"
    assert result.series.names == ["paths"]
    with pytest.raises(LookupError, match="no series of links was kept.*: here paths"):
        _ = result.series.links


def test_what_cannot_be_set_is_told(two_paths: polypath.Scenario) -> None:
    with pytest.raises(polypath.ScenarioError, match=r"--set duration=\"soon\""):
        two_paths.set("duration", "soon")
    with pytest.raises(polypath.ScenarioError, match=r"there is no \[\[path\]\] \"5g\""):
        two_paths.set("path.5g.delay", "1 ms")
    with pytest.raises(polypath.ScenarioError, match="an override is one line"):
        two_paths.set("name", "two\nlines")
    with pytest.raises(TypeError, match=r"`flow.bytes\[1\]` is of type object; allowed"):
        two_paths.set("flow.bytes", ["1 MB", object()])  # type: ignore[list-item]


def test_pickles_bring_their_traces(tmp_path: Path) -> None:
    trace = tmp_path / "lte.mahimahi"
    trace.write_text("1\n2\n3\n4\n5\n")
    text = '[[path]]\nname = "lte"\ntrace = "lte.mahimahi"\ndelay = "5 ms"\n'
    flow = '[[flow]]\nkind = "bulk"\nbytes = "100 kB"\n'
    file = tmp_path / "net.toml"
    file.write_text(text + flow)
    scenario = polypath.Scenario.load(file)
    pickled = pickle.dumps(scenario)
    trace.unlink()
    again: polypath.Scenario = pickle.loads(pickled)
    assert again == scenario
    assert again.digest == scenario.digest
    changed = again.set("path.lte.delay", "6 ms")
    assert polypath.run(changed) != polypath.run(again) == polypath.run(scenario)


def test_traces_are_read_in_any_encoding_and_columns_can_be_chosen(tmp_path: Path) -> None:
    rates = "no\tDL\tUL\n1\t1,5\t1,0\n2\t3,0\t1,0\n"
    (tmp_path / "sheet.txt").write_bytes(rates.encode("utf-16"))
    (tmp_path / "rates.csv").write_text("time_s,rate_mbit_s\n0,1.5\n1,3\n")
    network = '[[path]]\nname = "lte"\ntrace = {}\ndelay = "5 ms"\n'
    flow = '[[flow]]\nkind = "bulk"\nbytes = "100 kB"\n'
    sheet = '{ file = "sheet.txt", time = "every 1 s", rate = "DL in Mbit/s" }'
    traces = [sheet, '"rates.csv"']
    scenarios = [
        polypath.Scenario.parse(network.format(trace) + flow, file=tmp_path / "net.toml")
        for trace in traces
    ]
    assert polypath.run(scenarios[0]) == polypath.run(scenarios[1])
    again: polypath.Scenario = pickle.loads(pickle.dumps(scenarios[0]))
    assert again == scenarios[0]
    with pytest.raises(polypath.ScenarioError, match="sheet.txt: line 1: no column is called"):
        scenarios[0].set("path.lte.trace", "sheet.txt")


def test_scenarios_are_built_of_objects() -> None:
    scenario = polypath.build(
        duration="2 s",
        path=[
            polypath.objects.Path(
                name="wifi",
                rate="20 Mbit/s",
                delay="10 ms",
                loss=0.001,
                up=polypath.objects.OneWay(rate="5 Mbit/s"),
            ),
            polypath.objects.Path(
                name="lte", rate="10 Mbit/s", delay="30 ms", queue=polypath.objects.CodelQueue()
            ),
        ],
        connection=polypath.objects.MptcpConnection(
            congestion=polypath.objects.CubicCongestion(beta=0.8), scheduler="blest"
        ),
        flow=[polypath.objects.BulkFlow(direction="down")],
        event=[
            polypath.objects.Event(at="1 s", link="wifi", down=True),
        ],
    )
    written = polypath.Scenario.parse("""
duration = "2 s"
[[path]]
name = "wifi"
rate = "20 Mbit/s"
delay = "10 ms"
loss = 0.001
up = { rate = "5 Mbit/s" }
[[path]]
name = "lte"
rate = "10 Mbit/s"
delay = "30 ms"
queue = { kind = "codel" }
[connection]
transport = "mptcp"
congestion = { name = "cubic", beta = 0.8 }
scheduler = "blest"
[[flow]]
kind = "bulk"
direction = "down"
[[event]]
at = "1 s"
link = "wifi"
down = true
""")
    assert polypath.run(scenario, seed=4) == polypath.run(written, seed=4)


def test_keys_that_python_reserves_have_an_underscore() -> None:
    table = polypath.objects.Blackout(from_="1 s", to="2 s").to_dict()
    assert table == {"from": "1 s", "to": "2 s"}


def test_objects_are_checked_by_the_reader() -> None:
    with pytest.raises(polypath.ScenarioError, match=r"scenario.toml:\d+: .*rate.*500 Mbit"):
        polypath.build(path=[polypath.objects.Path(name="a", rate="fast", delay="1 ms")])
