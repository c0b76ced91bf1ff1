"""Tables in other libraries, and what theory and the registry say."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import polypath


@pytest.fixture
def paths(two_paths: polypath.Scenario) -> polypath.Table:
    return polypath.run(two_paths).series.paths


def test_columns_and_units(paths: polypath.Table) -> None:
    names = ["time", "connection", "end", "path", "path_id", "cwnd", "srtt", "throughput"]
    assert paths.column_names == names
    assert (paths.unit("cwnd"), paths.unit("time"), paths.unit("path")) == ("B", "s", None)
    # A sample each 100 ms of 2 s, of two paths.
    assert len(paths) == paths.num_rows == 40
    assert paths.column("path") == ["wifi"] * 20 + ["lte"] * 20
    assert paths.to_rows()[0]["time"] == 0.1
    with pytest.raises(ValueError, match="rtt"):
        paths.column("rtt")


def test_other_libraries_read_the_same_values(paths: polypath.Table) -> None:
    rows = paths.to_rows()
    assert pyarrow.table(paths).to_pylist() == rows
    assert polars.DataFrame(paths).to_dicts() == rows
    assert paths.to_polars().to_dicts() == rows
    assert paths.to_pandas().astype(object).to_dict("records") == rows
    assert pandas.DataFrame.from_arrow(paths).astype(object).to_dict("records") == rows
    assert pyarrow.schema(paths).field("cwnd").metadata[b"unit"] == b"B"


def test_nothing_is_copied(paths: polypath.Table) -> None:
    """Two readers see the same memory, and it stays when the table is gone."""
    one, two = pyarrow.table(paths), pyarrow.table(paths)

    def address(table: pyarrow.Table) -> int:
        return table["cwnd"].chunk(0).buffers()[1].address

    assert address(one) == address(two)
    values = paths.column("cwnd")
    del paths, two
    assert one["cwnd"].to_pylist() == values


def test_tables_of_columns() -> None:
    columns: dict[str, list[object]] = {
        "text": ["a", None],
        "whole": [1, None],
        "number": [1, 2.5],
        "switch": [True, None],
        "nothing": [None, None],
    }
    table = polypath.Table.from_columns(columns)
    assert table.to_pydict() == columns
    types = [str(field.type) for field in pyarrow.table(table).schema]
    assert types == ["string", "int64", "double", "bool", "null"]
    with pytest.raises(TypeError, match='column "mixed" has values of several types'):
        polypath.Table.from_columns({"mixed": [1, "a"]})


def test_the_registry_is_that_of_the_library() -> None:
    kinds = {algorithm.kind for algorithm in polypath.algorithms()}
    assert kinds == {"congestion", "slow_start", "scheduler", "failure"}
    cubic = next(row for row in polypath.algorithms("congestion") if row.name == "cubic")
    beta = next(row for row in cubic.parameters if row.name == "beta")
    assert (beta.default, beta.lowest, beta.highest, beta.whole) == (0.7, 0.0, 1.0, False)
    assert "RFC 9438" in cubic.source


def test_models_broadcast() -> None:
    rates = polypath.model.mathis(np.array([[0.01], [0.04]]), [0.1, 0.2])
    assert rates.shape == (2, 2)
    # sqrt(1.5 / 0.01) / 0.1; four times the loss or twice the RTT is half the rate.
    assert rates[0, 0] == pytest.approx(122.4745, abs=1e-4)
    assert rates[0, 1] == rates[1, 0] == pytest.approx(rates[0, 0] / 2)
    assert float(polypath.model.mathis(0.01, 0.1)) == rates[0, 0]


def test_models_are_those_of_the_library() -> None:
    """The worked examples T-PFTK-1, T-CUBRF-1 and T-LIA of docs/algorithms."""
    assert float(polypath.model.pftk(0.01, 0.1, 0.4)) == pytest.approx(77.846455, abs=1e-6)
    short = polypath.model.pftk(0.01, 0.1, 0.4, approximate=True)
    assert float(short) == pytest.approx(79.430885, abs=1e-6)
    assert float(polypath.model.cubic_window(1e-4, 0.1)) == pytest.approx(187.40, abs=0.005)
    assert float(polypath.model.reno_window(0.01)) == pytest.approx(150**0.5)
    windows = polypath.model.equilibrium("lia", [0.01, 0.02], 0.05)
    assert windows[1] / windows[0] == pytest.approx(0.5, abs=1e-9)
    both = polypath.model.equilibrium("lia", [[0.01, 0.02], [0.01, 0.01]], 0.05)
    assert both.shape == (2, 2)
    assert both[0].tolist() == windows.tolist()
    assert polypath.model.jain_index([1, 1, 0, 0]) == 0.5
    assert polypath.model.aggregation_benefit(82.75, [64.72, 18.03]) == pytest.approx(1.0)
    single = polypath.model.striped_throughput([(10.0, 0.05)])
    assert 0.0 < single.throughput_mbit_s < 10.0
    assert single.seconds == pytest.approx(8.0 / single.throughput_mbit_s)


def test_what_models_refuse() -> None:
    with pytest.raises(ValueError, match="the loss is 2; allowed: from 0 to below 1"):
        polypath.model.mathis(2.0, 0.1)
    with pytest.raises(ValueError, match="the RTT is -1 s"):
        polypath.model.cubic_window(0.1, -1.0)
    with pytest.raises(ValueError, match="no equilibrium is known for bbr"):
        polypath.model.equilibrium("bbr", [0.1], 0.1)
    with pytest.raises(ValueError, match="unknown congestion control"):
        polypath.model.equilibrium("bbrr", [0.1], 0.1)
