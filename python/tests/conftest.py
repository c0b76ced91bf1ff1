"""What the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

import polypath

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"

TWO_PATHS = """
duration = "2 s"

[[path]]
name = "wifi"
rate = "20 Mbit/s"
delay = "10 ms"
loss = 0.001

[[path]]
name = "lte"
rate = "10 Mbit/s"
delay = "30 ms"

[connection]
name = "both"
transport = "mptcp"
congestion = "lia"
scheduler = "round_robin"

[[flow]]
kind = "bulk"

[record]
series = ["cwnd", "throughput", "goodput", "queue", "srtt"]
interval = "100 ms"
"""


@pytest.fixture
def two_paths() -> polypath.Scenario:
    """Multipath TCP over two paths, of which one loses packets at random."""
    return polypath.Scenario.parse(TWO_PATHS)


@pytest.fixture
def short(two_paths: polypath.Scenario) -> polypath.Scenario:
    """The same for a fifth of a second, and nothing recorded."""
    return two_paths.set("duration", "200 ms").set("record.series", [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Lines that scripts/test counts, as the test programs of Rust have them: what says that it was
    skipped is among those that passed."""
    stats = terminalreporter.stats
    skipped = stats.get("skipped", [])
    for report in skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line(f"skipped: {report.nodeid}: {reason}")
    failed = len(stats.get("failed", [])) + len(stats.get("error", []))
    passed = len(stats.get("passed", [])) + len(skipped)
    verdict = "FAILED" if failed else "ok"
    terminalreporter.write_line(f"test result: {verdict}. {passed} passed; {failed} failed;")
